"""How far a point is from a line of many segments, and how far along it, to the bit of GEOS.

Every operation and its order are those of GEOS 3.11.4: point to segment
(src/algorithm/Distance.cpp:32-79), the smallest over segments (src/operation/distance/
DistanceOp.cpp:495-532) and the length index of the nearest segment, the first of equals
(src/linearref/LengthIndexOfPoint.cpp:84-126). GEOS 3.14 differs in one line, the projection factor
of a segment without length, with the same result. The bits are those of a GEOS compiled without
fused multiply-add, as the x86-64 wheels of shapely are; a build that fuses may differ in the last
place, while the results here are the same on every processor.

A *line* is float64 ``[vertex, xy]`` in metres with at least two vertices; repeated vertices are
segments without length and allowed. Kernels validate nothing and take the half-open range of
segments to look at, so that a caller who knows where the near ones are need not visit the rest;
segment `i` runs from vertex `i` to vertex `i + 1`.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from navaudit.compiled import borrowing, njit
from navaudit.errors import BadInput
from navaudit.numerics.plane import finite

Floats = npt.NDArray[np.float64]

_SLACK = 1e-14


@borrowing(error_model="numpy")
def _between(ax: float, ay: float, bx: float, by: float) -> float:
    dx = ax - bx
    dy = ay - by
    return math.sqrt(dx * dx + dy * dy)


@borrowing(error_model="numpy")
def distance_to_segment(x: float, y: float, ax: float, ay: float, bx: float, by: float) -> float:
    """Return the distance in metres from a point to the segment from `a` to `b`."""
    if ax == bx and ay == by:
        return _between(x, y, ax, ay)
    ux = bx - ax
    uy = by - ay
    length2 = ux * ux + uy * uy
    along = ((x - ax) * ux + (y - ay) * uy) / length2
    if along <= 0.0:
        return _between(x, y, ax, ay)
    if along >= 1.0:
        return _between(x, y, bx, by)
    across = ((ay - y) * ux - (ax - x) * uy) / length2
    return math.fabs(across) * math.sqrt(length2)


@borrowing(error_model="numpy")
def _surely_farther(
    x: float, y: float, ax: float, ay: float, bx: float, by: float, limit: float
) -> bool:
    """Return whether `distance_to_segment` surely exceeds `limit`, from the bounds alone.

    The computed distance falls short of the gap between point and bounds by at most some sixteen
    roundings of the distance to `a`, 2e-15 of it: the cross product cancels, the rest does not.
    """
    gap = max(min(ax, bx) - x, x - max(ax, bx), min(ay, by) - y, y - max(ay, by))
    return gap > limit + _SLACK * (math.fabs(x - ax) + math.fabs(y - ay))


@borrowing(error_model="numpy")
def distance_to_polyline(x: float, y: float, line: Floats, first: int, last: int) -> float:
    """Return the smallest distance from a point to the segments ``first .. last - 1``, in metres.

    Infinite if the range is empty.
    """
    nearest = np.inf
    bx, by = line[first, 0], line[first, 1]
    for i in range(first, last):
        ax, ay = bx, by
        bx, by = line[i + 1, 0], line[i + 1, 1]
        if _surely_farther(x, y, ax, ay, bx, by, nearest):
            continue
        distance = distance_to_segment(x, y, ax, ay, bx, by)
        if distance < nearest:  # noqa: PLR1730 - unlike min, says what becomes of NaN
            nearest = distance
    return nearest


@borrowing(error_model="numpy")
def farther_than(limit: float, x: float, y: float, line: Floats, first: int, last: int) -> bool:
    """Return ``distance_to_polyline(x, y, line, first, last) > limit`` without the distance."""
    bx, by = line[first, 0], line[first, 1]
    for i in range(first, last):
        ax, ay = bx, by
        bx, by = line[i + 1, 0], line[i + 1, 1]
        if _surely_farther(x, y, ax, ay, bx, by, limit):
            continue
        if distance_to_segment(x, y, ax, ay, bx, by) <= limit:
            return False
    return True


@njit(cache=True, error_model="numpy")
def vertex_measures(line: Floats) -> Floats:
    """Return the length along the line up to each vertex, in metres: ``[vertex]``."""
    measures = np.empty(len(line))
    measures[0] = 0.0
    for i in range(len(line) - 1):
        step = _between(line[i, 0], line[i, 1], line[i + 1, 0], line[i + 1, 1])
        measures[i + 1] = measures[i] + step
    return measures


@borrowing(error_model="numpy")
def length_along(
    x: float, y: float, line: Floats, measures: Floats, first: int, last: int
) -> float:
    """Return how far along the line its point nearest to ``(x, y)`` lies, in metres.

    The first of equally near segments ``first .. last - 1`` wins; -1 if the range is empty.
    `measures` are the `vertex_measures` of the whole line.
    """
    nearest = np.inf
    winner = -1
    bx, by = line[first, 0], line[first, 1]
    for i in range(first, last):
        ax, ay = bx, by
        bx, by = line[i + 1, 0], line[i + 1, 1]
        if _surely_farther(x, y, ax, ay, bx, by, nearest):
            continue
        distance = distance_to_segment(x, y, ax, ay, bx, by)
        if distance < nearest:
            nearest = distance
            winner = i
    if winner < 0:
        return -1.0
    return _measure(x, y, line, measures, winner)


@borrowing(error_model="numpy")
def _measure(x: float, y: float, line: Floats, measures: Floats, i: int) -> float:
    ax, ay, bx, by = line[i, 0], line[i, 1], line[i + 1, 0], line[i + 1, 1]
    ux = bx - ax
    uy = by - ay
    length2 = ux * ux + uy * uy
    along = ((x - ax) * ux + (y - ay) * uy) / length2
    if along <= 0.0:
        return measures[i]
    length = math.sqrt(length2)
    if along <= 1.0:
        return measures[i] + along * length
    return measures[i] + length  # also for a segment without length, where `along` is NaN


# ------------------------------------------------------------------------------------- doors


def polyline(vertices: npt.ArrayLike) -> Floats:
    """Return `vertices` as a checked line ``[vertex, xy]``: finite, two vertices or more."""
    line = finite(vertices, "line", 2)
    if line.ndim != 2 or len(line) < 2:
        raise BadInput(
            f"line has shape {line.shape}", expected="(vertex, 2) with at least two vertices"
        )
    return line


@njit(cache=True, error_model="numpy")
def _distances(points: Floats, line: Floats, out: Floats) -> None:
    for i in range(len(out)):
        out[i] = distance_to_polyline(points[i, 0], points[i, 1], line, 0, len(line) - 1)


@njit(cache=True, error_model="numpy")
def _lengths(points: Floats, line: Floats, out: Floats) -> None:
    measures = vertex_measures(line)
    for i in range(len(out)):
        out[i] = length_along(points[i, 0], points[i, 1], line, measures, 0, len(line) - 1)


def distances_to_polyline(points: npt.ArrayLike, line: npt.ArrayLike) -> Floats:
    """Return the distance of points ``[..., xy]`` to a line ``[vertex, xy]``: ``[...]`` in metres.

    Equal to `shapely.distance` to the bit.

    >>> distances_to_polyline([[0, 3], [7, 4]], [[0, 0], [4, 0]])
    array([3., 5.])
    """
    checked = finite(points, "points", 2)
    out = np.empty(checked.shape[:-1])
    _distances(checked.reshape(-1, 2), polyline(line), out.reshape(-1))
    return out


def lengths_along(points: npt.ArrayLike, line: npt.ArrayLike) -> Floats:
    """Return how far along a line ``[vertex, xy]`` points ``[..., xy]`` project, in metres.

    Equal to `shapely.line_locate_point` to the bit: between 0 and the length of the line.

    >>> lengths_along([[-1, 3], [3, 4], [9, 9]], [[0, 0], [4, 0]])
    array([0., 3., 4.])
    """
    checked = finite(points, "points", 2)
    out = np.empty(checked.shape[:-1])
    _lengths(checked.reshape(-1, 2), polyline(line), out.reshape(-1))
    return out
