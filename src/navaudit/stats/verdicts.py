"""Whether the seeds agree on a contrast: observed, unresolved on the seed scale, or unresolved.

A contrast of two arms at the same seed is **O**, observed, when every seed has the same nonzero
sign, every 95% interval excludes zero and the absolute mean of the seeds' differences exceeds the
seed scale: the largest gap between two seeds of one arm, over all arms. When that fails it is
**S**, unresolved on the seed scale, if every interval excludes zero, and **U** otherwise. A letter
is given twice, for seeds 0-1 and for seeds 0-2.

An interaction is judged by the same rule on its own differences and intervals, F minus R, with the
arms' levels replaced by their levels on F minus those on R.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from navaudit.arrays import frozen
from navaudit.errors import BadInput
from navaudit.stats.bootstrap import Estimate
from navaudit.stats.rounding import interval_text

Letter = Literal["O", "S", "U"]
FloatArray = NDArray[np.float64]

READINGS: Final = ((0, 1), (0, 1, 2))
"""Seeds of the two-seed and of the three-seed reading."""


CLOSE: Final = 0.01
"""Share of an interval's width within which an end is called close to zero. The Monte Carlo
standard error of a 2.5th percentile over 10,000 normal resamples is 0.7% of the width."""

NEAR: Final = 0.1
"""Share of the seed scale within which a mean difference is called close to it."""


@dataclass(frozen=True)
class Verdict:
    """A contrast at each of its seeds and its letter in each reading.

    ``estimate``, ``low`` and ``high`` are ``[seed]``, of the seeds named in ``seeds``; ``letters``
    and ``scales`` have one entry a reading. ``cautions`` are sentences to print beside the letters.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    seeds: tuple[int, ...]
    letters: tuple[Letter, ...]
    scales: tuple[float, ...]
    cautions: tuple[str, ...]

    @property
    def letter(self) -> str:
        """The letters as the tables print them, for instance ``O/U``."""
        return "/".join(self.letters)

    def __str__(self) -> str:
        ends = zip(self.estimate, self.low, self.high, strict=True)
        return f"{', '.join(interval_text(*each) for each in ends)} {self.letter}"


def seed_scale(levels: ArrayLike) -> float:
    """Largest gap between two seeds of one arm, over ``levels [arm, seed]``; 0 for one seed.

    Examples
    --------
    >>> round(seed_scale([[86.283, 86.480], [86.456, 86.446], [86.039, 86.270]]), 3)
    0.231
    """
    table = np.asarray(levels, float)
    return float(np.max(table.max(axis=1) - table.min(axis=1)))


def letter(estimates: ArrayLike, low: ArrayLike, high: ArrayLike, scale: float) -> Letter:
    """Judge one reading's differences ``[seed]`` and interval ends ``[seed]`` against its scale.

    An end at exactly zero does not exclude zero; anything NaN ends in U.

    Examples
    --------
    >>> letter([0.93, 0.77], [0.62, 0.46], [1.26, 1.10], scale=0.12)
    'O'
    """
    differences = np.asarray(estimates, float)
    if not np.all((np.asarray(low) > 0.0) | (np.asarray(high) < 0.0)):
        return "U"
    one_sign = np.all(differences > 0.0) or np.all(differences < 0.0)
    return "O" if one_sign and abs(float(differences.mean())) > scale else "S"


def judge(
    contrast: Estimate,
    levels: ArrayLike,
    *,
    seeds: Sequence[int] = (0, 1, 2),
    readings: Sequence[Sequence[int]] = READINGS,
) -> Verdict:
    """Judge a contrast in every reading.

    Parameters
    ----------
    contrast
        Differences and intervals ``[seed]``.
    levels
        The arms' own means ``[arm, seed]``, seeds from 0; every arm whose seeds set the scale.
    seeds
        Seeds the contrast was read at. A contrast with fewer seeds than a reading (a control run
        at one seed) is judged on those it has, against the scale of all of the reading's.
    readings
        Seeds of each reading.

    Examples
    --------
    >>> at = Estimate(np.array([0.93]), np.array([0.63]), np.array([1.26]), np.zeros(1, int))
    >>> judge(at, [[1.0, 1.2, 1.3], [5.0, 5.0, 6.0]], seeds=(0,)).letter
    'O/S'
    """
    table = _levels(levels, readings)
    points, low, high = _of_seeds(contrast, seeds)
    scales = tuple(seed_scale(table[:, list(reading)]) for reading in readings)
    letters = []
    for reading, scale in zip(readings, scales, strict=True):
        at = _read_seeds(seeds, reading)
        letters.append(letter(points[at], low[at], high[at], scale))
    verdict = Verdict(points, low, high, tuple(seeds), tuple(letters), scales, ())
    undefined = int(np.sum(contrast.undefined))
    return replace(verdict, cautions=tuple(_cautions(verdict, undefined, readings)))


def _levels(levels: ArrayLike, readings: Sequence[Sequence[int]]) -> FloatArray:
    table = np.asarray(levels, float)
    seeds = 1 + max(max(reading) for reading in readings)
    if table.ndim != 2 or len(table) == 0 or table.shape[1] < seeds:
        raise BadInput(
            f"levels have shape {table.shape}", expected=f"[arm, seed] with seeds 0 to {seeds - 1}"
        )
    return table


def _of_seeds(contrast: Estimate, seeds: Sequence[int]) -> tuple[FloatArray, ...]:
    """Points, low and high ends, one a seed, or a refusal."""
    columns = (contrast.point, contrast.low, contrast.high)
    return tuple(frozen(column, np.float64, (len(seeds),)) for column in columns)


def _read_seeds(seeds: Sequence[int], reading: Sequence[int]) -> list[int]:
    """Places, among the contrast's seeds, of those the reading reads."""
    at = [place for place, seed in enumerate(seeds) if seed in reading]
    if not at:
        raise BadInput(f"seeds {tuple(seeds)} share none with the reading {tuple(reading)}")
    return at


def _cautions(verdict: Verdict, undefined: int, readings: Sequence[Sequence[int]]) -> Iterator[str]:
    """What a reader of the letters should know, as sentences."""
    for seed, ends in zip(verdict.seeds, _ends(verdict), strict=True):
        if not np.isfinite(ends).all():
            yield f"seed {seed} has no interval"
        elif np.abs(ends).min() < CLOSE * (ends[1] - ends[0]):
            yield f"seed {seed}: an interval end is as near zero as redrawing would move it"
    for reading, scale in zip(readings, verdict.scales, strict=True):
        mean = abs(float(verdict.estimate[_read_seeds(verdict.seeds, reading)].mean()))
        if abs(mean - scale) < NEAR * scale:
            yield f"seeds {tuple(reading)}: the mean difference is within a tenth of the seed scale"
    if len(set(verdict.letters)) > 1:
        yield "the readings disagree"
    if len(verdict.seeds) == 1:
        yield "one seed: signs cannot disagree, and the scale is that of the other arms"
    if undefined:
        yield f"{undefined} resamples had no value and were left out"


def _ends(verdict: Verdict) -> FloatArray:
    """Interval ends ``[seed, end]``."""
    return np.stack([verdict.low, verdict.high], axis=1)
