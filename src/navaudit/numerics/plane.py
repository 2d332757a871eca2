"""Which side, do they touch: predicates of the plane, decided as GEOS decides them.

Every answer rests on the sign of one determinant, `orientation`. A floating-point filter settles
almost all signs; the rest are computed again in twofold arithmetic (two float64, about 106 bits).
Both steps use the operations of GEOS 3.11.4, the library behind shapely 2.0.7, in its order
(include/geos/algorithm/CGAlgorithmsDD.h:90-131, src/algorithm/CGAlgorithmsDD.cpp:50-79), so ties
and near-ties fall the same way. The filter of GEOS 3.14 is another, but both let only certain
signs through, so the answers are the same.

The sign is exact where differences of coordinates are representable, which holds for all points of
one map: the UTM coordinates of a city share their last bits. Near the origin of a local frame they
do not, and the twofold product rounds; a determinant below 2**-98 of its two terms may then get
another sign than the exact one, the sign GEOS gives it.

Kernels take scalars and plain arrays and validate nothing; coordinates are finite, their products
far from overflow and underflow. A *box* is float64 ``[corner, xy]``: four corners in ring order,
not closed; *rings* are polygons of any shape, described in `navaudit.numerics.rings`. Touching
counts. The functions with array arguments at the end of this module validate, then call kernels.

Degenerate shapes are closed point sets: a box without width is a segment, one without extent a
point, and it touches what that segment or point touches. A *prepared* GEOS geometry answers so in
3.11 and in 3.14, and that is the path of ``STRtree.query(..., predicate="intersects")``. Plain
`intersects` of 3.11 drops a ring of fewer than four distinct consecutive points before it looks
(src/geomgraph/GeometryGraph.cpp:234-249) and so overlooks most contacts of collapsed boxes; that
is not imitated.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from navaudit.compiled import njit
from navaudit.errors import BadInput
from navaudit.numerics.boxes import boxes_touch, point_in_box, segment_touches_box
from navaudit.numerics.rings import (
    box_touches_rings,
    point_in_rings,
    rings_touch,
    segment_touches_rings,
)
from navaudit.numerics.segments import (
    BOUNDARY,
    INSIDE,
    OUTSIDE,
    orientation,
    segments_touch,
)

__all__ = [
    "BOUNDARY",
    "INSIDE",
    "OUTSIDE",
    "box_touches_rings",
    "boxes_touch",
    "finite",
    "orientation",
    "orientations",
    "point_in_box",
    "point_in_rings",
    "rings_touch",
    "segment_touches_box",
    "segment_touches_rings",
    "segments_touch",
    "touching_boxes",
    "touching_segments",
    "touching_segments_and_boxes",
]

Floats = npt.NDArray[np.float64]
Truths = npt.NDArray[np.bool_]


def finite(values: npt.ArrayLike, name: str, *tail: int) -> Floats:
    """Return `values` as contiguous float64 ``[..., *tail]``; refuse other shapes and non-finite.

    >>> finite([[0, 1]], "points", 2)
    array([[0., 1.]])
    """
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim < len(tail) or array.shape[array.ndim - len(tail) :] != tail:
        shape = ", ".join(map(str, tail))
        raise BadInput(f"{name} has shape {array.shape}", expected=f"(..., {shape})")
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise BadInput(
            f"{name} holds {array[where]}",
            where=f"{name}{list(where)}",
            expected="finite coordinates in metres",
        )
    return array


def _flat(array: Floats, lead: tuple[int, ...], tail: int) -> Floats:
    """Return `array` broadcast to `lead` before its last `tail` axes, as ``[case, ...]``."""
    kept = array.shape[array.ndim - tail :]
    return np.ascontiguousarray(np.broadcast_to(array, lead + kept)).reshape(-1, *kept)


def _lead(tail: int, *arrays: Floats) -> tuple[int, ...]:
    """Return the broadcast axes before the last `tail` of each array."""
    return np.broadcast_shapes(*(a.shape[: a.ndim - tail] for a in arrays))


@njit(cache=True, error_model="numpy")
def _orientations(a: Floats, b: Floats, p: Floats, out: npt.NDArray[np.int8]) -> None:
    for i in range(len(out)):
        out[i] = orientation(a[i, 0], a[i, 1], b[i, 0], b[i, 1], p[i, 0], p[i, 1])


@njit(cache=True, error_model="numpy")
def _segments_touch(a: Floats, b: Floats, out: Truths) -> None:
    for i in range(len(out)):
        s, t = a[i], b[i]
        out[i] = segments_touch(
            s[0, 0], s[0, 1], s[1, 0], s[1, 1], t[0, 0], t[0, 1], t[1, 0], t[1, 1]
        )


@njit(cache=True, error_model="numpy")
def _boxes_touch(a: Floats, b: Floats, out: Truths) -> None:
    for i in range(len(out)):
        out[i] = boxes_touch(a[i], b[i])


@njit(cache=True, error_model="numpy")
def _segments_touch_boxes(s: Floats, boxes: Floats, out: Truths) -> None:
    for i in range(len(out)):
        out[i] = segment_touches_box(s[i, 0, 0], s[i, 0, 1], s[i, 1, 0], s[i, 1, 1], boxes[i])


def orientations(
    start: npt.ArrayLike, end: npt.ArrayLike, points: npt.ArrayLike
) -> npt.NDArray[np.int8]:
    """Return the side of each point on the line from `start` to `end`: 1 left, -1 right, 0 on it.

    All arrays are ``[..., xy]`` and broadcast.

    >>> orientations([0, 0], [2, 0], [[1, 1], [1, 0], [1, -1]])
    array([ 1,  0, -1], dtype=int8)
    """
    a, b, p = finite(start, "start", 2), finite(end, "end", 2), finite(points, "points", 2)
    lead = _lead(1, a, b, p)
    out = np.empty(lead, np.int8)
    _orientations(_flat(a, lead, 1), _flat(b, lead, 1), _flat(p, lead, 1), out.reshape(-1))
    return out


def touching_segments(a: npt.ArrayLike, b: npt.ArrayLike) -> Truths:
    """Return whether segments ``[..., end, xy]`` share a point, pair by pair after broadcasting.

    >>> touching_segments([[0, 0], [2, 2]], [[[2, 2], [3, 0]], [[2, 0], [3, 0]]])
    array([ True, False])
    """
    s, t = finite(a, "a", 2, 2), finite(b, "b", 2, 2)
    lead = _lead(2, s, t)
    out = np.empty(lead, np.bool_)
    _segments_touch(_flat(s, lead, 2), _flat(t, lead, 2), out.reshape(-1))
    return out


def touching_boxes(a: npt.ArrayLike, b: npt.ArrayLike) -> Truths:
    """Return whether boxes ``[..., corner, xy]`` share a point, pair by pair after broadcasting.

    >>> square = [[0, 0], [1, 0], [1, 1], [0, 1]]
    >>> touching_boxes(square, [[[1, 1], [2, 1], [2, 2], [1, 2]], [[3, 1], [4, 1], [4, 2], [3, 2]]])
    array([ True, False])
    """
    p, q = finite(a, "a", 4, 2), finite(b, "b", 4, 2)
    lead = _lead(2, p, q)
    out = np.empty(lead, np.bool_)
    _boxes_touch(_flat(p, lead, 2), _flat(q, lead, 2), out.reshape(-1))
    return out


def touching_segments_and_boxes(segments: npt.ArrayLike, boxes: npt.ArrayLike) -> Truths:
    """Return whether segments ``[..., end, xy]`` meet boxes ``[..., corner, xy]``, pair by pair.

    The axes before the last two broadcast.

    >>> touching_segments_and_boxes([[-1, 0.5], [0, 0.5]], [[0, 0], [1, 0], [1, 1], [0, 1]])
    array(True)
    """
    s, b = finite(segments, "segments", 2, 2), finite(boxes, "boxes", 4, 2)
    lead = _lead(2, s, b)
    out = np.empty(lead, np.bool_)
    _segments_touch_boxes(_flat(s, lead, 2), _flat(b, lead, 2), out.reshape(-1))
    return out
