"""Score a scene: its candidates, its human, its reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import DAC, DDC, NC, TLC
from navaudit.errors import BadInput
from navaudit.numerics.profiles import Solver, speed_bands
from navaudit.rollout.clock import candidate_clock
from navaudit.rollout.desire import turns_of
from navaudit.rollout.rollout import (
    desire_candidates,
    desire_human,
    desire_reference,
    simulate,
)
from navaudit.scene.scene import Scene
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.course import Course, lay_out
from navaudit.score.engine import empty_scores, in_blocks, judge_candidates, judge_states
from navaudit.score.sheet import RULES, ScoreSheet, add_progress

Floats = NDArray[np.float64]

Ddc = Literal["v2.0", "v2.1"]
Rule = Literal["per-candidate", "batch"]


@dataclass(frozen=True)
class Settings:
    """What may change a label."""

    ddc: Ddc = "v2.0"
    """Body of driving direction: ``v2.0`` as in released labels, ``v2.1`` spares intersections."""
    progress_rule: Rule = "per-candidate"
    """``per-candidate`` as in label files, ``batch`` as in evaluation."""
    solver: Solver = "closed"
    """How the profiles are fitted; all but ``closed`` go through LAPACK."""

    def __post_init__(self) -> None:
        choices = (("ddc", get_args(Ddc)), ("progress_rule", RULES), ("solver", get_args(Solver)))
        for name, known in choices:
            if getattr(self, name) not in known:
                raise BadInput(
                    f"{name} {getattr(self, name)!r} does not exist", expected=" | ".join(known)
                )

    @property
    def spare_crossroads(self) -> bool:
        """Whether intersections are excused from driving direction."""
        return self.ddc == "v2.1"


def score_scene(
    scene: Scene,
    vocabulary: Vocabulary,
    settings: Settings = Settings(),
    *,
    turns: Floats | None = None,
    threads: int = 1,
    course: Course | None = None,
) -> ScoreSheet:
    """Score every candidate of a scene.

    ``turns`` are ``turns_of(vocabulary.poses)``, worth keeping over many scenes; ``course`` is
    ``lay_out(scene)``, worth keeping where the human is scored too.
    """
    course = lay_out(scene) if course is None else course
    columns, progress, first_step = empty_scores(len(vocabulary))
    spare = settings.spare_crossroads
    if settings.solver == "closed":
        clock = candidate_clock(scene.time_us)
        bands = speed_bands()
        turns = turns_of(vocabulary.poses) if turns is None else turns

        def work(part: slice) -> None:
            judge_candidates(
                course, vocabulary.poses[part], turns[part], clock.knot, clock.span_us,
                clock.since_us, bands, spare, columns[part], progress[part], first_step[part],
            )  # fmt: skip
    else:
        driven = simulate(scene.ego, desire_candidates(scene, vocabulary), settings.solver).states

        def work(part: slice) -> None:
            judge_states(
                course, driven[part], spare, True, columns[part], progress[part], first_step[part]
            )

    in_blocks(len(vocabulary), threads, work)
    reference_m = reference_progress(scene, course, settings)
    return _sheet(columns, progress, first_step, settings, reference_m)


def score_human(
    scene: Scene, settings: Settings = Settings(), course: Course | None = None
) -> ScoreSheet:
    """Score the human alone, without history: comfort and progress are then always 1."""
    course = lay_out(scene) if course is None else course
    states = simulate(scene.ego, desire_human(scene), settings.solver).states
    return _score_alone(course, states, settings)


def _score_alone(course: Course, states: Floats, settings: Settings) -> ScoreSheet:
    columns, progress, first_step = empty_scores(len(states))
    judge_states(course, states, settings.spare_crossroads, False, columns, progress, first_step)
    rows = np.ascontiguousarray(columns.T)
    own = progress * rows[NC] * rows[DAC] * rows[TLC] * rows[DDC]
    add_progress(rows, progress, float(own[0]), settings.progress_rule)
    return ScoreSheet(rows, progress, np.ascontiguousarray(first_step.T))


def reference_progress(scene: Scene, course: Course, settings: Settings) -> float:
    """Progress of the reference in m, times its own product of multiplied metrics."""
    states = simulate(scene.ego, desire_reference(scene), settings.solver).states
    columns, progress, first_step = empty_scores(1)
    judge_states(course, states, settings.spare_crossroads, True, columns, progress, first_step)
    row = columns[0]
    return float(progress[0] * (row[NC] * row[DAC] * row[TLC] * row[DDC]))


def _sheet(
    columns: Floats,
    progress: Floats,
    first_step: NDArray[np.int8],
    settings: Settings,
    reference_m: float,
) -> ScoreSheet:
    rows = np.ascontiguousarray(columns.T)
    add_progress(rows, progress, reference_m, settings.progress_rule)
    return ScoreSheet(rows, progress, np.ascontiguousarray(first_step.T))
