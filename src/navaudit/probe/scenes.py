"""Every scene's own readings: how well a head orders its candidates, by the column's labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.probe.question import Question
from navaudit.probe.walk import Block
from navaudit.stats.auc import Readings, mcclish, readings
from navaudit.stats.ties import tie_draws

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
Say = Callable[[str, int, int], None]
"""Told what happened, how many scenes are done, and how many there will be."""


def silent(what: str, done: int, total: int) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Scenes:
    """Scenes with a mixed column, ``[scene]`` each, in the order of the logits.

    A column is mixed where some candidates pass and some fail it, before the rule.
    """

    tokens: tuple[str, ...]
    forgiven: Bools
    """The rule fired on the column."""
    failing: Ints
    """Candidates that fail the column."""
    auc: Floats
    """The head against the column; tied ranks averaged."""
    precision: Floats
    grouped_precision: Floats
    """Average precision with each tie one step."""
    area: Floats
    """Below the rate of the question, not corrected; 0 where no passing candidate comes first."""
    grouped_area: Floats
    control_auc: Floats
    """The control against the column."""
    own_auc: Floats
    """The control against its own column; NaN where that one is constant."""
    own_forgiven: Bools
    """The rule fired on the control's own column."""
    gap: Floats
    """Largest difference between a rank AUC of the scene and the trapezoids under the same curve,
    tied candidates as they come: the paper's cross-check, which leaves half of every tie between
    passing and failing candidates."""
    grouped_gap: Floats
    """The same with each tie one step, which leaves rounding alone."""
    drawn_precision: Floats
    """``[draw, forgiven scene]``: under ties broken at random."""
    drawn_area: Floats
    constant: tuple[int, int]
    """Scenes left out, whose column is constant: forgiven ones, and others."""
    max_fpr: float

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def partial(self) -> Floats:
        """McClish-corrected partial AUC, tied candidates as they come."""
        return mcclish(self.area, self.max_fpr)

    @property
    def difference(self) -> Floats:
        """D, the control on its own column minus the head on its; NaN where that is constant."""
        return self.own_auc - self.auc


@dataclass(frozen=True)
class _Part:
    """One block's scenes; fields as in `Scenes`."""

    tokens: tuple[str, ...]
    values: dict[str, NDArray[Any]]
    drawn: tuple[Floats, Floats]
    constant: tuple[int, int]


_OWN: Final = ("tokens", "drawn_precision", "drawn_area", "constant", "max_fpr")


def read_scenes(blocks: Iterable[Block], question: Question, total: int, say: Say) -> Scenes:
    """Read every block once; ``total`` scenes are told of."""
    parts: list[_Part] = []
    done = forgiven = 0
    for block in blocks:
        parts.append(_read(block, question, forgiven))
        forgiven += int(parts[-1].values["forgiven"].sum())
        done += len(block.tokens)
        say("", done, total)
    return _joined(parts, question)


def _joined(parts: list[_Part], question: Question) -> Scenes:
    names = [one.name for one in fields(Scenes) if one.name not in _OWN]
    values = {name: np.concatenate([part.values[name] for part in parts]) for name in names}
    drawn = [np.concatenate([part.drawn[k] for part in parts], axis=1) for k in (0, 1)]
    constant = [sum(part.constant[k] for part in parts) for k in (0, 1)]
    return Scenes(
        tokens=tuple(token for part in parts for token in part.tokens),
        **{name: frozen(each, each.dtype, (None,)) for name, each in values.items()},
        drawn_precision=frozen(drawn[0], np.float64, (None, None)),
        drawn_area=frozen(drawn[1], np.float64, (None, None)),
        constant=(constant[0], constant[1]),
        max_fpr=question.max_fpr,
    )


def _read(block: Block, question: Question, first: int) -> _Part:
    """Read one block; ``first`` forgiven scenes came before it."""
    failing = np.count_nonzero(~block.passes[0], axis=1)
    mixed = (failing > 0) & (failing < block.passes[0].shape[1])
    forgiven = block.forgiven[:, 0]
    constant = tuple(int((~mixed & those).sum()) for those in (forgiven, ~forgiven))
    at = np.flatnonzero(mixed)
    values = {
        "forgiven": forgiven[at],
        "failing": failing[at],
        "own_forgiven": block.forgiven[at, 1],
        **_read_heads(block, at, question.max_fpr),
    }
    drawn = _draw(block, np.flatnonzero(mixed & forgiven), question, first)
    tokens = tuple(block.tokens[row] for row in at)
    return _Part(tokens, values, drawn, (constant[0], constant[1]))


def _read_heads(block: Block, at: NDArray[np.intp], max_fpr: float) -> dict[str, Floats]:
    (head, control), (column, own) = block.logits, block.passes
    pairings = ((head, column), (control, column), (control, own))
    mine, across, home = read = [_readings(*two, at, max_fpr) for two in pairings]
    whole = [_readings(*two, at, 1.0).partial_area for two in pairings]
    gaps = [abs(one.rank_auc - area) for one, area in zip(read, whole, strict=True)]
    grouped = [abs(one.rank_auc - one.trapezoid_auc) for one in read]
    return {
        "auc": mine.rank_auc,
        "precision": mine.average_precision,
        "grouped_precision": mine.grouped_average_precision,
        "area": mine.partial_area,
        "grouped_area": mine.grouped_partial_area,
        "control_auc": across.rank_auc,
        "own_auc": home.rank_auc,
        "gap": np.fmax.reduce(gaps),
        "grouped_gap": np.fmax.reduce(grouped),
    }


def _readings(
    logits: NDArray[np.float32], passes: Bools, at: NDArray[np.intp], max_fpr: float
) -> Readings:
    if at.size == 0:
        return Readings(*(np.empty(0) for _ in fields(Readings)))
    return readings(logits[at], passes[at], max_fpr=max_fpr)


def _draw(
    block: Block, at: NDArray[np.intp], question: Question, first: int
) -> tuple[Floats, Floats]:
    if at.size == 0 or question.tie_draws == 0:
        nothing = np.empty((question.tie_draws, at.size))
        return nothing, nothing
    drawn = tie_draws(
        block.logits[0][at], block.passes[0][at], draws=question.tie_draws,
        seed=question.tie_seed, first_scene=first, max_fpr=question.max_fpr,
    )  # fmt: skip
    return drawn.average_precision, drawn.partial_area


def rows_of(scenes: Scenes) -> Iterator[tuple[str | int | float | None, ...]]:
    """Give what a table of all scenes says of each."""
    partial = scenes.partial
    for k, token in enumerate(scenes.tokens):
        own = float(scenes.own_auc[k])
        yield (
            token, int(scenes.forgiven[k]), int(scenes.failing[k]), float(scenes.auc[k]),
            float(scenes.precision[k]), float(partial[k]), float(scenes.control_auc[k]),
            None if np.isnan(own) else own,
        )  # fmt: skip
