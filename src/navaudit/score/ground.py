"""Where on the ground a point lies: on drivable ground, on the route, in an intersection."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from navaudit.numerics.segments import INSIDE
from navaudit.scene.scene import (
    CARPARK_AREA,
    DRIVABLE_AREA,
    INTERSECTION,
    LANE,
    LANE_CONNECTOR,
    ROADBLOCK,
    Ground,
)
from navaudit.score.grid import (
    DOUBT_M,
    Bins,
    Grid,
    bin_edges,
    cell_of,
    column_of,
    point_in_binned,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]

DRIVABLE: Final = 1
"""Role of the polygons a corner must be in; lanes and connectors do not count."""
ON_ROUTE: Final = 2
"""Role of the lanes and connectors of the corrected route."""
CROSSROADS: Final = 4
"""Role of intersections."""
ANY_LANE: Final = 8
"""Role of every lane and connector."""

_DOUBT: Final = 3
"""Shift from a role to the bit that says: some polygon of that role crosses the cell."""


class GroundIndex(NamedTuple):
    """The ground polygons of a scene, laid out for millions of questions."""

    grid: Grid
    xy: Floats
    """``[vertex, xy]`` of all rings."""
    bounds: Floats
    """``[polygon, (west, south, east, north)]``"""
    bins: Bins
    role: Bytes
    """``[polygon]``: roles as bits."""
    lanes: Ints
    """Polygons with the role ``ANY_LANE``."""
    flags: Bytes
    """``[cell]``: bits 0 to 2, a polygon of that role holds the whole cell; 3 to 5, in doubt."""
    start: Ints
    """``[cell + 1]``: where the cell's polygons begin in ``polygon``."""
    polygon: Ints
    """``[entry]``: polygons whose boundary may cross the cell."""


def index_ground(ground: Ground, grid: Grid) -> GroundIndex:
    """Lay out the ground of a scene over a grid."""
    shapes = ground.polygons
    role = _roles(ground)
    bins = bin_edges(grid, shapes.xy, shapes.ring_start, shapes.polygon_ring)
    flags, start, polygon = _rasterise(grid, shapes.xy, shapes.bounds, bins, role)
    lanes = np.flatnonzero(role & ANY_LANE).astype(np.int32)
    return GroundIndex(grid, shapes.xy, shapes.bounds, bins, role, lanes, flags, start, polygon)


def _roles(ground: Ground) -> Bytes:
    # areas: pdm_scorer.py:337-388; the generic drivable area counts, though caches hold none
    role = np.zeros(len(ground), np.uint8)
    role[np.isin(ground.kind, (ROADBLOCK, INTERSECTION, CARPARK_AREA, DRIVABLE_AREA))] |= DRIVABLE
    lane = np.isin(ground.kind, (LANE, LANE_CONNECTOR))
    role[lane] |= ANY_LANE
    role[lane & ground.on_route] |= ON_ROUTE
    role[ground.kind == INTERSECTION] |= CROSSROADS
    return role


@njit(cache=True)
def _rasterise(
    grid: Grid, xy: Floats, bounds: Floats, bins: Bins, role: Bytes
) -> tuple[Bytes, Ints, Ints]:
    """Say for every cell which polygons hold it whole and which cross it."""
    side = grid.side
    flags = np.zeros(side * side, np.uint8)
    start = np.zeros(side * side + 1, np.int32)
    cell_list = np.empty(1024, np.int32)
    polygon_list = np.empty(1024, np.int32)
    entries = 0
    crossed = np.empty(side, np.bool_)
    for p in range(len(role)):
        first_row = max(bins.low[p], 0)
        last_row = min(bins.low[p] + bins.offset[p + 1] - bins.offset[p], side)
        first = max(column_of(grid, bounds[p, 0] - DOUBT_M), 0)
        last = min(column_of(grid, bounds[p, 2] + DOUBT_M), side - 1)
        if first > last:
            continue
        for row in range(max(first_row - 1, 0), min(last_row + 1, side)):
            _mark_row(grid, xy, bins, p, row, crossed)
            if entries + side > len(cell_list):
                cell_list = _longer(cell_list)
                polygon_list = _longer(polygon_list)
            known = False
            inside = False
            for column in range(first, last + 1):
                cell = row * side + column
                if crossed[column]:
                    cell_list[entries] = cell
                    polygon_list[entries] = p
                    entries += 1
                    known = False
                    continue
                if not known:
                    # cells in a row without the boundary between them share one answer
                    x = grid.west_m + (column + 0.5) / grid.per_m
                    y = grid.south_m + (row + 0.5) / grid.per_m
                    inside = point_in_binned(grid, bins, xy, p, x, y) == INSIDE
                    known = True
                if inside:
                    flags[cell] |= role[p] & 7
    for entry in range(entries):
        start[cell_list[entry] + 1] += 1
    start[1:] = np.cumsum(start[1:])
    cursor = start[:-1].copy()
    polygon = np.empty(entries, np.int32)
    for entry in range(entries):
        cell = cell_list[entry]
        polygon[cursor[cell]] = polygon_list[entry]
        cursor[cell] += 1
    for entry in range(entries):
        cell = cell_list[entry]
        flags[cell] |= (role[polygon_list[entry]] & 7 & ~flags[cell]) << _DOUBT
    return flags, start, polygon


