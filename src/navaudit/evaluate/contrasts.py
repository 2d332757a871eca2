"""Paired contrasts: one run minus another, token by token, and intervals over resampled logs.

Every contrast of a comparison is a column of one bootstrap, so all share their draws; a token in
which either run has no value counts in neither. The interaction of a contrast is its value on F
minus its value on R, draw by draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.evaluate.aligned import Aligned
from navaudit.evaluate.epdms import EC, EPDMS, SHORT
from navaudit.evaluate.measures import MEASURES, Measure, outcome
from navaudit.evaluate.pairs import Pairs
from navaudit.stats.bootstrap import Estimate
from navaudit.stats.clusters import ClusterMeans, cluster_means

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

ALL, F, R = "all", "F", "R"
INTERACTION: Final = "F-R"
ALIKE: Final = "LK alike"
"""Tokens on which both runs of a pair keep, or both leave, the lane."""

OF_ALIKE: Final = (SHORT[EC], SHORT[EPDMS])
"""Metrics that are also read on the tokens alike in lane keeping."""


@dataclass(frozen=True)
class Contrast:
    """What a treated run has more than its control, on average over some tokens."""

    pair: tuple[str, str]
    """Arms, or runs."""
    seed: int | None
    treated: str
    """Run, as is ``control``."""
    control: str
    measure: Measure
    population: str
    tokens: int
    """How many count; of an interaction, those of F and R together."""
    point: float
    low: float
    high: float
    undefined: int
    """Resamples without a value, left out of the interval."""

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval lies on one side of zero."""
        return self.low > 0.0 or self.high < 0.0


@dataclass(frozen=True)
class _Column:
    pair: tuple[str, str]
    seed: int | None
    treated: str
    control: str
    measure: Measure
    alike: bool


def contrasts(aligned: Aligned, pairs: Pairs, populations: Mapping[str, Mask]) -> list[Contrast]:
    """Read every pair on every measure that both its runs have, on every population."""
    columns, values = _columns(aligned, pairs)
    means = cluster_means(
        np.column_stack(values),
        aligned.logs,
        populations,
        resamples=pairs.resamples,
        seed=pairs.seed,
    )
    read = {name: means.over(name) for name in populations}
    if F in populations:
        read[INTERACTION] = means.between(F, R)
    tokens = _tokens(means)
    return [
        _contrast(column, at, name, estimate, tokens)
        for at, column in enumerate(columns)
        for name, estimate in read.items()
        if not column.alike or name == ALL
    ]


def _columns(aligned: Aligned, pairs: Pairs) -> tuple[list[_Column], list[Floats]]:
    columns: list[_Column] = []
    values: list[Floats] = []
    for pair in pairs.pairs:
        for seed, treated, control in pairs.runs_of(pair):
            for measure, alike, difference in _differences(aligned, treated, control):
                columns.append(_Column(pair, seed, treated, control, measure, alike))
                values.append(difference)
    return columns, values


def _differences(
    aligned: Aligned, treated: str, control: str
) -> Iterator[tuple[Measure, bool, Floats]]:
    one, other = aligned.runs[treated], aligned.runs[control]
    alike = outcome(one, other)
    for measure in MEASURES:
        mine, theirs = measure.of(one), measure.of(other)
        if mine is None or theirs is None:
            continue
        yield measure, False, mine - theirs
        if alike is not None and measure.metric in OF_ALIKE:
            yield measure, True, np.where(alike[1], mine - theirs, np.nan)


def _tokens(means: ClusterMeans) -> dict[str, NDArray[np.int64]]:
    counts = {name: means.tokens[at] for at, name in enumerate(means.subsets)}
    if F in counts:
        counts[INTERACTION] = counts[F] + counts[R]
    return counts


def _contrast(
    column: _Column,
    at: int,
    population: str,
    estimate: Estimate,
    tokens: Mapping[str, NDArray[np.int64]],
) -> Contrast:
    return Contrast(
        pair=column.pair,
        seed=column.seed,
        treated=column.treated,
        control=column.control,
        measure=column.measure,
        population=ALIKE if column.alike else population,
        tokens=int(tokens[population][at]),
        point=float(estimate.point[at]),
        low=float(estimate.low[at]),
        high=float(estimate.high[at]),
        undefined=int(estimate.undefined[at]),
    )


def levels(
    aligned: Aligned, populations: Mapping[str, Mask]
) -> dict[tuple[str, Measure, str], tuple[float, int]]:
    """Mean of each run's own values, and of how many, by run, measure and population."""
    found = {}
    for name, run in aligned.runs.items():
        for measure in MEASURES:
            values = measure.of(run)
            if values is None:
                continue
            for population, mask in populations.items():
                there = values[mask & ~np.isnan(values)]
                mean = float(there.mean()) if there.size else float("nan")
                found[name, measure, population] = (mean, there.size)
    return found
