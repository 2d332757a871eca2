"""Boxes: four corners, mostly rectangles, and whether they touch one another or a segment.

A *box* is float64 ``[corner, xy]``, its four corners in ring order, not closed. See
`navaudit.numerics.plane` for what is promised of degenerate boxes.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

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


@njit(cache=True, error_model="numpy")
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


@njit(cache=True, error_model="numpy")
def segment_touches_box(ax: float, ay: float, bx: float, by: float, box: Box) -> bool:
    """Return whether the closed segment `ab` and the closed box share a point."""
    cx, cy = box[3, 0], box[3, 1]
    for i in range(4):
        dx, dy = box[i, 0], box[i, 1]
        if segments_touch(ax, ay, bx, by, cx, cy, dx, dy):
            return True
        cx, cy = dx, dy
    return point_in_box(ax, ay, box) != OUTSIDE


@njit(cache=True, error_model="numpy")
def _boxes_touch_surely(a: Box, b: Box) -> bool:
    for i in range(4):
        j = (i + 1) & 3
        if segment_touches_box(a[i, 0], a[i, 1], a[j, 0], a[j, 1], b):
            return True
    return point_in_box(b[0, 0], b[0, 1], a) != OUTSIDE


@njit(cache=True, error_model="numpy")
def _sure_side(ax: float, ay: float, ux: float, uy: float, px: float, py: float) -> int:
    """Return the side of `p` on the line through `a` along `u`, 0 if on it or in doubt."""
    left = ux * (py - ay)
    right = uy * (px - ax)
    det = left - right
    if math.fabs(det) > SURE * math.fabs(left + right):
        return 1 if det > 0.0 else -1
    return 0


@njit(cache=True, error_model="numpy")
def _sure_turn(box: Box) -> int:
    """Return 1 for a surely convex anticlockwise box, -1 for a clockwise one, 0 for others."""
    turns = 0
    for i in range(4):
        j, k = (i + 1) & 3, (i + 2) & 3
        ax, ay = box[i, 0], box[i, 1]
        turns += _sure_side(ax, ay, box[j, 0] - ax, box[j, 1] - ay, box[k, 0], box[k, 1])
    # four turns one way make a single round; three and a doubt do not reach four
    return (turns == 4) - (turns == -4)


@njit(cache=True, error_model="numpy")
def _sure_gap(a: Box, turn: int, b: Box) -> int:
    """Return 1 if the line of some edge of `a` surely keeps `b` out, -1 if surely none does."""
    gap = -1
    for i in range(4):
        j = (i + 1) & 3
        ax, ay = a[i, 0], a[i, 1]
        ux, uy = a[j, 0] - ax, a[j, 1] - ay
        kept_out = 0
        let_in = 0
        for k in range(4):
            side = turn * _sure_side(ax, ay, ux, uy, b[k, 0], b[k, 1])
            kept_out += side < 0
            let_in += side > 0
        if kept_out == 4:
            return 1
        if let_in == 0:
            gap = 0
    return gap


@njit(cache=True, error_model="numpy")
def _bounds_apart(a: Box, b: Box) -> bool:
    for axis in range(2):
        a_low = min(a[0, axis], a[1, axis], a[2, axis], a[3, axis])
        a_high = max(a[0, axis], a[1, axis], a[2, axis], a[3, axis])
        b_low = min(b[0, axis], b[1, axis], b[2, axis], b[3, axis])
        b_high = max(b[0, axis], b[1, axis], b[2, axis], b[3, axis])
        if a_high < b_low or b_high < a_low:
            return True
    return False


@njit(cache=True, error_model="numpy")
def boxes_touch(a: Box, b: Box) -> bool:
    """Return whether two closed boxes, each ``[corner, xy]``, share a point.

    Boxes that are surely convex are separated by the line of an edge or not at all; where a filter
    cannot tell, or a box is not convex, edges and corners decide with `orientation`.
    """
    if _bounds_apart(a, b):
        return False
    turn_a = _sure_turn(a)
    turn_b = _sure_turn(b)
    if turn_a != 0 and turn_b != 0:
        gap_a = _sure_gap(a, turn_a, b)
        if gap_a > 0:
            return False
        gap_b = _sure_gap(b, turn_b, a)
        if gap_b > 0:
            return False
        if gap_a < 0 and gap_b < 0:
            return True
    return _boxes_touch_surely(a, b)
