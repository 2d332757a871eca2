"""From an unpickled ``MetricCache`` to a `Scene`.

A cache holds more than scoring reads.  A `Scene` keeps what the simulator and the scorer read:

- the ego at t = 0, whose rear axle stock code takes back from the stored centre;
- the replayed tracks of all 41 steps, with those that overlap the ego at the start.  Stock replay
  drops these when it scores (navsim/traffic_agents_policies/log_replay_traffic_agents.py:48), and
  so must who reads a `Scene`;
- per track the velocity at its first step, the only one the scorer reads, and the order in which
  the scorer meets them: by first step, then by type, then by first sighting in the log;
- red connectors per step with their whole polygons, the drivable map, the corrected route's
  lanes, the centreline's vertices, the past with its velocities and accelerations, the reference.

Of the past's columns steering rate, yaw rate and yaw acceleration do not survive the stock
interpolation, which rebuilds states without them (nuplan/common/actor_state/ego_state.py:105);
they are kept as stored.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import HUMAN_POSES, STEPS
from navaudit.errors import BadInput
from navaudit.numerics.polygons import Polygons
from navaudit.scene import unpacking
from navaudit.scene.scene import (
    AGENT_KINDS,
    BICYCLE,
    CARPARK_AREA,
    DRIVABLE_AREA,
    INTERSECTION,
    LANE,
    LANE_CONNECTOR,
    ROADBLOCK,
    Ground,
    Lights,
    Scene,
    Traffic,
)
from navaudit.world.pickles import Record, Wkb

SYNTHETIC_LENGTH: Final = 17
"""Characters of a synthetic scene's token; an original one has sixteen."""

# navsim/planning/simulation/planner/pdm_planner/observation/pdm_observation.py:392
RED_PREFIX: Final = "red_light_"
"""What stands before a connector's id in the token of a red light."""

# nuplan/common/maps/maps_datatypes.py:18
LAYERS: Final = {
    0: LANE,
    1: INTERSECTION,
    5: DRIVABLE_AREA,
    11: LANE_CONNECTOR,
    15: CARPARK_AREA,
    17: ROADBLOCK,
}
"""Kind of ground of each of nuPlan's map layers that a drivable map may hold."""

_MOST_TRACKS: Final = 10_000


def scene_of(cache: Any) -> Scene:
    """Return the scene in an unpickled ``MetricCache``."""
    cache = unpacking.record(cache, "MetricCache")
    token = _token(cache["file_path"])
    route = tuple(map(unpacking.text, unpacking.several(cache["route_lane_ids"])))
    time_us, ego = unpacking.ego(cache["ego_state"])
    if unpacking.time_us(cache["timepoint"]) != time_us:
        raise BadInput("the ego's time is not the scene's")
    area = unpacking.record(cache["map_parameters"], "MapParameters")
    observation = unpacking.record(cache["observation"], "PDMObservation")
    path = unpacking.record(cache["centerline"], "PDMPath")["discrete_path"]
    return Scene(
        token=token,
        log=unpacking.text(cache["log_name"]),
        location=unpacking.text(area["map_name"]),
        time_us=time_us,
        ego=ego,
        traffic=_traffic(observation),
        lights=_lights(observation["_occupancy_maps_tl"]),
        ground=_ground(unpacking.record(cache["drivable_area_map"], "PDMDrivableMap"), route),
        route_lane=route,
        centreline=np.array([unpacking.pose(each) for each in unpacking.several(path)]),
        human=_human(cache, synthetic=len(token) == SYNTHETIC_LENGTH),
        past=unpacking.track(cache["past_human_trajectory"]),
        reference=unpacking.track(cache["trajectory"]),
    )


def _token(path: Any) -> str:
    if not isinstance(path, PurePosixPath) or path.parent.name in ("", ".."):
        raise BadInput("the cache does not say its own path", expected=".../token/metric_cache.pkl")
    return path.parent.name


def _human(cache: Record, synthetic: bool) -> NDArray[np.float64] | None:
    if unpacking.member(cache["scene_type"], "SceneFrameType") != synthetic:
        raise BadInput(
            "the scene's type does not go with its token",
            expected=f"synthetic if and only if the token has {SYNTHETIC_LENGTH} characters",
        )
    if cache["human_trajectory"] is None and synthetic:
        return None
    poses = unpacking.record(cache["human_trajectory"], "Trajectory")["poses"]
    if not isinstance(poses, np.ndarray) or poses.dtype.kind != "f":
        raise BadInput("the human trajectory is not an array", expected=f"[{HUMAN_POSES}, 3]")
    return poses.astype(np.float64)


