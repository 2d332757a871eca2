"""Which of the six tests of comfort fails, when, and by how much."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import AX, AY, DT_S, HC, HEADING, YAW_ACCELERATION, YAW_RATE
from navaudit.numerics.trig import hypot
from navaudit.score.comfort import (
    JERK,
    JOLT,
    LAT_ACCELERATION,
    LON_ACCELERATION,
    LON_JERK,
    LON_JOLT,
    LONGWAYS,
    SCRATCH,
    SIDEWAYS,
    YAW,
    YAW_ACCELERATION_BOUND,
    YAW_JOLT,
    YAW_RATE_BOUND,
    History,
    discomfort,
)
from navaudit.score.reason import Reason, Ride
from navaudit.score.smooth import Filter
from navaudit.vehicle import REAR_AXLE_TO_CENTRE_M

Floats = NDArray[np.float64]


class Test(NamedTuple):
    """One of the six tests."""

    name: str
    unit: str
    bound: tuple[float, float]
    """Open interval."""


TESTS: Final = {
    LONGWAYS: Test("longitudinal acceleration", "m/s²", LON_ACCELERATION),
    SIDEWAYS: Test("lateral acceleration", "m/s²", LAT_ACCELERATION),
    JOLT: Test("jerk", "m/s³", JERK),
    LON_JOLT: Test("longitudinal jerk", "m/s³", LON_JERK),
    YAW_JOLT: Test("yaw acceleration", "rad/s²", YAW_ACCELERATION_BOUND),
    YAW: Test("yaw rate", "rad/s", YAW_RATE_BOUND),
}


def why_comfort(ride: Ride, with_history: bool) -> Reason:
    """Name the test that fails, or the one that comes closest to its bound for its size."""
    if not with_history:
        return Reason(HC, 1.0, "passes: not tested without the past")
    history = ride.course.history
    felt = discomfort(history, ride.drive.states, np.empty(SCRATCH))
    series = signals(history, ride.drive.states)
    margins = {test: _margins(series[test], TESTS[test].bound) for test in TESTS}
    if felt.test >= 0:
        test, sample = int(felt.test), int(felt.sample)
    else:
        test = min(TESTS, key=lambda one: float(margins[one].min()) / TESTS[one].bound[1])
        sample = int(margins[test].argmin())
    one, value = TESTS[test], float(series[test][sample])
    step = sample - len(history.states)
    bound = one.bound[0] if value - one.bound[0] < one.bound[1] - value else one.bound[1]
    verdict = f"fails at {_when(step)}" if felt.test >= 0 else f"passes: at {_when(step)}"
    reach = "goes to" if felt.test >= 0 else "comes closest, to"
    words = f"{verdict}{':' if felt.test >= 0 else ''} {one.name} {reach} {value:.2f} {one.unit}"
    worst = f", at worst {_worst(series[test], margins[test]):.2f}" if felt.test >= 0 else ""
    return Reason(
        HC, float(ride.scores[HC]), f"{words} (limit {bound:.2f}){worst}", max(step, 0), one.name,
        value, bound, float(margins[test][sample]), one.unit, one.name,
        facts={"sample": sample, "sample_s": _time_s(step), "tests": _tests(series, margins)},
    )  # fmt: skip


def signals(history: History, states: Floats) -> dict[int, Floats]:
    """Series ``[sample]`` that each test looks at: past and drive ``[step, 11]``, joined."""
    joined = np.concatenate([history.states, states])
    omega = joined[:, YAW_RATE]
    turning = REAR_AXLE_TO_CENTRE_M * (omega * omega)
    lon = (joined[:, AX] + turning) + REAR_AXLE_TO_CENTRE_M * joined[:, YAW_ACCELERATION]
    total = np.array([hypot(ax, ay) for ax, ay in joined[:, (AX, AY)]])
    heading = np.unwrap(joined[:, HEADING])
    smooth_lon = _filter(history.acceleration, lon)
    return {
        LONGWAYS: smooth_lon,
        SIDEWAYS: _filter(history.acceleration, joined[:, AY]),
        JOLT: _filter(history.jerk, _filter(history.acceleration, total)),
        LON_JOLT: _filter(history.jerk, smooth_lon),
        YAW_JOLT: _filter(history.yaw_acceleration, heading),
        YAW: _filter(history.yaw_rate, heading),
    }


def _filter(sieve: Filter, series: Floats) -> Floats:
    window = sieve.first[:, None] + np.arange(sieve.weight.shape[1])
    return np.asarray(np.round((sieve.weight * series[window]).sum(axis=1), 8))


def _margins(series: Floats, bound: tuple[float, float]) -> Floats:
    return np.minimum(series - bound[0], bound[1] - series)


def _worst(series: Floats, margins: Floats) -> float:
    return float(series[int(margins.argmin())])


def _tests(series: dict[int, Floats], margins: dict[int, Floats]) -> list[dict[str, Any]]:
    """List the worst sample of every test."""
    return [
        {
            "test": one.name,
            "worst": _worst(series[test], margins[test]),
            "bound": list(one.bound),
            "margin": float(margins[test].min()),
            "unit": one.unit,
        }
        for test, one in TESTS.items()
    ]


def _time_s(step: int) -> float:
    return round(step * DT_S, 1)


def _when(step: int) -> str:
    # the past ends a step or two before t = 0, and the scorer joins it on without a gap
    return f"{_time_s(step):.1f} s" if step >= 0 else f"{-step} samples before the start"
