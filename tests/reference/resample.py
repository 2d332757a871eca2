"""Where a trajectory wants the car to be at each of the 41 steps, in the map frame."""

import numpy as np

from navaudit.axes import HEADING, STEPS, X, Y
from navaudit.vehicle import REAR_AXLE_TO_CENTRE_M


def desired_candidates(scene, poses, interval_s=0.1):
    """Steps ``[candidate, step, 3]`` of poses ``[candidate, pose, 3]`` in the ego's own frame."""
    knots_us = knot_times_us(scene.time_us, poses.shape[1], interval_s)
    ego = np.broadcast_to(scene.ego[:3], (len(poses), 1, 3))
    knots = np.concatenate([ego, kept_by_centre(into_map(scene.ego[:3], poses))], axis=1)
    return at_steps(scene.time_us, knots_us, knots)


def desired_human(scene):
    """Steps ``[1, step, 3]`` of the logged human, who has a pose every half second."""
    return desired_candidates(scene, scene.human[None], interval_s=0.5)


def desired_reference(scene):
    """Steps ``[1, step, 3]`` of the PDM-Closed reference, which is in the map frame already."""
    track = scene.reference
    return at_steps(scene.time_us, track.time_us, track.state[None][:, :, (X, Y, HEADING)])


def knot_times_us(start_us, poses, interval_s):
    """Stamps of t = 0 and of every pose: seconds since 1970, cut off to whole microseconds."""
    start_s = start_us * 1e-6
    seconds = np.arange(0, poses) * interval_s + interval_s + start_s
    return np.array([start_us, *(int(one) for one in seconds * 1e6)])


def step_times_us(start_us):
    """Stamps at which the steps are read; rounded apart from the knots, so at times 1 us off."""
    seconds = np.arange(STEPS) * 0.1 + start_us * 1e-6
    return np.array([int(one) for one in seconds * 1e6])


def into_map(ego, poses):
    """Poses ``[..., 3]`` relative to the ego, as 3 x 3 matrices multiplied by the ego's own."""
    together = matrices(ego) @ matrices(np.asarray(poses, np.float64))
    heading = np.arctan2(together[..., 1, 0], together[..., 0, 0])
    return np.stack([together[..., 0, 2], together[..., 1, 2], heading], axis=-1)


def matrices(poses):
    """Homogeneous matrices ``[..., 3, 3]`` of poses ``[..., 3]``."""
    x, y, heading = np.moveaxis(poses, -1, 0)
    cosine, sine, one, nil = np.cos(heading), np.sin(heading), np.ones_like(x), np.zeros_like(x)
    rows = [[cosine, -sine, x], [sine, cosine, y], [nil, nil, one]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def at_steps(start_us, knots_us, knots):
    """Read knots ``[candidate, knot, 3]`` at the steps; beyond the ends the end is held."""
    steps_us = np.clip(step_times_us(start_us), knots_us[0], knots_us[-1])
    return kept_by_centre(interpolate(knots_us, knots, steps_us))


def interpolate(knots_us, knots, at_us):
    """Straight lines between poses ``[..., knot, 3]``; headings the short way round.

    A time that is a knot is read from the interval before it.
    """
    knots = knots.copy()
    knots[..., HEADING] = np.unwrap(knots[..., HEADING], axis=-1)
    late = np.clip(np.searchsorted(knots_us, at_us, side="left"), 1, len(knots_us) - 1)
    early = late - 1
    slope = np.diff(knots, axis=-2)[..., early, :] / np.diff(knots_us)[early, None]
    there = slope * (at_us - knots_us[early])[:, None] + knots[..., early, :]
    there[..., HEADING] = principal(there[..., HEADING])
    return there


def principal(heading):
    """Bring a heading into [-pi, pi)."""
    return (heading + np.pi) % (2 * np.pi) - np.pi


def kept_by_centre(poses):
    """Rear axles ``[..., 3]`` as an ego state gives them back: it keeps the car's centre."""
    poses = poses.copy()
    way = REAR_AXLE_TO_CENTRE_M * np.stack([np.cos(poses[..., 2]), np.sin(poses[..., 2])], axis=-1)
    poses[..., :2] = (poses[..., :2] + way) - way
    return poses
