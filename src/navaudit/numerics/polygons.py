"""A packed set of polygons, and which points, segments, boxes and polygons meet which of them.

The answers are those of a prepared GEOS geometry (`shapely.contains_xy` and `shapely.intersects`
after `shapely.prepare`): a point is inside where it is inside an odd number of a polygon's rings,
whatever their order and direction, also where rings cross and GEOS calls the polygon invalid.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import shapely

from navaudit.errors import BadInput
from navaudit.numerics.plane import INSIDE, finite
from navaudit.numerics.rings import (
    bounds_each,
    locate_each,
    touch_boxes_each,
    touch_each,
    touch_segments_each,
)

Floats = npt.NDArray[np.float64]
Starts = npt.NDArray[np.int64]
Truths = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int8]


@dataclass(frozen=True, eq=False)
class Polygons:
    """Polygons and multipolygons as flat, read-only arrays.

    Examples
    --------
    >>> square = shapely.box(0, 0, 2, 2)
    >>> Polygons.of([square, shapely.Polygon()]).contain([[1, 1], [2, 1]])
    array([[ True, False],
           [False, False]])
    """

    xy: Floats
    """``[vertex, xy]`` in metres; the last vertex of a ring repeats its first."""
    ring_start: Starts
    """``[ring + 1]``: the first vertex of each ring, then the number of vertices."""
    polygon_ring: Starts
    """``[polygon + 1]``: the first ring of each polygon, then the number of rings."""
    ring_is_hole: Truths
    """``[ring]``: whether `shapes` cuts the ring from the last shell before it."""
    bounds: Floats = field(init=False)
    """``[polygon, (x low, y low, x high, y high)]``; lows of an empty polygon are infinite."""

    def __post_init__(self) -> None:
        xy = finite(self.xy, "xy", 2)
        ring_start = _starts(self.ring_start, "ring_start", len(xy))
        polygon_ring = _starts(self.polygon_ring, "polygon_ring", len(ring_start) - 1)
        ring_is_hole = np.asarray(self.ring_is_hole, dtype=np.bool_)
        if ring_is_hole.shape != (len(ring_start) - 1,):
            raise BadInput(
                f"ring_is_hole has shape {ring_is_hole.shape}", expected=f"({len(ring_start) - 1},)"
            )
        _require_closed(xy, ring_start)
        bounds = np.empty((len(polygon_ring) - 1, 4))
        bounds_each(xy, ring_start, polygon_ring, bounds)
        self._keep(xy=xy, ring_start=ring_start, polygon_ring=polygon_ring)
        self._keep(ring_is_hole=ring_is_hole, bounds=bounds)

    def _keep(self, **arrays: npt.NDArray[np.generic]) -> None:
        for name, array in arrays.items():
            # what nobody can write to, such as a mapped file, is kept as it is
            own = np.array(array) if array.flags.writeable else array
            own.setflags(write=False)
            object.__setattr__(self, name, own)

    @classmethod
    def of(cls, shapes: Iterable[shapely.Geometry]) -> Polygons:
        """Pack shapely polygons and multipolygons; vertices keep their order and their bits."""
        listed = list(shapes)
        for i, shape in enumerate(listed):
            if not isinstance(shape, (shapely.Polygon, shapely.MultiPolygon)):
                raise BadInput(
                    f"shape is a {type(shape).__name__}",
                    where=f"shapes[{i}]",
                    expected="Polygon or MultiPolygon",
                )
        filled = np.array([shape for shape in listed if not shape.is_empty], dtype=object)
        place = np.array([i for i, shape in enumerate(listed) if not shape.is_empty], np.int64)
        parts, part_shape = shapely.get_parts(filled, return_index=True)
        rings, ring_part = shapely.get_rings(parts, return_index=True)
        xy, vertex_ring = shapely.get_coordinates(rings, return_index=True)
        return cls(
            xy=xy,
            ring_start=_starts_of_runs(vertex_ring, len(rings)),
            polygon_ring=_starts_of_runs(place[part_shape[ring_part]], len(listed)),
            ring_is_hole=np.diff(ring_part, prepend=-1) == 0,
        )

    def shapes(self) -> list[shapely.Polygon | shapely.MultiPolygon]:
        """Return the polygons as shapely geometries: several shells make a multipolygon."""
        return [self._shape(i) for i in range(len(self))]

    def _shape(self, polygon: int) -> shapely.Polygon | shapely.MultiPolygon:
        parts: list[list[Floats]] = []
        for ring in range(*self.polygon_ring[polygon : polygon + 2]):
            xy = self.xy[slice(*self.ring_start[ring : ring + 2])]
            if self.ring_is_hole[ring] and parts:
                parts[-1].append(xy)
            else:
                parts.append([xy])
        shapes = [shapely.Polygon(shell, holes) for shell, *holes in parts]
        if len(shapes) > 1:
            return shapely.MultiPolygon(shapes)
        return shapes[0] if shapes else shapely.Polygon()

    def take(self, polygons: npt.ArrayLike) -> Polygons:
        """Return the polygons at these indices, in this order, repeats allowed.

        >>> len(Polygons.of([shapely.box(0, 0, 1, 1)]).take([0, 0]))
        2
        """
        wanted = np.asarray(polygons, dtype=np.int64).reshape(-1)
        if len(wanted) and not (-len(self) <= wanted.min() and wanted.max() < len(self)):
            raise BadInput(
                f"polygons {wanted.min()} to {wanted.max()} are asked for",
                expected=f"indices of {len(self)} polygons",
            )
        wanted = wanted % max(len(self), 1)
        rings, polygon_ring = _runs(self.polygon_ring, wanted)
        vertices, ring_start = _runs(self.ring_start, rings)
        return Polygons(self.xy[vertices], ring_start, polygon_ring, self.ring_is_hole[rings])

    def __len__(self) -> int:
        """Return the number of polygons."""
        return len(self.polygon_ring) - 1

    def locate(self, points: npt.ArrayLike) -> Places:
        """Return where points ``[..., xy]`` lie: int8 ``[polygon, ...]``.

        Values are `INSIDE`, `BOUNDARY` and `OUTSIDE` of `navaudit.numerics.plane`.
        """
        checked = finite(points, "points", 2)
        flat = checked.reshape(-1, 2)
        out = np.empty((len(self), len(flat)), np.int8)
        locate_each(flat, self.xy, self.ring_start, self.polygon_ring, self.bounds, out)
        return out.reshape(len(self), *checked.shape[:-1])

    def contain(self, points: npt.ArrayLike) -> Truths:
        """Return whether points ``[..., xy]`` lie strictly inside: ``[polygon, ...]``."""
        return self.locate(points) == INSIDE

    def touch_segments(self, segments: npt.ArrayLike) -> Truths:
        """Return which segments ``[..., end, xy]`` meet which polygons: ``[polygon, ...]``."""
        checked = finite(segments, "segments", 2, 2)
        flat = checked.reshape(-1, 2, 2)
        out = np.empty((len(self), len(flat)), np.bool_)
        touch_segments_each(flat, self.xy, self.ring_start, self.polygon_ring, out)
        return out.reshape(len(self), *checked.shape[:-2])

    def touch_boxes(self, boxes: npt.ArrayLike) -> Truths:
        """Return which boxes ``[..., corner, xy]`` meet which polygons: ``[polygon, ...]``."""
        checked = finite(boxes, "boxes", 4, 2)
        flat = checked.reshape(-1, 4, 2)
        out = np.empty((len(self), len(flat)), np.bool_)
        touch_boxes_each(flat, self.xy, self.ring_start, self.polygon_ring, out)
        return out.reshape(len(self), *checked.shape[:-2])

    def touch(self, others: Polygons) -> Truths:
        """Return which polygons of two sets share a point: ``[polygon, other]``."""
        out = np.empty((len(self), len(others)), np.bool_)
        touch_each(
            self.xy,
            self.ring_start,
            self.polygon_ring,
            others.xy,
            others.ring_start,
            others.polygon_ring,
            out,
        )
        return out


# ------------------------------------------------------------------------- packing and checking


def _starts(starts: npt.ArrayLike, name: str, end: int) -> Starts:
    array = np.asarray(starts, dtype=np.int64)
    rises = array.ndim == 1 and len(array) > 0 and bool((np.diff(array) >= 0).all())
    if not rises or array[0] != 0 or array[-1] != end:
        raise BadInput(f"{name} is {array}", expected=f"rising int64 from 0 to {end}")
    return array


def _require_closed(xy: Floats, ring_start: Starts) -> None:
    if len(ring_start) == 1:
        return
    short = np.flatnonzero(np.diff(ring_start) == 0)
    if len(short):
        raise BadInput("a ring has no vertices", where=f"ring {short[0]}", expected="4 or more")
    first, last = xy[ring_start[:-1]], xy[ring_start[1:] - 1]
    open_rings = np.flatnonzero((first != last).any(axis=1))
    if len(open_rings):
        ring = open_rings[0]
        raise BadInput(
            f"a ring runs from {first[ring]} to {last[ring]}",
            where=f"ring {ring}",
            expected="its first vertex repeated at the end",
        )


def _starts_of_runs(owner: npt.NDArray[np.integer], owners: int) -> Starts:
    """Return ``[owner + 1]`` starts of items whose owners are given in rising order."""
    return np.searchsorted(owner, np.arange(owners + 1)).astype(np.int64)


def _runs(starts: Starts, wanted: Starts) -> tuple[Starts, Starts]:
    """Return the items of the wanted owners in order, and the new starts."""
    lengths = np.diff(starts)[wanted]
    ends = np.cumsum(lengths)
    items = np.arange(lengths.sum()) + np.repeat(starts[:-1][wanted] - (ends - lengths), lengths)
    return items, np.concatenate([np.zeros(1, np.int64), ends])
