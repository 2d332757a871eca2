"""Verdict letters of a comparison: whether seeds agree beyond what seeds alone do.

A pair of arms gets a letter on every measure and population, and on the interaction, in a two-seed
and a three-seed reading. The seed scale is set by every arm that has the seeds of the comparison:
on a population by the arms' own means there, and for an interaction by their means on F minus those
on R. A pair of runs, or a comparison without an arm of two seeds, has no scale and gets no letter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navaudit.evaluate.contrasts import ALIKE, INTERACTION, Contrast, F, R
from navaudit.evaluate.measures import Measure
from navaudit.evaluate.pairs import Pairs
from navaudit.stats.bootstrap import Estimate
from navaudit.stats.verdicts import Verdict, judge, seed_scale

Floats = NDArray[np.float64]
Levels = Mapping[tuple[str, Measure, str], tuple[float, int]]
"""Mean and tokens by run, measure and population."""


@dataclass(frozen=True)
class Judgement:
    """The letters of a pair on one measure and population."""

    pair: tuple[str, str]
    measure: Measure
    population: str
    readings: tuple[tuple[int, ...], ...]
    """Seeds of each reading."""
    verdict: Verdict


@dataclass(frozen=True)
class Scales:
    """The arms that set the seed scale, and the seeds they share."""

    arms: Mapping[str, Mapping[int, str]]
    seeds: tuple[int, ...]

    @property
    def readings(self) -> tuple[tuple[int, ...], ...]:
        """Places of the seeds of each reading: the first two, the first three, and all."""
        sizes = sorted({min(size, len(self.seeds)) for size in (2, 3, len(self.seeds))})
        return tuple(tuple(range(size)) for size in sizes if size > 1)

    def table(self, levels: Levels, measure: Measure, population: str) -> Floats | None:
        """Means ``[arm, seed]``, None where a run lacks one."""
        rows = [
            [_level(levels, runs[seed], measure, population) for seed in self.seeds]
            for runs in self.arms.values()
        ]
        table = np.array(rows, float)
        return None if np.isnan(table).any() else table


def scales_of(pairs: Pairs) -> Scales | None:
    """Return what sets the seed scale, None where no arm has two seeds.

    An arm with fewer seeds than another, such as a control of one seed, does not set it.
    """
    most = max((len(runs) for runs in pairs.arms.values()), default=0)
    if most < 2:
        return None
    arms = {arm: runs for arm, runs in pairs.arms.items() if len(runs) == most}
    shared = set.intersection(*(set(runs) for runs in arms.values()))
    return Scales(arms, tuple(sorted(shared))) if len(shared) > 1 else None


def judgements(read: Sequence[Contrast], levels: Levels, pairs: Pairs) -> list[Judgement]:
    """Judge every pair of arms wherever the rule has what it needs."""
    scales = scales_of(pairs)
    if scales is None:
        return []
    grouped: dict[tuple[tuple[str, str], Measure, str], list[Contrast]] = {}
    for one in read:
        if one.seed in scales.seeds and one.population != ALIKE:
            grouped.setdefault((one.pair, one.measure, one.population), []).append(one)
    found = []
    for (pair, measure, population), seeds in grouped.items():
        table = scales.table(levels, measure, population)
        if table is not None:
            found.append(_judgement(pair, measure, population, seeds, table, scales))
    return found


def _judgement(
    pair: tuple[str, str],
    measure: Measure,
    population: str,
    read: Sequence[Contrast],
    table: Floats,
    scales: Scales,
) -> Judgement:
    places = [scales.seeds.index(one.seed) for one in read if one.seed is not None]
    readings = tuple(one for one in scales.readings if set(one) & set(places))
    verdict = judge(_estimate(read), table, seeds=places, readings=readings)
    named = tuple(tuple(scales.seeds[place] for place in reading) for reading in readings)
    return Judgement(pair, measure, population, named, verdict)


def _estimate(read: Sequence[Contrast]) -> Estimate:
    return Estimate(
        point=np.array([one.point for one in read]),
        low=np.array([one.low for one in read]),
        high=np.array([one.high for one in read]),
        undefined=np.array([one.undefined for one in read], np.int64),
    )


def _level(levels: Levels, run: str, measure: Measure, population: str) -> float:
    nothing = (float("nan"), 0)
    if population == INTERACTION:
        on_f = levels.get((run, measure, F), nothing)[0]
        return on_f - levels.get((run, measure, R), nothing)[0]
    return levels.get((run, measure, population), nothing)[0]


def seed_scales(levels: Levels, pairs: Pairs) -> dict[tuple[Measure, str], tuple[float, ...]]:
    """Seed scale in every reading, by measure and population, wherever all runs have a mean."""
    scales = scales_of(pairs)
    if scales is None:
        return {}
    keys = {(measure, population) for _, measure, population in levels}
    interactions = {(measure, INTERACTION) for measure, population in keys if population == F}
    found = {}
    for measure, population in sorted({*keys, *interactions}, key=str):
        table = scales.table(levels, measure, population)
        if table is not None:
            found[measure, population] = tuple(
                seed_scale(table[:, list(reading)]) for reading in scales.readings
            )
    return found
