"""Percentile bootstrap of medians and means over items that stay together.

An item is a scene, or a pair of scenes: resampling an item index carries every series along, so a
scene stays with its match and two models are read on the same draws. Draws are
``numpy.random.default_rng(seed).integers(0, items, size=(resamples, items))``, made in blocks of
rows (the stream does not notice), so memory is bounded and the same seed gives the same draws to
any later call on as many items. The kernels add in a fixed order, one resample a thread: results
depend neither on the number of threads nor on a linear-algebra library.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from navaudit.arrays import frozen
from navaudit.compiled import njit, prange
from navaudit.errors import BadInput

RESAMPLES: Final = 10_000
PERCENTILES: Final = (2.5, 97.5)

BLOCK: Final = 1 << 21
"""Draws held in memory at once."""

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Estimate:
    """Points and their 95% percentile intervals, ``[series]`` each.

    ``undefined`` counts the resamples in which a series had no value; they are left out of its
    interval.
    """

    point: FloatArray
    low: FloatArray
    high: FloatArray
    undefined: NDArray[np.int64]


def estimate(point: ArrayLike, replicates: FloatArray) -> Estimate:
    """Join a point ``[series]`` to the percentile interval of ``replicates [resample, series]``.

    Percentiles are NumPy's linear ones at 2.5 and 97.5. A series undefined in every resample has
    the interval (NaN, NaN).
    """
    undefined = np.isnan(replicates).sum(axis=0)
    low, high = np.percentile(replicates, PERCENTILES, axis=0)
    for s in np.flatnonzero(undefined):
        defined = replicates[~np.isnan(replicates[:, s]), s]
        if defined.size:
            low[s], high[s] = np.percentile(defined, PERCENTILES)
    series = (replicates.shape[1],)
    return Estimate(
        point=frozen(point, np.float64, series),
        low=frozen(low, np.float64, series),
        high=frozen(high, np.float64, series),
        undefined=frozen(undefined, np.int64, series),
    )


def draw_blocks(
    items: int, resamples: int, seed: int | np.random.Generator
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Yield the rows of each block and their draws ``[row, item]``, indices of items."""
    if items < 1 or resamples < 1:
        raise BadInput(f"{resamples} resamples of {items} items", expected="at least one of either")
    random = np.random.default_rng(seed)
    height = max(1, BLOCK // items)
    for first in range(0, resamples, height):
        rows = slice(first, min(resamples, first + height))
        yield rows, random.integers(0, items, size=(rows.stop - rows.start, items))


def median_replicates(
    values: ArrayLike, *, resamples: int = RESAMPLES, seed: int | np.random.Generator
) -> FloatArray:
    """Medians ``[resample, series]`` of finite ``values [series, item]``, shared draws.

    The median of an even number is the mean of the central two, as NumPy's.
    """
    series = _finite(values)
    order = np.argsort(series, axis=1, kind="stable")
    ordered = np.take_along_axis(series, order, axis=1)
    out = np.empty((resamples, len(series)))
    for rows, draws in draw_blocks(series.shape[1], resamples, seed):
        _medians(draws, order, ordered, out[rows])
    return out


def mean_replicates(
    values: ArrayLike, *, resamples: int = RESAMPLES, seed: int | np.random.Generator
) -> FloatArray:
    """Means ``[resample, series]`` of finite ``values [series, item]``, shared draws."""
    series = _finite(values)
    out = np.empty((resamples, len(series)))
    for rows, draws in draw_blocks(series.shape[1], resamples, seed):
        _means(draws, series, out[rows])
    return out


def medians(values: ArrayLike, *, resamples: int = RESAMPLES, seed: int) -> Estimate:
    """Median of each of ``values [series, item]`` with its interval."""
    replicates = median_replicates(values, resamples=resamples, seed=seed)
    return estimate(np.median(_finite(values), axis=1), replicates)


def difference_of_medians(
    treatment: ArrayLike, control: ArrayLike, *, resamples: int = RESAMPLES, seed: int
) -> Estimate:
    """Median over the treatments minus median over the controls, both ``[series, pair]``.

    Not the median of the pairs' differences; each resample draws the same pairs on both sides.
    """
    both = _paired(treatment, control)
    replicates = median_replicates(both, resamples=resamples, seed=seed)
    return _difference(np.median(both, axis=1), replicates)


def difference_of_means(
    treatment: ArrayLike, control: ArrayLike, *, resamples: int = RESAMPLES, seed: int
) -> Estimate:
    """Mean over the treatments minus mean over the controls, both ``[series, pair]``."""
    both = _paired(treatment, control)
    replicates = mean_replicates(both, resamples=resamples, seed=seed)
    return _difference(both.mean(axis=1), replicates)


def _difference(points: FloatArray, replicates: FloatArray) -> Estimate:
    """First half of the series minus the second."""
    half = points.size // 2
    return estimate(points[:half] - points[half:], replicates[:, :half] - replicates[:, half:])


def _paired(treatment: ArrayLike, control: ArrayLike) -> FloatArray:
    first, second = _finite(treatment), _finite(control)
    if first.shape != second.shape:
        raise BadInput(
            f"treatments have shape {first.shape}, controls {second.shape}",
            expected="the same series and pairs [series, pair] on both sides",
        )
    return np.concatenate([first, second])


def _finite(values: ArrayLike) -> FloatArray:
    series = np.ascontiguousarray(values, dtype=np.float64)
    if series.ndim != 2 or not np.isfinite(series).all():
        raise BadInput(
            f"values have shape {series.shape}, {int((~np.isfinite(series)).sum())} not finite",
            expected="finite values [series, item]",
            remedy="leave out, and count, the items that lack a value in any series",
        )
    return series


@njit(parallel=True, cache=True)
def _medians(
    draws: NDArray[np.int64], order: NDArray[np.int64], ordered: FloatArray, out: FloatArray
) -> None:
    """Write ``out [row, series]``; ``order`` sorts each series into ``ordered [series, item]``."""
    for row in prange(draws.shape[0]):
        counts = _tally(draws[row])
        for s in range(order.shape[0]):
            out[row, s] = _median(counts, order[s], ordered[s])


@njit(parallel=True, cache=True)
def _means(draws: NDArray[np.int64], series: FloatArray, out: FloatArray) -> None:
    """Write ``out [row, series]``."""
    for row in prange(draws.shape[0]):
        counts = _tally(draws[row])
        for s in range(series.shape[0]):
            out[row, s] = _mean(counts, series[s])


@njit(cache=True)
def _tally(draws: NDArray[np.int64]) -> NDArray[np.int32]:
    """How often each item was drawn, ``[item]``."""
    counts = np.zeros(draws.size, np.int32)
    for i in range(draws.size):
        counts[draws[i]] += 1
    return counts


@njit(cache=True)
def _median(counts: NDArray[np.int32], order: NDArray[np.int64], ordered: FloatArray) -> float:
    """Median of the drawn items, found by walking the sorted items up to half of the draws."""
    seen, place = 0, -1
    while seen <= (counts.size - 1) // 2:
        place += 1
        seen += counts[order[place]]
    lower = ordered[place]
    while seen <= counts.size // 2:
        place += 1
        seen += counts[order[place]]
    return 0.5 * (lower + ordered[place])


@njit(cache=True)
def _mean(counts: NDArray[np.int32], values: FloatArray) -> float:
    total = 0.0
    for i in range(counts.size):
        total += counts[i] * values[i]
    return total / counts.size
