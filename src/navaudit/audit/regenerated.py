"""Labels made again from profiles, or from drives, that come from elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import COLUMNS
from navaudit.provenance import digest_arrays
from navaudit.rollout.rollout import (
    desire_candidates,
    desire_human,
    desire_reference,
    simulate_fitted,
)
from navaudit.scene.scene import Scene
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.course import Course
from navaudit.score.driven import score_driven, score_driven_human
from navaudit.score.forgive import forgive
from navaudit.score.score import Settings, score_human, score_scene

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Labels:
    """What one environment makes of a scene."""

    raw: NDArray[np.float16]
    """``[column, candidate]``"""
    human: Floats
    """``[column]``; NaN where the scene has no human."""

    def published(self) -> NDArray[np.float16]:
        """Return the values with the rule applied, by this environment's own human."""
        published: NDArray[np.float16] = forgive(self.raw, self.human)
        return published

    def digest(self) -> str:
        """SHA-256 over every bit."""
        return digest_arrays([self.raw, self.human])


def desire_all(scene: Scene, vocabulary: Vocabulary) -> Floats:
    """Desired steps ``[reference, candidates, human if there is one; step, 5]``."""
    rows = [desire_reference(scene), desire_candidates(scene, vocabulary)]
    if scene.human is not None:
        rows.append(desire_human(scene))
    return np.concatenate(rows)


def drive_fitted(scene: Scene, desired: Floats, fitted: Floats) -> Floats:
    """Drive desired steps with profiles ``[(speed, curvature), row, displacement]``."""
    speeds, curvatures = np.ascontiguousarray(fitted)
    return simulate_fitted(scene.ego, desired, speeds, curvatures).states


def label_closed(
    scene: Scene, vocabulary: Vocabulary, course: Course, settings: Settings
) -> Labels:
    """Label a scene by the closed forms, as ``navaudit label`` does."""
    human = np.full(len(COLUMNS), np.nan)
    if scene.human is not None:
        human = score_human(scene, settings, course).columns[:, 0]
    return Labels(score_scene(scene, vocabulary, settings, course=course).labels(), human)


def label_drives(scene: Scene, course: Course, states: Floats, settings: Settings) -> Labels:
    """Score states whose rows are those of `desire_all`."""
    human = np.full(len(COLUMNS), np.nan)
    candidates = states
    if scene.human is not None:
        candidates = states[:-1]
        human = score_driven_human(course, states[-1:], settings).columns[:, 0]
    return Labels(score_driven(course, candidates, settings).labels(), human)
