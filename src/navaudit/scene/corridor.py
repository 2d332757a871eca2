"""The paths the planner tries, the corridors round them, and who gets into their way when."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.ops import substring

from navaudit.numerics.angles import cos_of, sin_of
from navaudit.numerics.polyline import lengths_along, vertex_measures
from navaudit.scene.forecast import SAMPLES
from navaudit.vehicle import HALF_WIDTH_M

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

OFFSETS_M: Final = (0.0, -1.0, 1.0)
"""How far to the left of the centreline the paths run."""
QUARTER_SEGMENTS: Final = 16
"""Segments of a quarter circle where a corridor bends."""
NODE_CAPACITY: Final = 10
"""Shapes in a node of the trees, on which the order of what they find depends."""


class Path(NamedTuple):
    """A line to drive along."""

    line: Floats
    """``[vertex, xy]``"""
    heading: Floats
    """``[vertex]`` in rad, unwrapped."""
    measures: Floats
    """``[vertex]``: length up to each vertex."""


class Obstacles(NamedTuple):
    """Who is in the corridor of a path at each sample, in the order the stock tree finds them."""

    start: Longs
    """``[sample + 1]``: where each sample's begin."""
    shape: Longs
    """``[entry]``: index of an object or, after all objects, of a light."""
    along_m: Floats
    """``[entry]``: length along the path of the middle of each."""


def paths_beside(centreline: Floats) -> tuple[Path, ...]:
    """Return the paths beside a centreline ``[vertex, 3]``, itself the first."""
    xy, heading = centreline[:, :2], centreline[:, 2]
    unwrapped = np.unwrap(heading)
    left = np.column_stack([cos_of(heading + np.pi / 2), sin_of(heading + np.pi / 2)])
    lines = [xy if offset == 0.0 else xy + left * offset for offset in OFFSETS_M]
    return tuple(
        Path(line, unwrapped, vertex_measures(line)) for line in map(np.ascontiguousarray, lines)
    )


def corridor(path: Path, from_m: float, to_m: float) -> shapely.Geometry:
    """Polygon as wide as the car along a path; its ends are square and reach out by half a width.

    It runs from the first vertex beyond ``from_m`` to the last before ``to_m``, and only where
    there is one vertex or none between from place to place (pdm_path.py:89-106).
    """
    length = path.measures[-1]
    first, last = np.clip(from_m, 0.0, length), np.clip(to_m, 0.0, length)
    inside = path.line[(first <= path.measures) & (path.measures <= last)]
    if len(inside) > 1:
        ahead = shapely.LineString(inside)
    else:
        ahead = substring(shapely.LineString(path.line), float(first), float(last))
    return shapely.buffer(ahead, HALF_WIDTH_M, quad_segs=QUARTER_SEGMENTS, cap_style="square")


def grow_trees(shapes: NDArray[np.object_]) -> list[shapely.STRtree]:
    """Trees over the shapes ``[sample, shape]`` of a forecast, one a sample."""
    return [shapely.STRtree(one, NODE_CAPACITY) for one in shapes]


def find_obstacles(
    paths: Sequence[Path],
    corridors: Sequence[shapely.Geometry],
    trees: Sequence[shapely.STRtree],
    token: Sequence[str],
    ignored: Collection[str],
) -> list[Obstacles]:
    """Find who is in each corridor at each sample, but for tokens that are ignored.

    Where a token names several shapes the last of them stands for all, at the first one's place.
    """
    last = {one: i for i, one in enumerate(token)}
    stand_in = np.array([-1 if one in ignored else last[one] for one in token], np.int64)
    for one in corridors:
        shapely.prepare(one)
    found = [tree.query(corridors, predicate="intersects") for tree in trees]
    recurs = len(last) < len(token)
    return [
        _along(path, [_kept(stand_in[hit[1][hit[0] == k]], recurs) for hit in found], trees)
        for k, path in enumerate(paths)
    ]


def _kept(shape: Longs, recurs: bool) -> Longs:
    shape = shape[shape >= 0]
    return np.array(list(dict.fromkeys(shape.tolist())), np.int64) if recurs else shape


def _along(path: Path, hits: list[Longs], trees: Sequence[shapely.STRtree]) -> Obstacles:
    shapes = [tree.geometries[hit] for tree, hit in zip(trees, hits, strict=True)]
    middle = shapely.get_coordinates(shapely.centroid(np.concatenate(shapes)))
    start = np.zeros(SAMPLES + 1, np.int64)
    np.cumsum([len(hit) for hit in hits], out=start[1:])
    along = lengths_along(middle, path.line) if len(middle) else np.empty(0)
    return Obstacles(start, np.concatenate(hits), along)
