"""Orientation of three points, touching segments, and the ray that tells inside from outside.

The kernels everything in `navaudit.numerics.plane` rests on; that module says what is promised.
"""

from __future__ import annotations

import math

from navaudit.compiled import njit
from navaudit.numerics.twofold import dd_mul, dd_sub, two_difference

OUTSIDE, BOUNDARY, INSIDE = -1, 0, 1
"""Where a point lies with respect to a box or polygon."""

PASSED, CROSSED, ON_EDGE = 0, 1, 2
"""What an edge means to the ray of `ray_meets_edge`."""

SURE = 1e-15
"""Relative distance from zero beyond which a float64 determinant has a certain sign."""


@njit(cache=True, error_model="numpy")
def _doubtful_orientation(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    ux, ux_rest = two_difference(bx, ax)
    uy, uy_rest = two_difference(by, ay)
    vx, vx_rest = two_difference(px, bx)
    vy, vy_rest = two_difference(py, by)
    left, left_rest = dd_mul(ux, ux_rest, vy, vy_rest)
    right, right_rest = dd_mul(uy, uy_rest, vx, vx_rest)
    det, rest = dd_sub(left, left_rest, right, right_rest)
    if det == 0.0:
        det = rest
    return (det > 0.0) - (det < 0.0)


@njit(cache=True, error_model="numpy")
def orientation(ax: float, ay: float, bx: float, by: float, px: float, py: float) -> int:
    """Return 1 where `p` lies left of the line from `a` to `b`, -1 right of it, 0 on it.

    >>> orientation(0.0, 0.0, 2.0, 0.0, 1.0, 5e-324)
    1
    """
    left = (ax - px) * (by - py)
    right = (ay - py) * (bx - px)
    det = left - right
    if math.fabs(det) >= SURE * math.fabs(left + right):
        return (det > 0.0) - (det < 0.0)
    return _doubtful_orientation(ax, ay, bx, by, px, py)


@njit(cache=True, error_model="numpy")
def _in_bounds(x: float, y: float, ax: float, ay: float, bx: float, by: float) -> bool:
    return min(ax, bx) <= x <= max(ax, bx) and min(ay, by) <= y <= max(ay, by)


@njit(cache=True, error_model="numpy")
def segments_touch(
    ax: float, ay: float, bx: float, by: float, cx: float, cy: float, dx: float, dy: float
) -> bool:
    """Return whether the closed segments `ab` and `cd` share a point; either may be a point."""
    if max(ax, bx) < min(cx, dx) or max(cx, dx) < min(ax, bx):
        return False
    if max(ay, by) < min(cy, dy) or max(cy, dy) < min(ay, by):
        return False
    c_side = orientation(ax, ay, bx, by, cx, cy)
    d_side = orientation(ax, ay, bx, by, dx, dy)
    if c_side * d_side > 0:
        return False
    a_side = orientation(cx, cy, dx, dy, ax, ay)
    b_side = orientation(cx, cy, dx, dy, bx, by)
    if a_side * b_side > 0:
        return False
    if c_side != 0 or d_side != 0 or a_side != 0 or b_side != 0:
        return True
    # on one line, what they share ends in two of the four ends
    shared_ends = (
        _in_bounds(ax, ay, cx, cy, dx, dy)
        + _in_bounds(bx, by, cx, cy, dx, dy)
        + _in_bounds(cx, cy, ax, ay, bx, by)
        + _in_bounds(dx, dy, ax, ay, bx, by)
    )
    return shared_ends >= 2


@njit(cache=True, error_model="numpy")
def ray_meets_edge(x: float, y: float, ax: float, ay: float, bx: float, by: float) -> int:
    """Follow a ray from ``(x, y)`` to the right past the edge from `a` to `b` of a ring.

    Returns `CROSSED` if the ray passes from one side of the edge to the other, `ON_EDGE` if the
    point is on the edge, else `PASSED`. An edge owns its lower end and not its upper one, so that
    a vertex of a ring is crossed once or twice, never by halves. The edge's own start is left to
    the edge before it.
    """
    if (ay > y) == (by > y):
        if by == y and (bx == x or (ay == y and min(ax, bx) <= x <= max(ax, bx))):
            return ON_EDGE
        return PASSED
    if ax < x and bx < x:
        return PASSED
    if ax > x and bx > x:
        return CROSSED
    side = orientation(ax, ay, bx, by, x, y)
    if side == 0:
        return ON_EDGE
    return CROSSED if (side > 0) == (by > ay) else PASSED
