"""Score drives that were simulated elsewhere, such as from profiles that another NumPy fitted."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import DAC, DDC, NC, TLC
from navaudit.errors import BadInput
from navaudit.score.course import Course
from navaudit.score.engine import empty_scores, judge_states
from navaudit.score.score import Settings
from navaudit.score.sheet import ScoreSheet, add_progress

Floats = NDArray[np.float64]


def score_driven(course: Course, states: Floats, settings: Settings) -> ScoreSheet:
    """Score candidates from states ``[1 + candidate, step, 11]``; the first row is the reference's.

    The same as ``score_scene`` makes of a scene whose drives these are; ``settings.solver`` is not
    asked.
    """
    if len(states) < 1:
        raise BadInput("there are no states", expected="the reference's, then the candidates'")
    rows, progress, first_step, masked = _judge(course, states, settings, with_history=True)
    rows = np.ascontiguousarray(rows[:, 1:])
    add_progress(rows, progress[1:], float(masked[0]), settings.progress_rule)
    return ScoreSheet(rows, progress[1:], first_step[:, 1:])


def score_driven_human(course: Course, states: Floats, settings: Settings) -> ScoreSheet:
    """Score states ``[drive, step, 11]`` of the human, each alone and without history."""
    rows, progress, first_step, masked = _judge(course, states, settings, with_history=False)
    for k in range(len(states)):
        own = np.ascontiguousarray(rows[:, k : k + 1])
        add_progress(own, progress[k : k + 1], float(masked[k]), settings.progress_rule)
        rows[:, k] = own[:, 0]
    return ScoreSheet(rows, progress, first_step)


def _judge(
    course: Course, states: Floats, settings: Settings, *, with_history: bool
) -> tuple[Floats, Floats, NDArray[np.int8], Floats]:
    """Columns ``[column, drive]``, progress, first steps, and progress times the product."""
    columns, progress, first_step = empty_scores(len(states))
    spare = settings.spare_crossroads
    judge_states(course, states, spare, with_history, columns, progress, first_step)
    rows = np.ascontiguousarray(columns.T)
    masked = progress * (rows[NC] * rows[DAC] * rows[TLC] * rows[DDC])
    return rows, progress, np.ascontiguousarray(first_step.T), masked
