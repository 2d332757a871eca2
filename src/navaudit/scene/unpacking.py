"""Careful hands for unpickled records: each takes one thing out, or says what is wrong with it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit import vehicle
from navaudit.axes import STATE
from navaudit.errors import BadInput
from navaudit.numerics.trig import sincos
from navaudit.scene.scene import Track
from navaudit.world.pickles import Member, Objects, Record, Wkb

_CAR: Final = {
    "width": vehicle.WIDTH_M,
    "front_length": vehicle.FRONT_LENGTH_M,
    "rear_length": vehicle.REAR_LENGTH_M,
    "wheel_base": vehicle.WHEEL_BASE_M,
}


def record(value: Any, *classes: str) -> Record:
    """Return a record of one of these classes, named without their modules."""
    if type(value) is not Record or value.name.rpartition(".")[2] not in classes:
        raise BadInput(f"a {_class(value)} stands there", expected=" or ".join(classes))
    return value


def number(value: Any) -> float:
    """Return a finite number as a float, whatever type of number it was stored as."""
    real = real_or_missing(value)
    if not math.isfinite(real):
        raise BadInput(f"a number is {real}", expected="a finite one")
    return real


def real_or_missing(value: Any) -> float:
    """Return a number as a float, be it finite or not."""
    if not isinstance(value, (float, int, np.floating, np.integer)) or isinstance(value, bool):
        raise BadInput(f"a {_class(value)} stands there", expected="a number")
    try:
        return float(value)
    except OverflowError:
        return math.inf


def whole(value: Any) -> int:
    """Return a whole number that fits into 64 bits."""
    if type(value) is bool or not isinstance(value, (int, np.integer)):
        raise BadInput(f"a {_class(value)} stands there", expected="a whole number")
    if not -(1 << 63) <= value < 1 << 63:
        raise BadInput("a whole number has more than 64 bits")
    return int(value)


def text(value: Any) -> str:
    """Return a text."""
    if type(value) is not str:
        raise BadInput(f"a {_class(value)} stands there", expected="a text")
    return value


def member(value: Any, enumeration: str) -> int:
    """Return the value of a member of this enumeration."""
    if type(value) is not Member or value.name.rpartition(".")[2] != enumeration:
        raise BadInput(f"a {_class(value)} stands there", expected=enumeration)
    return value.value


def several(value: Any, count: int | None = None) -> list[Any]:
    """Return the items of a list or of an array of objects, so many of them."""
    items = value.items if type(value) is Objects else value
    if type(items) is not list:
        raise BadInput(f"a {_class(value)} stands there", expected="a list")
    if count is not None and len(items) != count:
        raise BadInput(f"a list has {len(items)} items", expected=str(count))
    return items


def polygon(value: Any) -> Wkb:
    """Return a geometry, not yet built."""
    if type(value) is not Wkb:
        raise BadInput(f"a {_class(value)} stands there", expected="a geometry")
    return value


def pose(value: Any) -> tuple[float, float, float]:
    """Return x_m, y_m and heading_rad of a ``StateSE2``."""
    state = record(value, "StateSE2")
    return number(state["x"]), number(state["y"]), number(state["heading"])


def vector(value: Any) -> tuple[float, float]:
    """Return x and y of a ``StateVector2D``."""
    state = record(value, "StateVector2D")
    return number(state["_x"]), number(state["_y"])


def velocity(value: Any) -> tuple[float, float]:
    """Return x and y of a velocity, which may be missing."""
    state = record(value, "StateVector2D")
    return real_or_missing(state["_x"]), real_or_missing(state["_y"])


def time_us(value: Any) -> int:
    """Return the microseconds of a ``TimePoint``."""
    return whole(record(value, "TimePoint")["time_us"])


def ego(value: Any) -> tuple[int, NDArray[np.float64]]:
    """Return time and state ``[11]`` of an ``EgoState``, as stock code puts it into an array."""
    state = record(value, "EgoState")
    motion = record(state["_dynamic_car_state"], "DynamicCarState")
    columns = (
        *_rear_axle(record(state["_car_footprint"], "CarFootprint")),
        *vector(motion["_rear_axle_velocity_2d"]),
        *vector(motion["_rear_axle_acceleration_2d"]),
        number(state["_tire_steering_angle"]),
        number(motion["_tire_steering_rate"]),
        number(motion["_angular_velocity"]),
        number(motion["_angular_acceleration"]),
    )
    return time_us(state["_time_point"]), np.array(columns)


def track(value: Any) -> Track:
    """Return the knots of an ``InterpolatedTrajectory`` of ego states."""
    states = several(record(value, "InterpolatedTrajectory")["trajectory"])
    times, rows = np.empty(len(states), np.int64), np.empty((len(states), len(STATE)))
    for knot, state in enumerate(states):
        times[knot], rows[knot] = ego(state)
    if len(states) < 2 or not (np.diff(times) > 0).all():
        raise BadInput("a trajectory's times do not rise", expected="two states or more, in order")
    return Track(times, rows)


def _rear_axle(footprint: Record) -> tuple[float, float, float]:
    _expect_pacifica(record(footprint["_vehicle_parameters"], "VehicleParameters"))
    # nuPlan stores the centre and keeps the rear axle only where somebody had asked for it before
    # pickling; otherwise it takes it back from the centre, a rounding away from what was logged
    # (nuplan/common/actor_state/car_footprint.py:54)
    if "rear_axle" in footprint.fields:
        return pose(footprint["rear_axle"])
    x, y, heading = pose(footprint["_center"])
    sine, cosine = sincos(heading)
    back = -vehicle.REAR_AXLE_TO_CENTRE_M
    return x + back * cosine, y + back * sine, heading


def _expect_pacifica(parameters: Record) -> None:
    for name, length in _CAR.items():
        if number(parameters[name]) != length:
            raise BadInput(
                f"the ego's {name} is {parameters[name]} m",
                expected=f"{length} m, the benchmark's car",
            )


def distinct(names: Iterator[str] | list[str], what: str) -> tuple[str, ...]:
    """Return names as a tuple, each of which occurs once."""
    listed = tuple(names)
    if len(set(listed)) != len(listed):
        raise BadInput(f"two {what} have the same name")
    return listed


def _class(value: Any) -> str:
    return value.name if isinstance(value, (Record, Member)) else type(value).__name__
