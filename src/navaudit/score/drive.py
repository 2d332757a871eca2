"""One candidate on the road: its states, its corners and where its wheels are, step by step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import CENTRE, FRONT_LEFT, FRONT_RIGHT, REAR_LEFT, REAR_RIGHT, STEPS, X, Y
from navaudit.compiled import borrowing
from navaudit.score.cells import Cells
from navaudit.score.ground import GroundIndex, leaves_road, straddles_lanes
from navaudit.vehicle import HALF_LENGTH_M, HALF_WIDTH_M, REAR_AXLE_TO_CENTRE_M

Floats = NDArray[np.float64]

UNKNOWN, NO, YES = -1, 0, 1


class Drive(NamedTuple):
    """Scratch for one candidate; a thread fills it anew for each."""

    states: Floats
    """``[step, 11]``"""
    pointing: Floats
    """``[step, (sine, cosine)]`` of the heading."""
    points: Floats
    """``[step, 5, xy]``: the four corners and the centre."""
    off_lane: NDArray[np.int8]
    """``[step]``: whether the car straddles lanes or is off the road, once asked."""
    met: NDArray[np.uint8]
    """``[agent]``: whether the car has met the agent."""
    ahead: Floats
    """``[4, xy]``: the car where it would be a little later."""


@borrowing
def place_points(pointing: Floats, states: Floats, points: Floats) -> None:
    """Write the corners and centre ``[step, 5, xy]`` of the car at every step."""
    for step in range(STEPS):
        sine, cosine = pointing[step, 0], pointing[step, 1]
        x = states[step, X] + REAR_AXLE_TO_CENTRE_M * cosine
        y = states[step, Y] + REAR_AXLE_TO_CENTRE_M * sine
        here = points[step]
        forward_x, forward_y = HALF_LENGTH_M * cosine, HALF_LENGTH_M * sine
        left_x, left_y = HALF_WIDTH_M * -sine, HALF_WIDTH_M * cosine
        here[FRONT_LEFT, 0] = x + (left_x + forward_x)
        here[FRONT_LEFT, 1] = y + (left_y + forward_y)
        here[REAR_LEFT, 0] = x + (left_x - forward_x)
        here[REAR_LEFT, 1] = y + (left_y - forward_y)
        here[REAR_RIGHT, 0] = x + (-left_x - forward_x)
        here[REAR_RIGHT, 1] = y + (-left_y - forward_y)
        here[FRONT_RIGHT, 0] = x + (-left_x + forward_x)
        here[FRONT_RIGHT, 1] = y + (-left_y + forward_y)
        here[CENTRE, 0] = x
        here[CENTRE, 1] = y


@borrowing
def off_lane(drive: Drive, ground: GroundIndex, step: int) -> bool:
    """Whether the car straddles lanes or is off the road at a step; asked once, then remembered."""
    if drive.off_lane[step] == UNKNOWN:
        off = leaves_road(ground.cells, drive.points, step)
        off = off or straddles_lanes(ground, drive.points[step])
        drive.off_lane[step] = YES if off else NO
    return drive.off_lane[step] == YES


@borrowing
def drivable_area(cells: Cells, points: Floats) -> int:
    """First step at which a corner ``[step, 5, xy]`` is off the road; ``STEPS`` if none."""
    for step in range(STEPS):
        if leaves_road(cells, points, step):
            return step
    return STEPS
