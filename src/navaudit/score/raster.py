"""Polygons spread over the cells of a grid: which hold a cell whole, and which may cross it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import borrowing, njit
from navaudit.numerics.segments import INSIDE
from navaudit.score.cells import ASKED, DOUBT
from navaudit.score.grid import DOUBT_M, Bins, Grid, column_of, longer, point_in_binned

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]
Truths = NDArray[np.bool_]


class Crossings(NamedTuple):
    """Pairs of a cell and a polygon that may cross it, by polygon, then cell."""

    cell: Ints
    polygon: Ints


@njit(cache=True)
def rasterise(
    grid: Grid, xy: Floats, bounds: Floats, bins: Bins, role: Bytes
) -> tuple[Bytes, Ints, Ints]:
    """Say for every cell which polygons hold it whole and, as a list, which may cross it.

    Returns the flags of the cells, where each cell's part of the list begins, and the list.
    """
    flags = np.zeros(grid.side * grid.side + 1, np.uint8)
    flags[-1] = ASKED << DOUBT
    found, entries = _spread(grid, xy, bounds, bins, role, flags)
    start, polygon = _by_cell(found, entries, grid.side * grid.side)
    for entry in range(entries):
        cell = found.cell[entry]
        flags[cell] |= (role[found.polygon[entry]] & ASKED & ~flags[cell]) << DOUBT
    return flags, start, polygon


@njit(cache=True)
def _spread(
    grid: Grid, xy: Floats, bounds: Floats, bins: Bins, role: Bytes, flags: Bytes
) -> tuple[Crossings, int]:
    """Flag the cells that polygons hold whole; return the crossings and how many there are."""
    found = Crossings(np.empty(1024, np.int32), np.empty(1024, np.int32))
    entries = 0
    crossed = np.empty(grid.side, np.bool_)
    for p in range(len(role)):
        if not role[p] & ASKED:
            continue
        first_row = max(bins.low[p] - 1, 0)
        last_row = min(bins.low[p] + bins.offset[p + 1] - bins.offset[p] + 1, grid.side)
        first = max(column_of(grid, bounds[p, 0] - DOUBT_M), 0)
        last = min(column_of(grid, bounds[p, 2] + DOUBT_M), grid.side - 1)
        if first > last:
            continue
        for row in range(first_row, last_row):
            _mark_row(grid, xy, bins, p, row, crossed)
            if entries + grid.side > len(found.cell):
                found = Crossings(longer(found.cell), longer(found.polygon))
            for column in range(first, last + 1):
                if crossed[column]:
                    found.cell[entries] = row * grid.side + column
                    found.polygon[entries] = p
                    entries += 1
            _fill_row(grid, xy, bins, p, row, crossed[: last + 1], first, role[p] & ASKED, flags)
    return found, entries


@borrowing
def _fill_row(
    grid: Grid,
    xy: Floats,
    bins: Bins,
    p: int,
    row: int,
    crossed: Truths,
    first: int,
    role: int,
    flags: Bytes,
) -> None:
    """Flag the cells of a row that lie wholly in a polygon."""
    known = False
    inside = False
    for column in range(first, len(crossed)):
        if crossed[column]:
            known = False
            continue
        if not known:
            # cells in a row without the boundary between them share one answer
            x = grid.west_m + (column + 0.5) / grid.per_m
            y = grid.south_m + (row + 0.5) / grid.per_m
            inside = point_in_binned(grid, bins, xy, p, x, y) == INSIDE
            known = True
        if inside:
            flags[row * grid.side + column] |= role


@njit(cache=True)
def _by_cell(found: Crossings, entries: int, cells: int) -> tuple[Ints, Ints]:
    """Sort crossings by cell, polygons in order within each."""
    start = np.zeros(cells + 1, np.int32)
    for entry in range(entries):
        start[found.cell[entry] + 1] += 1
    start[1:] = np.cumsum(start[1:])
    cursor = start[:-1].copy()
    polygon = np.empty(entries, np.int32)
    for entry in range(entries):
        cell = found.cell[entry]
        polygon[cursor[cell]] = found.polygon[entry]
        cursor[cell] += 1
    return start, polygon


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


@borrowing
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
