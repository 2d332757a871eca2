"""Processors: the same labels made again under other kernels, SIMD paths and versions of NumPy.

What a stock label takes from linear algebra are the two profile fits, and nothing else: so another
interpreter fits, and everything before and after is done here. Labels of every environment are
compared with those of a reference, entry by entry. Two controls say where a difference comes from:
the drives of the reference are scored in a process under each environment's kernel, and so are the
labels of the closed forms, which must not change.
"""

from __future__ import annotations

import tempfile
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.elsewhere import Fitter, OwnScorer
from navaudit.audit.environments import Ready
from navaudit.audit.regenerated import (
    Labels,
    desire_all,
    drive_fitted,
    label_closed,
    label_drives,
)
from navaudit.audit.rounds import Answer, Ask, stacked
from navaudit.axes import COLUMNS, X, Y
from navaudit.errors import BadInput
from navaudit.provenance import digest_arrays
from navaudit.rollout.rollout import paths_of
from navaudit.scene.code import code_of
from navaudit.scene.scene import Scene
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.course import lay_out
from navaudit.score.score import Settings

Floats = NDArray[np.float64]

READINGS: Final = ("published", "raw")
"""With the rule applied, as in label files; and without it."""


@dataclass(frozen=True)
class ProcessorsQuestion:
    """What every environment makes of a scene, beside what the first one makes of it."""

    scenes: SceneSet
    vocabulary: Vocabulary
    environments: tuple[Ready, ...]
    """The reference first."""
    solver: str = "pinv"
    settings: Settings = field(default_factory=Settings)
    repeats: int = 1
    """How often each environment does it again, in a process of its own."""
    only: frozenset[str] | None = None
    """Tokens to look at; all if left out."""

    def record(self) -> dict[str, Any]:
        """Everything that decides an answer."""
        return {
            "question": "processors",
            "code": code_of(Path(__file__)),
            "vocabulary": self.vocabulary.digest,
            "environments": [one.record() for one in self.environments],
            **asdict(self.settings),
            "solver": self.solver,
            "repeats": self.repeats,
            "only": None if self.only is None else sorted(self.only),
        }

    def begin(self) -> Ask:
        """Start a process for every environment and its repeats, and this package under each."""
        return _Bench(self).ask

    def fold(self, answers: Sequence[Answer]) -> Answer:
        """One row a scene."""
        return stacked(answers)


class _Bench:
    """The processes that answer for scenes; they end with it."""

    def __init__(self, question: ProcessorsQuestion) -> None:
        self.question = question
        with ExitStack() as stack:
            folder = tempfile.TemporaryDirectory(prefix="navaudit-")
            stack.callback(folder.cleanup)
            self.folder = Path(folder.name)
            vocabulary = self.folder / "vocabulary.npy"
            np.save(vocabulary, question.vocabulary.poses, allow_pickle=False)
            self.fitters = [self._fitters(k, one, stack) for k, one in enumerate(self._all)]
            self.owns: dict[tuple[str, ...], OwnScorer] = {}
            for one in self._all:
                if _key(one) not in self.owns:
                    where, scoring = question.scenes.folder, question.settings
                    own = OwnScorer(one.own_settings, where, vocabulary, scoring)
                    stack.callback(own.close)
                    self.owns[_key(one)] = own
            self._end = weakref.finalize(self, stack.pop_all().close)

    @property
    def _all(self) -> tuple[Ready, ...]:
        return self.question.environments

    def _fitters(self, number: int, one: Ready, stack: ExitStack) -> list[Fitter]:
        fitters = []
        for again in range(1 + self.question.repeats):
            place = self.folder / f"{number}-{again}"
            fitters.append(Fitter(one.examination.interpreter, one.settings, place))
            stack.callback(fitters[-1].close)
        return fitters

    def ask(self, scene: Scene) -> Answer | None:
        """Compare the environments on one scene; a scene that is not looked at is passed over."""
        question = self.question
        if question.only is not None and scene.token not in question.only:
            return None
        task = _Task(self, scene)
        reference = task.run(0)
        if reference is None:
            raise BadInput(
                "the reference could not fit the profiles",
                where=f"token {scene.token}, {self._all[0].name}",
                expected="a healthy environment as the reference",
                remedy="name another reference",
            )
        np.save(task.states_file, reference.states, allow_pickle=False)
        rows = [task.compare(k, reference) for k in range(len(self._all))]
        return {
            "candidates": np.array(len(question.vocabulary)),
            "closed_digest": np.array(task.closed),
            **stacked(rows),
        }


def _key(one: Ready) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in sorted(one.own_settings.items()))


@dataclass(frozen=True, eq=False)
class _Run:
    """What one environment makes of a scene."""

    states: Floats
    labels: Labels


