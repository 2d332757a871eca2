"""Groups of scenes and the contrasts between them, with their intervals.

The contrast of matched pairs is a difference of medians, and its resamples draw pairs; the matching
is formed once. The standardized one keeps every scene, and redraws scenes within strata.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.probe.pairing import Pairing
from navaudit.probe.question import Question
from navaudit.probe.scenes import Scenes
from navaudit.stats.bootstrap import Estimate, difference_of_medians, medians
from navaudit.stats.standardize import Group as Side
from navaudit.stats.standardize import Standardized, standardized_difference

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SERIES: Final = ("auc", "precision", "partial", "control_auc")
"""Readings that every scene has."""

AUC, PRECISION, PARTIAL, CONTROL = range(4)

PERCENTILES: Final = (5.0, 25.0)
CHANCE: Final = 0.5


@dataclass(frozen=True)
class Interval:
    """A point and its 95% interval, over so many scenes or pairs."""

    point: float
    low: float
    high: float
    count: int

    @classmethod
    def of(cls, estimate: Estimate, count: int, series: int = 0) -> Interval:
        """Take one series out of an estimate."""
        ends = (estimate.point[series], estimate.low[series], estimate.high[series])
        return cls(float(ends[0]), float(ends[1]), float(ends[2]), count)

    def __neg__(self) -> Interval:
        """Take the difference the other way round."""
        return Interval(-self.point, -self.high, -self.low, self.count)


@dataclass(frozen=True)
class Group:
    """What the scenes of a group come to."""

    name: str
    scenes: int
    medians: tuple[Interval, ...]
    """By `SERIES`."""
    percentiles: tuple[tuple[float, float], ...]
    """Fifth and twenty-fifth, by `SERIES`."""
    zeros: int
    """Scenes whose partial area is exactly zero."""
    own: Interval | None
    """Median of the control's AUC on its own column, where that is mixed."""
    difference: Interval | None
    """Median of D, there."""

    @property
    def zero_share(self) -> float:
        """Share of scenes whose partial area is exactly zero."""
        return self.zeros / self.scenes

    @property
    def control_share(self) -> float | None:
        """How much of the head's excess over chance the control has; None without an excess."""
        excess = self.medians[AUC].point - CHANCE
        return (self.medians[CONTROL].point - CHANCE) / excess if excess > 0.0 else None


@dataclass(frozen=True)
class Contrast:
    """Forgiven minus unforgiven, of one reading."""

    name: str
    """One of `SERIES`, or ``difference`` for D."""
    matched: Interval | None
    standardized: Interval | None
    uncovered: int
    """Forgiven scenes that no stratum with unforgiven ones holds."""


@dataclass(frozen=True)
class Contrasts:
    """All groups and contrasts of a probe; what has no scenes is not there."""

    groups: dict[str, Group]
    contrasts: dict[str, Contrast]
    strata: Standardized | None
    """The strata, and the standardized difference of the readings."""
    left_out: int
    """Pairs that do not enter D: the control's own column is constant in one of their scenes."""

    @classmethod
    def of(cls, scenes: Scenes, pairing: Pairing, question: Question) -> Contrasts:
        """Read every group and contrast."""
        members = {
            "forgiven": pairing.forgiven,
            "forgiven, matched": pairing.treatment,
            "unforgiven, matched": pairing.control,
            "unforgiven": pairing.unforgiven,
        }
        groups = {
            name: _group(name, scenes, at, question) for name, at in members.items() if at.size
        }
        values = series(scenes)
        whole = np.isfinite(scenes.difference)
        paired = whole[pairing.treatment] & whole[pairing.control]
        matched = _matched(values, pairing, np.ones(paired.size, bool), question)
        matched_d = _matched(scenes.difference[None], pairing, paired, question)
        strata = _standardized(values, scenes, np.ones(len(scenes), bool), question)
        strata_d = _standardized(scenes.difference[None], scenes, whole, question)
        contrasts = {name: _contrast(name, matched, strata, k) for k, name in enumerate(SERIES)}
        contrasts["difference"] = _contrast("difference", matched_d, strata_d, 0)
        return cls(groups, contrasts, strata, int((~paired).sum()))


def series(scenes: Scenes) -> Floats:
    """Every reading that all scenes have, ``[series, scene]``."""
    return np.stack([scenes.auc, scenes.precision, scenes.partial, scenes.control_auc])


def _group(name: str, scenes: Scenes, at: Ints, question: Question) -> Group:
    values = series(scenes)[:, at]
    found = medians(values, resamples=question.resamples, seed=question.seed)
    spread = np.percentile(values, PERCENTILES, axis=1)
    return Group(
        name=name,
        scenes=at.size,
        medians=tuple(Interval.of(found, at.size, k) for k in range(len(SERIES))),
        percentiles=tuple((float(low), float(high)) for low, high in spread.T),
        zeros=int(np.count_nonzero(scenes.area[at] == 0.0)),
        own=_median(scenes.own_auc[at], question),
        difference=_median(scenes.difference[at], question),
    )


def _median(values: Floats, question: Question) -> Interval | None:
    """Median of those that are there."""
    there = values[np.isfinite(values)]
    if not there.size:
        return None
    found = medians(there[None], resamples=question.resamples, seed=question.seed)
    return Interval.of(found, there.size)


Matched = tuple[Estimate, int]


def _matched(
    values: Floats, pairing: Pairing, entering: NDArray[np.bool_], question: Question
) -> Matched | None:
    there, here = pairing.treatment[entering], pairing.control[entering]
    if not there.size:
        return None
    found = difference_of_medians(
        values[:, there], values[:, here], resamples=question.resamples, seed=question.seed
    )
    return found, there.size


def _standardized(
    values: Floats, scenes: Scenes, entering: NDArray[np.bool_], question: Question
) -> Standardized | None:
    there = np.flatnonzero(entering & scenes.forgiven)
    here = np.flatnonzero(entering & ~scenes.forgiven)
    width, failing = question.width, scenes.failing
    if not np.intersect1d(failing[there] // width, failing[here] // width).size:
        return None
    sides = [Side.of(values[:, at], failing[at]) for at in (there, here)]
    return standardized_difference(
        *sides, width=width, resamples=question.resamples, seed=question.seed
    )


def _contrast(name: str, matched: Matched | None, strata: Standardized | None, k: int) -> Contrast:
    return Contrast(
        name=name,
        matched=None if matched is None else Interval.of(*matched, k),
        standardized=None
        if strata is None
        else Interval.of(strata.difference, int(strata.treatments.sum()), k),
        uncovered=0 if strata is None else strata.uncovered,
    )
