"""One instant of a drive: the human's car, and everything around it in his frame."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.world.town.curves import Array, cross, unit
from navaudit.world.town.drive import Drive
from navaudit.world.town.traffic import DT_S

SEEN_M: Final = 75.0
"""Boxes are annotated within this distance of the rear axle."""


@dataclass(frozen=True, eq=False)
class Tracks:
    """All actors of a drive, stacked: ``[step, actor, 2]``, and ``[step, actor]``."""

    xy_m: Array
    heading: Array
    velocity_mps: Array
    braking: Array


@dataclass(frozen=True, eq=False)
class Moment:
    """The human's car in the town's frame, and the actors in his."""

    time_s: float
    """On the lights' clock."""
    u_m: float
    """Distance along his path."""
    xy_m: Array
    heading: Array
    speed_mps: float
    acceleration_mps2: float
    yaw_rate_radps: float
    seen: NDArray[np.int64]
    """Indices of the actors near enough to be annotated."""
    box_xy_m: Array
    """``[seen, 2]`` before and to the left of the rear axle."""
    box_way: Array
    """``[seen, 2]`` unit directions."""
    box_velocity_mps: Array
    braking: Array

    def into_ego(self, xy_m: Array) -> Array:
        """Points ``[..., 2]`` of the town's frame, in the human's."""
        return turn_into(xy_m - self.xy_m, self.heading)


def turn_into(vector: Array, heading: Array) -> Array:
    """Components of ``[..., 2]`` along a direction and to its left."""
    x, y = heading.tolist()
    return np.stack([vector[..., 0] * x + vector[..., 1] * y,
                     vector[..., 1] * x - vector[..., 0] * y], axis=-1)  # fmt: skip


def stack_tracks(drive: Drive) -> Tracks:
    """Stack a drive's actors."""
    actors = drive.actors
    return Tracks(
        np.stack([one.xy_m for one in actors], axis=1),
        np.stack([one.heading for one in actors], axis=1),
        np.stack([one.velocity_mps for one in actors], axis=1),
        np.stack([one.braking for one in actors], axis=1),
    )


def moment(drive: Drive, tracks: Tracks, step: float) -> Moment:
    """The drive after so many steps, which need not be whole."""
    k, share = int(step), step - int(step)

    def between(values: Array) -> Array:
        return np.asarray(values[k] * (1.0 - share) + values[k + 1] * share)

    u = float(between(drive.u_m))
    xy, heading = (one[0] for one in drive.weave.place(drive.path, np.array([u])))
    centre = between(tracks.xy_m)
    gap = centre - xy
    seen = np.flatnonzero((gap * gap).sum(axis=1) < SEEN_M * SEEN_M)
    way = unit(between(tracks.heading)[seen])
    return Moment(
        float(between(drive.clock_s)), u, np.round(xy, 6), heading,
        float(between(drive.speed_mps)), float(between(drive.acceleration_mps2)),
        _yaw_rate(drive, k), seen, turn_into(gap[seen], heading), turn_into(way, heading),
        turn_into(between(tracks.velocity_mps)[seen], heading), between(tracks.braking)[seen],
    )  # fmt: skip


def _yaw_rate(drive: Drive, k: int) -> float:
    """Turn over four steps, in rad/s; so small an angle is its sine."""
    before, after = max(0, k - 2), min(len(drive.u_m) - 1, k + 2)
    return cross(drive.heading[before], drive.heading[after]) / ((after - before) * DT_S)