class _Task:
    """One scene, on its way through all environments."""

    def __init__(self, bench: _Bench, scene: Scene) -> None:
        question = bench.question
        self.bench, self.question, self.scene = bench, question, scene
        self.course = lay_out(scene)
        self.desired = desire_all(scene, question.vocabulary)
        self.paths_file = bench.folder / "paths.npy"
        self.states_file = bench.folder / "states.npy"
        paths = paths_of(self.desired)
        np.save(self.paths_file, paths, allow_pickle=False)
        self.paths = digest_arrays([paths])
        closed = label_closed(scene, question.vocabulary, self.course, question.settings)
        self.closed = closed.digest()
        self.closed_labels = closed
        self.own: dict[tuple[str, ...], dict[str, Any]] = {}

    def run(self, environment: int, again: int = 0) -> _Run | None:
        """Make the labels of an environment; None where its library gives up."""
        fitter = self.bench.fitters[environment][again]
        fitted = fitter.fit(self.paths_file, self.question.solver)
        if fitted is None:
            return None
        states = drive_fitted(self.scene, self.desired, fitted)
        settings = self.question.settings
        return _Run(states, label_drives(self.scene, self.course, states, settings))

    def compare(self, environment: int, reference: _Run) -> Answer:
        """Hold an environment against the reference, itself, and the closed forms."""
        own = self._own(self.question.environments[environment])
        answer: Answer = {
            "paths_equal": np.array(own["paths"] == self.paths),
            "crossfeed_equal": np.array(own["fed"] == reference.labels.digest()),
            "closed_equal": np.array(own["closed"] == self.closed),
        }
        run = reference if environment == 0 else self.run(environment)
        if run is None:
            return answer | _nothing()
        again = [self.run(environment, k + 1) for k in range(self.question.repeats)]
        return answer | {
            "gave_up": np.array(False),
            **_differences(run.labels, reference.labels),
            "from_closed": np.count_nonzero(
                _bits(run.labels.raw) != _bits(self.closed_labels.raw), axis=1
            ),
            "human_differs": _bits(run.labels.human) != _bits(reference.labels.human),
            "moved_m": np.array(_moved_m(run.states, reference.states)),
            "drives_differ": np.array(
                int((_bits(run.states) != _bits(reference.states)).any(axis=(1, 2)).sum())
            ),
            "repeats_equal": np.array(
                all(one is not None and one.labels.digest() == run.labels.digest() for one in again)
            ),
            "repeated_drives_equal": np.array(
                all(
                    one is not None and np.array_equal(_bits(one.states), _bits(run.states))
                    for one in again
                )
            ),
        }

    def _own(self, one: Ready) -> dict[str, Any]:
        key = _key(one)
        if key not in self.own:
            self.own[key] = self.bench.owns[key].ask(self.scene.token, self.states_file)
        return self.own[key]


def _nothing() -> Answer:
    """What is said of an environment whose library gave up: it has no labels to compare."""
    shape = (len(READINGS), len(COLUMNS))
    return {
        "gave_up": np.array(True),
        "differing": np.zeros(shape, np.int64),
        "largest": np.zeros(shape),
        "from_closed": np.zeros(len(COLUMNS), np.int64),
        "human_differs": np.zeros(len(COLUMNS), np.bool_),
        "moved_m": np.array(np.nan),
        "drives_differ": np.array(0),
        "repeats_equal": np.array(False),
        "repeated_drives_equal": np.array(False),
    }


def _differences(ours: Labels, theirs: Labels) -> Answer:
    """Entries that differ in some bit, and by how much at most: ``[reading, column]``.

    A difference to or from NaN is infinite.
    """
    differing, largest = [], []
    for one, other in ((ours.published(), theirs.published()), (ours.raw, theirs.raw)):
        differs = _bits(one) != _bits(other)
        apart = np.abs(one.astype(np.float64) - other.astype(np.float64))
        apart = np.where(differs, np.nan_to_num(apart, nan=np.inf, posinf=np.inf), 0.0)
        differing.append(np.count_nonzero(differs, axis=1))
        largest.append(apart.max(axis=1))
    return {"differing": np.array(differing), "largest": np.array(largest)}


def _bits(values: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(values).view(f"i{values.dtype.itemsize}")


def _moved_m(ours: Floats, theirs: Floats) -> float:
    """Return the largest distance between two sets of drives at the same moment."""
    apart = ours[..., : Y + 1] - theirs[..., : Y + 1]
    with np.errstate(invalid="ignore", over="ignore"):
        far = np.hypot(apart[..., X], apart[..., Y])
    return float(np.nan_to_num(far, nan=np.inf, posinf=np.inf).max())
