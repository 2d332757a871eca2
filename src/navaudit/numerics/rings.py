"""Polygons of any shape, with holes and several parts, as runs of rings in flat arrays.

*Rings* are ``xy`` float64 ``[vertex, xy]`` and ``ring_start`` int64 ``[ring + 1]``: ring `r` is
``xy[ring_start[r]:ring_start[r + 1]]``, closed, its first vertex repeated. One polygon or
multipolygon is the run of rings from ``first`` up to, not including, ``last``; a point is inside
where it is inside an odd number of them. `navaudit.numerics.polygons.Polygons` packs whole sets.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from navaudit.compiled import njit
from navaudit.numerics.boxes import segment_touches_box
from navaudit.numerics.segments import (
    BOUNDARY,
    INSIDE,
    ON_EDGE,
    OUTSIDE,
    ray_meets_edge,
    segments_touch,
)

Floats = npt.NDArray[np.float64]
Starts = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]


@njit(cache=True, error_model="numpy")
def point_in_rings(
    x: float, y: float, xy: Floats, ring_start: Starts, first: int, last: int
) -> int:
    """Return `INSIDE`, `BOUNDARY` or `OUTSIDE` for a point and one polygon."""
    crossings = 0
    for ring in range(first, last):
        start = ring_start[ring]
        ax, ay = xy[start, 0], xy[start, 1]
        for i in range(start + 1, ring_start[ring + 1]):
            bx, by = xy[i, 0], xy[i, 1]
            met = ray_meets_edge(x, y, ax, ay, bx, by)
            if met == ON_EDGE:
                return BOUNDARY
            crossings += met
            ax, ay = bx, by
    return INSIDE if crossings & 1 else OUTSIDE


@njit(cache=True, error_model="numpy")
def _segment_touches_edges(
    ax: float,
    ay: float,
    bx: float,
    by: float,
    xy: Floats,
    ring_start: Starts,
    first: int,
    last: int,
) -> bool:
    for ring in range(first, last):
        for i in range(ring_start[ring] + 1, ring_start[ring + 1]):
            if segments_touch(ax, ay, bx, by, xy[i - 1, 0], xy[i - 1, 1], xy[i, 0], xy[i, 1]):
                return True
    return False


@njit(cache=True, error_model="numpy")
def segment_touches_rings(
    ax: float,
    ay: float,
    bx: float,
    by: float,
    xy: Floats,
    ring_start: Starts,
    first: int,
    last: int,
) -> bool:
    """Return whether the closed segment `ab` and one polygon, its boundary included, meet."""
    if _segment_touches_edges(ax, ay, bx, by, xy, ring_start, first, last):
        return True
    return point_in_rings(ax, ay, xy, ring_start, first, last) != OUTSIDE


@njit(cache=True, error_model="numpy")
def box_touches_rings(box: Floats, xy: Floats, ring_start: Starts, first: int, last: int) -> bool:
    """Return whether a box ``[corner, xy]`` and one polygon, boundaries included, share a point."""
    x_low = min(box[0, 0], box[1, 0], box[2, 0], box[3, 0])
    x_high = max(box[0, 0], box[1, 0], box[2, 0], box[3, 0])
    y_low = min(box[0, 1], box[1, 1], box[2, 1], box[3, 1])
    y_high = max(box[0, 1], box[1, 1], box[2, 1], box[3, 1])
    for ring in range(first, last):
        for i in range(ring_start[ring] + 1, ring_start[ring + 1]):
            ax, ay, bx, by = xy[i - 1, 0], xy[i - 1, 1], xy[i, 0], xy[i, 1]
            if max(ax, bx) < x_low or min(ax, bx) > x_high:
                continue
            if max(ay, by) < y_low or min(ay, by) > y_high:
                continue
            # also meets an edge that lies inside the box, and so a ring that does
            if segment_touches_box(ax, ay, bx, by, box):
                return True
    return point_in_rings(box[0, 0], box[0, 1], xy, ring_start, first, last) != OUTSIDE


@njit(cache=True, error_model="numpy")
def bounds_of_rings(
    xy: Floats, ring_start: Starts, first: int, last: int
) -> tuple[float, float, float, float]:
    """Return x low, y low, x high, y high of one polygon; lows of an empty one are infinite."""
    x_low = y_low = np.inf
    x_high = y_high = -np.inf
    for i in range(ring_start[first], ring_start[last]):
        x_low, x_high = min(x_low, xy[i, 0]), max(x_high, xy[i, 0])
        y_low, y_high = min(y_low, xy[i, 1]), max(y_high, xy[i, 1])
    return x_low, y_low, x_high, y_high


@njit(cache=True, error_model="numpy")
def rings_touch(
    a_xy: Floats,
    a_start: Starts,
    a_first: int,
    a_last: int,
    b_xy: Floats,
    b_start: Starts,
    b_first: int,
    b_last: int,
) -> bool:
    """Return whether two polygons, boundaries included, share a point.

    Either some edges touch, or a ring of one lies wholly in the other, or they are apart.
    """
    x_low, y_low, x_high, y_high = bounds_of_rings(b_xy, b_start, b_first, b_last)
    for ring in range(a_first, a_last):
        for i in range(a_start[ring] + 1, a_start[ring + 1]):
            ax, ay, bx, by = a_xy[i - 1, 0], a_xy[i - 1, 1], a_xy[i, 0], a_xy[i, 1]
            if max(ax, bx) < x_low or min(ax, bx) > x_high:
                continue
            if max(ay, by) < y_low or min(ay, by) > y_high:
                continue
            if _segment_touches_edges(ax, ay, bx, by, b_xy, b_start, b_first, b_last):
                return True
    return _ring_begins_inside(
        a_xy, a_start, a_first, a_last, b_xy, b_start, b_first, b_last
    ) or _ring_begins_inside(b_xy, b_start, b_first, b_last, a_xy, a_start, a_first, a_last)


@njit(cache=True, error_model="numpy")
def _ring_begins_inside(
    a_xy: Floats,
    a_start: Starts,
    a_first: int,
    a_last: int,
    b_xy: Floats,
    b_start: Starts,
    b_first: int,
    b_last: int,
) -> bool:
    for ring in range(a_first, a_last):
        x, y = a_xy[a_start[ring], 0], a_xy[a_start[ring], 1]
        if point_in_rings(x, y, b_xy, b_start, b_first, b_last) != OUTSIDE:
            return True
    return False


# ------------------------------------------------------------------------------ sets of polygons


@njit(cache=True, error_model="numpy")
def bounds_each(xy: Floats, ring_start: Starts, polygon_ring: Starts, out: Floats) -> None:
    """Write `bounds_of_rings` of every polygon to ``out[polygon, bound]``."""
    for k in range(len(out)):
        x_low, y_low, x_high, y_high = bounds_of_rings(
            xy, ring_start, polygon_ring[k], polygon_ring[k + 1]
        )
        out[k, 0], out[k, 1], out[k, 2], out[k, 3] = x_low, y_low, x_high, y_high


@njit(cache=True, error_model="numpy")
def locate_each(
    points: Floats,
    xy: Floats,
    ring_start: Starts,
    polygon_ring: Starts,
    bounds: Floats,
    out: npt.NDArray[np.int8],
) -> None:
    """Write `point_in_rings` of every polygon and point to ``out[polygon, point]``."""
    for k in range(len(out)):
        first, last = polygon_ring[k], polygon_ring[k + 1]
        x_low, y_low, x_high, y_high = bounds[k, 0], bounds[k, 1], bounds[k, 2], bounds[k, 3]
        for i in range(len(points)):
            x, y = points[i, 0], points[i, 1]
            if x < x_low or x > x_high or y < y_low or y > y_high:
                out[k, i] = OUTSIDE
            else:
                out[k, i] = point_in_rings(x, y, xy, ring_start, first, last)


@njit(cache=True, error_model="numpy")
def touch_segments_each(
    segments: Floats, xy: Floats, ring_start: Starts, polygon_ring: Starts, out: Truths
) -> None:
    """Write `segment_touches_rings` of ``[segment, end, xy]`` to ``out[polygon, segment]``."""
    for k in range(len(out)):
        for i in range(len(segments)):
            ax, ay, bx, by = (
                segments[i, 0, 0],
                segments[i, 0, 1],
                segments[i, 1, 0],
                segments[i, 1, 1],
            )
            out[k, i] = segment_touches_rings(
                ax, ay, bx, by, xy, ring_start, polygon_ring[k], polygon_ring[k + 1]
            )


@njit(cache=True, error_model="numpy")
def touch_boxes_each(
    boxes: Floats, xy: Floats, ring_start: Starts, polygon_ring: Starts, out: Truths
) -> None:
    """Write `box_touches_rings` of ``boxes[box, corner, xy]`` to ``out[polygon, box]``."""
    for k in range(len(out)):
        for i in range(len(boxes)):
            out[k, i] = box_touches_rings(
                boxes[i], xy, ring_start, polygon_ring[k], polygon_ring[k + 1]
            )


@njit(cache=True, error_model="numpy")
def touch_each(
    a_xy: Floats,
    a_start: Starts,
    a_polygon: Starts,
    b_xy: Floats,
    b_start: Starts,
    b_polygon: Starts,
    out: Truths,
) -> None:
    """Write `rings_touch` of every pair of polygons to ``out[a polygon, b polygon]``."""
    for k in range(out.shape[0]):
        for m in range(out.shape[1]):
            out[k, m] = rings_touch(
                a_xy,
                a_start,
                a_polygon[k],
                a_polygon[k + 1],
                b_xy,
                b_start,
                b_polygon[m],
                b_polygon[m + 1],
            )
