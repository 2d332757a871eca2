"""History comfort: accelerations, jerks and turning of the logged past and the driven future.

The stock scorer joins a past that ends 0.1 or 0.2 s before t = 0 to the future as if there were no
gap (pdm_scorer.py:685-730).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import AX, AY, HEADING, STATE, STEPS, YAW_ACCELERATION, YAW_RATE
from navaudit.compiled import njit
from navaudit.errors import BadInput
from navaudit.numerics.trig import hypot
from navaudit.scene.scene import Track
from navaudit.score.smooth import Filter, savgol, smooth_sample
from navaudit.vehicle import REAR_AXLE_TO_CENTRE_M

Floats = NDArray[np.float64]

LON_ACCELERATION: Final = (-4.05, 2.40)
LAT_ACCELERATION: Final = (-4.89, 4.89)
JERK: Final = (-8.37, 8.37)
LON_JERK: Final = (-4.13, 4.13)
YAW_ACCELERATION_BOUND: Final = (-1.93, 1.93)
YAW_RATE_BOUND: Final = (-0.95, 0.95)
"""Open intervals that the rounded signals must stay in."""

COMFORTABLE: Final = -1
LONGWAYS, SIDEWAYS, JOLT, LON_JOLT, YAW_JOLT, YAW = range(6)
"""What is uncomfortable, in the order of the stock's six tests."""

HISTORY_STEP_US: Final = 100_000
TWO_PI: Final = 2.0 * np.pi


class History(NamedTuple):
    """The logged past at 0.1 s steps, ready to be joined to a drive, and the six filters."""

    states: Floats
    """``[step, 11]``: 14 or 15 of them, up to 0.2 or 0.1 s before t = 0."""
    acceleration: Filter
    jerk: Filter
    yaw_rate: Filter
    yaw_acceleration: Filter


class Discomfort(NamedTuple):
    """Which test fails, and at which sample of the joined series; -1 and -1 if none."""

    test: int
    sample: int


def join_history(past: Track) -> History:
    """Sample the logged past as the stock scorer does and lay out the filters."""
    if len(past) < 2:
        raise BadInput(
            f"past holds {len(past)} states", expected="at least two, up to and including t = 0"
        )
    steps_us = np.arange(past.time_us[0], past.time_us[-1], HISTORY_STEP_US)[:-1]
    states = _sample(past, steps_us)
    samples = len(states) + STEPS
    return History(
        states,
        savgol(samples, 8, 2),
        savgol(samples, 15, 2, derivative=1),
        # the window of 15 asked for upstream is not passed on (pdm_comfort_metrics.py:147-152)
        savgol(samples, 5, 2, derivative=1),
        savgol(samples, 5, 3, derivative=2),
    )


def _sample(past: Track, steps_us: NDArray[np.int64]) -> Floats:
    """Interpolate the logged states; turning rates are not logged and come out as zero."""
    later = np.clip(np.searchsorted(past.time_us, steps_us), 1, len(past) - 1)
    earlier = later - 1
    span = (past.time_us[later] - past.time_us[earlier]).astype(np.float64)[:, None]
    since = (steps_us - past.time_us[earlier]).astype(np.float64)[:, None]
    knots = past.state.copy()
    knots[:, HEADING] = np.unwrap(knots[:, HEADING])
    states: Floats = (knots[later] - knots[earlier]) / span * since + knots[earlier]
    states[:, HEADING] = (states[:, HEADING] + np.pi) % TWO_PI - np.pi
    states[:, STATE.index("steering_rate_radps") :] = 0.0
    return states


@njit(cache=True, nogil=True)
def discomfort(history: History, states: Floats, scratch: Floats) -> Discomfort:
    """Test one drive ``[step, 11]``; ``scratch`` is ``[4, sample]``, at least 64 wide."""
    past = history.states.shape[0]
    samples = past + STEPS
    lon, total, yaw, smoothed = scratch[0], scratch[1], scratch[2], scratch[3]
    turns = 0.0
    for i in range(samples):
        state = history.states[i] if i < past else states[i - past]
        omega = state[YAW_RATE]
        lon[i] = (
            state[AX] + REAR_AXLE_TO_CENTRE_M * (omega * omega)
        ) + REAR_AXLE_TO_CENTRE_M * state[YAW_ACCELERATION]
        total[i] = hypot(state[AX], state[AY]) if state[AY] != 0.0 else abs(state[AX])
        yaw[i] = state[HEADING]
    before = yaw[0]
    for i in range(1, samples):
        heading = yaw[i]
        turns += np.rint((heading - before) / TWO_PI)
        before = heading
        yaw[i] = heading - TWO_PI * turns

    worst = _outside(history.acceleration, lon, samples, LON_ACCELERATION, smoothed)
    if worst >= 0:
        return Discomfort(LONGWAYS, worst)
    worst = _outside(history.jerk, smoothed, samples, LON_JERK, lon)
    if worst >= 0:
        return Discomfort(LON_JOLT, worst)
    worst = _outside(history.yaw_acceleration, yaw, samples, YAW_ACCELERATION_BOUND, lon)
    if worst >= 0:
        return Discomfort(YAW_JOLT, worst)
    worst = _outside(history.yaw_rate, yaw, samples, YAW_RATE_BOUND, lon)
    if worst >= 0:
        return Discomfort(YAW, worst)
    for i in range(samples):
        smoothed[i] = smooth_sample(history.acceleration, total, i)
    worst = _outside(history.jerk, smoothed, samples, JERK, lon)
    if worst >= 0:
        return Discomfort(JOLT, worst)
    for i in range(samples):
        # the centre accelerates sideways like the rear axle, its offset being along the car
        total[i] = (history.states[i] if i < past else states[i - past])[AY]
    worst = _outside(history.acceleration, total, samples, LAT_ACCELERATION, smoothed)
    if worst >= 0:
        return Discomfort(SIDEWAYS, worst)
    return Discomfort(COMFORTABLE, -1)


@njit(cache=True, nogil=True)
def _outside(
    sieve: Filter, series: Floats, samples: int, bound: tuple[float, float], smoothed: Floats
) -> int:
    """Filter a series; returns the first sample not strictly within bounds, -1 if all are."""
    for i in range(samples):
        smoothed[i] = smooth_sample(sieve, series, i)
        if not bound[0] < smoothed[i] < bound[1]:
            return i
    return -1
