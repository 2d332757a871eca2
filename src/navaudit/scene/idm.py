"""Cars that keep their distance: the intelligent driver model unrolled along a path.

The cars of one path differ in the speed they would like.  Who leads them is looked up at every
second step; the odd steps copy the entry before, which at the first step is empty: a leader at the
path's beginning, so that every car brakes first (pdm_generator.py:236-242).
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import njit
from navaudit.numerics.trig import cos, wrap_by_atan2
from navaudit.numerics.twofold import dd_mul, two_square
from navaudit.scene.corridor import Obstacles, Path
from navaudit.scene.footprint import write_car
from navaudit.scene.gap import gap_within
from navaudit.vehicle import HALF_LENGTH_M

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

STEP_S: Final = 0.1
MIN_GAP_M: Final = 1.0
HEADWAY_S: Final = 1.5
ACCELERATION_MPS2: Final = 1.5
DECELERATION_MPS2: Final = 3.0
COMFORT_MPS2: Final = math.sqrt(ACCELERATION_MPS2 * DECELERATION_MPS2)
EPSILON_M: Final = 1e-5
"""Places on a path are looked up no nearer to its beginning than this."""


_ONE_RING = np.array([0, 5])


class Crowd(NamedTuple):
    """The forecast as the kernel reads it."""

    ring: Floats
    """``[sample, object, 5, xy]``"""
    heading: Floats
    """``[object]`` in rad, of the box as seen."""
    speed: Floats
    """``[object]`` in m/s; 0 for statics."""
    light_xy: Floats
    """``[vertex, xy]`` of all lights' rings."""
    light_ring: Longs
    """``[ring + 1]``: first vertex of each ring."""
    light_polygon: Longs
    """``[light + 1]``: first ring of each light."""


class Fan(NamedTuple):
    """The cars of one path at every step."""

    pose: Floats
    """``[car, step, 3]``: x_m, y_m, heading_rad."""
    motion: Floats
    """``[car, step, (progress_m, speed_mps)]``"""
    leader: Floats
    """``[car, step, (progress_m, speed_mps, rear_m)]``"""


@njit(cache=True, nogil=True, error_model="numpy")
def start_cars(path: Path, along_m: float, speed_mps: float, fan: Fan) -> None:
    """Put all cars of a fan at a place on their path."""
    for car in range(fan.pose.shape[0]):
        fan.motion[car, 0, 0] = along_m
        fan.motion[car, 0, 1] = speed_mps
        fan.leader[car, 0] = 0.0
        write_pose(path, along_m, fan.pose[car, 0])


@njit(cache=True, nogil=True, error_model="numpy")
def unroll(
    path: Path,
    wanted_mps: Floats,
    obstacles: Obstacles,
    crowd: Crowd,
    first: int,
    last: int,
    fan: Fan,
) -> None:
    """Drive the cars of a fan from step ``first`` to ``last``; the step before is filled."""
    for step in range(first, last + 1):
        if step % 2 == 0:
            find_leaders(path, obstacles, crowd, step, fan)
        else:
            fan.leader[:, step] = fan.leader[:, step - 1]
        for car in range(fan.pose.shape[0]):
            before, after = fan.motion[car, step - 1], fan.motion[car, step]
            rate = acceleration(before, fan.leader[car, step], wanted_mps[car])
            after[0] = before[0] + STEP_S * before[1]
            after[1] = before[1] + STEP_S * rate
            write_pose(path, after[0], fan.pose[car, step])


@njit(cache=True, nogil=True, error_model="numpy")
def acceleration(motion: Floats, leader: Floats, wanted_mps: float) -> float:
    """Acceleration in m/s2 behind a leader."""
    speed = motion[1]
    closing = (speed * (speed - leader[1])) / (2.0 * COMFORT_MPS2)
    wanted_gap = (MIN_GAP_M + speed * HEADWAY_S) + closing
    gap = max((leader[0] - motion[0]) - leader[2], MIN_GAP_M)
    crowding = wanted_gap / gap
    rate = ACCELERATION_MPS2 * ((1.0 - tenth_power(speed / wanted_mps)) - crowding * crowding)
    if math.isnan(rate):
        return rate
    return min(max(rate, -DECELERATION_MPS2), ACCELERATION_MPS2)


