"""The reference trajectory: what the PDM-Closed planner would drive.

Fifteen proposals follow three paths beside the centreline at five wished speeds, keeping their
distance from what is forecast.  They are scored, the best is kept, the first of equals, and driven
on from four to five seconds.  The reference is that path itself, not what a car makes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import HEADING, STATE, STEPS, VX, X, Y
from navaudit.errors import BadInput
from navaudit.numerics.angles import cos_of, hypot_of, sin_of
from navaudit.numerics.polyline import lengths_along
from navaudit.scene.corridor import (
    OFFSETS_M,
    Obstacles,
    Path,
    corridor,
    find_obstacles,
    grow_trees,
    paths_beside,
)
from navaudit.scene.forecast import Forecast, foresee, met_at_start
from navaudit.scene.idm import Crowd, Fan, start_cars, unroll
from navaudit.scene.memory import Memory
from navaudit.scene.outlook import Outlook
from navaudit.scene.scene import BICYCLE, Track
from navaudit.vehicle import REAR_AXLE_TO_CENTRE_M

Floats = NDArray[np.float64]

SPEED_FRACTIONS: Final = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Wished speeds, as fractions of the speed limit."""
NO_LIMIT_MPS: Final = 15.0
"""Speed limit of a lane without one."""
SPEEDS: Final = len(SPEED_FRACTIONS)
PROPOSALS: Final = len(OFFSETS_M) * SPEEDS
"""Proposal ``p`` follows path ``p // 5`` at speed ``p % 5``."""
POSES: Final = 51
"""Poses of a reference: 0.0 to 5.0 s."""
STEP_US: Final = 100_000


@dataclass(frozen=True, eq=False)
class Trial:
    """What is put before the judge."""

    outlook: Outlook
    forecast: Forecast
    paths: Floats
    """``[proposal, step, 3]``: x_m, y_m, heading_rad to be followed from the ego's state."""


Judge = Callable[[Trial], Floats]
"""Gives every proposal of a trial its score: ``[proposal]``."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What the planner makes of a scene."""

    track: Track
    """The reference: 51 poses over 5 s; all but pose and time is zero."""
    memory: Memory
    """What is carried on to the next scene of the chunk."""
    chosen: int
    """The proposal that won."""
    scores: Floats
    """``[proposal]``"""
    pose: Floats
    """``[proposal, step, 3]``: x_m, y_m, heading_rad; steps beyond 4 s of the winner alone."""
    motion: Floats
    """``[proposal, step, (progress_m, speed_mps)]``"""
    leader: Floats
    """``[proposal, step, (progress_m, speed_mps, rear_m)]``"""
    met: tuple[str, ...]
    """What the car touches at t = 0: tracks, and the red lights it stands wholly in."""


def propose(outlook: Outlook, memory: Memory, judge: Judge) -> Plan:
    """Plan a scene with what is remembered, as the stock planner does when it caches."""
    _expect_line(outlook)
    recall = memory.recall(outlook.token)
    forecast = foresee(outlook, frozenset(recall.ids))
    trees = grow_trees(forecast.shapes())
    met = met_at_start(outlook.ego, forecast, trees[0])
    wanted = wished_speeds(outlook.route.speed_limit_mps)
    paths = paths_beside(outlook.route.centreline)
    start = [float(lengths_along(outlook.ego[[X, Y]], path.line)) for path in paths]
    # product by product, as pdm_generator.py:348-353 forms it
    reach = abs(float(wanted.max())) * (POSES - 1) * 0.1
    corridors = [corridor(path, at, at + reach) for path, at in zip(paths, start, strict=True)]
    ignored = recall.ignored.union(met)
    obstacles = find_obstacles(paths, corridors, trees, forecast.token, ignored)
    drive = _Drive(paths, wanted, obstacles, crowd_of(forecast))
    fan = drive.begin(start, float(outlook.ego[VX]))
    scores = judge(Trial(outlook, forecast, fan.pose[:, :STEPS]))
    chosen = int(np.argmax(scores))
    drive.go_on(fan, chosen)
    track = stamp(outlook.time_us, fan.pose[chosen])
    return Plan(track, memory.keep(met), chosen, scores, fan.pose, fan.motion, fan.leader, met)


