"""Explain one candidate of one scene: for every column, what decides it and how closely."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import COLUMNS, DAC, DDC, NC, STEPS, TLC
from navaudit.errors import BadInput
from navaudit.rollout.follow import point
from navaudit.rollout.rollout import desire_candidates, desire_human, simulate
from navaudit.scene.scene import Scene
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.course import Course, lay_out
from navaudit.score.drive import Drive
from navaudit.score.engine import new_drive, take_road
from navaudit.score.forgive import forgiven_columns
from navaudit.score.reason import Account, Reason, Ride
from navaudit.score.score import Settings, reference_progress, score_human, score_scene
from navaudit.score.sheet import ScoreSheet
from navaudit.score.why_comfort import why_comfort
from navaudit.score.why_ground import Terrain, why_direction, why_ground, why_lane, why_lights
from navaudit.score.why_total import Rival, why_progress, why_total
from navaudit.score.why_traffic import why_collisions, why_threat

Floats = NDArray[np.float64]

DEFAULTS: Final = Settings()


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why a candidate scores as it does, beside the human, and what forgiveness makes of it."""

    token: str
    candidate: int
    settings: Settings
    driven: Account
    human: Account | None
    """The human, tracked and scored alone; None if the scene has none."""
    desired: Floats
    """``[step, 3]``: x_m, y_m, heading_rad the car was asked to follow."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "desired", frozen(self.desired, np.float64, (STEPS, 3)))

    @property
    def forgiven(self) -> NDArray[np.bool_]:
        """``[column]``: where the human scored zero, so that the published label is 1."""
        if self.human is None:
            return np.zeros(len(COLUMNS), np.bool_)
        return forgiven_columns(self.human.scores)

    @property
    def published(self) -> Floats:
        """``[column]``: the scores after forgiveness."""
        return np.where(self.forgiven, 1.0, self.driven.scores)

    @property
    def turned(self) -> tuple[int, ...]:
        """Columns that forgiveness raises."""
        return tuple(np.flatnonzero(self.published > self.driven.scores).tolist())

    def record(self) -> dict[str, Any]:
        """Return everything but the paths, as JSON has it."""
        human = self.human
        return {
            "token": self.token,
            "candidate": self.candidate,
            "settings": asdict(self.settings),
            "columns": [one.record() for one in self.driven.reasons],
            "human": None if human is None else [one.record() for one in human.reasons],
            "forgiven": [COLUMNS[one] for one in np.flatnonzero(self.forgiven)],
            "turned": [COLUMNS[one] for one in self.turned],
            "published": dict(zip(COLUMNS, self.published.tolist(), strict=True)),
        }


def explain(
    scene: Scene, vocabulary: Vocabulary, candidate: int, settings: Settings = DEFAULTS
) -> Explanation:
    """Explain one candidate of a scene.

    Under the ``batch`` rule progress depends on all candidates, so all of them are scored.
    """
    if not 0 <= candidate < len(vocabulary):
        raise BadInput(f"there is no candidate {candidate}", expected=f"0 to {len(vocabulary) - 1}")
    alone = settings.progress_rule == "per-candidate"
    chosen = vocabulary.take([candidate])
    sheet = score_scene(scene, chosen if alone else vocabulary, settings)
    row = 0 if alone else candidate
    course = lay_out(scene)
    terrain = Terrain(scene.ground)
    rollout = simulate(scene.ego, desire_candidates(scene, chosen), settings.solver)
    ride = _ride(scene, course, rollout.states[0], sheet, row, settings)
    rival = _rival(sheet, Rival(reference_progress(scene, course, settings), "the reference"), row)
    driven = _account(ride, terrain, rival, settings, with_history=True)
    human = _explain_human(scene, course, terrain, settings)
    return Explanation(scene.token, candidate, settings, driven, human, rollout.desired[0])


def _explain_human(
    scene: Scene, course: Course, terrain: Terrain, settings: Settings
) -> Account | None:
    if scene.human is None:
        return None
    sheet = score_human(scene, settings, course)
    states = simulate(scene.ego, desire_human(scene), settings.solver).states[0]
    ride = _ride(scene, course, states, sheet, 0, settings)
    product = np.prod([ride.scores[one] for one in (NC, DAC, TLC, DDC)])
    itself = Rival(float(ride.progress_m * product), "the human itself")
    return _account(ride, terrain, itself, settings, with_history=False)


def _rival(sheet: ScoreSheet, reference: Rival, own: int) -> Rival:
    """Return the best of the other candidates under the rule of the batch, or the reference."""
    product = np.prod(sheet.columns[[NC, DAC, TLC, DDC]], axis=0)
    masked = sheet.progress_m * product
    masked[own] = -np.inf
    best = int(masked.argmax())
    if masked[best] <= reference.progress_m:
        return reference
    return Rival(float(masked[best]), f"candidate {best}")


def _ride(
    scene: Scene, course: Course, states: Floats, sheet: ScoreSheet, row: int, settings: Settings
) -> Ride:
    return Ride(
        scene,
        course,
        _drive(course, states),
        sheet.columns[:, row],
        sheet.first_step[:, row],
        float(sheet.progress_m[row]),
        settings.spare_crossroads,
    )


def _drive(course: Course, states: Floats) -> Drive:
    """Prepare a drive ``[step, 11]`` for the kernels, as the engine does."""
    drive = new_drive(course.traffic.corners.shape[1])
    drive.states[:] = states
    point(drive.states, drive.pointing)
    take_road(drive, course)
    return drive


def _account(
    ride: Ride, terrain: Terrain, rival: Rival, settings: Settings, with_history: bool
) -> Account:
    # in the order of axes.COLUMNS
    reasons: tuple[Reason, ...] = (
        why_collisions(ride),
        why_ground(ride, terrain),
        why_direction(ride, terrain),
        why_lights(ride),
        why_progress(ride, rival, settings.progress_rule),
        why_threat(ride),
        why_lane(ride),
        why_comfort(ride, with_history),
        why_total(ride),
    )
    return Account(reasons, ride.drive.states.copy(), ride.drive.points.copy())
