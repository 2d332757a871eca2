"""The route through a map as stock NAVSIM corrects it, and the centreline that it drives along."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import shapely
from numpy.typing import NDArray

from navaudit import vehicle
from navaudit.arrays import frozen
from navaudit.errors import BadInput
from navaudit.numerics.plane import OUTSIDE
from navaudit.scene.correction import Pose, corrected, known_blocks, offset
from navaudit.scene.search import least_cost
from navaudit.world.maps import Drivable, Map
from navaudit.world.trigonometry import LIBM, Trig

WINDOW: Final = 30
"""How many blocks of the route the centreline covers at most."""

_NODE_CAPACITY: Final = 10
_SLACK_M: Final = 1e-6


@dataclass(frozen=True, eq=False)
class Route:
    """The corrected route of one scene.

    A *row* is a row of ``Map.blocks`` or ``Map.ways``.
    """

    given: tuple[str, ...]
    """Block ids of the log's frame at t = 0, each once, in order; not corrected."""
    block: NDArray[np.int64]
    """``[block]`` rows of the corrected route, each id once, in order of driving."""
    lane: tuple[str, ...]
    """Lane and connector ids of the corrected route, each once, in the stock order."""
    lane_way: NDArray[np.int64]
    """``[lane]`` rows of the ways that these ids stand for: where a lane and a connector share an
    id, the one met later."""
    start_way: int
    """Row of the way on which the ego starts."""
    speed_limit_mps: float
    """Of the start way; NaN where the map has none."""
    centreline_way: NDArray[np.int64]
    """``[leg]`` rows of the ways that the centreline follows, in order of driving."""
    centreline: NDArray[np.float64]
    """``[vertex, 3]``: x_m, y_m, heading_rad as on the map, in [-pi, pi], not unwrapped; vertices
    at joins recur."""

    def __post_init__(self) -> None:
        if len(self.lane) != len(self.lane_way):
            raise BadInput(f"{len(self.lane)} lane ids for {len(self.lane_way)} ways")
        for name in ("block", "lane_way", "centreline_way"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int64, (None,)))
        object.__setattr__(self, "centreline", frozen(self.centreline, np.float64, (None, 3)))


def find_route(
    map_: Map, given: Iterable[str], ego: Pose, drivable: Drivable, *, trig: Trig = LIBM
) -> Route:
    """Return the route that stock NAVSIM makes of the block ids of a frame.

    ``ego`` is the rear axle and ``drivable`` the drivable map round it.
    """
    ids = tuple(dict.fromkeys(given))
    known = known_blocks(map_, ids)
    if not known:
        raise BadInput(
            "the route has no blocks",
            expected="one at least",
            remedy="leave scenes without a route out, as has_route of a scene filter does",
        )
    mended = corrected(map_, known, ego, trig)
    # ids again: a connector whose id a roadblock bears as well turns into that roadblock
    # (navsim's pdm_planner/abstract_pdm_planner.py:58)
    blocks = known_blocks(map_, (map_.blocks.id[row] for row in mended))
    lanes = route_lanes(map_, blocks)
    start = _start_way(map_, lanes, ego, drivable, trig)
    legs = _legs(map_, blocks, lanes, start)
    return Route(
        given=ids,
        block=np.array(blocks),
        lane=tuple(lanes),
        lane_way=np.array(list(lanes.values())),
        start_way=start,
        speed_limit_mps=float(map_.ways.speed_limit_mps[start]),
        centreline_way=np.array(legs),
        centreline=np.concatenate([map_.ways.baseline[way] for way in legs]),
    )


def route_lanes(map_: Map, blocks: Iterable[int]) -> dict[str, int]:
    """Return the rows of the ways of these blocks by id, in the stock order.

    Of a lane and a connector with the same id the later one stands at the place of the first
    (navsim's pdm_planner/abstract_pdm_planner.py:63-64).
    """
    ways = (way for block in blocks for way in map_.blocks.ways[block].tolist())
    return {map_.ways.id[way]: way for way in ways}


# ------------------------------------------------------------------------------- where it starts


def _start_way(
    map_: Map, lanes: Mapping[str, int], ego: Pose, drivable: Drivable, trig: Trig
) -> int:
    """Return the way of the route that the rear axle is on, best aligned, else the nearest one."""
    # a block, intersection or car park under the rear axle stands for the lane that bears its id
    # (navsim's pdm_planner/abstract_pdm_planner.py:139-141)
    under = np.flatnonzero(drivable.polygons.locate([ego.x_m, ego.y_m]) != OUTSIDE).tolist()
    turns = {
        hit: offset(map_, lanes[drivable.id[hit]], ego, trig)[1]
        for hit in under
        if drivable.id[hit] in lanes
    }
    if not turns:
        return _nearest_way(map_, lanes, ego, trig)
    least = min(turns.values())
    best = [hit for hit, turn_rad in turns.items() if turn_rad == least]
    if len({drivable.id[hit] for hit in best}) > 1:
        best = [hit for hit in _tree_order(drivable, ego) if hit in best]
    return lanes[drivable.id[best[0]]]


