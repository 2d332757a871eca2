"""Traffic lights: the car may not touch a lane connector while it shows red."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import CENTRE, STEPS
from navaudit.compiled import njit
from navaudit.numerics.boxes import segment_touches_box
from navaudit.numerics.segments import OUTSIDE
from navaudit.scene.scene import Lights
from navaudit.score.grid import (
    Bins,
    Grid,
    Near,
    bin_edges,
    cell_of,
    point_in_binned,
    segments_near,
)

Floats = NDArray[np.float64]

REACH_M: Final = 2.84
"""A little more than from the centre of the car to a corner."""


class LightIndex(NamedTuple):
    """The connectors that show red at some step, laid out over a grid."""

    grid: Grid
    xy: Floats
    bounds: Floats
    """``[light, (west, south, east, north)]``"""
    bins: Bins
    near: Near
    """Edges within the car's reach of each cell, all lights together."""
    edge: NDArray[np.int32]
    """``[edge, (light, end vertex)]``"""
    red: NDArray[np.bool_]
    """``[step, light]``"""


def index_lights(lights: Lights, grid: Grid) -> LightIndex:
    """Lay out the red lights of a scene over a grid."""
    shapes = lights.polygons
    edge = _edges(shapes.ring_start, shapes.polygon_ring)
    segment = np.concatenate([shapes.xy[edge[:, 1] - 1], shapes.xy[edge[:, 1]]], axis=1)
    return LightIndex(
        grid,
        shapes.xy,
        shapes.bounds,
        bin_edges(grid, shapes.xy, shapes.ring_start, shapes.polygon_ring),
        segments_near(grid, segment, REACH_M),
        edge,
        lights.red,
    )


@njit(cache=True)
def _edges(ring_start: NDArray[np.int64], polygon_ring: NDArray[np.int64]) -> NDArray[np.int32]:
    count = ring_start[-1] - (len(ring_start) - 1)
    edge = np.empty((count, 2), np.int32)
    at = 0
    for p in range(len(polygon_ring) - 1):
        for ring in range(polygon_ring[p], polygon_ring[p + 1]):
            for i in range(ring_start[ring] + 1, ring_start[ring + 1]):
                edge[at, 0] = p
                edge[at, 1] = i
                at += 1
    return edge


@njit(cache=True, nogil=True)
def red_touch(index: LightIndex, points: Floats) -> int:
    """First step at which the car ``[step, 5, xy]`` touches a red connector; ``STEPS`` if none."""
    for step in range(STEPS):
        for light in range(index.red.shape[1]):
            if index.red[step, light] and touches_light(index, light, points[step]):
                return step
    return STEPS


@njit(cache=True, nogil=True)
def touches_light(index: LightIndex, light: int, corners: Floats) -> bool:
    """Whether the car's box ``[5, xy]`` and a connector, boundaries included, share a point."""
    x, y = corners[CENTRE, 0], corners[CENTRE, 1]
    west, south, east, north = index.bounds[light]
    if x < west - REACH_M or x > east + REACH_M or y < south - REACH_M or y > north + REACH_M:
        return False
    cell = cell_of(index.grid, x, y)
    for entry in range(index.near.start[cell], index.near.start[cell + 1]):
        which = index.near.item[entry]
        if index.edge[which, 0] == light and _meets(index.xy, index.edge[which, 1], corners):
            return True
    # no edge meets the box, so the box is wholly inside or wholly outside
    return point_in_binned(index.grid, index.bins, index.xy, light, x, y) != OUTSIDE


@njit(cache=True, nogil=True)
def _meets(xy: Floats, i: int, corners: Floats) -> bool:
    ax, ay = xy[i - 1, 0], xy[i - 1, 1]
    bx, by = xy[i, 0], xy[i, 1]
    # both ends well to one side of the box along its own axes: no need to look closer
    if _beside(ax, ay, bx, by, corners):
        return False
    return segment_touches_box(ax, ay, bx, by, corners[:4])


@njit(cache=True, nogil=True)
def _beside(ax: float, ay: float, bx: float, by: float, corners: Floats) -> bool:
    """Whether a segment surely keeps clear of the box on one side of it."""
    x, y = corners[CENTRE, 0], corners[CENTRE, 1]
    ahead_x, ahead_y = corners[0, 0] - corners[1, 0], corners[0, 1] - corners[1, 1]
    left_x, left_y = corners[0, 0] - corners[3, 0], corners[0, 1] - corners[3, 1]
    for axis in range(2):
        ux = ahead_x if axis == 0 else left_x
        uy = ahead_y if axis == 0 else left_y
        one = (ax - x) * ux + (ay - y) * uy
        other = (bx - x) * ux + (by - y) * uy
        # half of the side, times the side, and room for rounding
        reach = 0.5 * (ux * ux + uy * uy) + 1e-6
        if (one > reach and other > reach) or (one < -reach and other < -reach):
            return True
    return False
