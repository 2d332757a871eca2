"""A grid of cells over the ground, so that a point finds what is near it with one look-up.

A grid only ever narrows a search.  Whatever it leaves out is surely out: a cell counts as touched
when in doubt, by a margin far above rounding.  Answers therefore do not depend on the cells.  All
the world beyond the grid is one more cell, the last, in which everything is in doubt.

What the kernels look up is kept in few arrays and passed as such: a tuple of many arrays costs more
to hand to a function than most questions cost to answer.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import borrowing, njit
from navaudit.numerics.segments import BOUNDARY, INSIDE, ON_EDGE, OUTSIDE, ray_meets_edge

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

DOUBT_M: Final = 1e-6
"""Margin by which cells are enlarged; coordinates of a city round at 1e-9 m."""


class Grid(NamedTuple):
    """Square cells over a square of ground, counted row by row from the south-west corner."""

    west_m: float
    south_m: float
    per_m: float
    """Cells in a metre."""
    side: int
    """Cells along each side."""


class Near(NamedTuple):
    """For every cell, the items that may matter to a point in it."""

    start: Ints
    """``[cell + 1]``, all cells with the one beyond."""
    item: Ints
    """``[entry]``"""


class Bins(NamedTuple):
    """For every polygon and row of cells, the edges that reach into the row.

    Whether a point is in a polygon hangs on the edges at its own height alone.
    """

    low: Ints
    """``[polygon]``: first row the polygon reaches."""
    offset: Longs
    """``[polygon + 1]``: where the polygon's rows begin in ``start``."""
    start: Longs
    """``[row of polygon + 1]``: where the row's edges begin in ``edge``."""
    edge: Ints
    """``[entry]``: the vertex at which the edge ends; it begins at the vertex before."""


def grid_round(x_m: float, y_m: float, reach_m: float, cell_m: float) -> Grid:
    """Cells round a point, out to ``reach_m`` on every side."""
    side = max(2 * math.ceil(reach_m / cell_m), 1)
    half = side * cell_m / 2.0
    return Grid(x_m - half, y_m - half, 1.0 / cell_m, side)


@borrowing
def cell_of(grid: Grid, x: float, y: float) -> int:
    """Return the cell of a point; the last one for all that is beyond the grid, and for NaN."""
    column = (x - grid.west_m) * grid.per_m
    row = (y - grid.south_m) * grid.per_m
    if not (0.0 <= column < grid.side and 0.0 <= row < grid.side):
        return grid.side * grid.side
    return int(row) * grid.side + int(column)


@borrowing
def row_of(grid: Grid, y: float) -> int:
    """Return the row of a height, also beyond the grid; it never falls as the height rises."""
    return int(math.floor((y - grid.south_m) * grid.per_m))


@borrowing
def column_of(grid: Grid, x: float) -> int:
    """Return the column of an easting, also beyond the grid."""
    return int(math.floor((x - grid.west_m) * grid.per_m))


@njit(cache=True)
def bin_edges(grid: Grid, xy: Floats, ring_start: Longs, polygon_ring: Longs) -> Bins:
    """Sort the edges of packed polygons into the rows they reach."""
    count = len(polygon_ring) - 1
    low = np.zeros(count, np.int32)
    offset = np.zeros(count + 1, np.int64)
    for p in range(count):
        bottom, top = _row_range(grid, xy, ring_start, polygon_ring, p)
        low[p] = bottom
        offset[p + 1] = offset[p] + max(top - bottom + 1, 0)
    start = np.zeros(offset[count] + 1, np.int64)
    for filling in range(2):
        if filling:
            start[1:] = np.cumsum(start[1:])
            edge = np.empty(start[-1], np.int32)
            cursor = start[:-1].copy()
        else:
            edge = np.empty(0, np.int32)
            cursor = start[:-1]
        for p in range(count):
            base = offset[p] - low[p]
            for ring in range(polygon_ring[p], polygon_ring[p + 1]):
                for i in range(ring_start[ring] + 1, ring_start[ring + 1]):
                    first = row_of(grid, min(xy[i - 1, 1], xy[i, 1]))
                    last = row_of(grid, max(xy[i - 1, 1], xy[i, 1]))
                    for row in range(first, last + 1):
                        if filling:
                            edge[cursor[base + row]] = i
                            cursor[base + row] += 1
                        else:
                            start[base + row + 1] += 1
    return Bins(low, offset, start, edge)


