"""Scenes and candidates made into a label set, from wherever the last run stopped.

The bytes of the set follow from scenes, vocabulary and settings alone: not from where the work ran,
how many did it, in which order they came to an end, or how often it was cut short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from navaudit import provenance
from navaudit.errors import BadInput, Unhealthy
from navaudit.labels import label_log
from navaudit.labels.label_log import SAFE, Job, Start, inputs_of, kernels
from navaudit.labels.labelset import Draft, LabelSet, writing
from navaudit.labels.work import Event, Executor, Processes
from navaudit.numerics.platform import closed_form_digest, diagnose, examine
from navaudit.scene.crew import Finished, Lost

__all__ = ["Job", "Progress", "generate"]

_NAMED: Final = 4


@dataclass(frozen=True)
class Progress:
    """How far the work is."""

    what: str
    """What happened: the name of a log that is finished, or a sentence."""
    scenes: int
    """Done in this run."""
    kept: int
    """Done in earlier runs."""
    scenes_in_all: int
    logs: int
    logs_in_all: int


Say = Callable[[Progress], None]

ALONE: Final = Processes()
"""This process, and no other."""


def _silent(progress: Progress) -> None:
    """Say nothing."""


def generate(folder: Path, job: Job, *, executor: Executor = ALONE, say: Say = _silent) -> LabelSet:
    """Label the scenes of a job in a folder; what is there already, whole and the same, is kept.

    A scene that cannot be scored is in the set's ledger, and so are those that the scene set could
    not make. A log over which processes died twice leaves the set unfinished: it is `Unhealthy`,
    and the next run goes on.
    """
    if not len(job.scenes):
        raise BadInput("the scene set holds no scenes", where=str(job.scenes.folder))
    told = job.told()
    with writing(folder, told, provenance_of(job), candidates=len(job.vocabulary)) as draft:
        if not draft.complete:
            if not draft.closing:
                _label(job, draft, executor, say)
            draft.close(job.scenes.logs, job.scenes.failures)
    return LabelSet.open(folder)


def provenance_of(job: Job) -> dict[str, Any]:
    """Name code, machine and its numerics, and where the scenes come from."""
    examination = examine()
    diagnosis = diagnose(examination, closed_form_digest())
    return {
        **provenance.here(),
        "processor": examination.processor,
        "numerics": {
            "verdict": diagnosis.verdict,
            "complaints": list(diagnosis.complaints),
            "closed_forms": diagnosis.closed_form_digest,
            "kernels": kernels(examination),
            "fits": [asdict(one) for one in examination.fits],
        },
        "scenes": {"settings": job.scenes.settings, "provenance": job.scenes.provenance},
        "vocabulary": str(job.vocabulary_file.resolve()) if job.vocabulary_file else None,
    }


@dataclass
class _Tally:
    """Counts what is done, and does not count twice what had to be done again."""

    total: dict[str, int]
    """Scenes of each log."""
    begun: dict[str, int]
    """Of those, scenes that earlier runs have left of a log they did not finish."""
    kept: int
    done: dict[str, int] = field(default_factory=dict)
    safe: set[str] = field(default_factory=set)
    lost: list[str] = field(default_factory=list)

    def progress(self, what: str) -> Progress:
        return Progress(
            what,
            sum(self.done.values()),
            self.kept,
            sum(self.total.values()),
            len(self.safe),
            len(self.total),
        )

    def take(self, event: Event, log: str) -> str:
        """Count an event; return what is worth saying about it."""
        if isinstance(event, Lost):
            if not event.again:
                self.lost.append(log)
            return f"{event} over {log}: {'trying again' if event.again else 'giving up on it'}"
        left = self.total[log] - self.begun.get(log, 0)
        if event.name == SAFE:
            self.safe.add(log)
            self.done[log] = left
            return log
        self.done[log] = min(self.done.get(log, 0) + 1, left)
        return ""


def _label(job: Job, draft: Draft, executor: Executor, say: Say) -> None:
    """Write the parcels that are not there yet."""
    logs = job.scenes.logs
    total = dict.fromkeys(logs, 0)
    for token in job.scenes.tokens:
        total[job.scenes.log_of(token)] += 1
    there = {log for log in logs if draft.has(log, inputs_of(draft, log))}
    missing = set(logs) - there
    begun = {log: draft.count_begun(log, inputs_of(draft, log)) for log in missing}
    kept = sum(total[log] for log in there) + sum(begun.values())
    tally = _Tally(total, begun, kept, safe=there)
    say(tally.progress(""))
    # the longest first, so that no process is left with one at the end
    left = sorted(missing, key=lambda log: (begun[log] - total[log], log))
    for event in executor.run(Start(job, draft), left, (label_log.__name__,)):
        log = left[event.task]
        if isinstance(event, Finished) and event.name == SAFE:
            _expect_here(draft, log)
        say(tally.progress(tally.take(event, log)))
    if tally.lost:
        raise _lost(draft, tally.lost)


def _expect_here(draft: Draft, log: str) -> None:
    if not draft.parcel_path(log).is_file():
        raise BadInput(
            "a worker wrote labels, and they are not here",
            where=str(draft.parcel_path(log)),
            expected="a folder that all machines of the cluster share",
            remedy="name a folder on a shared disk",
        )


def _lost(draft: Draft, logs: Sequence[str]) -> Unhealthy:
    some = ", ".join(sorted(logs)[:_NAMED]) + (", ..." if len(logs) > _NAMED else "")
    return Unhealthy(
        f"workers died over {len(logs)} logs, twice: {some}",
        where=str(draft.folder),
        expected="that they finish: memory may have run out",
        remedy="run again with fewer workers: what is finished is kept",
    )
