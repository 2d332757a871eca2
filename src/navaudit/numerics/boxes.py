"""Boxes: four corners, mostly rectangles, and whether they touch one another or a segment.

A *box* is float64 ``[corner, xy]``, its four corners in ring order, not closed. See
`navaudit.numerics.plane` for what is promised of degenerate boxes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from navaudit.compiled import borrowing
from navaudit.numerics.segments import (
    BOUNDARY,
    INSIDE,
    ON_EDGE,
    OUTSIDE,
    SURE,
    ray_meets_edge,
    segments_touch,
)

Box = npt.NDArray[np.float64]


@borrowing(error_model="numpy")
def point_in_box(x: float, y: float, box: Box) -> int:
    """Return `INSIDE`, `BOUNDARY` or `OUTSIDE` for a point and a box of any shape."""
    crossings = 0
    ax, ay = box[3, 0], box[3, 1]
    for i in range(4):
        bx, by = box[i, 0], box[i, 1]
        met = ray_meets_edge(x, y, ax, ay, bx, by)
        if met == ON_EDGE:
            return BOUNDARY
        crossings += met
        ax, ay = bx, by
    return INSIDE if crossings & 1 else OUTSIDE


@borrowing(error_model="numpy")
def segment_touches_box(ax: float, ay: float, bx: float, by: float, box: Box) -> bool:
    """Return whether the closed segment `ab` and the closed box share a point."""
    cx, cy = box[3, 0], box[3, 1]
    for i in range(4):
        dx, dy = box[i, 0], box[i, 1]
        if segments_touch(ax, ay, bx, by, cx, cy, dx, dy):
            return True
        cx, cy = dx, dy
    return point_in_box(ax, ay, box) != OUTSIDE


@borrowing(error_model="numpy")
def _doubtful_boxes_touch(a: Box, b: Box) -> bool:
    for i in range(4):
        j = (i + 1) & 3
        if segment_touches_box(a[i, 0], a[i, 1], a[j, 0], a[j, 1], b):
            return True
    return point_in_box(b[0, 0], b[0, 1], a) != OUTSIDE


@borrowing(error_model="numpy")
def _range(box: Box, axis: int) -> tuple[float, float]:
    a, b, c, d = box[0, axis], box[1, axis], box[2, axis], box[3, axis]
    return min(min(a, b), min(c, d)), max(max(a, b), max(c, d))


@borrowing(error_model="numpy")
def _turn(box: Box, doubt: float) -> int:
    """Return 1 for a surely convex anticlockwise box, -1 for a clockwise one, 0 for others."""
    turns = 0
    ax, ay = box[2, 0], box[2, 1]
    bx, by = box[3, 0], box[3, 1]
    for i in range(4):
        cx, cy = box[i, 0], box[i, 1]
        det = (bx - ax) * (cy - by) - (by - ay) * (cx - bx)
        turns += (det > doubt) - (det < -doubt)
        ax, ay, bx, by = bx, by, cx, cy
    # four turns one way make a single round
    return (turns == 4) - (turns == -4)


@borrowing(error_model="numpy")
def _overlap(a: Box, turn: int, b: Box, doubt: float) -> float:
    """Return how far `b` reaches in over the edge of `a` that keeps it out best.

    The unit is the area between edge and corner, rounded; below `-doubt`, the line of that edge
    surely separates the boxes, above `doubt` surely no edge of `a` does.
    """
    least = np.inf
    ax, ay = a[3, 0], a[3, 1]
    for i in range(4):
        cx, cy = a[i, 0], a[i, 1]
        ux, uy = turn * (cx - ax), turn * (cy - ay)
        reach = max(
            ux * (b[0, 1] - ay) - uy * (b[0, 0] - ax),
            ux * (b[1, 1] - ay) - uy * (b[1, 0] - ax),
            ux * (b[2, 1] - ay) - uy * (b[2, 0] - ax),
            ux * (b[3, 1] - ay) - uy * (b[3, 0] - ax),
        )
        least = min(least, reach)
        if least < -doubt:
            break
        ax, ay = cx, cy
    return least


@borrowing(error_model="numpy")
def boxes_touch(a: Box, b: Box) -> bool:
    """Return whether two closed boxes, each ``[corner, xy]``, share a point.

    Boxes that are surely convex are separated by the line of an edge or not at all. Where rounding
    leaves a doubt, or a box is not convex, edges and corners decide with `orientation`.
    """
    ax_low, ax_high, bx_low, bx_high = *_range(a, 0), *_range(b, 0)
    if ax_high < bx_low or bx_high < ax_low:
        return False
    ay_low, ay_high, by_low, by_high = *_range(a, 1), *_range(b, 1)
    if ay_high < by_low or by_high < ay_low:
        return False
    # differences of corners are within the common bounds, so no determinant errs by more
    doubt = (
        4.0
        * SURE
        * (max(ax_high, bx_high) - min(ax_low, bx_low))
        * (max(ay_high, by_high) - min(ay_low, by_low))
    )
    turn_a, turn_b = _turn(a, doubt), _turn(b, doubt)
    if turn_a != 0 and turn_b != 0:
        overlap = _overlap(a, turn_a, b, doubt)
        if overlap >= -doubt:
            overlap = min(overlap, _overlap(b, turn_b, a, doubt))
        if overlap < -doubt:
            return False
        if overlap > doubt:
            return True
    return _doubtful_boxes_touch(a, b)


@borrowing(error_model="numpy")
def collapsed(box: Box) -> bool:
    """Return whether a box is a point or goes to and fro on a line: corners in pairs or all alike.

    GEOS up to 3.12 finds no such polygon in its own right, only with a prepared one beside it.

    Examples
    --------
    >>> collapsed(np.array([[2.0, 0.0], [0.0, 0.0], [0.0, 0.0], [2.0, 0.0]]))
    True
    """
    edges = 0
    for i in range(4):
        j = (i + 1) & 3
        edges += box[i, 0] != box[j, 0] or box[i, 1] != box[j, 1]
    return edges < 3


@borrowing(error_model="numpy")
def upright(box: Box) -> bool:
    """Return whether a box is a rectangle whose edges lie along the axes, to the bit.

    Examples
    --------
    >>> upright(np.array([[2.0, 1.0], [0.0, 1.0], [0.0, 0.0], [2.0, 0.0]]))
    True
    """
    x_low, x_high = _range(box, 0)
    y_low, y_high = _range(box, 1)
    for i in range(4):
        j = (i + 1) & 3
        x, y = box[i, 0], box[i, 1]
        if x not in (x_low, x_high) or y not in (y_low, y_high):
            return False
        if (x != box[j, 0]) == (y != box[j, 1]):
            return False
    return True
