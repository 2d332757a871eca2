"""How far two polygons are apart, to the bit of GEOS.

Containment is asked first, for the first vertex of either, then segment against segment
(src/operation/distance/DistanceOp.cpp:193-260 and src/algorithm/Distance.cpp:96-160 of GEOS
3.11.4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import njit
from navaudit.numerics.plane import OUTSIDE, point_in_box, point_in_rings
from navaudit.numerics.polyline import distance_to_segment

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

_SLACK_M = 1e-9  # far above rounding


@njit(cache=True, nogil=True, error_model="numpy")
def gap_within(
    limit: float, box: Floats, xy: Floats, ring_start: Longs, first: int, last: int
) -> float:
    """Return the distance of a box and a polygon in m, 0 if they touch; ``limit`` if not below it.

    The box is a closed ring ``[5, xy]``; the polygon is the rings ``first .. last - 1``.
    """
    if limit == 0.0:
        return limit
    west = min(box[0, 0], box[1, 0], box[2, 0], box[3, 0])
    east = max(box[0, 0], box[1, 0], box[2, 0], box[3, 0])
    south = min(box[0, 1], box[1, 1], box[2, 1], box[3, 1])
    north = max(box[0, 1], box[1, 1], box[2, 1], box[3, 1])
    nearest = limit
    if point_in_rings(box[0, 0], box[0, 1], xy, ring_start, first, last) != OUTSIDE:
        return 0.0
    for ring in range(first, last):
        begin, end = ring_start[ring], ring_start[ring + 1]
        if point_in_box(xy[begin, 0], xy[begin, 1], box[:4]) != OUTSIDE:
            return 0.0
        for i in range(begin + 1, end):
            ax, ay, bx, by = xy[i - 1, 0], xy[i - 1, 1], xy[i, 0], xy[i, 1]
            wide = nearest + _SLACK_M
            if min(ax, bx) > east + wide or max(ax, bx) < west - wide:
                continue
            if min(ay, by) > north + wide or max(ay, by) < south - wide:
                continue
            for k in range(4):
                cx, cy, dx, dy = box[k, 0], box[k, 1], box[k + 1, 0], box[k + 1, 1]
                distance = segment_gap(ax, ay, bx, by, cx, cy, dx, dy)
                if distance < nearest:  # noqa: PLR1730 - says what becomes of NaN
                    nearest = distance
    return nearest


@njit(cache=True, nogil=True, error_model="numpy")
def segment_gap(
    ax: float, ay: float, bx: float, by: float, cx: float, cy: float, dx: float, dy: float
) -> float:
    """Return the distance of segments ab and cd in m, 0 where rounding lets them cross."""
    if ax == bx and ay == by:
        return distance_to_segment(ax, ay, cx, cy, dx, dy)
    if cx == dx and cy == dy:
        return distance_to_segment(cx, cy, ax, ay, bx, by)
    if not (
        max(ax, bx) < min(cx, dx)
        or max(cx, dx) < min(ax, bx)
        or max(ay, by) < min(cy, dy)
        or max(cy, dy) < min(ay, by)
    ):
        across = (bx - ax) * (dy - cy) - (by - ay) * (dx - cx)
        if across != 0.0:
            r = ((ay - cy) * (dx - cx) - (ax - cx) * (dy - cy)) / across
            s = ((ay - cy) * (bx - ax) - (ax - cx) * (by - ay)) / across
            if not (r < 0.0 or r > 1.0 or s < 0.0 or s > 1.0):
                return 0.0
    one = min(
        distance_to_segment(ax, ay, cx, cy, dx, dy), distance_to_segment(bx, by, cx, cy, dx, dy)
    )
    other = min(
        distance_to_segment(cx, cy, ax, ay, bx, by), distance_to_segment(dx, dy, ax, ay, bx, by)
    )
    return min(one, other)
