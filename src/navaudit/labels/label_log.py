"""Labels the scenes of a log: the work of one process."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit import provenance
from navaudit.axes import COLUMNS, LK
from navaudit.errors import NavauditError, Unhealthy
from navaudit.labels.begun import Begun
from navaudit.labels.draft import Draft
from navaudit.labels.parcel import ParcelWriter
from navaudit.numerics.platform import (
    CLOSED_FORM_DIGEST,
    Examination,
    closed_form_digest,
    examine,
)
from navaudit.rollout.desire import turns_of
from navaudit.scene.code import code_of
from navaudit.scene.kept import fault
from navaudit.scene.logfile import Failure
from navaudit.scene.scene import Scene
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score import stray
from navaudit.score.course import lay_out
from navaudit.score.score import Settings, score_human, score_scene

SAFE: Final = ""
"""The last name that the work on a log gives: all of it is on the disk."""


@dataclass(frozen=True)
class Job:
    """Scenes, candidates and settings, from which labels follow."""

    scenes: SceneSet
    vocabulary: Vocabulary
    settings: Settings = field(default_factory=Settings)
    vocabulary_file: Path | None = None
    """Where the candidates were read; it decides nothing, and is remembered."""

    def told(self) -> dict[str, Any]:
        """All that decides a value."""
        return {
            **asdict(self.settings),
            "scenes": self.scenes.digest(),
            "vocabulary": self.vocabulary.digest,
            "numerics": numerics_of(self.settings.solver),
            # the scorer, and what it leads to
            "code": code_of(Path(stray.__file__)),
        }


def numerics_of(solver: str) -> str | None:
    """Libraries and kernels that labels of a solver hang on; None for closed forms."""
    return None if solver == "closed" else kernels(examine())


def kernels(examination: Examination) -> str:
    """Name the BLAS libraries, their kernels, and the SIMD paths that run."""
    blas = ", ".join(f"{one.library} {one.version} {one.kernel}" for one in examination.blas or ())
    return f"{blas or 'unknown BLAS'}; {' '.join(examination.simd_running)}"


@dataclass(frozen=True)
class Start:
    """Makes a process ready; it can be pickled."""

    job: Job
    draft: Draft

    def __call__(self) -> LogLabeller:
        """Examine the process: what it cannot compute right, it does not compute at all."""
        _expect_healthy(self.job.settings, self.draft)
        return LogLabeller(self.job, self.draft)


def _expect_healthy(settings: Settings, draft: Draft) -> None:
    if settings.solver == "closed":
        found, wanted = closed_form_digest(), CLOSED_FORM_DIGEST
    else:
        found, wanted = numerics_of(settings.solver) or "", str(draft.settings["numerics"])
    if found != wanted:
        raise Unhealthy(
            f"this process computes otherwise than the labels are to be computed: {found}",
            where=f"solver {settings.solver}",
            expected=wanted,
            remedy="see navaudit doctor; on a cluster, leave this machine out",
        )


def inputs_of(draft: Draft, log: str) -> dict[str, str]:
    """What the labels of a log are made from."""
    return {"log": log, "settings": provenance.digest_settings(dict(draft.settings))}


class LogLabeller:
    """Labels all scenes of a log, one after the other."""

    def __init__(self, job: Job, draft: Draft) -> None:
        self.job = job
        self.draft = draft
        self._turns = turns_of(job.vocabulary.poses)
        self._of_log: dict[str, list[str]] = {}
        for token in job.scenes.tokens:
            self._of_log.setdefault(job.scenes.log_of(token), []).append(token)

    def __call__(self, log: str) -> Iterator[str]:
        """Write the parcel of one log, giving each token as it is dealt with, and `SAFE`.

        What an earlier run has left of it is taken over, and not given again.
        """
        inputs = inputs_of(self.draft, log)
        with (
            self.draft.begun(log, inputs) as begun,
            self.draft.parcel(log, inputs) as parcel,
        ):
            for token in self._of_log[log]:
                if (packed := begun.taken(token)) is not None:
                    parcel.take(packed)
                    continue
                # a scene that cannot be read is no failed scene: its file has to be mended first
                scene = self.job.scenes.scene(token)
                self._label(scene, token, log, parcel, begun)
                yield token
        yield SAFE

    def _label(
        self, scene: Scene, token: str, log: str, parcel: ParcelWriter, begun: Begun
    ) -> None:
        try:
            labels = self._values(scene)
        except NavauditError as error:
            parcel.failures.append(Failure.of(error, token, log))
        except MemoryError:
            raise
        except Exception as error:
            parcel.failures.append(fault(error, token, log))
        else:
            begun.keep(parcel.add(token, log, *labels))

    def _values(
        self, scene: Scene
    ) -> tuple[NDArray[np.float64], NDArray[np.float16], NDArray[np.float16] | None]:
        """Human's scores, candidates' scores, and those against the human's path where it fails."""
        course, settings = lay_out(scene), self.job.settings
        about: dict[str, Any] = {"turns": self._turns, "course": course}
        raw = score_scene(scene, self.job.vocabulary, settings, **about).labels()
        if scene.human is None:
            return np.full(len(COLUMNS), np.nan), raw, None
        human = score_human(scene, settings, course).columns[:, 0]
        if human[LK] != 0.0:
            return human, raw, None
        keeps = stray.keeps_to_human_path(scene, self.job.vocabulary, settings, **about)
        return human, raw, keeps.astype(np.float16)
