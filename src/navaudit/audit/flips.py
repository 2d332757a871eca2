"""Flips: what the overwrite turns from failing to passing in lane keeping, seen on the road.

Every candidate of a forgiven lane-keeping column is driven again, and every one of an unforgiven
column that tells candidates apart. The check run anew must equal the stored column; then every
failing candidate is measured: how far from the centreline, for how long, whether it keeps to the
path that the human drove instead, and what else it fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.consumer import loss_mapped
from navaudit.audit.rounds import Answer, Ask
from navaudit.axes import DAC, DDC, HEADING, LK, NC, STEPS, TLC, TTC, X, Y
from navaudit.errors import BadInput
from navaudit.labels.labelset import LabelSet
from navaudit.numerics.angles import cos_of, sin_of
from navaudit.rollout.desire import turns_of
from navaudit.rollout.rollout import desire_human, simulate
from navaudit.scene.code import code_of
from navaudit.scene.scene import Scene
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.course import Course, lay_out
from navaudit.score.lane import LIMIT_M, PATIENCE_STEPS
from navaudit.score.score import Settings
from navaudit.score.stray import drive_centres, farthest_m, human_path, keeps_to, longest_runs

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

OTHER_CHECKS: Final = (DAC, DDC, NC, TTC, TLC)
"""Columns in which a candidate may fail beside lane keeping; progress and comfort are no checks."""

FORGIVEN_MIXED, UNFORGIVEN_MIXED, FORGIVEN_FAILING, FORGIVEN_PASSING = range(4)
"""Kinds of columns that are driven again."""

MILLIMETRES: Final = 1000.0
BEYOND_MM: Final = 1_000_000
"""Distances of a kilometre and more are counted together."""


@dataclass(frozen=True)
class FlipsQuestion:
    """What the failing candidates of a lane-keeping column do on the road."""

    labels: LabelSet
    vocabulary: Vocabulary
    settings: Settings = field(default_factory=Settings)

    def record(self) -> dict[str, Any]:
        """Everything that decides an answer."""
        return {
            "question": "flips",
            "code": code_of(Path(__file__)),
            "labels": self.labels.digest(),
            "vocabulary": self.vocabulary.digest,
            **asdict(self.settings),
        }

    def begin(self) -> Ask:
        """Make a process ready."""
        turns = turns_of(self.vocabulary.poses)

        def ask(scene: Scene) -> Answer | None:
            return self._ask(scene, turns)

        return ask

    def fold(self, answers: Sequence[Answer]) -> Answer:
        """One row a scene; distances and runs are counted over all of a log."""
        rows = {name: np.stack([one[name] for one in answers]) for name in ROWS}
        counted: Answer = {}
        for kind in (FORGIVEN_MIXED, UNFORGIVEN_MIXED):
            mine = [one for one in answers if one["kind"] == kind and "far_mm" in one]
            far = np.concatenate([one["far_mm"] for one in mine] or [np.empty(0, np.int32)])
            runs = np.concatenate([one["runs"] for one in mine] or [np.empty(0, np.int8)])
            value, times = np.unique(far, return_counts=True)
            counted |= {f"far_mm_{kind}": value, f"far_count_{kind}": times}
            counted[f"runs_{kind}"] = np.bincount(runs, minlength=STEPS + 1)
        return {**rows, **counted}

    def _ask(self, scene: Scene, turns: Floats) -> Answer | None:
        """Drive a column again; scenes without labels or human, or of no such column, pass."""
        if scene.human is None or scene.token not in self.labels:
            return None
        raw = self.labels.raw(scene.token)
        course = lay_out(scene)
        human = HumanDrive.of(scene, course, self.settings)
        kind = _kind(raw[LK] == 0.0, human.fails)
        if kind is None:
            return None
        centres = drive_centres(scene, self.vocabulary, self.settings, turns=turns, course=course)
        runs = longest_runs(course, course.line.line, centres)
        failing = np.flatnonzero(raw[LK] == 0.0)
        known = self.labels.human[self.labels.index(scene.token), LK]
        answer = {
            "kind": np.array(kind),
            "candidates": np.array(len(centres)),
            "differing": np.array(int(((runs >= PATIENCE_STEPS) != (raw[LK] == 0.0)).sum())),
            "human_differs": np.array(bool(not np.isnan(known) and (known == 0.0) != human.fails)),
            "human_far_m": np.array(human.far_m),
            "path_differing": np.array(0),
            **dict.fromkeys(COUNTS, np.array(0)),
        }
        if kind in (FORGIVEN_MIXED, UNFORGIVEN_MIXED):
            keeps = keeps_to(course, human.path, centres)
            stored = self.labels.path_lane_keeping(scene.token)
            if stored is not None:
                answer["path_differing"] = np.array(int((keeps != (stored == 1.0)).sum()))
            answer |= _measure(
                course, human, centres[failing], keeps[failing], loss_mapped(raw)[:, failing]
            )
            answer["runs"] = runs[failing]
        return answer


COUNTS: Final = (
    "entries", "fails_path", "fails_path_and_dac", "within", "fails_dac", "fails_other",
    "farther_than_human",
)  # fmt: skip
"""What is counted of the failing candidates of a mixed column."""

ROWS: Final = (
    "kind", "candidates", "differing", "human_differs", "human_far_m", "path_differing", *COUNTS,
)  # fmt: skip


@dataclass(frozen=True)
class HumanDrive:
    """The human's own rollout, as the rule judges it."""

    path: Floats
    """``[step, xy]``: where the centre of the box is."""
    left: Floats
    """``[step, xy]``: unit vector to the left of the heading."""
    far_m: float
    """Largest distance from the centreline outside intersections; NaN if always inside one."""
    fails: bool

    @classmethod
    def of(cls, scene: Scene, course: Course, settings: Settings) -> HumanDrive:
        """Drive the human's trajectory."""
        states = simulate(scene.ego, desire_human(scene), settings.solver).states[0]
        path, line = human_path(scene, settings, course), course.line.line
        left = np.stack((-sin_of(states[:, HEADING]), cos_of(states[:, HEADING])), axis=1)
        run = int(longest_runs(course, line, path[None])[0])
        far_m = float(farthest_m(course, line, path[None])[0])
        return cls(path, left, far_m, run >= PATIENCE_STEPS)

    def keeps_beside(self, centres: Floats) -> Truths:
        """Whether centres ``[candidate, step, xy]`` stay within 0.5 m across the human's heading.

        At every step the offset from where the human is at that step is taken, whatever the one is
        ahead or behind.
        """
        apart = centres - self.path
        aside = apart[..., X] * self.left[:, X] + apart[..., Y] * self.left[:, Y]
        return np.asarray((np.abs(aside) <= LIMIT_M).all(axis=1))


