"""Candidates of our own making: seeded trajectories in the ego's frame, good, bad and absurd."""

from __future__ import annotations

import numpy as np

from navaudit.axes import DT_S, POSES

TIME_S = DT_S * np.arange(1, POSES + 1)


def integrate(speed, yaw_rate):
    """Poses ``[candidate, pose, 3]`` of speeds in m/s and turning in rad/s, both per pose."""
    turns = np.cumsum(yaw_rate * DT_S, axis=1)
    midway = turns - yaw_rate * DT_S / 2
    x = np.cumsum(speed * DT_S * np.cos(midway), axis=1)
    y = np.cumsum(speed * DT_S * np.sin(midway), axis=1)
    return np.stack([x, y, turns], axis=2)


def column(rng, low, high, count):
    """Numbers ``[candidate, 1]`` drawn evenly."""
    return rng.uniform(low, high, (count, 1))


def steady(rng, count, speed):
    """At about the ego's speed, straight or in a wide bend."""
    going = speed * column(rng, 0.6, 1.3, count) + column(rng, -1, 1, count)
    bend = column(rng, -0.02, 0.02, count) * rng.integers(0, 2, (count, 1))
    return integrate(going + 0 * TIME_S, going * bend + 0 * TIME_S)


def changing_pace(rng, count, speed):
    """Braking to a stop or speeding up."""
    pace = column(rng, -7, 4, count) * TIME_S
    going = np.maximum(speed + pace, 0)
    return integrate(going, going * column(rng, -0.01, 0.01, count))


def turning(rng, count, speed):
    """Round a corner, after a while."""
    going = np.clip(speed * column(rng, 0.4, 1, count), 1, 9) + 0 * TIME_S
    bend = 1 / column(rng, 5, 40, count) * rng.choice([-1, 1], (count, 1))
    return integrate(going, going * bend * (column(rng, 0, 2.5, count) < TIME_S))


def changing_lane(rng, count, speed):
    """Over by a lane within two seconds or so, and staying there."""
    going = np.maximum(speed * column(rng, 0.7, 1.2, count), 3) + 0 * TIME_S
    begin, took = column(rng, 0, 1.5, count), column(rng, 1, 2.5, count)
    phase = np.clip((TIME_S - begin) / took, 0, 1)
    across = column(rng, -4.5, 4.5, count) * 2 * np.pi / (took**2 * going)
    return integrate(going, across * np.sin(2 * np.pi * phase))


def zigzag(rng, count, speed):
    """Swaying from side to side."""
    going = np.maximum(speed, 2) * column(rng, 0.5, 1.2, count) + 0 * TIME_S
    sway = column(rng, 0.2, 2, count)
    return integrate(going, sway * np.cos(column(rng, 2, 9, count) * TIME_S))


def standing(rng, count, speed):
    """Not moving at all, or by millimetres."""
    del speed
    drift = rng.choice([0, 0, 1e-3, 5e-3, 6e-2], (count, 1)) * column(rng, -1, 1, count)
    return integrate(drift + 0 * TIME_S, 0 * drift * TIME_S)


def reversing(rng, count, speed):
    """Backward, straight or turning; a fast ego brakes first."""
    going = np.maximum(speed - 6 * TIME_S, column(rng, -7, -0.1, count))
    return integrate(going, column(rng, -0.4, 0.4, count) + 0 * TIME_S)


def absurd(rng, count, speed):
    """Faster than any car, or spinning."""
    del speed
    going = column(rng, 25, 150, count) + 0 * TIME_S
    return integrate(
        going, rng.choice([0, 0, 0.1, 1.5], (count, 1)) * column(rng, -1, 1, count) + 0 * TIME_S
    )


def stop_and_go(rng, count, speed):
    """Stopping for a moment, then driving on."""
    halt = column(rng, 0.5, 3, count)
    going = np.clip(np.abs(TIME_S - halt) * column(rng, 2, 8, count) - 0.5, 0, np.maximum(speed, 4))
    return integrate(going, going * column(rng, -0.03, 0.03, count))


def shaken(rng, count, speed):
    """Steady, seen through noise; headings may not fit the motion."""
    poses = steady(rng, count, speed)
    poses[..., :2] += rng.normal(0, 1, (count, POSES, 2)) * rng.choice(
        [0.01, 0.1, 0.5], (count, 1, 1)
    )
    poses[..., 2] += column(rng, -0.6, 0.6, count) * rng.integers(0, 2, (count, 1))
    return poses


def teleporting(rng, count, speed):
    """Steady, then suddenly elsewhere, perhaps facing the other way."""
    poses = steady(rng, count, speed)
    late = rng.integers(1, POSES, (count, 1)) <= np.arange(POSES)
    poses[..., :2] += late[..., None] * rng.uniform(-12, 12, (count, 1, 2))
    poses[..., 2] += late * rng.choice([0, np.pi / 2, np.pi, 2 * np.pi, -3], (count, 1))
    return poses


FAMILIES = (
    steady, changing_pace, turning, changing_lane, zigzag, standing,
    reversing, absurd, stop_and_go, shaken, teleporting,
)  # fmt: skip
SHARES = (0.2, 0.16, 0.12, 0.12, 0.05, 0.06, 0.06, 0.03, 0.08, 0.08, 0.04)


def draw_candidates(rng, count, speed):
    """Candidates float32 ``[candidate, 40, 3]`` of all families, for an ego at ``speed`` m/s."""
    family = rng.choice(len(FAMILIES), count, p=SHARES)
    poses = np.empty((count, POSES, 3))
    for number, drive in enumerate(FAMILIES):
        poses[family == number] = drive(rng, int((family == number).sum()), speed)
    return poses.astype(np.float32)
