"""A moment of a drive and the map of its city, made into a `Scene` as stock caching makes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NoReturn

import numpy as np

from navaudit.axes import HEADING, X, Y
from navaudit.errors import BadInput, NavauditError
from navaudit.scene.correction import Pose, known_blocks
from navaudit.scene.ego import Floats, human_of, states_of
from navaudit.scene.from_cache import SYNTHETIC_LENGTH
from navaudit.scene.outlook import Outlook, Sighting
from navaudit.scene.route import centre_of, find_route, route_lanes
from navaudit.scene.scene import GROUND_KINDS, LANE, LANE_CONNECTOR, Ground, Scene, Track
from navaudit.scene.traffic import FRAMES, lights_over, red_lanes, sightings, traffic_over
from navaudit.world.logs import Frame, Log
from navaudit.world.maps import Drivable, Map
from navaudit.world.trigonometry import LIBM, Trig

PAST: Final = 3
"""Frames before t = 0 that a scene needs."""

FUTURE: Final = FRAMES - 1
"""Frames after t = 0 that a scene needs."""

# navsim/planning/scenario_builder/navsim_scenario.py:48
_ALSO_CALLED: Final = {"las_vegas": "us-nv-las-vegas-strip"}

_KIND: Final = {name: kind for kind, name in enumerate(GROUND_KINDS)}

Propose = Callable[[Outlook], Track]
"""Gives the reference trajectory of a planner that sees so much and no more."""


def build_scene(log: Log, at: int, map_: Map, propose: Propose, *, trig: Trig = LIBM) -> Scene:
    """Return the scene whose t = 0 is the frame at a position of a log.

    It needs three frames before and eight after. ``trig`` decides whose last bits the numbers
    have: the default agrees with the stock code on the same machine.
    """
    frames = _frames(log, at, map_)
    try:
        return _scene(frames, map_, propose, trig)
    except NavauditError as error:
        _raise_in(error, frames[PAST])


def outlook_at(log: Log, at: int, map_: Map, *, trig: Trig = LIBM) -> Outlook:
    """Return what a planner sees at the frame at a position of a log."""
    now = _frames(log, at, map_)[PAST]
    try:
        states = states_of([now], trig=trig)
        return _outlook(now, states[0], sightings([now], states, trig=trig)[0], map_, trig)
    except NavauditError as error:
        _raise_in(error, now)


def location_of(frame: Frame) -> str:
    """Return the name of the map that a frame lies on."""
    return _ALSO_CALLED.get(frame.location, frame.location)


def _scene(frames: Sequence[Frame], map_: Map, propose: Propose, trig: Trig) -> Scene:
    now, ahead = frames[PAST], frames[PAST:]
    states = states_of(frames, trig=trig)
    seen = sightings(ahead, states[PAST:], trig=trig)
    outlook = _outlook(now, states[PAST], seen[0], map_, trig)
    # lights are looked up on the route as given, not as corrected
    # (navsim/planning/metric_caching/metric_cache_processor.py:324-326)
    given = route_lanes(map_, known_blocks(map_, outlook.route.given))
    times = np.array([frame.time_us for frame in frames], np.int64)
    synthetic = len(now.token) == SYNTHETIC_LENGTH
    return Scene(
        token=now.token,
        log=now.log,
        location=map_.location,
        time_us=now.time_us,
        ego=outlook.ego,
        traffic=traffic_over(seen, trig=trig),
        lights=lights_over(ahead, given, map_.ways.polygons),
        ground=outlook.ground,
        route_lane=outlook.route.lane,
        centreline=outlook.route.centreline,
        human=None if synthetic else human_of(states[PAST:], trig=trig),
        past=Track(times[: PAST + 1], states[: PAST + 1]),
        reference=propose(outlook),
    )


def _outlook(now: Frame, ego: Floats, objects: Sighting, map_: Map, trig: Trig) -> Outlook:
    pose = Pose(float(ego[X]), float(ego[Y]), float(ego[HEADING]))
    drivable = map_.drivable(*centre_of(pose, trig))
    route = find_route(map_, now.roadblock, pose, drivable, trig=trig)
    lanes = dict(zip(route.lane, route.lane_way.tolist(), strict=True))
    red = red_lanes(now, lanes)
    return Outlook(
        token=now.token,
        time_us=now.time_us,
        ego=ego,
        route=route,
        ground=_ground(drivable, frozenset(lanes)),
        objects=objects,
        red=tuple(red),
        red_polygons=map_.ways.polygons.take([lanes[one] for one in red]),
    )


def _ground(drivable: Drivable, route: frozenset[str]) -> Ground:
    kind = np.array([_KIND[name] for name in drivable.kind], np.int8)
    named = np.array([one in route for one in drivable.id], np.bool_)
    lane = (kind == LANE) | (kind == LANE_CONNECTOR)
    return Ground(drivable.id, kind, drivable.polygons, lane & named)


def _frames(log: Log, at: int, map_: Map) -> tuple[Frame, ...]:
    """Return the frames a scene needs, t = 0 at ``PAST``."""
    if not PAST <= at < len(log) - FUTURE:
        raise BadInput(
            f"there is no scene at frame {at} of {len(log)}",
            where=f"log {log.name}",
            expected=f"{PAST} frames before it and {FUTURE} after it",
        )
    now = log.frame(at)
    if location_of(now) != map_.location:
        raise BadInput(
            f"the frame lies in {location_of(now)}, the map is of {map_.location}",
            where=f"token {now.token}, log {now.log}",
            expected="the map of the frame's own location",
        )
    try:
        return tuple(log.frame(row) for row in range(at - PAST, at + FUTURE + 1))
    except BadInput as error:
        _raise_in(error, now)


def _raise_in(error: NavauditError, now: Frame) -> NoReturn:
    where = ", ".join(filter(None, (f"token {now.token}, log {now.log}", error.where)))
    raise type(error)(
        error.what, where=where, expected=error.expected, remedy=error.remedy
    ) from error
