"""Where on the ground a car is: on drivable ground or off it, in one lane or astride several."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import borrowing
from navaudit.numerics.segments import INSIDE
from navaudit.scene.scene import (
    CARPARK_AREA,
    DRIVABLE_AREA,
    INTERSECTION,
    LANE,
    LANE_CONNECTOR,
    ROADBLOCK,
    Ground,
)
from navaudit.score.cells import ANY_LANE, CROSSROADS, DRIVABLE, ON_ROUTE, Cells, lies_in
from navaudit.score.cutting import cut, uncut
from navaudit.score.grid import Bins, Grid, bin_edges, point_in_binned
from navaudit.score.raster import rasterise

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Bytes = NDArray[np.uint8]


class GroundIndex(NamedTuple):
    """The ground polygons of a scene, laid out for millions of questions."""

    cells: Cells
    xy: Floats
    """``[vertex, xy]`` of all rings."""
    bounds: Floats
    """``[polygon, (west, south, east, north)]``"""
    bins: Bins
    lanes: Ints
    """Polygons with the role ``ANY_LANE``."""


def index_ground(ground: Ground, grid: Grid) -> GroundIndex:
    """Lay out the ground of a scene over a grid."""
    shapes = ground.polygons
    role = _roles(ground)
    bins = bin_edges(grid, shapes.xy, shapes.ring_start, shapes.polygon_ring)
    flags, start, polygon = rasterise(grid, shapes.xy, shapes.bounds, bins, role)
    start, record = cut(grid, shapes.xy, bins, role, start, polygon)
    start[-1] = len(record)
    whole = uncut(shapes.polygon_ring, shapes.ring_start, shapes.xy, role)
    record = np.concatenate([record, whole])
    lanes = np.flatnonzero(role & ANY_LANE).astype(np.int32)
    cells = Cells(grid, flags, start, record)
    return GroundIndex(cells, shapes.xy, shapes.bounds, bins, lanes)


def _roles(ground: Ground) -> Bytes:
    # areas: pdm_scorer.py:337-388; the generic drivable area counts, though caches hold none
    role = np.zeros(len(ground), np.uint8)
    role[np.isin(ground.kind, (ROADBLOCK, INTERSECTION, CARPARK_AREA, DRIVABLE_AREA))] |= DRIVABLE
    lane = np.isin(ground.kind, (LANE, LANE_CONNECTOR))
    role[lane] |= ANY_LANE
    role[lane & ground.on_route] |= ON_ROUTE
    role[ground.kind == INTERSECTION] |= CROSSROADS
    return role


@borrowing
def leaves_road(cells: Cells, points: Floats, step: int) -> bool:
    """Whether at a step one of the four corners ``[step, 5, xy]`` is on no drivable polygon."""
    for k in range(4):
        if not lies_in(cells, DRIVABLE, points[step, k, 0], points[step, k, 1]):
            return True
    return False


@borrowing
def straddles_lanes(index: GroundIndex, corners: Floats) -> bool:
    """Whether more than one lane holds a corner of ``[5, xy]`` and none holds all four."""
    west = min(min(corners[0, 0], corners[1, 0]), min(corners[2, 0], corners[3, 0]))
    east = max(max(corners[0, 0], corners[1, 0]), max(corners[2, 0], corners[3, 0]))
    south = min(min(corners[0, 1], corners[1, 1]), min(corners[2, 1], corners[3, 1]))
    north = max(max(corners[0, 1], corners[1, 1]), max(corners[2, 1], corners[3, 1]))
    touched = 0
    for p in index.lanes:
        low_x, low_y, high_x, high_y = index.bounds[p]
        if low_x > east or high_x < west or low_y > north or high_y < south:
            continue
        held = 0
        for k in range(4):
            x, y = corners[k, 0], corners[k, 1]
            held += point_in_binned(index.cells.grid, index.bins, index.xy, p, x, y) == INSIDE
        if held == 4:
            return False
        touched += held > 0
    return touched > 1
