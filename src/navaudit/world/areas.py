"""Areas of a map: polygons with ids, and what lies near a point, in the stock map's order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import njit
from navaudit.errors import BadInput
from navaudit.numerics.plane import OUTSIDE
from navaudit.numerics.polygons import Polygons
from navaudit.numerics.polyline import distance_to_polyline
from navaudit.numerics.quicksort import SMALL, partition

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Areas:
    """One layer of polygons, in the order of the map file's feature ids.

    A *row* is a position in that order, in which the stock map lists what it finds.
    """

    id: tuple[str, ...]
    """Feature ids."""
    polygons: Polygons
    """Empty where the file has no shape."""

    def __post_init__(self) -> None:
        if len(self.id) != len(self.polygons):
            raise BadInput(
                f"{len(self.id)} ids for {len(self.polygons)} polygons", expected="one id each"
            )

    def __len__(self) -> int:
        return len(self.id)

    def in_square(self, x_m: float, y_m: float, half_side_m: float) -> Rows:
        """Return the rows whose polygon shares a point with a square about (x, y), rising.

        The square's sides lie along the axes; a touch is enough.
        """
        west, east = x_m - half_side_m, x_m + half_side_m
        south, north = y_m - half_side_m, y_m + half_side_m
        near = np.empty(len(self), np.int64)
        rows = near[: _overlapping(self.polygons.bounds, west, south, east, north, near)]
        square = [[west, south], [east, south], [east, north], [west, north]]
        return rows[self.polygons.take(rows).touch_boxes([square])[:, 0]]

    def around(self, x_m: float, y_m: float) -> Rows:
        """Return the rows whose polygon contains (x, y), borders excluded, rising."""
        return np.flatnonzero(self.polygons.contain([x_m, y_m]))

    def nearest(
        self, x_m: float, y_m: float, first: int = 0, last: int | None = None
    ) -> tuple[int, float]:
        """Return the row nearest to (x, y) among ``first .. last - 1``, and its distance in metres.

        Zero inside. Of equally near ones that one is returned which the stock sort puts first.
        """
        stop = len(self) if last is None else last
        outside = self.polygons.locate([x_m, y_m]) == OUTSIDE
        distance_m = np.full(max(stop - first, 0), np.inf)
        packed = self.polygons
        _distances(
            x_m, y_m, packed.xy, packed.ring_start, packed.polygon_ring, outside, first, distance_m
        )
        if not (distance_m < np.inf).any():
            raise BadInput("there is no polygon to be near to", expected="one at least")
        winner = first_of_quicksort(distance_m)
        return first + winner, float(distance_m[winner])


@njit(cache=True, error_model="numpy")
def _overlapping(
    bounds: Floats, west: float, south: float, east: float, north: float, out: Rows
) -> int:
    """Fill in the rows whose bounds share a point with a rectangle; return how many there are.

    A whole city is passed over in a tenth of a millisecond, so that no tree is kept.
    """
    count = 0
    for row in range(len(bounds)):
        abreast = bounds[row, 0] <= east and bounds[row, 2] >= west
        if abreast and bounds[row, 1] <= north and bounds[row, 3] >= south:
            out[count] = row
            count += 1
    return count


@njit(cache=True, error_model="numpy")
def _distances(
    x: float,
    y: float,
    xy: Floats,
    ring_start: Rows,
    polygon_ring: Rows,
    outside: NDArray[np.bool_],
    begin: int,
    out: Floats,
) -> None:
    """Fill in the distances of the polygons from row ``begin`` on; infinite for empty ones."""
    for polygon in range(begin, begin + len(out)):
        nearest = np.inf
        for ring in range(polygon_ring[polygon], polygon_ring[polygon + 1]):
            first, last = ring_start[ring], ring_start[ring + 1] - 1
            nearest = min(nearest, distance_to_polyline(x, y, xy, first, last))
        out[polygon - begin] = nearest if outside[polygon] else 0.0


def first_of_quicksort(values: Floats) -> int:
    """Return the index that NumPy's unstable quicksort puts first: one of the smallest.

    The stock map takes the first row after sorting all distances that way
    (nuplan/common/maps/nuplan_map/nuplan_map.py:190), so that which of two equally near areas wins
    depends on the sort. This follows the leftmost partition of the algorithm, introsort without
    vector instructions as in NumPy 1.23; its fallback for hostile orders is left out.
    """
    order = list(range(len(values)))
    value = values.tolist()
    low, high = 0, len(order) - 1
    while high - low > SMALL:
        high = partition(order, value, low, high) - 1
    # short parts are sorted by insertion, which is stable
    return min(order[low : high + 1], key=value.__getitem__)
