"""Worlds drawn by hand: `Scene` values straight from the pencil, without files.

A drawing has x ahead and y to the left, in metres; the car's rear axle stands at its origin unless
it is put elsewhere.  ``scene`` places the drawing on a map.

>>> world = street().driving(8.0).with_parked_car(x=25).with_red_light(30, 45)
>>> len(world.scene().traffic)
1
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import shapely

from navaudit.axes import AX, AY, DT_S, HEADING, HUMAN_POSES, STATE, STEPS, VX, VY, X, Y
from navaudit.numerics.polygons import Polygons
from navaudit.scene.scene import (
    AGENT_KINDS,
    BICYCLE,
    GROUND_KINDS,
    Ground,
    Lights,
    Scene,
    Track,
    Traffic,
)

LANE_M = 3.5
SIZE_M = {"vehicle": (4.6, 1.9), "pedestrian": (0.6, 0.6), "bicycle": (1.8, 0.7)}
"""Length and width of boxes by kind; other things are half a metre wide."""


@dataclass(frozen=True)
class Placement:
    """Where a drawing lies on the map."""

    x_m: float = 0.0
    y_m: float = 0.0
    heading_rad: float = 0.0

    def points(self, xy):
        """Carry points ``[..., xy]`` of the drawing over."""
        xy = np.asarray(xy, float)
        cosine, sine = np.cos(self.heading_rad), np.sin(self.heading_rad)
        x = self.x_m + (cosine * xy[..., 0] - sine * xy[..., 1])
        y = self.y_m + (sine * xy[..., 0] + cosine * xy[..., 1])
        return np.stack([x, y], axis=-1)

    def poses(self, poses):
        """Carry poses ``[..., 3]`` over; headings keep within half a turn."""
        poses = np.asarray(poses, float)
        heading = poses[..., 2] + self.heading_rad
        heading = np.where(
            np.abs(heading) <= np.pi, heading, (heading + np.pi) % (2 * np.pi) - np.pi
        )
        return np.concatenate([self.points(poses[..., :2]), heading[..., None]], axis=-1)

    def shape(self, shape):
        """Carry a polygon over; borders that touch keep touching."""
        return shapely.transform(shape, self.points)


@dataclass(frozen=True)
class Agent:
    """One tracked object in the drawing."""

    kind: str
    box: np.ndarray
    """``[step, 5]``, NaN where it is not there."""
    velocity_mps: tuple[float, float] = (0.0, 0.0)
    """At the first step it is there."""


@dataclass(frozen=True)
class World:
    """A scene under the pencil; every method returns another drawing."""

    state: tuple[float, ...] = (0.0,) * len(STATE)
    """The car at t = 0, in the drawing."""
    patches: tuple[tuple[str, str, object, bool], ...] = ()
    """Kind, id, polygon and whether it is a lane of the route."""
    agents: tuple[Agent, ...] = ()
    lights: tuple[tuple[str, object, np.ndarray], ...] = ()
    """Id, polygon and ``[step]`` whether it shows red."""
    centreline: np.ndarray = field(default_factory=lambda: np.array([[-20.0, 0.0], [200.0, 0.0]]))
    """``[vertex, xy]``"""
    human: np.ndarray | None = None
    """``[8, 3]`` in the drawing; straight on at the car's speed if not drawn."""
    reference: np.ndarray | None = None
    """``[51, 3]`` in the drawing; straight on at the car's speed if not drawn."""
    past_us: tuple[int, ...] = (-1_500_000, -1_000_000, -500_000, 0)
    time_us: int = 1_620_000_000_123_456
    token: str = "0123456789abcdef"

    # ------------------------------------------------------------------------------ the car

    def at(self, x, y, heading=0.0):
        """Put the car's rear axle here."""
        return replace(self, state=(x, y, heading, *self.state[3:]))

    def driving(self, speed_mps, acceleration_mps2=0.0):
        """Let the car drive at t = 0."""
        state = np.array(self.state)
        state[[VX, AX]] = speed_mps, acceleration_mps2
        return replace(self, state=tuple(state.tolist()))

    def with_human(self, poses):
        """Let the human drive these eight poses of the drawing, half a second apart."""
        return replace(self, human=np.asarray(poses, float))

    # --------------------------------------------------------------------------- the ground

    def with_patch(self, kind, shape, name=None, route=False):
        """Pave a polygon of some ground kind."""
        name = f"{kind}{len(self.patches)}" if name is None else name
        return replace(self, patches=(*self.patches, (kind, name, shape, route)))

    def with_lane(self, x0, x1, y=0.0, route=True, name=None, kind="lane"):
        """Pave a lane along the drawing, with its middle at y."""
        shape = shapely.box(x0, y - LANE_M / 2, x1, y + LANE_M / 2)
        return self.with_patch(kind, shape, name, route)

    def with_crossing(self, x0, x1, wide=10.0):
        """Pave an intersection with a connector straight through it."""
        crossing = self.with_patch("intersection", shapely.box(x0, -wide, x1, wide))
        return crossing.with_lane(x0, x1, kind="lane_connector")

    def without_route(self):
        """Keep the lanes, but none of them on the route."""
        return replace(self, patches=tuple((*patch[:3], False) for patch in self.patches))

    # ------------------------------------------------------------------------- who is there

    def with_agent(self, kind, poses, size=None, velocity_mps=None):
        """Add an object at poses ``[step, 3]``, NaN where it is not there."""
        poses = np.broadcast_to(np.asarray(poses, float), (STEPS, 3))
        size = np.broadcast_to(SIZE_M.get(kind, (0.5, 0.5)) if size is None else size, (STEPS, 2))
        box = np.where(np.isnan(poses[:, :1]), np.nan, np.concatenate([poses, size], axis=1))
        velocity = first_velocity(poses) if velocity_mps is None else velocity_mps
        if AGENT_KINDS.index(kind) > BICYCLE:
            velocity = (0.0, 0.0)
        return replace(self, agents=(*self.agents, Agent(kind, box, tuple(velocity))))

    def with_parked_car(self, x, y=0.0, heading=0.0):
        """Park a car with its centre here."""
        return self.with_agent("vehicle", (x, y, heading))

    def with_cone(self, x, y=0.0):
        """Put a traffic cone here."""
        return self.with_agent("traffic_cone", (x, y, 0.0), (0.4, 0.4))

    def with_car(self, x, y=0.0, heading=0.0, speed_mps=8.0, kind="vehicle"):
        """Let somebody drive straight on from here."""
        way = speed_mps * DT_S * np.arange(STEPS)
        poses = [x + way * np.cos(heading), y + way * np.sin(heading), heading + 0 * way]
        return self.with_agent(kind, np.stack(poses, axis=1))

    def without_traffic(self):
        """Remove everybody."""
        return replace(self, agents=())

    def with_red_light(self, x0, x1, y=0.0, begin=0, end=STEPS, name=None):
        """Let the connector between x0 and x1 show red from one step to before another."""
        shape = shapely.box(x0, y - LANE_M / 2, x1, y + LANE_M / 2)
        red = (np.arange(STEPS) >= begin) & (np.arange(STEPS) < end)
        name = f"light{len(self.lights)}" if name is None else name
        return replace(self, lights=(*self.lights, (name, shape, red)))

    # ---------------------------------------------------------------------------- the scene

    def scene(self, x_m=0.0, y_m=0.0, heading_rad=0.0):
        """Place the drawing on a map."""
        place = Placement(x_m, y_m, heading_rad)
        ego = np.array(self.state)
        ego[:3] = place.poses(ego[:3])
        return Scene(
            token=self.token,
            log="drawn",
            location="us-nv-las-vegas-strip",
            time_us=self.time_us,
            ego=ego,
            traffic=self._traffic(place),
            lights=self._lights(place),
            ground=self._ground(place),
            route_lane=tuple(name for _, name, _, route in self.patches if route),
            centreline=headed(place.points(self.centreline)),
            human=None if len(self.token) == 17 else seen_from(self.state, self._human()),
            past=self._past(ego),
            reference=self._reference(place),
        )

    def _human(self):
        straight = straight_on(self.state, 0.5 * np.arange(1, HUMAN_POSES + 1))
        return straight if self.human is None else self.human

    def _reference(self, place):
        straight = straight_on(self.state, DT_S * np.arange(51))
        state = np.zeros((51, len(STATE)))
        state[:, :3] = place.poses(straight if self.reference is None else self.reference)
        return Track(self.time_us + 100_000 * np.arange(51), state)

    def _past(self, ego):
        ago_s = np.array(self.past_us) * 1e-6
        state = np.zeros((len(ago_s), len(STATE)))
        state[:, :3] = straight_on(ego, ago_s)
        state[:, [VX, VY, AX, AY]] = ego[[VX, VY, AX, AY]]
        return Track(self.time_us + np.array(self.past_us), state)

    def _traffic(self, place):
        count = len(self.agents)
        box = np.array([agent.box for agent in self.agents]).reshape(count, STEPS, 5).swapaxes(0, 1)
        box = np.concatenate([place.poses(box[..., :3]), box[..., 3:]], axis=2)
        velocity = np.array([agent.velocity_mps for agent in self.agents]).reshape(count, 2)
        return Traffic(
            token=tuple(f"track{number}" for number in range(count)),
            kind=[AGENT_KINDS.index(agent.kind) for agent in self.agents],
            box=box,
            present=~np.isnan(box[..., 0]),
            velocity_mps=Placement(heading_rad=place.heading_rad).points(velocity),
        )

    def _lights(self, place):
        return Lights(
            connector=tuple(name for name, _, _ in self.lights),
            polygons=Polygons.of([place.shape(shape) for _, shape, _ in self.lights]),
            red=np.array([red for _, _, red in self.lights], bool).reshape(-1, STEPS).T,
        )

    def _ground(self, place):
        lane = np.array([kind in ("lane", "lane_connector") for kind, *_ in self.patches], bool)
        routed = {name for _, name, _, route in self.patches if route}
        return Ground(
            id=tuple(name for _, name, _, _ in self.patches),
            kind=[GROUND_KINDS.index(kind) for kind, *_ in self.patches],
            polygons=Polygons.of([place.shape(shape) for _, _, shape, _ in self.patches]),
            # by id alone, as the stock drivable map has it
            on_route=lane & np.array([name in routed for _, name, _, _ in self.patches], bool),
        )


