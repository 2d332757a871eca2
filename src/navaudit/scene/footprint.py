"""The ground a box covers: its four corners."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import borrowing, njit
from navaudit.numerics.trig import sincos
from navaudit.vehicle import HALF_LENGTH_M, HALF_WIDTH_M, REAR_AXLE_TO_CENTRE_M

Floats = NDArray[np.float64]

HALF_PI: Final = np.pi / 2.0


@borrowing
def write_corners(
    x: float, y: float, heading: float, half_length: float, half_width: float, out: Floats
) -> None:
    """Write the corners ``[4, xy]`` of a box: front left, rear left, rear right, front right."""
    # sideways through the heading plus a quarter turn, as nuplan geometry/transform.py does
    sine, cosine = sincos(heading)
    sine_left, cosine_left = sincos(heading + HALF_PI)
    for k in range(4):
        forward = half_length if k in (0, 3) else -half_length
        left = half_width if k < 2 else -half_width
        out[k, 0] = x + (left * cosine_left + forward * cosine)
        out[k, 1] = y + (left * sine_left + forward * sine)


@borrowing
def write_ring(
    x: float, y: float, heading: float, half_length: float, half_width: float, ring: Floats
) -> None:
    """Write a box as a closed ring ``[5, xy]``: front left, rear left, rear right, front right."""
    write_corners(x, y, heading, half_length, half_width, ring)
    ring[4, 0], ring[4, 1] = ring[0, 0], ring[0, 1]


@borrowing
def write_car(x: float, y: float, heading: float, ring: Floats) -> None:
    """Write the car as a closed ring ``[5, xy]``, given the pose of its rear axle."""
    sine, cosine = sincos(heading)
    centre_x = x + REAR_AXLE_TO_CENTRE_M * cosine
    centre_y = y + REAR_AXLE_TO_CENTRE_M * sine
    write_ring(centre_x, centre_y, heading, HALF_LENGTH_M, HALF_WIDTH_M, ring)


@njit(cache=True)
def rings_of(box: Floats) -> Floats:
    """Closed rings ``[box, 5, xy]`` of boxes ``[box, 5]``: x, y, heading, length, width."""
    rings = np.empty((len(box), 5, 2))
    for i in range(len(box)):
        x, y, heading, length, width = box[i]
        write_ring(x, y, heading, length / 2.0, width / 2.0, rings[i])
    return rings
