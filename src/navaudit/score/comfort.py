"""History comfort: accelerations, jerks and turning of the logged past and the driven future.

The stock scorer joins a past that ends 0.1 or 0.2 s before t = 0 to the future as if there were no
gap (pdm_scorer.py:685-730).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import AX, AY, HEADING, STATE, STEPS, YAW_ACCELERATION, YAW_RATE
from navaudit.compiled import borrowing
from navaudit.errors import BadInput
from navaudit.numerics.trig import hypot
from navaudit.scene.scene import Track
from navaudit.score.smooth import Filter, savgol, smooth
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
SCRATCH: Final = (5, 256)
"""Room for five series; no past and future together are longer."""
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
    lasts_us = int(past.time_us[-1]) - int(past.time_us[0])
    if lasts_us > (SCRATCH[1] - STEPS) * HISTORY_STEP_US:
        raise BadInput(
            f"past lasts {lasts_us * 1e-6:g} s",
            expected=f"{(SCRATCH[1] - STEPS) * 0.1:g} s at most; the stock's lasts 1.5 s",
            remedy="rebuild the scene",
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


@borrowing
def discomfort(history: History, states: Floats, scratch: Floats) -> Discomfort:
    """Test one drive ``[step, 11]``; ``scratch`` is ``[5, sample]``."""
    past = history.states.shape[0]
    samples = past + STEPS
    lon, total, side = scratch[0, :samples], scratch[1, :samples], scratch[2, :samples]
    yaw, smoothed = scratch[3, :samples], scratch[4, :samples]
    _read_signals(history.states, lon, total, side, yaw)
    _read_signals(states, lon[past:], total[past:], side[past:], yaw[past:])
    _unwrap(yaw)

    smooth(history.yaw_acceleration, 2, yaw, smoothed)
    worst = _outside(smoothed, YAW_ACCELERATION_BOUND)
    if worst >= 0:
        return Discomfort(YAW_JOLT, worst)
    smooth(history.yaw_rate, 2, yaw, smoothed)
    worst = _outside(smoothed, YAW_RATE_BOUND)
    if worst >= 0:
        return Discomfort(YAW, worst)
    smooth(history.acceleration, 4, lon, smoothed)
    worst = _outside(smoothed, LON_ACCELERATION)
    if worst >= 0:
        return Discomfort(LONGWAYS, worst)
    smooth(history.jerk, 7, smoothed, yaw)
    worst = _outside(yaw, LON_JERK)
    if worst >= 0:
        return Discomfort(LON_JOLT, worst)
    smooth(history.acceleration, 4, total, smoothed)
    smooth(history.jerk, 7, smoothed, yaw)
    worst = _outside(yaw, JERK)
    if worst >= 0:
        return Discomfort(JOLT, worst)
    smooth(history.acceleration, 4, side, smoothed)
    worst = _outside(smoothed, LAT_ACCELERATION)
    if worst >= 0:
        return Discomfort(SIDEWAYS, worst)
    return Discomfort(COMFORTABLE, -1)


@borrowing
def _read_signals(states: Floats, lon: Floats, total: Floats, side: Floats, yaw: Floats) -> None:
    """Read longitudinal, total and sideways acceleration and heading off states ``[step, 11]``."""
    for i in range(states.shape[0]):
        ax, ay = states[i, AX], states[i, AY]
        omega = states[i, YAW_RATE]
        # of the centre; sideways it accelerates like the rear axle, its offset being along the car
        turning = REAR_AXLE_TO_CENTRE_M * (omega * omega)
        lon[i] = (ax + turning) + REAR_AXLE_TO_CENTRE_M * states[i, YAW_ACCELERATION]
        total[i] = abs(ax) if ay == 0.0 else hypot(ax, ay)
        side[i] = ay
        yaw[i] = states[i, HEADING]


@borrowing
def _unwrap(yaw: Floats) -> None:
    """Shift headings by whole turns so that neighbours differ by half a turn at most."""
    turns = 0.0
    before = yaw[0]
    for i in range(1, len(yaw)):
        heading = yaw[i]
        step = heading - before
        if not -np.pi < step < np.pi:
            turns += np.rint(step / TWO_PI)
        before = heading
        yaw[i] = heading - TWO_PI * turns


@borrowing
def _outside(series: Floats, bound: tuple[float, float]) -> int:
    """Return the first sample not strictly within bounds, -1 if all are."""
    for i in range(len(series)):
        if not bound[0] < series[i] < bound[1]:
            return i
    return -1