@njit(cache=True, nogil=True, error_model="numpy")
def tenth_power(x: float) -> float:
    """Return ``x ** 10``, the double nearest to it."""
    square = x * x
    if not square < 1e25:
        return square * square * square * square * square
    h2, l2 = two_square(x)
    h4, l4 = dd_mul(h2, l2, h2, l2)
    h8, l8 = dd_mul(h4, l4, h4, l4)
    hi, lo = dd_mul(h8, l8, h2, l2)
    return hi + lo


@njit(cache=True, nogil=True, error_model="numpy")
def find_leaders(path: Path, obstacles: Obstacles, crowd: Crowd, step: int, fan: Fan) -> None:
    """Write the leader of every car of a fan at an even step.

    One entry of three numbers serves all cars in turn and is not cleared between them: behind a red
    light the speed, and behind anything the rear, are those of a car before
    (pdm_generator.py:246-300).
    """
    sample = step // 2
    entry = np.zeros(3)
    car_ring = np.empty((5, 2))
    for car in range(fan.pose.shape[0]):
        own = fan.motion[car, step - 1, 0]
        x, y, heading = fan.pose[car, step - 1]
        write_car(x, y, heading, car_ring)
        nearest, leader = np.inf, -1
        for i in range(obstacles.start[sample], obstacles.start[sample + 1]):
            if obstacles.along_m[i] > own:
                gap = _gap(crowd, sample, obstacles.shape[i], car_ring, nearest)
                if gap < nearest:
                    nearest, leader = gap, obstacles.shape[i]
        if leader < 0:
            entry[0] = path.measures[-1]
            entry[2] = HALF_LENGTH_M
        else:
            entry[0] = own + nearest
            if leader < len(crowd.speed):
                turned = wrap_by_atan2(crowd.heading[leader] - heading)
                entry[1] = crowd.speed[leader] * cos(turned)
        fan.leader[car, step] = entry


@njit(cache=True, nogil=True, error_model="numpy")
def _gap(crowd: Crowd, sample: int, shape: int, car_ring: Floats, limit: float) -> float:
    objects = len(crowd.speed)
    if shape < objects:
        ring = crowd.ring[sample, shape]
        return gap_within(limit, car_ring, ring, _ONE_RING, 0, 1)
    light = shape - objects
    first, last = crowd.light_polygon[light], crowd.light_polygon[light + 1]
    return gap_within(limit, car_ring, crowd.light_xy, crowd.light_ring, first, last)


@njit(cache=True, nogil=True, error_model="numpy")
def write_pose(path: Path, along_m: float, pose: Floats) -> None:
    """Write the pose ``[3]`` at a length along a path, clipped to the path.

    The interval to the left of a vertex serves the vertex, so one without length never does; what
    is no number becomes 0 (pdm_path.py:79-84).
    """
    measures = path.measures
    at = along_m if math.isnan(along_m) else min(max(along_m, EPSILON_M), measures[-1])
    high = min(max(np.searchsorted(measures, at), 1), len(measures) - 1)
    low = high - 1
    span, since = measures[high] - measures[low], at - measures[low]
    a, b = path.line[low], path.line[high]
    pose[0] = (b[0] - a[0]) / span * since + a[0]
    pose[1] = (b[1] - a[1]) / span * since + a[1]
    turn = (path.heading[high] - path.heading[low]) / span * since + path.heading[low]
    pose[2] = wrap_by_atan2(turn)
    for k in range(3):
        if math.isnan(pose[k]):
            pose[k] = 0.0