@dataclass(eq=False)
class Planner:
    """The planner of one chunk: gives each outlook in turn its reference, and remembers.

    Not frozen: what it remembers is the point of it.
    """

    judge: Judge
    memory: Memory = field(default_factory=Memory)

    def __call__(self, outlook: Outlook) -> Track:
        """Plan the next scene of the chunk."""
        plan = propose(outlook, self.memory, self.judge)
        self.memory = plan.memory
        return plan.track


@dataclass(frozen=True, eq=False)
class _Drive:
    """All that the unrolling reads and does not change."""

    paths: tuple[Path, ...]
    wanted: Floats
    obstacles: list[Obstacles]
    crowd: Crowd

    def begin(self, start: list[float], speed_mps: float) -> Fan:
        """Drive all proposals to 4 s."""
        fan = Fan(*(np.zeros((PROPOSALS, POSES, width)) for width in (3, 2, 3)))
        for k, (path, at) in enumerate(zip(self.paths, start, strict=True)):
            part = _part(fan, slice(k * SPEEDS, (k + 1) * SPEEDS))
            start_cars(path, at, speed_mps, part)
            unroll(path, self.wanted, self.obstacles[k], self.crowd, 1, STEPS - 1, part)
        return fan

    def go_on(self, fan: Fan, proposal: int) -> None:
        """Drive one proposal on to 5 s, alone."""
        k, speed = divmod(proposal, SPEEDS)
        part = _part(fan, slice(proposal, proposal + 1))
        wanted = self.wanted[speed : speed + 1]
        unroll(self.paths[k], wanted, self.obstacles[k], self.crowd, STEPS, POSES - 1, part)


def _part(fan: Fan, cars: slice) -> Fan:
    return Fan(fan.pose[cars], fan.motion[cars], fan.leader[cars])


def wished_speeds(speed_limit_mps: float) -> Floats:
    """Speeds ``[speed]`` the proposals would like to drive."""
    limit = NO_LIMIT_MPS if np.isnan(speed_limit_mps) else speed_limit_mps
    return np.array(SPEED_FRACTIONS) * limit


def crowd_of(forecast: Forecast) -> Crowd:
    """Lay a forecast out for the kernel."""
    objects, lights = forecast.objects, forecast.light_polygons
    velocity = objects.velocity_mps
    speed = hypot_of(velocity[:, 1], velocity[:, 0])
    return Crowd(
        forecast.ring,
        np.ascontiguousarray(objects.box[:, 2]),
        np.where(objects.kind <= BICYCLE, speed, 0.0),
        lights.xy,
        lights.ring_start,
        lights.polygon_ring,
    )


def stamp(time_us: int, pose: Floats) -> Track:
    """Return poses ``[step, 3]`` as the track that stock code keeps, 0.1 s apart."""
    state = np.zeros((len(pose), len(STATE)))
    heading = pose[:, 2]
    # kept as the car's centre and given back from it, which rounds twice
    # (nuplan common/actor_state/car_footprint.py:69,80)
    for column, direction in ((X, cos_of(heading)), (Y, sin_of(heading))):
        centre = pose[:, column] + REAR_AXLE_TO_CENTRE_M * direction
        state[:, column] = centre + -REAR_AXLE_TO_CENTRE_M * direction
    state[:, HEADING] = heading
    return Track(time_us + STEP_US * np.arange(len(pose), dtype=np.int64), state)


def _expect_line(outlook: Outlook) -> None:
    line = outlook.route.centreline
    where = f"token {outlook.token}"
    if len(line) < 2 or not np.isfinite(line).all():
        raise BadInput("there is no centreline to follow", where=where, expected="a finite line")
    if not np.isfinite(outlook.ego).all():
        raise BadInput("the ego's state is not finite", where=where)
