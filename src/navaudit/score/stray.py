"""How a car strays from a line: where its centre drives, how far off that is, and for how long.

Lane keeping asks this of the route's centreline. The same questions may be asked of any other
line, above all of the human's own path: where the human fails lane keeping, that is the line a
candidate can sensibly be held to.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import CENTRE, HEADING, POSES, STATE, STEPS
from navaudit.compiled import borrowing, njit
from navaudit.errors import BadInput
from navaudit.numerics.polyline import distance_to_segment
from navaudit.numerics.profiles import speed_bands
from navaudit.numerics.trig import sincos
from navaudit.rollout.clock import candidate_clock
from navaudit.rollout.desire import place_poses, sample_knots, turns_of
from navaudit.rollout.follow import follow, point
from navaudit.rollout.rollout import (
    desire_candidates,
    desire_human,
    fit_profiles,
    new_workbench,
    simulate,
)
from navaudit.scene.scene import Scene
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.cells import CROSSROADS, Cells, lies_in
from navaudit.score.course import Course, lay_out
from navaudit.score.drive import place_points
from navaudit.score.engine import in_blocks
from navaudit.score.lane import PATIENCE_STEPS, LineIndex, index_line, strays
from navaudit.score.progress import Way, measure_way, way_off
from navaudit.score.score import Settings

Floats = NDArray[np.float64]

PAPER: Final = Settings()
"""The paper's settings."""

# ------------------------------------------------------------------------------- where it drives


def drive_centres(
    scene: Scene,
    vocabulary: Vocabulary,
    settings: Settings = PAPER,
    *,
    turns: Floats | None = None,
    threads: int = 1,
    course: Course | None = None,
) -> Floats:
    """Drive every candidate; return where the centre of its box is: ``[candidate, step, xy]``.

    ``turns`` are ``turns_of(vocabulary.poses)``, ``course`` is ``lay_out(scene)``: both worth
    keeping where more is asked of a scene.
    """
    course = lay_out(scene) if course is None else course
    if settings.solver != "closed":
        states = simulate(scene.ego, desire_candidates(scene, vocabulary), settings.solver).states
        return _centres_of(states, course)
    clock, bands = candidate_clock(scene.time_us), speed_bands()
    turned = turns_of(vocabulary.poses) if turns is None else turns
    centres = np.empty((len(vocabulary), STEPS, 2))

    def work(part: slice) -> None:
        _drive(
            course, vocabulary.poses[part], turned[part], clock.knot, clock.span_us,
            clock.since_us, bands, centres[part],
        )  # fmt: skip

    in_blocks(len(vocabulary), threads, work)
    return centres


def human_path(scene: Scene, settings: Settings = PAPER, course: Course | None = None) -> Floats:
    """Where the centre of the human's box is in its own rollout: ``[step, xy]``."""
    course = lay_out(scene) if course is None else course
    states = simulate(scene.ego, desire_human(scene), settings.solver).states
    path: Floats = _centres_of(states, course)[0]
    return path


def _centres_of(states: Floats, course: Course) -> Floats:
    centres = np.empty((len(states), STEPS, 2))
    _place(states, course.start, centres)
    return centres


@njit(cache=True, nogil=True)
def _place(states: Floats, start: Floats, centres: Floats) -> None:
    pointing = np.empty((STEPS, 2))
    points = np.empty((STEPS, 5, 2))
    for c in range(states.shape[0]):
        point(states[c], pointing)
        _keep_centre(pointing, states[c], start, points, centres[c])


@borrowing
def _keep_centre(
    pointing: Floats, states: Floats, start: Floats, points: Floats, centre: Floats
) -> None:
    place_points(pointing, states, points)
    for step in range(STEPS):
        centre[step, 0], centre[step, 1] = points[step, CENTRE, 0], points[step, CENTRE, 1]
    # at t = 0 all candidates stand where the ego stands, to the bit
    centre[0, 0], centre[0, 1] = start[CENTRE, 0], start[CENTRE, 1]


@njit(cache=True, nogil=True)
def _drive(
    course: Course,
    poses: Any,
    turns: Floats,
    knot: NDArray[np.int64],
    span_us: Floats,
    since_us: Floats,
    bands: Floats,
    centres: Floats,
) -> None:
    bench = new_workbench(POSES)
    states = np.empty((STEPS, len(STATE)))
    pointing = np.empty((STEPS, 2))
    points = np.empty((STEPS, 5, 2))
    sine, cosine = sincos(course.ego[HEADING])
    for c in range(poses.shape[0]):
        place_poses(course.ego, cosine, sine, poses[c], turns[c], bench.knots)
        sample_knots(bench.knots, knot, span_us, since_us, bench.desired)
        fit_profiles(bench.desired, bands, bench)
        follow(course.ego, bench.desired, bench.speeds, bench.curvatures, states, pointing)
        _keep_centre(pointing, states, course.start, points, centres[c])


