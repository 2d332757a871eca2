"""The town's own vocabulary: candidate trajectories that cover what cars do in four seconds.

Trajectories driven in the town and trajectories sampled from a kinematic car are put together;
boxes of equally many are cut by halving along the widest axis (a k-d partition), a few rounds of
Lloyd's algorithm settle their centres, and the trajectory nearest to each centre is kept.  So
every row is a trajectory that a car can drive, not a mean of several.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from navaudit.axes import DT_S, POSES
from navaudit.errors import BadInput
from navaudit.world.town.angles import heading_of, sincos
from navaudit.world.town.chance import stream
from navaudit.world.town.drive import STEPS, Drive
from navaudit.world.town.moments import turn_into

Array = NDArray[np.float64]

LARGEST: Final = 16384
SAMPLES_EACH: Final = 5
"""Sampled trajectories per candidate wanted."""
ROUNDS: Final = 2
"""Of Lloyd's algorithm."""
SHARPEST: Final = 0.16
"""Largest curvature, in 1/m."""
SIDEWAYS_MPS2: Final = 2.8
HARDEST_MPS2: Final = 6.0
FASTEST_MPS: Final = 15.5
LOOKED_AT: Final = (9, 19, 29, 39)
"""Poses by which trajectories are compared: after 1, 2, 3 and 4 s."""
HEADING_M: Final = 4.0
"""Metres that a radian of final heading counts for."""


def build_vocabulary(seed: int, size: int, driven_parts: Iterable[Array]) -> NDArray[np.float32]:
    """Return ``[candidate, pose, 3]``: x and y in metres and heading, in the ego's frame.

    ``driven_parts`` are arrays of trajectories, as `driven` gives them.  Row 0 stands still; no
    row occurs twice.
    """
    if not 2 <= size <= LARGEST:
        raise BadInput(
            f"vocabulary size is {size}", where="--vocabulary-size", expected=f"2 to {LARGEST}"
        )
    rng = stream(seed, "vocabulary")
    pool = np.concatenate([*driven_parts, sampled(rng, SAMPLES_EACH * size + 64)])
    pool = np.round(pool, 5).astype(np.float32) + np.float32(0.0)
    pool = np.unique(pool.reshape(len(pool), -1), axis=0).reshape(-1, POSES, 3)
    pool = pool[np.abs(pool[:, -1, :2]).max(axis=1) > 0.02]
    features = _features(pool)
    rows = _pick(features, _settle(features, size - 1))
    return np.concatenate([np.zeros((1, POSES, 3), np.float32), pool[rows]])


def driven(drive: Drive) -> Array:
    """What the cars of a drive did over four seconds, ``[trajectory, pose, 3]``, every second."""
    cars = [one for one in drive.actors if one.kind == "vehicle" and one.velocity_mps.any()]
    lines = [(drive.xy_m, drive.heading), *((one.xy_m, one.heading) for one in cars)]
    found = []
    for xy, heading in lines:
        for start in range(0, STEPS - POSES, 10):
            ahead = slice(start + 1, start + 1 + POSES)
            where = turn_into(xy[ahead] - xy[start], heading[start])
            turned = heading_of(turn_into(heading[ahead], heading[start]))
            found.append(np.column_stack([where, turned]))
    return np.stack(found)


def sampled(rng: np.random.Generator, count: int) -> Array:
    """Trajectories of a kinematic car, ``[trajectory, pose, 3]``.

    The acceleration and the curvature each run from one value to another over the horizon; half
    of the cars keep nearly straight, and a tenth come to a stop.
    """
    speed = rng.uniform(0.0, FASTEST_MPS, count)
    stops = rng.random(count) < 0.1
    begin, end = rng.uniform(-3.2, 2.2, (2, count))
    braking = np.minimum(speed / rng.uniform(1.2, 4.0, count), HARDEST_MPS2)
    begin = np.where(stops, -braking, begin)
    end = np.where(stops, begin, end)
    gentle = np.where(rng.random(count) < 0.5, 0.06, 1.0)
    bend = rng.uniform(-1.0, 1.0, (2, count))
    bend = bend * np.abs(bend) * gentle * SHARPEST
    x, y, heading = np.zeros((3, count))
    out = np.empty((count, POSES, 3))
    for pose in range(POSES):
        share = (pose + 0.5) / POSES
        change = (begin + (end - begin) * share) * DT_S
        after = np.clip(speed + change, 0.0, FASTEST_MPS)
        mean = (speed + after) / 2
        most = SIDEWAYS_MPS2 / np.maximum(mean * mean, 1e-3)
        curvature = np.clip(bend[0] + (bend[1] - bend[0]) * share, -most, most)
        turn = mean * DT_S * curvature
        sine, cosine = sincos(heading + turn / 2)
        x, y = x + mean * DT_S * cosine, y + mean * DT_S * sine
        heading, speed = heading + turn, after
        out[:, pose] = np.column_stack([x, y, heading])
    return out


def _features(pool: NDArray[np.float32]) -> Array:
    places = pool[:, LOOKED_AT, :2].astype(np.float64).reshape(len(pool), -1)
    return np.column_stack([places, pool[:, -1, 2] * HEADING_M])


def _settle(features: Array, count: int) -> Array:
    """Centres ``[count, feature]`` of boxes of equally many, moved to where they balance."""
    label = _halve(features, count)
    for _ in range(ROUNDS):
        centres = _means(features, label, count)
        label = cKDTree(centres).query(features)[1]
    return _means(features, label, count)


def _halve(features: Array, count: int) -> NDArray[np.int64]:
    """Cut the points into ``count`` boxes of equally many by halving along the widest axis."""
    label = np.zeros(len(features), dtype=np.int64)
    todo = [(np.arange(len(features)), 0, count)]
    while todo:
        members, first, boxes = todo.pop()
        if boxes == 1:
            label[members] = first
            continue
        part = features[members]
        axis = int((part.max(axis=0) - part.min(axis=0)).argmax())
        order = members[np.argsort(part[:, axis], kind="stable")]
        left = boxes // 2
        cut = len(order) * left // boxes
        todo += [(order[:cut], first, left), (order[cut:], first + left, boxes - left)]
    return label


def _means(features: Array, label: NDArray[np.int64], count: int) -> Array:
    """Mean of each box; an empty one stays at the mean of all, and is passed over later."""
    number = np.bincount(label, minlength=count)
    sums = [np.bincount(label, weights=column, minlength=count) for column in features.T]
    return np.column_stack(sums) / np.maximum(number, 1)[:, None]


def _pick(features: Array, centres: Array) -> NDArray[np.int64]:
    """The point nearest to each centre, each point once; ascending."""
    nearest = cKDTree(features).query(centres)[1]
    chosen = np.unique(nearest)
    rest = np.setdiff1d(np.arange(len(features)), chosen)
    missing = len(centres) - len(chosen)
    spread = rest[np.arange(missing) * len(rest) // max(missing, 1)]
    return np.sort(np.concatenate([chosen, spread]))
