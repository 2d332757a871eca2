"""What each cell of the ground knows, and the one question asked millions of times: what lies here.

`navaudit.score.raster` and `navaudit.score.cutting` fill the cells in; here they are read.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import borrowing
from navaudit.numerics.segments import ON_EDGE, ray_meets_edge
from navaudit.score.grid import Grid, cell_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]

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

DOUBT: Final = 3
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
    """For each cell in doubt, the polygons that may cross it: see `navaudit.score.cutting`."""


@borrowing(inline="always")
def lies_in(cells: Cells, role: int, x: float, y: float) -> bool:
    """Whether a point is strictly inside some polygon of a role."""
    cell = cell_of(cells.grid, x, y)
    flags = cells.flags[cell]
    answer = (flags & role) != 0
    if not answer and flags & (role << DOUBT):
        answer = _lies_in_some(cells.record, cells.start[cell], role, x, y)
    return answer


@borrowing
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
