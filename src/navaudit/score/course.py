"""The course a candidate drives: one scene laid out for the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import CENTRE, HEADING, X, Y
from navaudit.errors import BadInput
from navaudit.numerics.trig import sincos
from navaudit.scene.footprint import write_corners
from navaudit.scene.scene import Scene
from navaudit.scene.vocabulary import TURN_RAD
from navaudit.score.comfort import History, join_history
from navaudit.score.contact import TrafficIndex, index_traffic
from navaudit.score.grid import grid_round
from navaudit.score.ground import GroundIndex, index_ground
from navaudit.score.lane import LineIndex, index_line
from navaudit.score.light import LightIndex, index_lights
from navaudit.score.progress import Way, measure_way, way_along
from navaudit.vehicle import HALF_LENGTH_M, HALF_WIDTH_M, REAR_AXLE_TO_CENTRE_M

Floats = NDArray[np.float64]

GROUND_CELL_M: Final = 0.5
TRAFFIC_CELL_M: Final = 2.0
REACH_M: Final = 72.0
"""Cells reach this far from the ego; what drives beyond is scored all the same, only slower."""
FARTHEST: Final = 1e8
"""Larger than any coordinate, speed or angle of a drive; beyond it, a scene is broken."""
COARSE_CELL_M: Final = 8.0
COARSE_REACH_M: Final = 128.0
"""For few drives: quickly laid out, and slower to ask."""


class Course(NamedTuple):
    """One scene, laid out once and driven by every candidate."""

    ego: Floats
    """``[11]`` state at t = 0."""
    start: Floats
    """``[5, xy]``: corners and centre at t = 0."""
    ground: GroundIndex
    line: LineIndex
    way: Way
    start_m: float
    """How far along the centreline the centre is at t = 0."""
    lights: LightIndex
    traffic: TrafficIndex
    history: History


def lay_out(scene: Scene, *, few: bool = False, stood_in: bool = False) -> Course:
    """Lay out a scene; refuses one that cannot be scored, naming its token.

    ``few`` is for a handful of drives: the answers are the same, to the bit. ``stood_in`` keeps the
    agents that touch the car at t = 0, as a replay before v2 did.
    """
    _expect_scorable(scene)
    start = ego_points(scene.ego)
    x, y = float(scene.ego[X]), float(scene.ego[Y])
    if few:
        fine = busy = grid_round(x, y, COARSE_REACH_M, COARSE_CELL_M)
    else:
        fine = grid_round(x, y, REACH_M, GROUND_CELL_M)
        busy = grid_round(x, y, REACH_M, TRAFFIC_CELL_M)
    line = np.ascontiguousarray(scene.centreline[:, :2])
    way = measure_way(line)
    return Course(
        ego=scene.ego,
        start=start,
        ground=index_ground(scene.ground, fine),
        line=index_line(line, fine),
        way=way,
        start_m=way_along(way, start[CENTRE, 0], start[CENTRE, 1]),
        lights=index_lights(scene.lights, fine),
        traffic=index_traffic(scene.traffic, start, busy, stood_in=stood_in),
        history=join_history(scene.past),
    )


def ego_points(ego: Floats) -> Floats:
    """Corners and centre ``[5, xy]`` of the car in a state ``[11]``."""
    points = np.empty((5, 2))
    sine, cosine = sincos(ego[HEADING])
    points[CENTRE, 0] = ego[X] + REAR_AXLE_TO_CENTRE_M * cosine
    points[CENTRE, 1] = ego[Y] + REAR_AXLE_TO_CENTRE_M * sine
    x, y = points[CENTRE]
    write_corners(x, y, ego[HEADING], HALF_LENGTH_M, HALF_WIDTH_M, points)
    return points


def _expect_scorable(scene: Scene) -> None:
    if len(scene.centreline) < 2:
        raise BadInput(
            f"centreline has {len(scene.centreline)} vertices",
            where=f"token {scene.token}",
            expected="at least two",
            remedy="rebuild the scene; without a route there is nothing to follow",
        )
    for name, values, limit in _told(scene):
        with np.errstate(invalid="ignore"):
            sane = np.abs(values) <= limit
        if not sane.all():
            at = np.argwhere(~sane)[0]
            raise BadInput(
                f"{name} holds {values[tuple(at)]}, at {at.tolist()}",
                where=f"token {scene.token}",
                expected=f"numbers within {limit:g}",
                remedy="rebuild the scene",
            )
    box = scene.traffic.box
    with np.errstate(invalid="ignore"):
        broken = scene.traffic.present & ~(np.abs(box) <= FARTHEST).all(axis=2)
    if broken.any():
        step, agent = np.argwhere(broken)[0]
        raise BadInput(
            f"box of agent {scene.traffic.token[agent]} at step {step} is "
            f"{box[step, agent].tolist()}",
            where=f"token {scene.token}",
            expected=f"x, y, heading, length and width, numbers within {FARTHEST:g}",
        )


def _told(scene: Scene) -> Iterator[tuple[str, Floats, float]]:
    """What a drive is made from: its name, its values, and how large they may be."""
    yield "ego", scene.ego, FARTHEST
    yield "centreline", scene.centreline, FARTHEST
    yield "past", scene.past.state, FARTHEST
    yield "reference", scene.reference.state[:, (X, Y, HEADING)], FARTHEST
    if scene.human is not None:
        yield "human", scene.human[:, :2], FARTHEST
        # it is unwound turn by turn
        yield "human's heading", scene.human[:, 2], TURN_RAD
