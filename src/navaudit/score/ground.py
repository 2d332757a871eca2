"""Where on the ground a point lies: on drivable ground, on the route, in an intersection."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import njit
from navaudit.numerics.segments import INSIDE, ON_EDGE, ray_meets_edge
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
Truths = NDArray[np.bool_]

DRIVABLE: Final = 1
"""Role of the polygons a corner must be in; lanes and connectors do not count."""
ON_ROUTE: Final = 2
"""Role of the lanes and connectors of the corrected route."""
CROSSROADS: Final = 4
"""Role of intersections."""
ANY_LANE: Final = 8
"""Role of every lane and connector."""

ASKED: Final = DRIVABLE | ON_ROUTE | CROSSROADS
"""Roles that are asked for at every step; lanes off the route are asked for at contacts only."""

_DOUBT: Final = 3
"""Shift from a role to the bit that says: some polygon of that role crosses the cell."""


class Cells(NamedTuple):
    """What a point is asked at every step: few arrays, so that they are cheap to hand on."""

    grid: Grid
    flags: Bytes
    """``[cell]``: bits 0 to 2, a polygon of that role holds the whole cell; 3 to 5, in doubt.

    The last cell is all that is beyond the grid.
    """
    start: Ints
    """``[cell]``: where the cell's record begins in ``record``."""
    record: Floats
    """For each cell in doubt, the polygons that may cross it, cut down to it: see ``_cut``."""


class GroundIndex(NamedTuple):
    """The ground polygons of a scene, laid out for millions of questions."""

    cells: Cells
    xy: Floats
    """``[vertex, xy]`` of all rings."""
    bounds: Floats
    """``[polygon, (west, south, east, north)]``"""
    bins: Bins
    lanes: Ints
    """Polygons with the role ``ANY_LANE``."""


def index_ground(ground: Ground, grid: Grid) -> GroundIndex:
    """Lay out the ground of a scene over a grid."""
    shapes = ground.polygons
    role = _roles(ground)
    bins = bin_edges(grid, shapes.xy, shapes.ring_start, shapes.polygon_ring)
    flags, start, polygon = _rasterise(grid, shapes.xy, shapes.bounds, bins, role)
    start, record = _cut(grid, shapes.xy, bins, role, start, polygon)
    start[-1] = len(record)
    whole = _uncut(shapes.polygon_ring, shapes.ring_start, shapes.xy, role)
    record = np.concatenate([record, whole])
    lanes = np.flatnonzero(role & ANY_LANE).astype(np.int32)
    cells = Cells(grid, flags, start, record)
    return GroundIndex(cells, shapes.xy, shapes.bounds, bins, lanes)


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
    """Say for every cell which polygons hold it whole and, as a list, which may cross it."""
    side = grid.side
    flags = np.zeros(side * side + 1, np.uint8)
    flags[-1] = ASKED << _DOUBT
    start = np.zeros(side * side + 1, np.int32)
    cell_list = np.empty(1024, np.int32)
    polygon_list = np.empty(1024, np.int32)
    entries = 0
    crossed = np.empty(side, np.bool_)
    for p in range(len(role)):
        if not role[p] & ASKED:
            continue
        first_row = max(bins.low[p] - 1, 0)
        last_row = min(bins.low[p] + bins.offset[p + 1] - bins.offset[p] + 1, side)
        first = max(column_of(grid, bounds[p, 0] - DOUBT_M), 0)
        last = min(column_of(grid, bounds[p, 2] + DOUBT_M), side - 1)
        if first > last:
            continue
        for row in range(first_row, last_row):
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
                    flags[cell] |= role[p] & ASKED
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
        flags[cell] |= (role[polygon_list[entry]] & ASKED & ~flags[cell]) << _DOUBT
    return flags, start, polygon


