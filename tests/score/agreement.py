"""Where the engine and the reference part, and whether a difference hangs on rounding alone."""

from __future__ import annotations

import numpy as np

import reference
from navaudit.axes import COLUMNS, EP, PDM
from navaudit.score.score import Settings, score_human, score_scene
from reference.sheet import judge

ROUNDING = 1e-9
"""Metres, radians and their rates within which a decision may fall either way."""
SETTINGS = tuple(Settings(ddc=ddc, progress_rule=rule)
    for ddc in ("v2.0", "v2.1") for rule in ("per-candidate", "batch"))  # fmt: skip


def differences(scene, vocabulary, settings):
    """Entries ``[(column, candidate)]`` in which engine and reference part, and both sheets."""
    fast = score_scene(scene, vocabulary, settings)
    slow = reference.score(scene, vocabulary.poses, settings.ddc, settings.progress_rule)
    return parted(fast.columns, slow), fast.columns, slow


def human_differences(scene, settings):
    """The same for the human, alone: entries ``[(column, 0)]``."""
    fast = score_human(scene, settings)
    return parted(fast.columns, reference.score_human(scene, settings.ddc, settings.progress_rule))


def parted(columns, slow):
    """Entries where sheets part: grades at all, shares by more than rounding."""
    other = np.array([slow[name] for name in COLUMNS])
    gap = np.abs(columns - other)
    allowed = np.zeros(len(COLUMNS))
    allowed[[EP, PDM]] = ROUNDING
    return [tuple(entry) for entry in np.argwhere(~(gap <= allowed[:, None])).tolist()]


def hangs_on_rounding(scene, states, column, ddc):
    """Whether moving states ``[step, 11]`` by a billionth makes a grade fall either way.

    They are moved as a whole and each step for itself: a contact of many steps ends only by the
    first, a contact of one step by either.
    """
    rng = np.random.default_rng(0)
    as_one = rng.uniform(-ROUNDING, ROUNDING, (32, 1, states.shape[1]))
    apart = rng.uniform(-ROUNDING, ROUNDING, (32, *states.shape))
    moved = np.concatenate([states + as_one, states + apart])
    grades = judge(scene, moved, ddc, scene.past)[COLUMNS[column]]
    return len(set(grades.tolist())) > 1
