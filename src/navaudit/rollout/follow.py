"""How the car follows a desired path: the LQR tracker and the kinematic bicycle, step by step.

The tracker looks ten steps ahead.  Its lateral problem has three states (offset, heading error,
steering) whose transition matrices are unit upper triangular, so their product has three entries
of interest, which are carried along as scalars in the order of the stock matrix products.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import (
    AX,
    AY,
    HEADING,
    POSES,
    STEERING,
    STEERING_RATE,
    VX,
    VY,
    YAW_ACCELERATION,
    YAW_RATE,
    X,
    Y,
)
from navaudit.compiled import borrowing
from navaudit.numerics.trig import sincos, tan, wrap_to_pi
from navaudit.vehicle import WHEEL_BASE_M

Floats = NDArray[np.float64]

LOOKAHEAD: Final = 10
"""Steps the tracker looks ahead."""
TRACKER_DT_S: Final = 0.1
BICYCLE_DT_S: Final = 100_000 * 1e-6
"""A time difference in microseconds made seconds again: one ulp below 0.1."""
STOPPING_SPEED_MPS: Final = 0.2
STOPPING_GAIN: Final = 0.5
SPEED_GAIN: Final = (-1 / (1.0 * 10.0 * 1.0 + 1.0)) * 1.0 * 10.0
HEADING_WEIGHT: Final = 10.0
STEERING_COST: Final = 1.0
ACCELERATION_SHARE: Final = BICYCLE_DT_S / (BICYCLE_DT_S + 0.2)
STEERING_SHARE: Final = BICYCLE_DT_S / (BICYCLE_DT_S + 0.05)
STEERING_LIMIT_RAD: Final = np.pi / 3
TWO_PI: Final = 2.0 * np.pi


@borrowing
def follow(
    ego: Floats,
    desired: Floats,
    speeds: Floats,
    curvatures: Floats,
    states: Floats,
    pointing: Floats,
) -> None:
    """Drive from ``ego`` ``[11]`` along desired ``[step, 5]``: writes states ``[step, 11]``.

    ``speeds`` and ``curvatures`` ``[displacement]`` are the fitted profiles of ``desired``; also
    writes the sine and cosine of each heading to ``pointing`` ``[step, 2]``.
    """
    for column in range(len(ego)):
        states[0, column] = ego[column]
    tangent = tan(ego[STEERING])
    for step in range(POSES):
        before = states[step]
        after = states[step + 1]
        pointing[step, 0], pointing[step, 1] = sincos(before[HEADING])
        acceleration, steering_rate = command(before, step, desired[step], speeds, curvatures)
        tangent = drive(before, pointing[step], acceleration, steering_rate, tangent, after)
    pointing[POSES, 0], pointing[POSES, 1] = sincos(states[POSES, HEADING])


@borrowing
def point(states: Floats, pointing: Floats) -> None:
    """Write the sine and cosine ``[step, 2]`` of the headings of states ``[step, 11]``."""
    for step in range(states.shape[0]):
        pointing[step, 0], pointing[step, 1] = sincos(states[step, HEADING])


@borrowing
def command(
    state: Floats, step: int, desired: Floats, speeds: Floats, curvatures: Floats
) -> tuple[float, float]:
    """Acceleration and steering rate the tracker asks for in this state ``[11]``."""
    ahead = min(step + LOOKAHEAD, POSES - 1)
    speed = state[VX]
    wanted = speeds[ahead]
    # both must be slow, or the regular controller drives (batch_lqr.py:162-165)
    if wanted <= STOPPING_SPEED_MPS and speed <= STOPPING_SPEED_MPS:
        return -STOPPING_GAIN * (speed - wanted), 0.0
    acceleration = SPEED_GAIN * (speed - wanted)

    x_error = state[X] - desired[0]
    y_error = state[Y] - desired[1]
    offset = -x_error * desired[4] + y_error * desired[3]
    heading_error = _wrap(state[HEADING] - desired[2])
    steering = state[STEERING]

    a01, a02, a12 = 0.0, 0.0, 0.0
    b0, b1, b2 = 0.0, 0.0, 0.0
    g0, g1 = 0.0, 0.0
    gained = 0.0
    for k in range(LOOKAHEAD):
        at_speed = speed + gained
        gained += acceleration * TRACKER_DT_S
        curvature = curvatures[min(step + k, ahead)]
        way = at_speed * TRACKER_DT_S
        bend = way / WHEEL_BASE_M
        a01, a02, a12 = a01 + way, a02 + way * a12, a12 + bend
        b0, b1, b2 = b0 + way * b1, b1 + bend * b2, b2 + TRACKER_DT_S
        g0, g1 = g0 + way * g1, g1 + -at_speed * curvature * TRACKER_DT_S

    end_offset = ((offset + a01 * heading_error) + a02 * steering) + g0
    end_heading = _wrap((heading_error + a12 * steering) + g1)
    weighted = b1 * HEADING_WEIGHT
    inverse = -1 / ((b0 * b0 + weighted * b1) + STEERING_COST)
    return acceleration, inverse * (b0 * end_offset + weighted * end_heading)


@borrowing
def drive(
    before: Floats,
    pointing: Floats,
    acceleration: float,
    steering_rate: float,
    tangent: float,
    after: Floats,
) -> float:
    """Advance the bicycle by one step.

    ``pointing`` is the sine and cosine of the old heading, ``tangent`` that of the old steering.

    Returns the tangent of the new steering angle.
    """
    speed = before[VX]
    steering = before[STEERING]
    wanted_steering = BICYCLE_DT_S * steering_rate + steering
    new_acceleration = ACCELERATION_SHARE * (acceleration - before[AX]) + before[AX]
    new_steering = STEERING_SHARE * (wanted_steering - steering) + steering
    new_rate = (new_steering - steering) / BICYCLE_DT_S

    after[X] = before[X] + speed * pointing[1] * BICYCLE_DT_S
    after[Y] = before[Y] + speed * pointing[0] * BICYCLE_DT_S
    # the heading turns with the old steering angle, the yaw rate is of the new clipped one
    # (batch_kinematic_bicycle.py:92-105)
    turned = before[HEADING] + speed * tangent / WHEEL_BASE_M * BICYCLE_DT_S
    after[HEADING] = wrap_to_pi(turned)
    after[VX] = speed + new_acceleration * BICYCLE_DT_S
    after[VY] = 0.0
    after[AX] = new_acceleration
    after[AY] = 0.0
    integrated = steering + new_rate * BICYCLE_DT_S
    after[STEERING] = min(max(integrated, -STEERING_LIMIT_RAD), STEERING_LIMIT_RAD)
    after[STEERING_RATE] = new_rate
    new_tangent = tan(after[STEERING])
    after[YAW_RATE] = after[VX] * new_tangent / WHEEL_BASE_M
    after[YAW_ACCELERATION] = (after[YAW_RATE] - before[YAW_RATE]) / BICYCLE_DT_S
    return new_tangent


@borrowing
def _wrap(angle: float) -> float:
    """Bring an angle to [-pi, pi].

    The stock code takes arctan2 of sine and cosine, which gives an angle within that range back to
    an ulp; here it comes back as it is.
    """
    if -np.pi <= angle <= np.pi:
        return angle
    return angle - TWO_PI * math.floor((angle + np.pi) / TWO_PI)