@njit(cache=True)
def _cut(
    grid: Grid, xy: Floats, bins: Bins, role: Bytes, start: Ints, polygon: Ints
) -> tuple[Ints, Floats]:
    """Cut every polygon down to each cell it may cross, as one record a cell.

    A ray to the right of a point in the cell meets three sorts of edges: those near the cell, which
    are asked; those wholly to the right, whose crossings telescope along the boundary to the ends
    of each run; and the rest, which never count.  A record is the number of polygons, then for each
    its role, whether runs past the whole row cross it an odd number of times, the numbers of edges
    and of run ends, the edges (ax, ay, bx, by) and the heights of the ends within the row.
    """
    cells = grid.side * grid.side
    where = np.zeros(cells + 1, np.int32)
    record = np.empty(4096)
    used = 0
    ends = np.empty(64)
    for cell in range(cells):
        if start[cell] == start[cell + 1]:
            continue
        where[cell] = used
        record[used] = start[cell + 1] - start[cell]
        used += 1
        west = grid.west_m + (cell % grid.side) / grid.per_m - DOUBT_M
        south = grid.south_m + (cell // grid.side) / grid.per_m - DOUBT_M
        east = west + 1.0 / grid.per_m + 2.0 * DOUBT_M
        north = south + 1.0 / grid.per_m + 2.0 * DOUBT_M
        for cut in range(start[cell], start[cell + 1]):
            p = polygon[cut]
            row = cell // grid.side - bins.low[p]
            known = 0 <= row < bins.offset[p + 1] - bins.offset[p]
            first = bins.start[bins.offset[p] + row] if known else 0
            last = bins.start[bins.offset[p] + row + 1] if known else 0
            while used + 8 + 6 * (last - first) > len(record):
                record = _longer(record)
            while 2 * (last - first) > len(ends):
                ends = _longer(ends)
            head = used
            used += 4
            count = 0
            run_end = -1
            for entry in range(first, last):
                i = bins.edge[entry]
                ax, ay, bx, by = xy[i - 1, 0], xy[i - 1, 1], xy[i, 0], xy[i, 1]
                if max(ax, bx) < west:
                    continue
                if min(ax, bx) <= east:
                    record[used], record[used + 1] = ax, ay
                    record[used + 2], record[used + 3] = bx, by
                    used += 4
                    continue
                # wholly to the right: where one edge of a run ends the next begins, and both cancel
                if run_end == i - 1:
                    count -= 1
                else:
                    ends[count] = ay
                    count += 1
                ends[count] = by
                count += 1
                run_end = i
            record[head] = role[p] & ASKED
            record[head + 2] = (used - head - 4) // 4
            odd = False
            kept = used
            for k in range(count):
                if ends[k] > north:
                    odd = not odd
                elif ends[k] >= south:
                    record[used] = ends[k]
                    used += 1
            record[head + 1] = odd
            record[head + 3] = used - kept
    return where, record[:used].copy()


@njit(cache=True)
def _uncut(polygon_ring: Longs, ring_start: Longs, xy: Floats, role: Bytes) -> Floats:
    """Record of the cell beyond the grid: every polygon with all its edges."""
    record = np.zeros(1 + 4 * len(role) + 4 * len(xy))
    used = 1
    for p in range(len(role)):
        if not role[p] & ASKED:
            continue
        record[0] += 1
        head = used
        record[head] = role[p] & ASKED
        used += 4
        for ring in range(polygon_ring[p], polygon_ring[p + 1]):
            for i in range(ring_start[ring] + 1, ring_start[ring + 1]):
                record[used : used + 2] = xy[i - 1]
                record[used + 2 : used + 4] = xy[i]
                used += 4
        record[head + 2] = (used - head - 4) // 4
    return record[:used]


@njit(cache=True)
def _longer(values: NDArray[Any]) -> NDArray[Any]:
    grown = np.empty(len(values) * 2, values.dtype)
    grown[: len(values)] = values
    return grown


@njit(cache=True)
def _mark_row(grid: Grid, xy: Floats, bins: Bins, p: int, row: int, crossed: Truths) -> None:
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


@njit(cache=True, nogil=True, inline="always")
def lies_in(cells: Cells, role: int, x: float, y: float) -> bool:
    """Whether a point is strictly inside some polygon of a role."""
    cell = cell_of(cells.grid, x, y)
    flags = cells.flags[cell]
    answer = (flags & role) != 0
    if not answer and flags & (role << _DOUBT):
        answer = _lies_in_some(cells.record, cells.start[cell], role, x, y)
    return answer


@njit(cache=True, nogil=True)
def _lies_in_some(record: Floats, at: int, role: int, x: float, y: float) -> bool:
    """Whether a point is in some polygon of a role, from the record of the point's cell."""
    polygons = int(record[at])
    at += 1
    for _ in range(polygons):
        edges = at + 4
        ends = edges + 4 * int(record[at + 2])
        after = ends + int(record[at + 3])
        if int(record[at]) & role:
            crossed = int(record[at + 1])
            for k in range(ends, after):
                crossed ^= record[k] > y
            for k in range(edges, ends, 4):
                met = ray_meets_edge(x, y, record[k], record[k + 1], record[k + 2], record[k + 3])
                if met == ON_EDGE:
                    crossed = 0
                    break
                crossed ^= met
            if crossed:
                return True
        at = after
    return False


@njit(cache=True, nogil=True)
def leaves_road(cells: Cells, points: Floats, step: int) -> bool:
    """Whether at a step one of the four corners ``[step, 5, xy]`` is on no drivable polygon."""
    for k in range(4):
        if not lies_in(cells, DRIVABLE, points[step, k, 0], points[step, k, 1]):
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
            held += point_in_binned(index.cells.grid, index.bins, index.xy, p, x, y) == INSIDE
        if held == 4:
            return False
        touched += held > 0
    return touched > 1