def _kind(failing: Truths, forgiven: bool) -> int | None:
    """Return the kind of a column; None for one that is neither forgiven nor mixed."""
    if failing.any() and not failing.all():
        return FORGIVEN_MIXED if forgiven else UNFORGIVEN_MIXED
    if not forgiven:
        return None
    return FORGIVEN_FAILING if failing.all() else FORGIVEN_PASSING


def _measure(
    course: Course, human: HumanDrive, centres: Floats, keeps: Truths, targets: NDArray[np.float16]
) -> Answer:
    """Measure failing candidates; ``targets`` are their columns as the loss reads them."""
    far_m = farthest_m(course, course.line.line, centres)
    fails_dac = targets[DAC] == 0.0
    fails_other = (targets[list(OTHER_CHECKS)] == 0.0).any(axis=0)
    counted = {
        "entries": len(centres),
        "fails_path": int((~keeps).sum()),
        "fails_path_and_dac": int((~keeps & fails_dac).sum()),
        "within": int(human.keeps_beside(centres).sum()),
        "fails_dac": int(fails_dac.sum()),
        "fails_other": int(fails_other.sum()),
        "farther_than_human": int((far_m > human.far_m).sum()),
    }
    # a failing candidate has steps to measure, unless its stored column is not that of this drive
    far_m = np.nan_to_num(far_m, nan=0.0)
    bins = np.minimum(np.floor(far_m * MILLIMETRES), BEYOND_MM).astype(np.int32)
    return {**{name: np.array(n) for name, n in counted.items()}, "far_mm": bins}


def expect_labels_of(labels: LabelSet, scenes_digest: str, vocabulary: Vocabulary) -> None:
    """Refuse labels that were made from other scenes or candidates, where they say so."""
    for what, ours in (("scenes", scenes_digest), ("vocabulary", vocabulary.digest)):
        theirs = labels.settings.get(what)
        if theirs is not None and theirs != ours:
            raise BadInput(
                f"the labels are of another {what}: digest {theirs}",
                where=str(labels.folder),
                expected=f"digest {ours}",
                remedy=f"name the {what} that the labels were made from",
            )
    if labels.candidates != len(vocabulary):
        raise BadInput(
            f"the labels are of {labels.candidates} candidates",
            where=str(labels.folder),
            expected=f"{len(vocabulary)}, as in the vocabulary",
        )
