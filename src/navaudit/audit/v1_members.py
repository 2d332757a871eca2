"""The members of the score of NAVSIM v1, for drives through a scene of v2.

What v1.0 does otherwise than v2: agents that touch the car at t = 0 stay in the replay; driving
direction adds up rows of the batch where it means to add up a second of time; progress counts from
0.1 m on; comfort is judged without history, at the rear axle, with filters as long as the drive.
Time to collision is the same, but from 41 anchors: a v2 scene ends with the fourth second, so from
the last nine the car can be projected only as far as the scene goes, if at all.

Lines of navsim v1.0 (9f3ea68), navsim/planning/simulation/planner/pdm_planner/scoring.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import AX, AY, HEADING, STEPS
from navaudit.compiled import njit
from navaudit.rollout.follow import point
from navaudit.score.collision import no_at_fault_collisions
from navaudit.score.comfort import (
    JERK,
    LAT_ACCELERATION,
    LON_ACCELERATION,
    LON_JERK,
    YAW_ACCELERATION_BOUND,
    YAW_RATE_BOUND,
)
from navaudit.score.course import Course
from navaudit.score.direction import TOLERATED_M, VIOLATION_M, oncoming_ways
from navaudit.score.drive import drivable_area
from navaudit.score.engine import new_drive, take_road
from navaudit.score.progress import way_along
from navaudit.score.smooth import Filter, savgol, smooth
from navaudit.score.ttc import ANCHORS, time_to_collision

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

ROWS: Final = 10
"""Rows of the batch before its own that a row's driving direction adds up."""
PROGRESS_M: Final = 0.1
"""Progress counts only where the best is farther than this."""

V1_NC, V1_DAC, V1_TTC, V1_TTC_HELD = range(4)
"""Columns of `Members.score`; time to collision from 32 anchors, and from all 41 as far as the
scene holds what would be met."""


class Members(NamedTuple):
    """What the score of every drive is made of."""

    score: Floats
    """``[drive, (NC, DAC, TTC, TTC held)]``"""
    ways: Floats
    """``[drive, step]``: way of each step against the traffic, in m."""
    progress_m: Floats
    """``[drive]``: way along the centreline."""
    comfort: Truths
    """``[drive]``"""


def members(course: Course, states: Floats) -> Members:
    """Judge states ``[drive, step, 11]`` on a course laid out with ``stood_in``."""
    count = len(states)
    score, ways, progress = np.empty((count, 4)), np.empty((count, STEPS)), np.empty(count)
    _judge(course, np.ascontiguousarray(states), score, ways, progress)
    comfort = np.array([comfortable(one) for one in states], np.bool_)
    return Members(score, ways, progress, comfort)


@njit(cache=True, nogil=True)
def _judge(course: Course, states: Floats, score: Floats, ways: Floats, progress: Floats) -> None:
    traffic, ground = course.traffic, course.ground
    drive = new_drive(traffic.corners.shape[1])
    for c in range(states.shape[0]):
        drive.states[:] = states[c]
        point(drive.states, drive.pointing)
        take_road(drive, course)
        drive.met[:] = 0
        score[c, V1_NC] = no_at_fault_collisions(drive, traffic, ground).score
        score[c, V1_DAC] = 1.0 if drivable_area(ground.cells, drive.points) == STEPS else 0.0
        drive.met[:] = 0
        score[c, V1_TTC] = time_to_collision(drive, traffic, ground, ANCHORS).score
        drive.met[:] = 0
        score[c, V1_TTC_HELD] = time_to_collision(drive, traffic, ground, STEPS).score
        oncoming_ways(ground.cells, drive.points, False, ways[c])
        x, y = drive.points[STEPS - 1, 4, 0], drive.points[STEPS - 1, 4, 1]
        progress[c] = max(way_along(course.way, x, y) - course.start_m, 0.0)


# ----------------------------------------------------------------------------- driving direction


def added_up(ways: Floats) -> Floats:
    """Ways ``[row, step]`` as v1 adds them up: over the rows before, moment by moment.

    The loop that means to walk through time walks along the first axis, which is the batch
    (pdm_scorer.py:418-428).

    Examples
    --------
    >>> added_up(np.array([[1.0, 2.0], [10.0, 20.0]])).tolist()
    [[1.0, 2.0], [11.0, 22.0]]
    """
    added = np.empty_like(ways)
    for row in range(len(ways)):
        added[row] = sum(ways[max(0, row - ROWS) : row + 1])
    return added


def direction(added: Floats) -> Floats:
    """Score added-up ways ``[row, step]`` by their largest moment: ``[row]`` of 1, 0.5 or 0."""
    largest = added.max(axis=1)
    graded: Floats = np.where(largest < TOLERATED_M, 1.0, np.where(largest < VIOLATION_M, 0.5, 0.0))
    return graded


# --------------------------------------------------------------------------------------- comfort


def comfortable(states: Floats) -> bool:
    """Whether a drive ``[step, 11]`` passes all six tests of v1's comfort.

    Accelerations are smoothed by one parabola over the whole drive; so are jerks, from
    accelerations smoothed by windows of 8. Yaw is smoothed by windows of 5, since the length asked
    for is not passed on (pdm_comfort_metrics.py:110-121).
    """
    lon, lat = states[:, AX], states[:, AY]
    total = np.hypot(lon, lat)
    whole, short = savgol(STEPS, STEPS, 2), savgol(STEPS, 8, 2)
    jerk = savgol(STEPS, STEPS, 2, derivative=1)
    yaw = _unwrapped(states[:, HEADING])
    tests = (
        (_filtered(whole, lon), LON_ACCELERATION),
        (_filtered(whole, lat), LAT_ACCELERATION),
        (_filtered(jerk, _filtered(short, total)), JERK),
        (_filtered(jerk, _filtered(short, lon)), LON_JERK),
        (_filtered(savgol(STEPS, 5, 3, derivative=2), yaw), YAW_ACCELERATION_BOUND),
        (_filtered(savgol(STEPS, 5, 2, derivative=1), yaw), YAW_RATE_BOUND),
    )
    return all(((low < series) & (series < high)).all() for series, (low, high) in tests)


def _filtered(sieve: Filter, series: Floats) -> Floats:
    out = np.empty(STEPS)
    smooth(sieve, sieve.weight.shape[1] // 2, np.ascontiguousarray(series), out)
    return out


def _unwrapped(heading: Floats) -> Floats:
    turns = np.round(np.diff(heading) / (2.0 * np.pi))
    return heading - 2.0 * np.pi * np.concatenate(([0.0], np.cumsum(turns)))


# ------------------------------------------------------------------------------------- aggregate


def progress_share(progress_m: Floats, product: Floats) -> Floats:
    """Progress share of rows ``[..., row]`` scored together.

    Where nobody gets farther than 0.1 m it is 1, but 0 for a row whose product is.
    """
    masked = progress_m * product
    best = masked.max(axis=-1, keepdims=True)
    far = best > PROGRESS_M
    near = np.where(product == 0.0, 0.0, 1.0)
    return np.divide(masked, best, out=near, where=np.broadcast_to(far, masked.shape))


def aggregate(product: Floats, share: Floats, ttc: Floats, comfort: Floats) -> Floats:
    """Score of v1, five parts progress, five time to collision and two comfort: ``[...]``."""
    return product * (((share * 5.0 + ttc * 5.0) + comfort * 2.0) / 12.0)
