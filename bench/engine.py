"""What a scene costs: ``python -m bench.engine``, one core, 16,384 candidates.

Scenes are the golden ones and a town's, of `bench.places`. Stages are measured one by one, each in
a compiled loop over all candidates.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
from bench.figures import Figure, best, run
from bench.places import ROOT, full_scene, scenes, town_scenes, vocabulary
from numba import njit

from navaudit.numerics.profiles import speed_bands
from navaudit.rollout.clock import candidate_clock
from navaudit.rollout.desire import place_poses, sample_knots, turns_of
from navaudit.rollout.follow import follow
from navaudit.rollout.rollout import desire_candidates, fit_profiles, new_workbench
from navaudit.scene.scene import Scene
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.collision import no_at_fault_collisions
from navaudit.score.comfort import SCRATCH, discomfort
from navaudit.score.course import lay_out
from navaudit.score.direction import driving_direction
from navaudit.score.drive import Drive, drivable_area
from navaudit.score.engine import new_drive, take_road
from navaudit.score.lane import lane_keeping
from navaudit.score.light import red_touch
from navaudit.score.score import score_scene
from navaudit.score.ttc import time_to_collision

STOCK_S: Final = 117.0
"""What the stock generator takes for a scene of this many candidates and the v2.0 body, on one core
of a comparable machine; its own code is not here to be measured beside ours."""


def scene_cost() -> Figure:
    """Processor time of whole scenes, laid out, driven and scored."""
    candidates, source = vocabulary()
    rows = [
        {"from": name, **_cost(scene, candidates)}
        for name, group in (("golden", scenes()), ("town", town_scenes()))
        for scene in group
    ]
    median = statistics.median(row["ms"] for row in rows)
    return Figure(
        "scene_cost", "median milliseconds a scene, one core", median, source, tuple(rows)
    )


def _cost(scene: Scene, candidates: Vocabulary) -> dict[str, Any]:
    turns = turns_of(candidates.poses)
    took = best(lambda: score_scene(scene, candidates, turns=turns), 3)
    return {
        "token": scene.token,
        "ms": 1e3 * took,
        "polygons": len(scene.ground),
        "agents": len(scene.traffic),
        "lights": len(scene.lights),
        "times the stock": STOCK_S / took,
    }


def full_scene_cost() -> Figure:
    """A very full scene against the median of a town's."""
    candidates, source = vocabulary()
    rows = [{"from": "town", **_cost(scene, candidates)} for scene in town_scenes()]
    median = statistics.median(row["ms"] for row in rows)
    least, *_, most = sorted(rows, key=lambda row: row["ms"])
    full = {"from": "full", **_cost(full_scene(town_scenes()), candidates)}
    return Figure(
        "full_scene_cost",
        f"{full['polygons']} polygons, {full['agents']} agents, {full['lights']} lights "
        "against the median of a town",
        full["ms"] / median,
        source,
        (least, most, full),
    )


def growth() -> Figure:
    """Processor time by the number of candidates."""
    scene = scenes(1)[0]
    rows = []
    for count in (1_024, 4_096, 16_384, 65_536):
        candidates, _ = vocabulary(count)
        turns = turns_of(candidates.poses)
        took = best(lambda c=candidates, t=turns: score_scene(scene, c, turns=t), 3)
        rows.append({"candidates": count, "ms": 1e3 * took, "us each": 1e6 * took / count})
    ratio = rows[-1]["us each"] / rows[-2]["us each"]
    return Figure(
        "growth", "cost of a candidate, 65,536 against 16,384", ratio, scene.token, tuple(rows)
    )


def threads() -> Figure:
    """Wall time on one thread and on two, side by side."""
    candidates, source = vocabulary()
    turns = turns_of(candidates.poses)
    scene = scenes(1)[0]
    least = [np.inf, np.inf]
    for _ in range(15):
        for count in (1, 2):
            start = time.perf_counter()
            score_scene(scene, candidates, turns=turns, threads=count)
            least[count - 1] = min(least[count - 1], time.perf_counter() - start)
    rows = tuple({"threads": k + 1, "ms": 1e3 * took} for k, took in enumerate(least))
    return Figure("threads", "two threads against one", least[0] / least[1], source, rows)


def memory() -> Figure:
    """Peak memory of a process that scores one scene."""
    code = "from bench.engine import peak; peak()"
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    before, after = (float(one) / 1024 for one in answer.stdout.split())
    row = {"imported MB": before, "peak MB": after}
    return Figure("memory", "peak MB of a process that scores a scene", after, "one scene", (row,))


def peak() -> None:
    """Print peak resident memory before and after a scene, in KB."""
    candidates, _ = vocabulary()
    scene = scenes(1)[0]
    before = _most_held_kb()
    score_scene(scene, candidates)
    print(before, _most_held_kb())


def _most_held_kb() -> int:
    # getrusage would also count what the process that started this one held
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0])


@njit
def _desire(ego: Any, poses: Any, turns: Any, knot: Any, span: Any, since: Any) -> float:
    bench = new_workbench(40)
    total = 0.0
    for i in range(poses.shape[0]):
        place_poses(ego, 1.0, 0.0, poses[i], turns[i], bench.knots)
        sample_knots(bench.knots, knot, span, since, bench.desired)
        total += bench.desired[3, 0]
    return total