def street(length_m=150.0, lanes=2):
    """A straight street with lanes to the left of the car's own, which is the route."""
    left = LANE_M * (lanes - 0.5)
    world = World().with_patch("roadblock", shapely.box(-30, -LANE_M / 2, length_m, left))
    for lane in range(lanes):
        world = world.with_lane(-30, length_m, y=LANE_M * lane, route=lane == 0)
    return world


def straight_on(state, times_s):
    """Poses ``[time, 3]`` at constant speed and heading from a state."""
    way = state[VX] * np.asarray(times_s)
    heading = np.full(len(way), state[HEADING])
    x, y = state[X] + way * np.cos(heading), state[Y] + way * np.sin(heading)
    return np.stack([x, y, heading], axis=1)


def seen_from(state, poses):
    """Poses ``[pose, 3]`` of the drawing as seen from a state."""
    cosine, sine = np.cos(state[HEADING]), np.sin(state[HEADING])
    x, y = poses[:, 0] - state[X], poses[:, 1] - state[Y]
    turned = (poses[:, 2] - state[HEADING] + np.pi) % (2 * np.pi) - np.pi
    return np.stack([cosine * x + sine * y, cosine * y - sine * x, turned], axis=1)


def headed(xy):
    """Vertices ``[vertex, 3]`` of ``[vertex, xy]``, each heading for the next."""
    way = np.diff(xy, axis=0)
    heading = np.arctan2(way[:, 1], way[:, 0])
    return np.concatenate([xy, np.append(heading, heading[-1:])[:, None]], axis=1)


def first_velocity(poses):
    """Velocity in m/s at the first step at which poses ``[step, 3]`` are there."""
    there = np.flatnonzero(~np.isnan(poses[:, 0]))
    if len(there) < 2:
        return (0.0, 0.0)
    first, second = there[:2]
    return tuple((poses[second, :2] - poses[first, :2]) / (DT_S * (second - first)))