# ------------------------------------------------------------------------- how far, and how long


def longest_runs(course: Course, line: Floats, centres: Floats) -> NDArray[np.int8]:
    """Longest run of steps more than 0.5 m off a line ``[vertex, xy]``: ``[candidate]``.

    A step inside an intersection neither counts nor ends a run, as in lane keeping, which fails
    exactly those of a run of `PATIENCE_STEPS` or more.
    """
    index = index_line(_line(line), course.line.grid)
    runs = np.empty(len(centres), np.int8)
    _longest_runs(index, course.ground.cells, _centres(centres), runs)
    return runs


def farthest_m(course: Course, line: Floats, centres: Floats) -> Floats:
    """Largest distance to a line ``[vertex, xy]`` outside intersections, in m: ``[candidate]``.

    NaN where every step is inside one.
    """
    farthest = np.empty(len(centres))
    _farthest(measure_way(_line(line)), course.ground.cells, _centres(centres), farthest)
    return farthest


def keeps_to(course: Course, line: Floats, centres: Floats) -> NDArray[np.bool_]:
    """Whether a candidate passes lane keeping against a line ``[vertex, xy]``: ``[candidate]``."""
    return longest_runs(course, line, centres) < PATIENCE_STEPS


def keeps_to_human_path(
    scene: Scene,
    vocabulary: Vocabulary,
    settings: Settings = PAPER,
    *,
    turns: Floats | None = None,
    threads: int = 1,
    course: Course | None = None,
) -> NDArray[np.bool_]:
    """Whether each candidate passes lane keeping against the human's path: ``[candidate]``."""
    course = lay_out(scene) if course is None else course
    line = human_path(scene, settings, course)
    driven = drive_centres(scene, vocabulary, settings, turns=turns, threads=threads, course=course)
    return keeps_to(course, line, driven)


def _line(line: Floats) -> Floats:
    line = np.ascontiguousarray(line, np.float64)
    if line.ndim != 2 or line.shape[1] != 2 or len(line) < 2 or not np.isfinite(line).all():
        raise BadInput(
            f"line has shape {line.shape}", expected="finite (vertex, 2), at least two vertices"
        )
    return line


def _centres(centres: Floats) -> Floats:
    centres = np.ascontiguousarray(centres, np.float64)
    if centres.shape[1:] != (STEPS, 2):
        raise BadInput(f"centres have shape {centres.shape}", expected=f"(candidate, {STEPS}, 2)")
    return centres


@borrowing
def _longest_runs(index: LineIndex, cells: Cells, centres: Floats, runs: NDArray[np.int8]) -> None:
    for c in range(centres.shape[0]):
        astray, longest = 0, 0
        for step in range(STEPS):
            x, y = centres[c, step, 0], centres[c, step, 1]
            off = strays(index, x, y)
            # the intersection matters only where it would change the count
            if (off or astray > 0) and lies_in(cells, CROSSROADS, x, y):
                continue
            astray = astray + 1 if off else 0
            longest = max(longest, astray)
        runs[c] = longest


@borrowing
def _farthest(way: Way, cells: Cells, centres: Floats, farthest: Floats) -> None:
    for c in range(centres.shape[0]):
        largest, near = np.nan, 0
        # most end farther off than they begin, and few steps beat the last
        for step in range(STEPS - 1, -1, -1):
            x, y = centres[c, step, 0], centres[c, step, 1]
            near, bound = _nearby(way.line, near, x, y)
            if bound <= largest or lies_in(cells, CROSSROADS, x, y):
                continue
            distance = way_off(way, x, y)
            if not distance <= largest:  # also for the first, where there is nothing yet
                largest = distance
        farthest[c] = largest


@borrowing
def _nearby(line: Floats, near: int, x: float, y: float) -> tuple[int, float]:
    """Of the segments about one, the nearest and how far it is: the line is that far at most."""
    bound, best = np.inf, near
    for i in range(max(near - 2, 0), min(near + 3, len(line) - 1)):
        one = distance_to_segment(x, y, line[i, 0], line[i, 1], line[i + 1, 0], line[i + 1, 1])
        if one < bound:
            bound, best = one, i
    return best, bound
