"""Polygons cut down to the cells they may cross, so that a point asks few edges.

A ray to the right of a point in a cell meets three sorts of edges: those near the cell, which are
asked; those wholly to the right, whose crossings telescope along the boundary to the ends of each
run; and the rest, which never count. A record is the number of polygons, then for each its role,
whether runs past the whole row cross it an odd number of times, the numbers of edges and of run
ends, the edges (ax, ay, bx, by) and the heights of the ends within the row.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import borrowing, njit
from navaudit.score.cells import ASKED
from navaudit.score.grid import DOUBT_M, Bins, Grid, longer

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]


@njit(cache=True)
def cut(
    grid: Grid, xy: Floats, bins: Bins, role: Bytes, start: Ints, polygon: Ints
) -> tuple[Ints, Floats]:
    """Cut every polygon down to each cell it may cross: where records begin, and the records."""
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
        for entry in range(start[cell], start[cell + 1]):
            p = polygon[entry]
            row = cell // grid.side - bins.low[p]
            known = 0 <= row < bins.offset[p + 1] - bins.offset[p]
            first = bins.start[bins.offset[p] + row] if known else 0
            last = bins.start[bins.offset[p] + row + 1] if known else 0
            while used + 8 + 6 * (last - first) > len(record):
                record = longer(record)
            while 2 * (last - first) > len(ends):
                ends = longer(ends)
            near = bins.edge[first:last]
            used = _cut_one(grid, cell, xy, near, role[p] & ASKED, record, used, ends)
    return where, record[:used].copy()


@borrowing
def _cut_one(
    grid: Grid,
    cell: int,
    xy: Floats,
    edges: Ints,
    role: int,
    record: Floats,
    head: int,
    ends: Floats,
) -> int:
    """Write what a cell must know of one polygon from ``head`` on; return where that ends."""
    west = grid.west_m + (cell % grid.side) / grid.per_m - DOUBT_M
    south = grid.south_m + (cell // grid.side) / grid.per_m - DOUBT_M
    east = west + 1.0 / grid.per_m + 2.0 * DOUBT_M
    north = south + 1.0 / grid.per_m + 2.0 * DOUBT_M
    used = head + 4
    count = 0
    run_end = -1
    for i in edges:
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
    record[head] = role
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
    return used


@njit(cache=True)
def uncut(polygon_ring: Longs, ring_start: Longs, xy: Floats, role: Bytes) -> Floats:
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
