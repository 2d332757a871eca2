"""Lane keeping: the centre may not stay off the route's centreline for two seconds on end."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import CENTRE, STEPS
from navaudit.compiled import borrowing, njit
from navaudit.numerics.polyline import distance_to_segment
from navaudit.score.cells import CROSSROADS, Cells, lies_in
from navaudit.score.grid import DOUBT_M, Grid, Near, cell_of, segments_near

Floats = NDArray[np.float64]

LIMIT_M: Final = 0.5
"""Farthest the centre may be from the centreline."""
PATIENCE_STEPS: Final = 20
"""Counted steps on end beyond the limit that fail the metric."""

_FAR, _CLOSE, _DOUBT = 0, 1, 2


class LineIndex(NamedTuple):
    """A centreline laid out over a grid."""

    grid: Grid
    line: Floats
    """``[vertex, xy]``"""
    place: NDArray[np.uint8]
    """``[cell]``: surely farther than the limit, surely closer, or in doubt."""
    near: Near
    """Segments within the limit of each cell."""


def index_line(line: Floats, grid: Grid) -> LineIndex:
    """Lay out a centreline ``[vertex, xy]`` over a grid."""
    segment = np.concatenate([line[:-1], line[1:]], axis=1)
    near = segments_near(grid, segment, LIMIT_M)
    return LineIndex(grid, line, _places(grid, segment, near), near)


@njit(cache=True)
def _places(grid: Grid, segment: Floats, near: Near) -> NDArray[np.uint8]:
    side = grid.side
    place = np.full(side * side + 1, _DOUBT, np.uint8)
    cell_m = 1.0 / grid.per_m
    for cell in range(side * side):
        x = grid.west_m + (cell % side) * cell_m
        y = grid.south_m + (cell // side) * cell_m
        if near.start[cell] == near.start[cell + 1]:
            place[cell] = _FAR
        for entry in range(near.start[cell], near.start[cell + 1]):
            if _holds_cell(segment[near.item[entry]], x, y, cell_m):
                place[cell] = _CLOSE
                break
    return place


@borrowing
def _holds_cell(one: Floats, x: float, y: float, cell_m: float) -> bool:
    """Whether all of a cell is surely within the limit; that region is convex, so corners tell."""
    for k in range(4):
        px = x + (k & 1) * cell_m
        py = y + (k >> 1) * cell_m
        if distance_to_segment(px, py, one[0], one[1], one[2], one[3]) > LIMIT_M - DOUBT_M:
            return False
    return True


@borrowing
def strays(index: LineIndex, x: float, y: float) -> bool:
    """Whether a point is more than the limit from the centreline."""
    cell = cell_of(index.grid, x, y)
    line = index.line
    place = index.place[cell]
    if place != _DOUBT:
        return place == _FAR
    for entry in range(index.near.start[cell], index.near.start[cell + 1]):
        i = index.near.item[entry]
        ax, ay, bx, by = line[i, 0], line[i, 1], line[i + 1, 0], line[i + 1, 1]
        if distance_to_segment(x, y, ax, ay, bx, by) <= LIMIT_M:
            return False
    return True


@borrowing
def lane_keeping(index: LineIndex, cells: Cells, points: Floats) -> int:
    """First step at which lane keeping fails for points ``[step, 5, xy]``; ``STEPS`` if none.

    A step inside an intersection neither counts nor forgives (pdm_scorer.py:644-683).
    """
    astray = 0
    for step in range(STEPS):
        x, y = points[step, CENTRE, 0], points[step, CENTRE, 1]
        off = strays(index, x, y)
        # the intersection matters only where it would change the count
        if (off or astray > 0) and lies_in(cells, CROSSROADS, x, y):
            continue
        astray = astray + 1 if off else 0
        if astray >= PATIENCE_STEPS:
            return step
    return STEPS
