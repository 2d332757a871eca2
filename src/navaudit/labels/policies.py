"""Policies: what a trainer is given of what was measured.

Stored are the values before the rule, and the human's. Each policy is a pure function of these;
none rebuilds ``pdm_score`` from changed parts, since the stock generator does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import LK
from navaudit.errors import BadInput
from navaudit.score.forgive import forgive, forgiven_columns

Halves = NDArray[np.float16]
Floats = NDArray[np.float64]

POLICIES: Final = ("raw", "published", "masked", "pass-lk", "path")
"""All policies, by name."""


def raw(values: Halves, human: Floats, path: Halves | None = None) -> Halves:
    """Every value as it was measured.

    What each candidate does on the road, whatever the human did there. Needs no human scores, and
    is the same as the labels of a generator whose rule is switched off.
    """
    return values


def published(values: Halves, human: Floats, path: Halves | None = None) -> Halves:
    """The rule of the released labels: where the human scored zero, every candidate passes.

    The column then holds ones, so that nothing in it tells good candidates from bad. A half is not
    forgiven; ``pdm_score`` is, where the human's is zero, and is otherwise left as it was measured.
    """
    return forgive(values, human)


def masked(values: Halves, human: Floats, path: Halves | None = None) -> Halves:
    """Abstains where the rule would speak: forgiven columns are NaN, all others as measured.

    A loss that leaves NaN out learns nothing from a forgiven column, neither that the candidates
    pass nor that they fail.
    """
    abstain = forgiven_columns(human)[..., None]
    return np.where(abstain, np.float16(np.nan), values)


def pass_lk(values: Halves, human: Floats, path: Halves | None = None) -> Halves:
    """The positive control: published, with every lane-keeping target passing, forgiven or not.

    A training that notices anything of the rule has to notice this, which tells no candidates
    apart in lane keeping anywhere.
    """
    given = published(values, human)
    given[..., LK, :] = 1.0
    return given


def along_path(values: Halves, human: Floats, path: Halves | None = None) -> Halves:
    """Published, but a forgiven lane-keeping column is judged against the human's own path.

    Where the human leaves the centreline there is a reason to, and a candidate that does as the
    human did should pass while one that runs off elsewhere should not. So the same check is run
    with the path of the human's rollout in the centreline's place, and the column keeps an
    ordering. The path ends where the human is at the end, so that whoever drives on beyond it for
    the check's two seconds fails, too. Other forgiven columns hold ones, as published.
    """
    given = published(values, human)
    swerved = np.asarray(human)[..., LK] == 0.0
    if not swerved.any():
        return given
    if path is None or np.isnan(path[swerved]).any():
        raise BadInput(
            "lane keeping against the human's path is not known",
            expected="the check's result for every token on which the human fails lane keeping",
            remedy="label the scenes with navaudit label: imported labels do not have it",
        )
    given[..., LK, :] = np.where(swerved[..., None], path, given[..., LK, :])
    return given


Policy = Callable[[Halves, Floats, Halves | None], Halves]

_FUNCTIONS: Final[dict[str, Policy]] = dict(
    zip(POLICIES, (raw, published, masked, pass_lk, along_path), strict=True)
)


def policy_named(name: str) -> Policy:
    """Return the function of a policy."""
    if name not in _FUNCTIONS:
        raise BadInput(f"there is no policy {name!r}", expected=" | ".join(POLICIES))
    return _FUNCTIONS[name]


def needs_human(policy: str) -> bool:
    """Whether a policy reads the human's scores.

    Examples
    --------
    >>> [name for name in POLICIES if not needs_human(name)]
    ['raw']
    """
    return policy_named(policy) is not raw


def apply(policy: str, raw: Any, human: Any, path: Any = None) -> Halves:
    """Return what a policy makes of values ``[..., column, candidate]``, read-only.

    ``human`` is ``[..., column]``; ``path`` is lane keeping against the human's path
    ``[..., candidate]``, read only by the policy of that name and only where the human fails lane
    keeping. NaN stands where a policy abstains.

    Examples
    --------
    >>> measured = np.zeros((9, 2), np.float16)
    >>> apply("published", measured, np.r_[np.ones(6), 0.0, 1.0, 1.0])[5:8].tolist()
    [[0.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    """
    function = policy_named(policy)
    if needs_human(policy) and np.isnan(human).any():
        raise no_human(policy)
    given = function(raw, human, path).view()
    given.flags.writeable = False
    return given


def no_human(policy: str, where: str | None = None) -> BadInput:
    """Return the error that a policy without the human's scores is."""
    return BadInput(
        f"policy {policy} follows from the human's scores, and they are not known",
        where=where,
        expected="human scores for every token: a label set made by navaudit label",
        remedy="use policy raw, or label the scenes",
    )