def _traffic(observation: Record) -> Traffic:
    frames = unpacking.several(observation["_detections_tracks"])
    if len(frames) < STEPS:
        raise BadInput(
            f"tracks are replayed for {len(frames)} steps",
            expected=f"{STEPS}",
            remedy="caches of NAVSIM 1 hold another horizon: cache again with NAVSIM 2",
        )
    order = observation["_unique_objects"]
    if type(order) is not dict or len(order) > _MOST_TRACKS:
        raise BadInput("the observation lists no tracks, or too many", expected="a few hundred")
    place = {unpacking.text(token): agent for agent, token in enumerate(order)}
    box = np.full((STEPS, len(place), 5), np.nan)
    kind = np.zeros(len(place), np.int8)
    velocity = np.zeros((len(place), 2))
    present = np.zeros((STEPS, len(place)), np.bool_)
    met: set[int] = set()
    for step, frame in enumerate(frames[:STEPS]):
        for thing in _things(frame):
            agent = place.get(_track_token(thing), -1)
            if agent < 0 or present[step, agent]:
                raise BadInput(f"track {_track_token(thing)!r} stands twice or unlisted in a step")
            if agent not in met:
                met.add(agent)
                kind[agent], velocity[agent] = _nature(thing)
            present[step, agent] = True
            box[step, agent] = _box(thing)
    if len(met) < len(place):
        raise BadInput("a listed track is never there")
    return Traffic(tuple(place), kind, box, present, velocity)


def _things(frame: Any) -> list[Record]:
    tracks = unpacking.record(frame, "DetectionsTracks")["tracked_objects"]
    listed = unpacking.several(unpacking.record(tracks, "TrackedObjects")["tracked_objects"])
    return [unpacking.record(thing, "Agent", "StaticObject") for thing in listed]


def _track_token(thing: Record) -> str:
    return unpacking.text(
        unpacking.record(thing["_metadata"], "SceneObjectMetadata")["track_token"]
    )


def _nature(thing: Record) -> tuple[int, tuple[float, float]]:
    kind = unpacking.member(thing["_tracked_object_type"], "TrackedObjectType")
    if kind >= len(AGENT_KINDS) or (kind <= BICYCLE) != thing.name.endswith(".Agent"):
        raise BadInput(f"a {thing.name} is of type {kind}", expected="an agent or a static object")
    return kind, unpacking.velocity(thing["_velocity"]) if kind <= BICYCLE else (0.0, 0.0)


def _box(thing: Record) -> tuple[float, ...]:
    box = unpacking.record(thing["_box"], "OrientedBox")
    size = unpacking.number(box["_length"]), unpacking.number(box["_width"])
    return *unpacking.pose(box["_center"]), *size


def _lights(maps: Any) -> Lights:
    steps = unpacking.several(maps)
    if len(steps) < STEPS:
        raise BadInput(f"lights are known for {len(steps)} steps", expected=f"{STEPS}")
    shapes: dict[str, Wkb] = {}
    shown: list[tuple[int, str]] = []
    for step, both in enumerate(steps[:STEPS]):
        if type(both) is not tuple or len(both) != 2:
            raise BadInput("a step's lights are not names and polygons")
        names = unpacking.several(both[0])
        for name, shape in zip(names, unpacking.several(both[1], len(names)), strict=True):
            connector = unpacking.text(name).removeprefix(RED_PREFIX)
            if shapes.setdefault(connector, unpacking.polygon(shape)) != shape:
                raise BadInput(f"connector {connector} changes its polygon")
            shown.append((step, connector))
    red = np.zeros((STEPS, len(shapes)), np.bool_)
    place = {connector: light for light, connector in enumerate(shapes)}
    for step, connector in shown:
        red[step, place[connector]] = True
    return Lights(tuple(shapes), Polygons.of([shape.shape() for shape in shapes.values()]), red)


def _ground(area: Record, route: tuple[str, ...]) -> Ground:
    names = [unpacking.text(name) for name in unpacking.several(area["tokens"])]
    layers = unpacking.several(area["map_types"], len(names))
    shapes = unpacking.several(area["geometries"], len(names))
    kinds = np.array([_layer(layer) for layer in layers], np.int8)
    lanes = np.isin(kinds, (LANE, LANE_CONNECTOR))
    routed = set(route)
    return Ground(
        tuple(names),
        kinds,
        Polygons.of([unpacking.polygon(shape).shape() for shape in shapes]),
        lanes & np.array([name in routed for name in names], np.bool_),
    )


def _layer(layer: Any) -> int:
    value = unpacking.member(layer, "SemanticMapLayer")
    if value not in LAYERS:
        raise BadInput(f"the drivable map holds layer {value}", expected=f"one of {set(LAYERS)}")
    return LAYERS[value]
