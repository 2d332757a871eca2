"""Traffic lights: the car may not touch a lane connector while it shows red."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import CENTRE, FRONT_LEFT, FRONT_RIGHT, REAR_LEFT, STEPS
from navaudit.compiled import borrowing, njit
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


@borrowing
def red_touch(index: LightIndex, points: Floats) -> int:
    """First step at which the car ``[step, 5, xy]`` touches a red connector; ``STEPS`` if none."""
    grid, red, bounds = index.grid, index.red, index.bounds
    near, edge, xy = index.near, index.edge, index.xy
    for step in range(STEPS):
        x, y = points[step, CENTRE, 0], points[step, CENTRE, 1]
        cell = -1
        for light in range(red.shape[1]):
            if not red[step, light] or _out_of_reach(bounds, light, x, y):
                continue
            if cell < 0:
                cell = cell_of(grid, x, y)
            for entry in range(near.start[cell], near.start[cell + 1]):
                which = near.item[entry]
                if edge[which, 0] == light and _meets(xy, edge[which, 1], points, step):
                    return step
            # no edge meets the box, so the box is wholly inside or wholly outside
            if point_in_binned(grid, index.bins, xy, light, x, y) != OUTSIDE:
                return step
    return STEPS


@borrowing
def _out_of_reach(bounds: Floats, light: int, x: float, y: float) -> bool:
    """Whether a car centred at a point keeps clear of the bounds of a connector."""
    west, south = bounds[light, 0] - REACH_M, bounds[light, 1] - REACH_M
    east, north = bounds[light, 2] + REACH_M, bounds[light, 3] + REACH_M
    return not (west <= x <= east and south <= y <= north)


@borrowing
def _meets(xy: Floats, i: int, points: Floats, step: int) -> bool:
    """Whether an edge and the car's box at a step, boundaries included, share a point."""
    ax, ay = xy[i - 1, 0], xy[i - 1, 1]
    bx, by = xy[i, 0], xy[i, 1]
    if _beside(ax, ay, bx, by, points, step):
        return False
    return segment_touches_box(ax, ay, bx, by, points[step, :4])


@borrowing
def _beside(ax: float, ay: float, bx: float, by: float, points: Floats, step: int) -> bool:
    """Whether a segment surely keeps clear of the car's box on one side of it."""
    x, y = points[step, CENTRE, 0], points[step, CENTRE, 1]
    front_x, front_y = points[step, FRONT_LEFT, 0], points[step, FRONT_LEFT, 1]
    ux, uy = front_x - points[step, REAR_LEFT, 0], front_y - points[step, REAR_LEFT, 1]
    vx, vy = front_x - points[step, FRONT_RIGHT, 0], front_y - points[step, FRONT_RIGHT, 1]
    # half of a side times that side, and room for rounding
    ahead = 0.5 * (ux * ux + uy * uy) + 1e-6
    aside = 0.5 * (vx * vx + vy * vy) + 1e-6
    one = (ax - x) * ux + (ay - y) * uy
    other = (bx - x) * ux + (by - y) * uy
    if (one > ahead and other > ahead) or (one < -ahead and other < -ahead):
        return True
    one = (ax - x) * vx + (ay - y) * vy
    other = (bx - x) * vx + (by - y) * vy
    return (one > aside and other > aside) or (one < -aside and other < -aside)
