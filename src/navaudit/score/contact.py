"""Who is near the car at a step, where they lie as seen from it, and what they are."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import STEPS, VX, VY, X, Y
from navaudit.compiled import borrowing, njit
from navaudit.numerics.boxes import boxes_touch, collapsed, upright
from navaudit.numerics.trig import acos, hypot
from navaudit.scene.footprint import write_corners
from navaudit.scene.scene import BICYCLE, Traffic
from navaudit.score.grid import DOUBT_M, Grid, column_of, row_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Truths = NDArray[np.bool_]

EGO_REACH_M: Final = 2.84
"""A little more than from the centre of the car to a corner."""
STOPPED_MPS: Final = 0.05
"""A track or a car no faster than this counts as stopped in a collision."""
AHEAD_RAD: Final = 30 * (np.pi / 180)
BEHIND_RAD: Final = 150 * (np.pi / 180)


class TrafficIndex(NamedTuple):
    """The replayed agents of a scene, sorted by where they are at each step."""

    grid: Grid
    corners: Floats
    """``[step, agent, 4, xy]``: front left, rear left, rear right, front right."""
    centroid: Floats
    """``[step, agent, xy]`` of the box as a polygon."""
    stopped: Truths
    """``[agent]``: a static object, or no faster than walking pace when first seen."""
    living: Truths
    """``[agent]``: a vehicle, pedestrian or bicycle."""
    busy: Longs
    """``[cell]``: bit k is set if some agent is near the cell at step k."""
    start: Ints
    """``[step * cell + 1]``: where the agents near a cell at a step begin in ``agent``."""
    agent: Longs
    """``[entry]``: agents a car centred in the cell may touch."""


def index_traffic(
    traffic: Traffic, ego_corners: Floats, grid: Grid, *, stood_in: bool = False
) -> TrafficIndex:
    """Sort a scene's agents over a grid, leaving out those the car stands in at t = 0.

    ``ego_corners`` is ``[5, xy]`` at t = 0.  A track that touches the car then is gone at every
    step (log_replay_traffic_agents.py:35-57), unless ``stood_in`` keeps it.
    """
    corners = box_corners(traffic.box)
    present = traffic.present
    if not stood_in:
        present = present & ~touching_at_start(corners[0], present[0], ego_corners)
    living = traffic.kind <= BICYCLE
    stopped = ~living | (_speeds(traffic.velocity_mps) <= STOPPED_MPS)
    busy, start, agent = _sort(grid, corners, present)
    middle = centroids(corners)
    return TrafficIndex(grid, corners, middle, stopped, living, busy, start, agent)


@njit(cache=True)
def _speeds(velocity_mps: Floats) -> Floats:
    speeds = np.empty(len(velocity_mps))
    for a in range(len(speeds)):
        speeds[a] = hypot(velocity_mps[a, 0], velocity_mps[a, 1])
    return speeds


@njit(cache=True)
def box_corners(box: Floats) -> Floats:
    """Corners ``[step, agent, 4, xy]`` of boxes ``[step, agent, 5]``; NaN where a box is NaN."""
    steps, agents = box.shape[0], box.shape[1]
    corners = np.empty((steps, agents, 4, 2))
    for step in range(steps):
        for a in range(agents):
            x, y, heading, length, width = box[step, a]
            write_corners(x, y, heading, length / 2.0, width / 2.0, corners[step, a])
    return corners


@njit(cache=True)
def touching_at_start(corners: Floats, present: Truths, ego_corners: Floats) -> Truths:
    """``[agent]``: whether the car stands in a box ``[agent, 4, xy]`` that is there."""
    touching = np.zeros(len(present), np.bool_)
    ego = ego_corners[:4]
    for a in range(len(present)):
        # two plain polygons are asked here, and a collapsed one then touches upright ones alone
        there = present[a] and (not collapsed(corners[a]) or upright(ego))
        touching[a] = there and boxes_touch(ego, corners[a])
    return touching


@njit(cache=True)
def centroids(corners: Floats) -> Floats:
    """Centroid ``[step, agent, xy]`` of boxes ``[step, agent, 4, xy]``, in the order of GEOS.

    GEOS sums the triangles that the edges span with the ring's first vertex, thrice their
    centroids weighted with twice their areas (algorithm/Centroid.cpp); a box without area has the
    centre of its edges instead, one without extent its own place.
    """
    out = np.empty((corners.shape[0], corners.shape[1], 2))
    for step in range(corners.shape[0]):
        for a in range(corners.shape[1]):
            out[step, a, 0], out[step, a, 1] = centroid_of(corners[step, a])
    return out


@borrowing
def centroid_of(box: Floats) -> tuple[float, float]:
    """Centroid of one box ``[4, xy]``."""
    x0, y0 = box[0, 0], box[0, 1]
    area2, sum_x, sum_y = 0.0, 0.0, 0.0
    length, line_x, line_y = 0.0, 0.0, 0.0
    for k in range(4):
        ax, ay = box[k, 0], box[k, 1]
        bx, by = box[(k + 1) & 3, 0], box[(k + 1) & 3, 1]
        twice = (ax - x0) * (by - y0) - (bx - x0) * (ay - y0)
        sum_x += twice * (x0 + ax + bx)
        sum_y += twice * (y0 + ay + by)
        area2 += twice
        edge = math.sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay))
        length += edge
        line_x += edge * ((ax + bx) / 2.0)
        line_y += edge * ((ay + by) / 2.0)
    if abs(area2) > 0.0:
        return sum_x / 3.0 / area2, sum_y / 3.0 / area2
    if length > 0.0:
        return line_x / length, line_y / length
    return x0, y0


@njit(cache=True)
def _sort(grid: Grid, corners: Floats, present: Truths) -> tuple[Longs, Ints, Longs]:
    """For every step and cell, list the agents a car centred there may touch."""
    cells = grid.side * grid.side + 1
    busy = np.zeros(cells, np.int64)
    start = np.zeros(STEPS * cells + 1, np.int32)
    agent = np.empty(0, np.int64)
    for filling in range(2):
        if filling:
            start[1:] = np.cumsum(start[1:])
            agent = np.empty(start[-1], np.int64)
        cursor = start[:-1].copy()
        for step in range(STEPS):
            for a in range(present.shape[1]):
                if not present[step, a]:
                    continue
                first_row, last_row, first_column, last_column = _around(grid, corners[step, a])
                for row in range(first_row, last_row + 1):
                    for column in range(first_column, last_column + 1):
                        cell = row * grid.side + column
                        _list(step * cells + cell, a, filling, start, cursor, agent)
                        busy[cell] |= 1 << step
                # beyond the grid every agent may be near
                _list(step * cells + cells - 1, a, filling, start, cursor, agent)
                busy[cells - 1] |= 1 << step
    return busy, start, agent


@njit(cache=True, nogil=True)
def _around(grid: Grid, box: Floats) -> tuple[int, int, int, int]:
    """Rows and columns, first and last, from which a car may touch a box ``[4, xy]``."""
    wide = EGO_REACH_M + DOUBT_M
    return (
        max(row_of(grid, box[:, 1].min() - wide), 0),
        min(row_of(grid, box[:, 1].max() + wide), grid.side - 1),
        max(column_of(grid, box[:, 0].min() - wide), 0),
        min(column_of(grid, box[:, 0].max() + wide), grid.side - 1),
    )


@borrowing
def _list(at: int, a: int, filling: int, start: Ints, cursor: Ints, agent: Longs) -> None:
    if filling:
        agent[cursor[at]] = a
        cursor[at] += 1
    else:
        start[at + 1] += 1


@borrowing(inline="always")
def is_busy(index: TrafficIndex, cell: int, step: int) -> bool:
    """Whether some agent is near a cell at a step."""
    return (index.busy[cell] >> step) & 1 != 0


@borrowing
def agents_near(index: TrafficIndex, cell: int, step: int) -> tuple[int, int]:
    """Range of the entries of ``index.agent`` that may touch a car centred in a cell."""
    at = step * len(index.busy) + cell
    return index.start[at], index.start[at + 1]


@borrowing
def bearing(state: Floats, sine: float, cosine: float, x: float, y: float) -> float:
    """Angle in rad between the car's heading and the way from its rear axle to a point.

    ``sine`` and ``cosine`` are those of the heading.  NaN where rounding takes the cosine above
    one, or the point is the rear axle itself: then it is neither ahead nor behind
    (nuplan idm/utils.py:19-33).
    """
    dx = x - state[X]
    dy = y - state[Y]
    distance = math.sqrt(dx * dx + dy * dy)
    return acos(cosine * (dx / distance) + sine * (dy / distance))


@borrowing
def speed_of(state: Floats) -> float:
    """Speed in m/s of a state ``[11]``; sideways speed is zero but at t = 0."""
    return abs(state[VX]) if state[VY] == 0.0 else hypot(state[VX], state[VY])