@njit
def _fit(desired: Any, bands: Any, speeds: Any, curvatures: Any) -> None:
    bench = new_workbench(40)
    for i in range(desired.shape[0]):
        fit_profiles(desired[i], bands, bench)
        speeds[i] = bench.speeds
        curvatures[i] = bench.curvatures


@njit
def _follow(ego: Any, desired: Any, speeds: Any, curvatures: Any, states: Any, points: Any) -> None:
    for i in range(desired.shape[0]):
        follow(ego, desired[i], speeds[i], curvatures[i], states[i], points[i])


@njit
def _stage(course: Any, states: Any, pointing: Any, which: int) -> float:
    room = new_drive(course.traffic.corners.shape[1])
    scratch = np.empty(SCRATCH)
    total = 0.0
    for i in range(states.shape[0]):
        total += _one_stage(course, states[i], pointing[i], room, scratch, which)
    return total


@njit(_nrt=False)
def _one_stage(
    course: Any, states: Any, pointing: Any, room: Any, scratch: Any, which: int
) -> float:
    drive = Drive(states, pointing, room.points, room.off_lane, room.met, room.ahead)
    take_road(drive, course)
    drive.met[:] = 0
    if which == 1:
        return no_at_fault_collisions(drive, course.traffic, course.ground).score
    if which == 2:
        return float(drivable_area(course.ground.cells, drive.points))
    if which == 3:
        return float(red_touch(course.lights, drive.points))
    if which == 4:
        return driving_direction(course.ground.cells, drive.points, False, scratch[0])[0]
    if which == 5:
        return time_to_collision(drive, course.traffic, course.ground).score
    if which == 6:
        return float(lane_keeping(course.line, course.ground.cells, drive.points))
    if which == 7:
        return float(discomfort(course.history, drive.states, scratch).test)
    return 0.0


METRICS: Final = (
    ("no collision", "agents near the car's cell at 41 steps; boxes only where the cell is busy"),
    ("drivable area", "four corners at 41 steps, a byte each; edges of the cell where in doubt"),
    ("traffic light", "edges within reach of the car's cell"),
    ("driving direction", "one byte for the centre at 40 steps"),
    ("time to collision", "four projections from 32 steps, one bit each"),
    ("lane keeping", "one byte for the centre at 41 steps; near segments where in doubt"),
    ("comfort", "56 taps over 55 samples, seven passes; bound by adds and multiplies"),
)


def stages() -> Figure:
    """Where the time of a scene goes."""
    candidates, source = vocabulary()
    scene = scenes(1)[0]
    course = lay_out(scene)
    turns = turns_of(candidates.poses)
    clock = candidate_clock(scene.time_us)
    count = len(candidates)
    desired = desire_candidates(scene, candidates)
    speeds, curvatures = np.empty((2, count, 40))
    states, pointing = np.empty((count, 41, 11)), np.empty((count, 41, 2))
    rows = [
        ("layout", "once a scene: edges and cells", best(lambda: lay_out(scene), 3)),
        ("desired path", "40 poses, no trigonometry; bound by divisions", best(
            lambda: _desire(scene.ego, candidates.poses, turns, clock.knot, clock.span_us,
                            clock.since_us), 3)),
        ("profiles", "two banded sweeps of 40", best(
            lambda: _fit(desired, speed_bands(), speeds, curvatures), 3)),
        ("tracker and bicycle", "40 steps: a sine, a cosine, a tangent, ten looks ahead", best(
            lambda: _follow(scene.ego, desired, speeds, curvatures, states, pointing), 3)),
    ]  # fmt: skip
    base = best(lambda: _stage(course, states, pointing, 0), 3)
    rows.append(("corners", "five points at 41 steps", base))
    for which, (name, bound) in enumerate(METRICS, start=1):
        took = best(lambda w=which: _stage(course, states, pointing, w), 3) - base
        rows.append((name, bound, max(took, 0.0)))
    table = tuple(
        {"stage": name, "ms": 1e3 * took, "ns a step": 1e9 * took / count / 41, "bound by": bound}
        for name, bound, took in rows
    )
    return Figure(
        "stages", "milliseconds of all stages", sum(r["ms"] for r in table), source, table
    )


def start_up() -> Figure:
    """From nothing to the first label: with an empty cache of kernels, and with a full one."""
    import os  # noqa: PLC0415 - this figure alone sets an environment
    import tempfile  # noqa: PLC0415

    code = (
        "from bench.places import scenes, vocabulary; from navaudit.score.score import score_scene;"
        "score_scene(scenes(1)[0], vocabulary(64)[0])"
    )
    rows = []
    with tempfile.TemporaryDirectory() as cache:
        for name in ("empty", "full", "full"):
            start = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", code],
                cwd=ROOT,
                env={**os.environ, "NUMBA_CACHE_DIR": cache},
                check=True,
            )
            rows.append({"cache": name, "s": time.perf_counter() - start})
    return Figure("start_up", "seconds to a first label, kernels cached", rows[-1]["s"],
                  "64 candidates", tuple(rows))  # fmt: skip


FIGURES: Final = (scene_cost, full_scene_cost, stages, growth, threads, memory, start_up)
EVERY_CORE: Final = (threads,)


if __name__ == "__main__":
    run(__doc__, FIGURES, EVERY_CORE)
