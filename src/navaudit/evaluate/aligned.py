"""Runs side by side: the same tokens in one order, the same settings, one log and one human each.

Nothing is silently intersected. Runs whose tokens or settings differ are refused, with what
differs and where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.errors import BadInput
from navaudit.evaluate.scored import Scored

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Aligned:
    """Runs whose rows are the same tokens."""

    tokens: tuple[str, ...]
    logs: tuple[str, ...]
    runs: Mapping[str, Scored]
    """By name, in the order given."""
    human: Floats | None
    """``[token, component]``, if any run knows it."""
    left_out: tuple[str, ...]
    """Tokens that failed in some run, where these may be left out."""

    def __post_init__(self) -> None:
        if self.human is not None:
            frozen_human = frozen(self.human, np.float64, (len(self.tokens), None))
            object.__setattr__(self, "human", frozen_human)


def align(
    runs: Sequence[Scored],
    index: Mapping[str, str] | None = None,
    *,
    leave_out_failed: bool = False,
) -> Aligned:
    """Bring runs into the order of the first; ``index`` is token to log, for files without."""
    first = runs[0]
    _expect_same_tokens(runs)
    _expect_same_settings(runs)
    _expect_same_comfort(runs)
    ordered = [run.rows(_order(first.tokens, run.tokens)) for run in runs]
    valid = np.all([run.valid for run in ordered], axis=0)
    if not valid.all() and not leave_out_failed:
        raise _failed(ordered, valid)
    if not valid.any():
        raise BadInput("no token was scored by every run", expected="at least one")
    kept = np.flatnonzero(valid)
    left_out = tuple(first.tokens[row] for row in np.flatnonzero(~valid))
    ordered = [run.rows(kept) for run in ordered] if left_out else ordered
    tokens = ordered[0].tokens
    return Aligned(
        tokens=tokens,
        logs=_logs(ordered, tokens, index),
        runs={run.name: run for run in ordered},
        human=_human(ordered),
        left_out=left_out,
    )


def _order(tokens: Sequence[str], theirs: Sequence[str]) -> NDArray[np.int64]:
    place = {token: row for row, token in enumerate(theirs)}
    return np.array([place[token] for token in tokens], np.int64)


def _expect_same_tokens(runs: Sequence[Scored]) -> None:
    first = set(runs[0].tokens)
    for run in runs[1:]:
        theirs = set(run.tokens)
        missing, extra = sorted(first - theirs), sorted(theirs - first)
        if missing or extra:
            said = [
                f"{len(some)} are only in {name}, first {some[0]}"
                for name, some in ((runs[0].name, missing), (run.name, extra))
                if some
            ]
            raise BadInput(
                f"runs {runs[0].name} and {run.name} differ in their tokens: {'; '.join(said)}",
                expected="the same tokens in every run",
                remedy="evaluate both on the same scenes",
            )


def _expect_same_settings(runs: Sequence[Scored]) -> None:
    known = [run for run in runs if run.settings is not None]
    for run in known[1:]:
        one, other = _flat(known[0].settings), _flat(run.settings)
        differing = [key for key in sorted({*one, *other}) if one.get(key) != other.get(key)]
        if differing:
            said = "; ".join(
                f"{key} is {one.get(key)} there and {other.get(key)} here" for key in differing
            )
            raise BadInput(
                f"runs {known[0].name} and {run.name} differ in their settings: {said}",
                expected="runs that differ in their plans alone",
                remedy="evaluate both with the same settings and scenes",
            )


def _expect_same_comfort(runs: Sequence[Scored]) -> None:
    earlier = [run.name for run in runs if run.earlier]
    others = [run.name for run in runs if not run.earlier]
    if earlier and others:
        raise BadInput(
            f"{', '.join(earlier)} is of NAVSIM v2.0, and {', '.join(others)} is not",
            expected="runs of one kind: v2.0 wrote extended comfort at the earlier of two frames, "
            "all others write it at the later",
            remedy="evaluate the plans again, under a later NAVSIM or with: navaudit evaluate",
        )


def _flat(settings: Mapping[str, Any] | None) -> dict[str, Any]:
    return dict(settings or {})


def _failed(runs: Sequence[Scored], valid: NDArray[np.bool_]) -> BadInput:
    row = int((~valid).argmax())
    where = ", ".join(
        f"{run.name} ({int((~run.valid).sum())})" for run in runs if not run.valid.all()
    )
    return BadInput(
        f"{int((~valid).sum())} of {len(valid)} tokens were not scored, first "
        f"{runs[0].tokens[row]}",
        where=f"runs {where}",
        expected="a score of every token in every run",
        remedy="evaluate again, or say that failed tokens may be left out of all runs",
    )


def _logs(
    runs: Sequence[Scored], tokens: Sequence[str], index: Mapping[str, str] | None
) -> tuple[str, ...]:
    """Log of each token; all who know it must agree."""
    said = {run.name: run.logs for run in runs if run.logs is not None}
    if index is not None:
        missing = [token for token in tokens if token not in index]
        if missing:
            raise BadInput(
                f"the index lacks {len(missing)} of {len(tokens)} tokens, first {missing[0]}",
                expected="the log of every token that is compared",
            )
        said["the index"] = tuple(index[token] for token in tokens)
    if not said:
        raise BadInput(
            "no run says which log a token is from, and intervals resample logs",
            where=", ".join(run.name for run in runs),
            expected="an index with columns token and log_name",
        )
    (first, logs), *others = said.items()
    for name, theirs in others:
        row = next((row for row in range(len(tokens)) if logs[row] != theirs[row]), None)
        if row is not None:
            raise BadInput(
                f"token {tokens[row]} is from log {logs[row]!r} by {first}, and from "
                f"{theirs[row]!r} by {name}",
                expected="one log for each token",
            )
    return logs


def _human(runs: Sequence[Scored]) -> Floats | None:
    """Human values; all runs that have them must agree, for they saw the same scenes."""
    known = [(run.name, run.human) for run in runs if run.human is not None]
    if not known:
        return None
    first, human = known[0]
    for name, theirs in known[1:]:
        different = ~((human == theirs) | (np.isnan(human) & np.isnan(theirs))).all(axis=1)
        if different.any():
            row = int(different.argmax())
            raise BadInput(
                f"runs {first} and {name} differ in {int(different.sum())} humans",
                where=f"token {runs[0].tokens[row]}",
                expected="the same human values: they do not depend on the plans",
                remedy="evaluate both with the same settings and scenes",
            )
    return human
