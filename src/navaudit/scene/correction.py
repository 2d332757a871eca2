"""Mending a route that does not start at the ego, has gaps, or runs in a loop.

Blocks are known here as the stock code knows them (navsim's pdm_planner/utils/route_utils.py):
compared by id alone, which a roadblock and a roadblock connector may share, and looked up as a
roadblock first.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import shapely

from navaudit.errors import BadInput
from navaudit.scene.search import fewest_steps
from navaudit.world.maps import Map
from navaudit.world.network import Blocks, Links
from navaudit.world.trigonometry import Trig

NEAR_M: Final = 1.0
"""Half the side of the square round the rear axle in which blocks are candidates."""

HEADING_RAD: Final = math.pi / 4
"""Lanes that head off by this or more are not the ego's."""

DISPLACEMENT_M: Final = 3.0
"""Lanes whose nearest vertex is this far or farther are not the ego's."""

BACKWARD_BLOCKS: Final = 15
FORWARD_BLOCKS: Final = 30
"""How many blocks a link may have, its ends among them."""

GOALS: Final = 3
"""How many of the first blocks of the route a way back to it may lead to."""

LOOP_M2: Final = 1.0
"""Connectors that share a larger area close a loop."""


@dataclass(frozen=True)
class Pose:
    """Where the rear axle is, in the map frame."""

    x_m: float
    y_m: float
    heading_rad: float


def known_blocks(map_: Map, ids: Iterable[str]) -> list[int]:
    """Return the rows of blocks, each id once, in order; a roadblock goes before a connector."""
    rows = []
    for one in dict.fromkeys(ids):
        row = map_.blocks.find(one)
        if row is None:
            raise BadInput(
                f"the route names block {one}, which is not there",
                where=f"map {map_.location} {map_.version}",
                expected="ids of its roadblocks and roadblock connectors",
                remedy="use the maps the log was made with, nuplan-maps-v1.0",
            )
        rows.append(row)
    return rows


def corrected(map_: Map, route: Sequence[int], ego: Pose, trig: Trig) -> list[int]:
    """Return the rows of the blocks of a route that leads on from the ego, without gaps or loops.

    One may recur.
    """
    route = _joined_to_start(map_, list(route), ego, trig)
    return _cut_before_loop(map_.blocks, _without_gaps(map_.blocks, route))


def _joined_to_start(map_: Map, route: list[int], ego: Pose, trig: Trig) -> list[int]:
    blocks = map_.blocks
    on_route = {blocks.id[row] for row in route}
    start, candidates = _start_blocks(map_, on_route, ego, trig)
    if blocks.id[start] in on_route:
        return route
    back = _path(blocks, blocks.before, route[0], candidates, BACKWARD_BLOCKS)
    if back:
        return [*back[:0:-1], *route]
    ahead = _path(blocks, blocks.after, start, route[:GOALS], FORWARD_BLOCKS)
    if ahead:
        return [*ahead, *route[_place(blocks, route, ahead[-1]) + 1 :]]
    return route


def _path(
    blocks: Blocks, links: Links, start: int, goals: Iterable[int], most: int
) -> tuple[int, ...] | None:
    """Return the blocks from start to one with the id of a goal, or None."""
    wanted = {blocks.id[row] for row in goals}
    begin = blocks.find(blocks.id[start])
    assert begin is not None
    return fewest_steps(links, begin, lambda row: blocks.id[row] in wanted, most)


def _place(blocks: Blocks, route: Sequence[int], block: int) -> int:
    return [blocks.id[row] for row in route].index(blocks.id[block])


def _start_blocks(
    map_: Map, on_route: Collection[str], ego: Pose, trig: Trig
) -> tuple[int, list[int]]:
    """Return the block the ego most likely is on, and all that it may be on.

    A block counts once for each of its lanes that lies and heads like the ego. Blocks on the route
    go first; where no lane fits, the block with the nearest lane is taken.
    """
    blocks = _near_blocks(map_.blocks, ego)
    nearest: list[float] = []
    on: list[tuple[int, float]] = []
    off: list[tuple[int, float]] = []
    for block in blocks:
        least = math.inf
        for way in map_.blocks.ways[block].tolist():
            away_m, turn_rad = offset(map_, way, ego, trig)
            least = min(least, away_m)
            if turn_rad < HEADING_RAD and away_m < DISPLACEMENT_M:
                (on if map_.blocks.id[block] in on_route else off).append((block, away_m))
        nearest.append(least)
    fitting = on or off or list(zip(blocks, nearest, strict=True))
    return min(fitting, key=lambda pair: pair[1])[0], [block for block, _ in fitting]


def _near_blocks(blocks: Blocks, ego: Pose) -> list[int]:
    near = blocks.in_square(ego.x_m, ego.y_m, NEAR_M).tolist()
    first = blocks.first_connector
    layers = [(a, b) for a, b in ((0, first), (first, len(blocks))) if b > a]
    return near or [blocks.nearest(ego.x_m, ego.y_m, a, b)[0] for a, b in layers]


def offset(map_: Map, way: int, ego: Pose, trig: Trig) -> tuple[float, float]:
    """Return how far the nearest vertex of a way's baseline is, and how far it turns off, >= 0."""
    vertex, away_m = map_.ways.baseline.nearest_vertex(way, ego.x_m, ego.y_m)
    turn_rad = map_.ways.baseline[way][vertex, 2] - ego.heading_rad
    wrapped = trig.atan2(trig.sin([turn_rad]), trig.cos([turn_rad]))
    return away_m, abs(float(wrapped[0]))


def _without_gaps(blocks: Blocks, route: list[int]) -> list[int]:
    whole = route[:1]
    for before, after in pairwise(route):
        if blocks.id[before] not in {blocks.id[row] for row in blocks.before[after].tolist()}:
            link = _path(blocks, blocks.after, before, [after], FORWARD_BLOCKS)
            whole.extend(link[1:-1] if link else ())
        whole.append(after)
    return whole


def _cut_before_loop(blocks: Blocks, route: list[int]) -> list[int]:
    """Return the route up to the first connector that overlaps an earlier one."""
    places = [place for place, block in enumerate(route) if block >= blocks.first_connector]
    bounds = blocks.polygons.bounds[[route[place] for place in places]]
    low, high = bounds[:, :2], bounds[:, 2:]
    meet = (low[:, None] <= high).all(axis=2) & (high[:, None] >= low).all(axis=2)
    for later, earlier in np.argwhere(np.tril(meet, -1)).tolist():
        if _shared_m2(blocks, route[places[later]], route[places[earlier]]) > LOOP_M2:
            return route[: places[later]]
    return route


def _shared_m2(blocks: Blocks, one: int, other: int) -> float:
    shapes = blocks.polygons.take([one, other]).shapes()
    try:
        return float(shapely.area(shapely.intersection(*shapes)))
    except shapely.errors.GEOSException as error:
        raise BadInput(
            f"the overlap of two roadblock connectors cannot be computed: {error}",
            where=f"roadblock connectors {blocks.id[one]} and {blocks.id[other]}",
            expected="polygons that do not cross themselves",
        ) from error
