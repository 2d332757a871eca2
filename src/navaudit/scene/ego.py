"""What the ego did: its states at frames, and where its driver went."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from navaudit import vehicle
from navaudit.axes import AX, HEADING, STATE, VX, X, Y
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
    cosine, sine = trig.cos(states[:, HEADING]).tolist(), trig.sin(states[:, HEADING]).tolist()
    x, y = states[:, X].tolist(), states[:, Y].tolist()
    rows = _inverse(cosine[0], sine[0], x[0], y[0])
    turned = [
        [_combined(a, c, b, s) for c, s in zip(cosine, sine, strict=True)] for a, b, _ in rows
    ]
    moved = [
        [_combined(a, east, b, north) + shift for east, north in zip(x, y, strict=True)]
        for a, b, shift in rows
    ]
    return np.column_stack([*moved, trig.atan2(turned[1], turned[0])])[1:]


def _inverse(c: float, s: float, x: float, y: float) -> tuple[tuple[float, float, float], ...]:
    """Return the first two rows of the inverse of ``[[c, -s, x], [s, c, y], [0, 0, 1]]``.

    Gaussian elimination with the larger of c and s as the first pivot, dividing by multiplying
    with reciprocals as OpenBLAS does, without fusing.
    """
    swapped = abs(s) > abs(c)
    (a, b, e), (d, f, g) = ((s, c, y), (c, -s, x)) if swapped else ((c, -s, x), (s, c, y))
    one_by_a = 1.0 / a
    factor = d * one_by_a
    one_by_f = 1.0 / (f - factor * b)
    rest = g - factor * e

    def column(upper: float, lower: float, last: float) -> tuple[float, float]:
        below = ((lower - factor * upper) - rest * last) * one_by_f
        return ((upper - e * last) - b * below) * one_by_a, below

    first, second = column(1.0, 0.0, 0.0), column(0.0, 1.0, 0.0)
    columns = ((second, first) if swapped else (first, second), column(0.0, 0.0, 1.0))
    (one, two), shift = columns
    return (one[0], two[0], shift[0]), (one[1], two[1], shift[1])


def _combined(a: float, x: float, b: float, y: float) -> float:
    """Return ``a x + b y`` with the first product rounded and the rest rounded once."""
    return float(Fraction(a * x) + Fraction(b) * Fraction(y))
