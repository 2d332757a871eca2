"""Savitzky-Golay filters as tables of weights, exact and rounded once.

A filter fits a polynomial to a window of samples and reads it, or a derivative, in the middle; at
both ends it reads the polynomial of the first and the last window instead.  The window of an even
filter reaches one sample farther ahead than back and is read between its two middle samples, as
``scipy.signal.savgol_filter`` does with ``mode="interp"``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.compiled import borrowing

Floats = NDArray[np.float64]


class Filter(NamedTuple):
    """Weights of one filter over a series of fixed length."""

    first: NDArray[np.int64]
    """``[sample]``: where the sample's window begins."""
    weight: Floats
    """``[sample, window]``"""


@cache
def savgol(samples: int, window: int, order: int, derivative: int = 0) -> Filter:
    """Filter for a series of 10 Hz samples; derivatives are per second.

    Examples
    --------
    >>> savgol(41, 5, 2, derivative=1).weight[20].round(9).tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    half = window // 2
    scale = 10**derivative
    middle = _weights(window, order, derivative, Fraction(window - 1, 2))
    first = np.empty(samples, np.int64)
    weight = np.empty((samples, window))
    for i in range(samples):
        if i < half or i >= samples - half:
            first[i] = 0 if i < half else samples - window
            weights = _weights(window, order, derivative, Fraction(i - int(first[i])))
        else:
            first[i] = i - (window - 1) // 2
            weights = middle
        weight[i] = [float(one * scale) for one in weights]
    return Filter(frozen(first, np.int64, (samples,)), frozen(weight, np.float64, (None, window)))


@cache
def _weights(window: int, order: int, derivative: int, at: Fraction) -> tuple[Fraction, ...]:
    """Weights that read a fitted polynomial, or its derivative, at a place within the window."""
    rows = [[Fraction(x) ** k for k in range(order + 1)] for x in range(window)]
    normal = [
        [sum((row[i] * row[j] for row in rows), Fraction(0)) for j in range(order + 1)]
        for i in range(order + 1)
    ]
    read = [_power_derivative(k, derivative, at) for k in range(order + 1)]
    combination = _solve(normal, read)
    return tuple(
        sum((c * r for c, r in zip(combination, row, strict=True)), Fraction(0)) for row in rows
    )


def _power_derivative(power: int, derivative: int, at: Fraction) -> Fraction:
    factor = 1
    for k in range(derivative):
        factor *= power - k
    return Fraction(0) if factor == 0 else factor * at ** (power - derivative)


def _solve(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction]:
    """Solve a small positive definite system exactly, by elimination."""
    size = len(right)
    rows = [[*line, value] for line, value in zip(matrix, right, strict=True)]
    for i in range(size):
        pivot = rows[i][i]
        rows[i] = [value / pivot for value in rows[i]]
        for j in range(size):
            if j != i:
                factor = rows[j][i]
                rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return [row[size] for row in rows]


@borrowing
def smooth(sieve: Filter, half: int, series: Floats, out: Floats) -> None:
    """Filter a whole series into ``out``, rounded to eight decimals as ``np.round`` does.

    ``half`` is half the window: so many samples at either end have weights of their own.
    """
    first, weight = sieve.first, sieve.weight
    samples, window = weight.shape
    inner = out[half : samples - half]
    inner[:] = 0.0
    # tap by tap over all samples: the same sum for each sample, but many samples at a time
    for k in range(window):
        tap = weight[half, k]
        under = series[first[half] + k : first[half] + k + len(inner)]
        for i in range(len(inner)):
            inner[i] += tap * under[i]
    for end in range(2):
        begin = 0 if end == 0 else samples - half
        for i in range(begin, begin + half):
            total = 0.0
            for k in range(window):
                total += weight[i, k] * series[first[i] + k]
            out[i] = total
    for i in range(samples):
        out[i] = np.rint(out[i] * 1e8) / 1e8