def _tree_order(drivable: Drivable, ego: Pose) -> list[int]:
    """Return the polygons whose bounds hold the rear axle in the order of the stock search tree.

    The tree knows bounds only, so a tree of bounds lists them in the same order.
    """
    bounds = drivable.polygons.bounds
    boxes = np.full(len(bounds), shapely.Point(), dtype=object)
    filled = np.isfinite(bounds).all(axis=1)
    boxes[filled] = shapely.box(*bounds[filled].T)
    tree = shapely.STRtree(boxes, node_capacity=_NODE_CAPACITY)
    order: list[int] = tree.query(shapely.Point(ego.x_m, ego.y_m)).tolist()
    return order


def _nearest_way(map_: Map, lanes: Mapping[str, int], ego: Pose, trig: Trig) -> int:
    """Return the first way that contains the ego's centre, else the first of the nearest ones."""
    ways = np.array(list(lanes.values()))
    polygons = map_.ways.polygons.take(ways)
    inside = np.flatnonzero(polygons.contain(centre_of(ego, trig)))
    if len(inside):
        return int(ways[inside[0]])
    box = _footprint(ego, trig)
    # no polygon is nearer than its bounds, nor the nearest farther than any vertex
    bounds, away = polygons.bounds, polygons.xy - box[0]
    gaps_m = np.maximum(bounds[:, :2] - box.max(axis=0), box.min(axis=0) - bounds[:, 2:])
    at_most_m = np.sqrt((away * away).sum(axis=1).min(initial=np.inf)) + _SLACK_M
    gap_m = gaps_m.max(axis=1)
    near = np.flatnonzero((gap_m <= at_most_m) & (gap_m < np.inf))
    if not len(near):
        raise BadInput(
            "no lane of the route has a polygon",
            where=f"map {map_.location}",
            expected="a route over blocks with lanes",
        )
    away_m = shapely.distance(polygons.take(near).shapes(), shapely.Polygon(box))
    return int(ways[near[np.argmin(away_m)]])


def centre_of(ego: Pose, trig: Trig) -> tuple[float, float]:
    """Return x_m, y_m of the centre of the ego's box."""
    ahead = vehicle.REAR_AXLE_TO_CENTRE_M
    cosine, sine = float(trig.cos([ego.heading_rad])[0]), float(trig.sin([ego.heading_rad])[0])
    return ego.x_m + ahead * cosine, ego.y_m + ahead * sine


def _footprint(ego: Pose, trig: Trig) -> NDArray[np.float64]:
    """Return the corners ``[corner, xy]`` of the ego's box: front left, then round the rear."""
    x, y = centre_of(ego, trig)
    angles = np.array([ego.heading_rad, ego.heading_rad + np.pi / 2.0])
    cosine, left_cosine = trig.cos(angles)
    sine, left_sine = trig.sin(angles)
    lon, lat = vehicle.HALF_LENGTH_M, vehicle.HALF_WIDTH_M
    return np.array([
        [x + (a * left_cosine + b * cosine), y + (a * left_sine + b * sine)]
        for b, a in ((lon, lat), (-lon, lat), (-lon, -lat), (lon, -lat))
    ])  # fmt: skip


# ------------------------------------------------------------------------------ where it leads


def _legs(map_: Map, blocks: Sequence[int], lanes: Mapping[str, int], start: int) -> list[int]:
    """Return the ways of the centreline: the shortest path into the last block of the window."""
    block_ids = [map_.blocks.id[row] for row in blocks]
    # compared by id, and a block off the route counts as the first of it
    # (navsim's pdm_planner/abstract_pdm_planner.py:90)
    own = _block_id(map_, start)
    first = block_ids.index(own) if own in block_ids else 0
    goal = block_ids[first : first + WINDOW][-1]
    path = least_cost(
        map_.ways.after,
        map_.ways.id,
        map_.ways.baseline.length_m,
        start,
        lanes.keys(),
        lambda way: _block_id(map_, way) == goal,
    )
    return list(path)


def _block_id(map_: Map, way: int) -> str | None:
    block = int(map_.ways.block[way])
    return map_.blocks.id[block] if block >= 0 else None
