"""The engine: every candidate of a scene driven and scored, in blocks, on as many threads as asked.

A candidate is driven and scored whole before the next, in scratch that fits the cache, and no
candidate sees another: the result does not depend on blocks or threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import (
    CENTRE,
    COLUMNS,
    DAC,
    DDC,
    HC,
    HEADING,
    LK,
    NC,
    POSES,
    STATE,
    STEPS,
    TLC,
    TTC,
)
from navaudit.compiled import borrowing, njit
from navaudit.numerics.trig import sincos
from navaudit.rollout.desire import place_poses, sample_knots
from navaudit.rollout.follow import follow, point
from navaudit.rollout.rollout import Workbench, fit_profiles, new_workbench
from navaudit.score.collision import no_at_fault_collisions
from navaudit.score.comfort import SCRATCH, discomfort
from navaudit.score.course import Course
from navaudit.score.direction import driving_direction
from navaudit.score.drive import UNKNOWN, Drive, drivable_area, place_points
from navaudit.score.lane import lane_keeping
from navaudit.score.light import red_touch
from navaudit.score.progress import way_along
from navaudit.score.ttc import time_to_collision

Floats = NDArray[np.float64]

TURNS: Final = 4
"""How often a thread comes for candidates: often enough that none waits long for the last."""
LEAST: Final = 256
"""Candidates a thread takes at a time at least: fewer are not worth the coming."""


@njit(cache=True, nogil=True)
def new_drive(agents: int) -> Drive:
    """Scratch for one candidate."""
    return Drive(
        np.empty((STEPS, len(STATE))),
        np.empty((STEPS, 2)),
        np.empty((STEPS, 5, 2)),
        np.empty(STEPS, np.int8),
        np.empty(agents, np.uint8),
        np.empty((4, 2)),
    )


@borrowing
def take_road(drive: Drive, course: Course) -> None:
    """Prepare a drive whose states and pointing are filled: where its corners are."""
    place_points(drive.pointing, drive.states, drive.points)
    # at t = 0 all candidates stand where the ego stands, to the bit
    for k in range(len(course.start)):
        drive.points[0, k, 0], drive.points[0, k, 1] = course.start[k, 0], course.start[k, 1]
    drive.off_lane[:] = UNKNOWN


@borrowing
def judge(
    drive: Drive,
    course: Course,
    spare_crossroads: bool,
    with_history: bool,
    scratch: Floats,
    scores: Floats,
    first_step: NDArray[np.int8],
) -> float:
    """Score one drive: writes scores and first steps ``[column]``; returns progress in m."""
    traffic, ground = course.traffic, course.ground
    drive.met[:] = 0
    collision = no_at_fault_collisions(drive, traffic, ground)
    _note(NC, collision.score, collision.step, scores, first_step)
    _note_failure(DAC, drivable_area(ground.cells, drive.points), scores, first_step)
    _note_failure(TLC, red_touch(course.lights, drive.points), scores, first_step)
    grade, step = driving_direction(ground.cells, drive.points, spare_crossroads, scratch[0])
    _note(DDC, grade, step, scores, first_step)
    drive.met[:] = 0
    threat = time_to_collision(drive, traffic, ground)
    _note(TTC, threat.score, threat.step, scores, first_step)
    _note_failure(LK, lane_keeping(course.line, ground.cells, drive.points), scores, first_step)
    scores[HC] = 1.0
    first_step[HC] = -1
    if with_history:
        felt = discomfort(course.history, drive.states, scratch)
        if felt.test >= 0:
            scores[HC] = 0.0
            first_step[HC] = max(felt.sample - len(course.history.states), 0)
    x, y = drive.points[STEPS - 1, CENTRE, 0], drive.points[STEPS - 1, CENTRE, 1]
    return max(way_along(course.way, x, y) - course.start_m, 0.0)


@borrowing
def _note(
    column: int, score: float, step: int, scores: Floats, first_step: NDArray[np.int8]
) -> None:
    scores[column] = score
    first_step[column] = step if step < STEPS else -1


@borrowing
def _note_failure(column: int, step: int, scores: Floats, first_step: NDArray[np.int8]) -> None:
    _note(column, 1.0 if step == STEPS else 0.0, step, scores, first_step)


@njit(cache=True, nogil=True)
def judge_candidates(
    course: Course,
    poses: Any,
    turns: Floats,
    knot: NDArray[np.int64],
    span_us: Floats,
    since_us: Floats,
    bands: Floats,
    spare_crossroads: bool,
    columns: Floats,
    progress: Floats,
    first_step: NDArray[np.int8],
) -> None:
    """Drive and score candidates ``[candidate, pose, 3]`` into ``[candidate, column]`` arrays."""
    bench = new_workbench(POSES)
    drive = new_drive(course.traffic.corners.shape[1])
    scratch = np.empty(SCRATCH)
    sine, cosine = sincos(course.ego[HEADING])
    for c in range(poses.shape[0]):
        progress[c] = _drive_and_judge(
            course, sine, cosine, poses[c], turns[c], knot, span_us, since_us, bands,
            spare_crossroads, bench, drive, scratch, columns[c], first_step[c],
        )  # fmt: skip


@borrowing
def _drive_and_judge(
    course: Course,
    sine: float,
    cosine: float,
    poses: Any,
    turns: Floats,
    knot: NDArray[np.int64],
    span_us: Floats,
    since_us: Floats,
    bands: Floats,
    spare_crossroads: bool,
    bench: Workbench,
    drive: Drive,
    scratch: Floats,
    scores: Floats,
    first_step: NDArray[np.int8],
) -> float:
    """Drive and score one candidate ``[pose, 3]``; returns progress in m."""
    place_poses(course.ego, cosine, sine, poses, turns, bench.knots)
    sample_knots(bench.knots, knot, span_us, since_us, bench.desired)
    fit_profiles(bench.desired, bands, bench)
    follow(course.ego, bench.desired, bench.speeds, bench.curvatures, drive.states, drive.pointing)
    take_road(drive, course)
    return judge(drive, course, spare_crossroads, True, scratch, scores, first_step)


@njit(cache=True, nogil=True)
def judge_states(
    course: Course,
    states: Floats,
    spare_crossroads: bool,
    with_history: bool,
    columns: Floats,
    progress: Floats,
    first_step: NDArray[np.int8],
) -> None:
    """Score driven states ``[candidate, step, 11]`` into ``[candidate, column]`` arrays."""
    drive = new_drive(course.traffic.corners.shape[1])
    scratch = np.empty(SCRATCH)
    for c in range(states.shape[0]):
        progress[c] = _judge_states(
            course, states[c], spare_crossroads, with_history, drive, scratch, columns[c],
            first_step[c],
        )  # fmt: skip


@borrowing
def _judge_states(
    course: Course,
    states: Floats,
    spare_crossroads: bool,
    with_history: bool,
    drive: Drive,
    scratch: Floats,
    scores: Floats,
    first_step: NDArray[np.int8],
) -> float:
    """Score one drive ``[step, 11]``; returns progress in m."""
    for step in range(STEPS):
        for column in range(len(STATE)):
            drive.states[step, column] = states[step, column]
    point(drive.states, drive.pointing)
    take_road(drive, course)
    return judge(drive, course, spare_crossroads, with_history, scratch, scores, first_step)


def in_blocks(count: int, threads: int, work: Callable[[slice], None]) -> None:
    """Call ``work`` with slices that cover ``range(count)``, on this many threads."""
    if threads <= 1:
        work(slice(0, count))
        return
    size = max(LEAST, -(-count // (TURNS * threads)))
    blocks = [slice(begin, min(begin + size, count)) for begin in range(0, count, size)]
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, blocks):
            pass


def empty_scores(count: int) -> tuple[Floats, Floats, NDArray[np.int8]]:
    """Arrays for columns, progress and first steps, candidate by candidate."""
    columns = np.ones((count, len(COLUMNS)))
    return columns, np.empty(count), np.full((count, len(COLUMNS)), -1, np.int8)