@njit(cache=True)
def _longer(values: Ints) -> Ints:
    grown = np.empty(len(values) * 2, np.int32)
    grown[: len(values)] = values
    return grown


@njit(cache=True)
def _mark_row(
    grid: Grid, xy: Floats, bins: Bins, p: int, row: int, crossed: NDArray[np.bool_]
) -> None:
    """Mark the cells of a row that the boundary of a polygon may enter."""
    crossed[:] = False
    south = grid.south_m + row / grid.per_m - DOUBT_M
    north = grid.south_m + (row + 1) / grid.per_m + DOUBT_M
    rows = bins.offset[p + 1] - bins.offset[p]
    # an edge may end on the line between two rows, so the neighbours' edges are looked at too
    for near in range(row - 1, row + 2):
        at = near - bins.low[p]
        if at < 0 or at >= rows:
            continue
        at += bins.offset[p]
        for entry in range(bins.start[at], bins.start[at + 1]):
            i = bins.edge[entry]
            west, east = _span(xy[i - 1], xy[i], south, north)
            first = max(column_of(grid, west - DOUBT_M), 0)
            last = min(column_of(grid, east + DOUBT_M), grid.side - 1)
            for column in range(first, last + 1):
                crossed[column] = True


@njit(cache=True, nogil=True)
def _span(a: Floats, b: Floats, south: float, north: float) -> tuple[float, float]:
    """Eastings an edge covers within a band of heights; west above east if it does not enter."""
    if max(a[1], b[1]) < south or min(a[1], b[1]) > north:
        return 1.0, 0.0
    rise = b[1] - a[1]
    if abs(rise) < DOUBT_M:
        return min(a[0], b[0]), max(a[0], b[0])
    # heights round at 1e-9 m, which a flat edge stretches over its whole length
    slack = 1e-8 / abs(rise)
    one = (south - a[1]) / rise
    other = (north - a[1]) / rise
    enter = min(max(min(one, other) - slack, 0.0), 1.0)
    leave = min(max(max(one, other) + slack, 0.0), 1.0)
    at_enter = a[0] + enter * (b[0] - a[0])
    at_leave = a[0] + leave * (b[0] - a[0])
    return min(at_enter, at_leave), max(at_enter, at_leave)


@njit(cache=True, nogil=True)
def lies_in(index: GroundIndex, role: int, x: float, y: float) -> bool:
    """Whether a point is strictly inside some polygon of a role."""
    cell = cell_of(index.grid, x, y)
    if cell < 0:
        return _lies_in_any(index, role, x, y)
    flags = index.flags[cell]
    if flags & role:
        return True
    if not flags & (role << _DOUBT):
        return False
    for entry in range(index.start[cell], index.start[cell + 1]):
        p = index.polygon[entry]
        if index.role[p] & role and (
            point_in_binned(index.grid, index.bins, index.xy, p, x, y) == INSIDE
        ):
            return True
    return False


@njit(cache=True, nogil=True)
def _lies_in_any(index: GroundIndex, role: int, x: float, y: float) -> bool:
    for p in range(len(index.role)):
        if not index.role[p] & role:
            continue
        low_x, low_y, high_x, high_y = index.bounds[p]
        if (
            low_x <= x <= high_x
            and low_y <= y <= high_y
            and point_in_binned(index.grid, index.bins, index.xy, p, x, y) == INSIDE
        ):
            return True
    return False


@njit(cache=True, nogil=True)
def leaves_road(index: GroundIndex, corners: Floats) -> bool:
    """Whether one of the four corners ``[5, xy]`` is on no drivable polygon."""
    for k in range(4):
        if not lies_in(index, DRIVABLE, corners[k, 0], corners[k, 1]):
            return True
    return False


@njit(cache=True, nogil=True)
def straddles_lanes(index: GroundIndex, corners: Floats) -> bool:
    """Whether more than one lane holds a corner of ``[5, xy]`` and none holds all four."""
    west = min(min(corners[0, 0], corners[1, 0]), min(corners[2, 0], corners[3, 0]))
    east = max(max(corners[0, 0], corners[1, 0]), max(corners[2, 0], corners[3, 0]))
    south = min(min(corners[0, 1], corners[1, 1]), min(corners[2, 1], corners[3, 1]))
    north = max(max(corners[0, 1], corners[1, 1]), max(corners[2, 1], corners[3, 1]))
    touched = 0
    for p in index.lanes:
        low_x, low_y, high_x, high_y = index.bounds[p]
        if low_x > east or high_x < west or low_y > north or high_y < south:
            continue
        held = 0
        for k in range(4):
            x, y = corners[k, 0], corners[k, 1]
            held += point_in_binned(index.grid, index.bins, index.xy, p, x, y) == INSIDE
        if held == 4:
            return False
        touched += held > 0
    return touched > 1