@njit(cache=True, nogil=True)
def _row_range(
    grid: Grid, xy: Floats, ring_start: Longs, polygon_ring: Longs, p: int
) -> tuple[int, int]:
    first = ring_start[polygon_ring[p]]
    last = ring_start[polygon_ring[p + 1]]
    if first == last:
        return 0, -1
    return row_of(grid, xy[first:last, 1].min()), row_of(grid, xy[first:last, 1].max())


@borrowing
def point_in_binned(grid: Grid, bins: Bins, xy: Floats, p: int, x: float, y: float) -> int:
    """Return ``INSIDE``, ``BOUNDARY`` or ``OUTSIDE`` for a point and one binned polygon."""
    row = row_of(grid, y) - bins.low[p]
    if row < 0 or row >= bins.offset[p + 1] - bins.offset[p]:
        return OUTSIDE
    at = bins.offset[p] + row
    crossings = 0
    for entry in range(bins.start[at], bins.start[at + 1]):
        i = bins.edge[entry]
        met = ray_meets_edge(x, y, xy[i - 1, 0], xy[i - 1, 1], xy[i, 0], xy[i, 1])
        if met == ON_EDGE:
            return BOUNDARY
        crossings += met
    return INSIDE if crossings & 1 else OUTSIDE


@njit(cache=True)
def segments_near(grid: Grid, segment: Floats, reach_m: float) -> Near:
    """For every cell, the segments ``[segment, (ax, ay, bx, by)]`` within reach of any point of it.

    Conservative: it may also name segments a little farther off.
    """
    beyond = grid.side * grid.side
    start = np.zeros(beyond + 2, np.int32)
    item = np.empty(0, np.int32)
    for filling in range(2):
        if filling:
            start[1:] = np.cumsum(start[1:])
            item = np.empty(start[-1] + len(segment), np.int32)
            item[start[-1] :] = np.arange(len(segment))
        cursor = start[:-1].copy()
        for s in range(len(segment)):
            first_row, last_row, first_column, last_column = _window(grid, segment[s], reach_m)
            for row in range(first_row, last_row + 1):
                for column in range(first_column, last_column + 1):
                    if _surely_beyond(grid, segment[s], row, column, reach_m):
                        continue
                    cell = row * grid.side + column
                    if filling:
                        item[cursor[cell]] = s
                        cursor[cell] += 1
                    else:
                        start[cell + 1] += 1
    start[beyond + 1] += len(segment)
    return Near(start, item)


@borrowing
def _window(grid: Grid, one: Floats, reach_m: float) -> tuple[int, int, int, int]:
    wide = reach_m + DOUBT_M
    first_row = max(row_of(grid, min(one[1], one[3]) - wide), 0)
    last_row = min(row_of(grid, max(one[1], one[3]) + wide), grid.side - 1)
    first_column = max(column_of(grid, min(one[0], one[2]) - wide), 0)
    last_column = min(column_of(grid, max(one[0], one[2]) + wide), grid.side - 1)
    return first_row, last_row, first_column, last_column


@borrowing
def _surely_beyond(grid: Grid, one: Floats, row: int, column: int, reach_m: float) -> bool:
    """Whether a cell keeps more than ``reach_m`` from the line through a segment."""
    half = 0.5 / grid.per_m
    x = grid.west_m + (column + 0.5) / grid.per_m
    y = grid.south_m + (row + 0.5) / grid.per_m
    ux = one[2] - one[0]
    uy = one[3] - one[1]
    away = abs(ux * (y - one[1]) - uy * (x - one[0]))
    wide = half + DOUBT_M
    return away > wide * (abs(ux) + abs(uy)) + reach_m * math.sqrt(ux * ux + uy * uy)


@njit(cache=True)
def longer(values: NDArray[Any]) -> NDArray[Any]:
    """A copy with room for twice as many."""
    grown = np.empty(len(values) * 2, values.dtype)
    grown[: len(values)] = values
    return grown
