"""One planned trajectory against one scene: driven, scored, and beside it the human.

One stage, and the others do not react. The plan is scored in a batch of two rows, the first being
the scene's reference trajectory, with the logged past in history comfort; the human alone, without
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.agent.predictions import Plan
from navaudit.arrays import frozen
from navaudit.axes import HEADING, HUMAN_POSES, PDM, POSES, STATE, STEPS
from navaudit.evaluate.distance import DISTANCES, distances
from navaudit.evaluate.epdms import COMPONENTS
from navaudit.evaluate.plans import expect_sampled
from navaudit.numerics.trig import sincos
from navaudit.rollout.clock import candidate_clock, human_clock
from navaudit.rollout.desire import place_poses, sample_knots, turns_of
from navaudit.rollout.rollout import DESIRED, simulate
from navaudit.scene.scene import Scene
from navaudit.score.course import Course, lay_out
from navaudit.score.engine import empty_scores, judge_states
from navaudit.score.score import Settings, reference_progress, score_human
from navaudit.score.sheet import add_progress

Floats = NDArray[np.float64]

EVALUATION: Final = Settings(ddc="v2.1", progress_rule="batch")
"""What NAVSIM evaluates with."""


@dataclass(frozen=True, eq=False)
class Judged:
    """What one plan is worth."""

    components: Floats
    """``[component]`` without forgiveness."""
    human: Floats
    """``[component]`` of the human; NaN where a scene has none."""
    distance: Floats
    """``[3]`` to the human, as ``distance.DISTANCES``; NaN where a scene has none."""
    states: Floats
    """``[step, 11]``: the plan as it was driven."""

    def __post_init__(self) -> None:
        for name, axes in (
            ("components", (len(COMPONENTS),)),
            ("human", (len(COMPONENTS),)),
            ("distance", (len(DISTANCES),)),
            ("states", (STEPS, len(STATE))),
        ):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64, axes))


def judge_plan(scene: Scene, plan: Plan, settings: Settings = EVALUATION) -> Judged:
    """Drive and score a plan; a plan that cannot be driven is refused."""
    expect_sampled(plan)
    course = lay_out(scene)
    states = simulate(scene.ego, desire_plan(scene, plan.poses), settings.solver).states
    human = np.full(len(COMPONENTS), np.nan)
    apart = np.full(len(DISTANCES), np.nan)
    if scene.human is not None:
        human = score_human(scene, settings, course).columns[:PDM, 0]
        apart = distances(plan.poses, scene.human)
    return Judged(_components(scene, course, states, settings), human, apart, states[0])


def desire_plan(scene: Scene, poses: NDArray[np.floating]) -> Floats:
    """Desired steps ``[1, step, 5]`` of a plan of 40 poses at 10 Hz or 8 at 2 Hz."""
    ten_hz, start_us = len(poses) == POSES, scene.time_us
    clock = candidate_clock(start_us) if ten_hz else human_clock(start_us, HUMAN_POSES)
    sine, cosine = sincos(scene.ego[HEADING])
    knots, desired = np.empty((len(poses) + 1, DESIRED)), np.empty((1, STEPS, DESIRED))
    place_poses(scene.ego, cosine, sine, poses, turns_of(poses[None])[0], knots)
    sample_knots(knots, clock.knot, clock.span_us, clock.since_us, desired[0])
    return desired


def _components(scene: Scene, course: Course, states: Floats, settings: Settings) -> Floats:
    columns, progress, first_step = empty_scores(len(states))
    judge_states(course, states, settings.spare_crossroads, True, columns, progress, first_step)
    rows = np.ascontiguousarray(columns.T)
    reference_m = reference_progress(scene, course, settings)
    add_progress(rows, progress, reference_m, settings.progress_rule)
    return rows[:PDM, 0]
