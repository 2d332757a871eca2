"""Two-frame extended comfort: whether a plan continues the one made a moment before.

Both plans are driven, and where they overlap in time their accelerations, jerks, yaw rates and yaw
accelerations may differ, by root mean square over the overlap, by no more than four thresholds.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import AX, AY, HEADING
from navaudit.compiled import njit
from navaudit.errors import BadInput
from navaudit.numerics.trig import hypot
from navaudit.score.smooth import Filter, savgol, smooth

Floats = NDArray[np.float64]

ACCELERATION_MPS2: Final = 0.7
JERK_MPS3: Final = 0.5
YAW_RATE_RADPS: Final = 0.1
YAW_ACCELERATION_RADPS2: Final = 0.1
"""Largest root mean squares that are still comfortable."""

SHORTEST: Final = 15
"""Steps of overlap that the widest filter needs."""

TWO_PI: Final = 2.0 * np.pi


class Filters(NamedTuple):
    """What smooths an overlap of some length."""

    acceleration: Filter
    jerk: Filter
    yaw_rate: Filter
    yaw_acceleration: Filter


class Differences(NamedTuple):
    """Root mean squares, over the overlap, of how two drives differ."""

    acceleration_mps2: float
    jerk_mps3: float
    yaw_rate_radps: float
    yaw_acceleration_radps2: float


def extended_comfort(earlier: Floats, later: Floats, steps: int) -> float:
    """Return 1 if a drive continues another, begun ``steps`` earlier, comfortably, and 0 if not.

    Both drives are states ``[step, 11]`` in the map frame, at the rear axle.
    """
    found = differences(earlier, later, steps)
    comfortable = (
        found.acceleration_mps2 <= ACCELERATION_MPS2
        and found.jerk_mps3 <= JERK_MPS3
        and found.yaw_rate_radps <= YAW_RATE_RADPS
        and found.yaw_acceleration_radps2 <= YAW_ACCELERATION_RADPS2
    )
    return 1.0 if comfortable else 0.0


def differences(earlier: Floats, later: Floats, steps: int) -> Differences:
    """How two drives ``[step, 11]`` differ where they overlap."""
    samples = len(later) - steps
    if steps < 1 or len(earlier) != len(later) or samples < SHORTEST:
        raise BadInput(
            f"drives of {len(earlier)} and {len(later)} steps, {steps} apart, cannot be compared",
            expected=f"equally many, that overlap by {SHORTEST} or more",
        )
    return Differences(*_differences(earlier[steps:], later[:samples], _filters(samples)))


def _filters(samples: int) -> Filters:
    return Filters(
        savgol(samples, 8, 2),
        savgol(samples, 15, 2, derivative=1),
        # the window of 15 that the signature names is not passed on (pdm_comfort_metrics.py:147)
        savgol(samples, 5, 2, derivative=1),
        savgol(samples, 5, 2, derivative=2),
    )


@njit(cache=True, nogil=True)
def _differences(
    earlier: Floats, later: Floats, filters: Filters
) -> tuple[float, float, float, float]:
    one, other = _signals(earlier, filters), _signals(later, filters)
    return (
        _root_mean_square(one[0], other[0]),
        _root_mean_square(one[1], other[1]),
        _root_mean_square(one[2], other[2]),
        _root_mean_square(one[3], other[3]),
    )


@njit(cache=True, nogil=True)
def _signals(states: Floats, filters: Filters) -> Floats:
    """Acceleration, jerk, yaw rate and yaw acceleration ``[signal, step]`` of a drive."""
    samples = states.shape[0]
    raw, signals = np.empty(samples), np.empty((4, samples))
    for i in range(samples):
        ax, ay = states[i, AX], states[i, AY]
        raw[i] = abs(ax) if ay == 0.0 else hypot(ax, ay)
    smooth(filters.acceleration, 4, raw, signals[0])
    smooth(filters.jerk, 7, signals[0], signals[1])
    turns = 0.0
    for i in range(samples):
        if i > 0:
            turns += np.rint((states[i, HEADING] - states[i - 1, HEADING]) / TWO_PI)
        raw[i] = states[i, HEADING] - TWO_PI * turns
    smooth(filters.yaw_rate, 2, raw, signals[2])
    smooth(filters.yaw_acceleration, 2, raw, signals[3])
    return signals


@njit(cache=True, nogil=True)
def _root_mean_square(one: Floats, other: Floats) -> float:
    total = 0.0
    for i in range(one.size):
        difference = one[i] - other[i]
        total += difference * difference
    return math.sqrt(total / one.size)
