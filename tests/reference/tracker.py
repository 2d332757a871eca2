"""How the car follows: a linear-quadratic regulator ten steps ahead, and a kinematic bicycle."""

import numpy as np

from navaudit.axes import (
    AX,
    DT_S,
    HEADING,
    POSES,
    STATE,
    STEERING,
    STEERING_RATE,
    STEPS,
    VX,
    YAW_ACCELERATION,
    YAW_RATE,
    X,
    Y,
)
from navaudit.vehicle import WHEEL_BASE_M
from reference.profiles import fit_profiles
from reference.resample import principal

HORIZON = 10
BICYCLE_DT_S = 100_000 * 1e-6
"""The bicycle's step: microseconds made seconds, one rounding below the tracker's."""
OFFSET_ERROR, HEADING_ERROR, STEERING_ERROR = range(3)
LATERAL_WEIGHTS = np.diag([1.0, 10.0, 0.0])


def simulate(ego, desired):
    """States ``[candidate, step, 11]`` from the ego's ``[11]`` along ``[candidate, step, 3]``."""
    speeds, curvatures = fit_profiles(desired)
    states = np.zeros((len(desired), STEPS, len(STATE)))
    states[:, 0] = ego
    for step in range(POSES):
        last = min(step + HORIZON, POSES - 1)
        bends = curvatures[:, np.minimum(np.arange(step, step + HORIZON), last)]
        asked = command(states[:, step], desired[:, step], speeds[:, last], bends)
        states[:, step + 1] = drive(states[:, step], *asked)
    return states


def command(state, wanted, wanted_speed, bends):
    """Acceleration and steering rate ``[candidate]``; ``bends`` is ``[candidate, 10]``."""
    speed = state[:, VX]
    stop = (wanted_speed <= 0.2) & (speed <= 0.2)
    ahead_s = HORIZON * DT_S
    acceleration = -10 * ahead_s / (10 * ahead_s**2 + 1) * (speed - wanted_speed)
    acceleration = np.where(stop, -0.5 * (speed - wanted_speed), acceleration)
    speeds = speed[:, None] + DT_S * acceleration[:, None] * np.arange(HORIZON)
    return acceleration, np.where(stop, 0.0, steering_rate(state, wanted, speeds, bends))


def steering_rate(state, wanted, speeds, bends):
    """Steering rate, held for ten steps, that leaves the least lateral error at their end."""
    A, B, g = lateral_dynamics(speeds, bends)
    end = (A @ lateral_errors(state, wanted)[..., None])[..., 0] + g
    end[:, HEADING_ERROR:] = np.arctan2(
        np.sin(end[:, HEADING_ERROR:]), np.cos(end[:, HEADING_ERROR:])
    )
    weighted = B @ LATERAL_WEIGHTS
    return -np.sum(weighted * end, axis=1) / (np.sum(weighted * B, axis=1) + 1)


def lateral_errors(state, wanted):
    """Offset, heading error and steering ``[candidate, 3]`` against the desired pose."""
    away = state[:, (X, Y)] - wanted[:, :2]
    left = np.stack([-np.sin(wanted[:, 2]), np.cos(wanted[:, 2])], axis=1)
    turned = state[:, HEADING] - wanted[:, 2]
    offset = np.sum(away * left, axis=1)
    return np.stack(
        [offset, np.arctan2(np.sin(turned), np.cos(turned)), state[:, STEERING]], axis=1
    )


def lateral_dynamics(speeds, bends):
    """A, B and g of ``end = A @ errors + B * rate + g`` after ten linear steps."""
    count = len(speeds)
    A, B, g = np.tile(np.eye(3), (count, 1, 1)), np.zeros((count, 3)), np.zeros((count, 3))
    for k in range(HORIZON):
        way = DT_S * speeds[:, k]
        step = np.tile(np.eye(3), (count, 1, 1))
        step[:, OFFSET_ERROR, HEADING_ERROR] = way
        step[:, HEADING_ERROR, STEERING_ERROR] = way / WHEEL_BASE_M
        A = step @ A
        B = (step @ B[..., None])[..., 0]
        B[:, STEERING_ERROR] += DT_S
        g = (step @ g[..., None])[..., 0]
        g[:, HEADING_ERROR] -= way * bends[:, k]
    return A, B, g


def drive(state, acceleration, rate):
    """One step of the bicycle: commands pass a low pass, then the old state is carried on."""
    dt = BICYCLE_DT_S
    after = np.zeros_like(state)
    speed, steering = state[:, VX], state[:, STEERING]
    after[:, AX] = state[:, AX] + dt / (dt + 0.2) * (acceleration - state[:, AX])
    after[:, STEERING_RATE] = dt / (dt + 0.05) * rate
    after[:, X] = state[:, X] + dt * speed * np.cos(state[:, HEADING])
    after[:, Y] = state[:, Y] + dt * speed * np.sin(state[:, HEADING])
    # the heading turns with the old steering angle
    after[:, HEADING] = principal(state[:, HEADING] + dt * speed * np.tan(steering) / WHEEL_BASE_M)
    after[:, VX] = speed + dt * after[:, AX]
    after[:, STEERING] = np.clip(steering + dt * after[:, STEERING_RATE], -np.pi / 3, np.pi / 3)
    # the yaw rate is that of the new one
    after[:, YAW_RATE] = after[:, VX] * np.tan(after[:, STEERING]) / WHEEL_BASE_M
    after[:, YAW_ACCELERATION] = (after[:, YAW_RATE] - state[:, YAW_RATE]) / dt
    return after
