"""What the ego did: its states at frames, and where its driver went."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from navaudit import vehicle
from navaudit.axes import AX, HEADING, STATE, VX, X, Y
from navaudit.compiled import njit
from navaudit.numerics.twofold import bits_of, double_of, two_product, two_sum
from navaudit.world.logs import Frame
from navaudit.world.trigonometry import LIBM, Trig

Floats = NDArray[np.float64]


def states_of(frames: Sequence[Frame], *, trig: Trig = LIBM) -> Floats:
    """Return the states of the ego at some frames, ``[frame, 11]``, columns as ``axes.STATE``.

    Steering, yaw rate and yaw acceleration are not logged and are 0.
    """
    state = np.zeros((len(frames), len(STATE)))
    heading = np.array([frame.heading_rad for frame in frames])
    logged = np.array([frame.translation_m[:2] for frame in frames]).reshape(-1, 2)
    # kept as the centre of the box and taken back from there, which can round
    # (nuplan/common/actor_state/car_footprint.py:54)
    ahead = vehicle.REAR_AXLE_TO_CENTRE_M * np.column_stack([trig.cos(heading), trig.sin(heading)])
    state[:, X : Y + 1] = (logged + ahead) - ahead
    state[:, HEADING] = heading
    # navsim/common/dataclasses.py:466-467
    motion = np.array([frame.motion for frame in frames], np.float32).reshape(-1, 4)
    state[:, VX : VX + 2], state[:, AX : AX + 2] = motion[:, :2], motion[:, 2:]
    return state


def human_of(states: Floats, *, trig: Trig = LIBM) -> Floats:
    """Return where the ego went from the first of its states, ``[state - 1, 3]``.

    x_m, y_m, heading_rad in the frame of the first state's rear axle.

    Stock inverts the first pose's matrix, whose shift is as large as a UTM northing, and multiplies
    (nuplan/common/geometry/convert.py:49-51), so that positions carry noise of a nanometre. This
    repeats each rounding of LAPACK's and BLAS's on processors with a fused multiply-add.
    """
    heading = states[:, HEADING]
    relative = np.empty((len(states) - 1, 4))
    _relate(states[:, [X, Y]], trig.cos(heading), trig.sin(heading), relative)
    return np.column_stack([relative[:, :2], trig.atan2(relative[:, 3], relative[:, 2])])


@njit(cache=True, error_model="numpy")
def _relate(xy: Floats, cosine: Floats, sine: Floats, out: Floats) -> None:
    """Write x, y, cosine and sine of all poses but the first in the frame of the first."""
    for row, (along, across, shift) in enumerate(_inverse(cosine[0], sine[0], xy[0, 0], xy[0, 1])):
        for k in range(len(out)):
            c, s, x, y = cosine[k + 1], sine[k + 1], xy[k + 1, 0], xy[k + 1, 1]
            out[k, row] = fused(across, y, along * x) + shift
            out[k, 2 + row] = fused(across, s, along * c)


@njit(cache=True, error_model="numpy")
def _inverse(
    c: float, s: float, x: float, y: float
) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Return the first two rows of the inverse of ``[[c, -s, x], [s, c, y], [0, 0, 1]]``.

    Gaussian elimination with the larger of c and s as the first pivot, dividing by multiplying
    with reciprocals as OpenBLAS does, without fusing.
    """
    swapped = abs(s) > abs(c)
    a, b, e, d, f, g = (s, c, y, c, -s, x) if swapped else (c, -s, x, s, c, y)
    by_a = 1.0 / a
    factor = d * by_a
    by_f = 1.0 / (f - factor * b)
    rest = g - factor * e
    # columns of the inverse for the row on top, the row below it, and the shift
    top_y = -factor * by_f
    top_x = (1.0 - b * top_y) * by_a
    low_x = (0.0 - b * by_f) * by_a
    shift_y = -rest * by_f
    shift_x = (-e - b * shift_y) * by_a
    if swapped:
        return (low_x, top_x, shift_x), (by_f, top_y, shift_y)
    return (top_x, low_x, shift_x), (top_y, by_f, shift_y)


@njit(cache=True, error_model="numpy")
def fused(a: float, b: float, c: float) -> float:
    """Return ``a b + c``, rounded once.

    After Boldo and Melquiond: what the two rounded operations leave is rounded to odd before it is
    added. Within the range of `navaudit.numerics.twofold`.
    """
    product, rest = two_product(a, b)
    upper, lower = two_sum(c, rest)
    total, left = two_sum(product, upper)
    odd, error = two_sum(left, lower)
    if error != 0.0 and bits_of(odd) & 1 == 0:
        # one double over towards what was rounded off
        odd = double_of(bits_of(odd) + (1 if (error > 0.0) == (odd > 0.0) else -1))
    return total + odd
