"""Sources made into a scene set, by one process or many, from wherever the last run stopped.

The bytes of every file follow from the sources and the settings alone, not from the number of
processes, the order in which they come to an end, or how often the work was cut short.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from navaudit import provenance
from navaudit.scene.crew import Finished, Lost, Work, run
from navaudit.scene.logfile import Failure
from navaudit.scene.store import SCRATCH, SceneSet, complete_set, open_folder
from navaudit.scene.whole import held, sweep

Say = Callable[[str, int, int], None]
"""Told what happened, how many logs are done, and how many there will be."""


@dataclass(frozen=True)
class Plan:
    """Tasks, each some logs that one process makes into files one after the other."""

    tasks: tuple[Any, ...]
    """What the work is given."""
    names: tuple[tuple[str, ...], ...]
    """``[task]``: names of the logs in it."""
    start: Callable[[Path], Work]
    """Called in each process with the folder of the set."""
    modules: tuple[str, ...] = ()
    """Modules that every process needs."""
    failures: tuple[Failure, ...] = ()
    """Known before the work begins."""
    wanted: tuple[str, ...] = ()
    """Tokens that must come up somewhere."""


class Job(Protocol):
    """A source of scenes."""

    def settings(self) -> dict[str, Any]:
        """All that decides the bytes of the scenes, beside the input files."""
        ...

    def plan(self) -> Plan:
        """Look at the sources and share them out."""
        ...


def _silent(what: str, done: int, total: int) -> None:
    """Say nothing."""


def prepare(folder: Path, job: Job, *, workers: int = 1, say: Say = _silent) -> SceneSet:
    """Make the scenes of a job in a folder; what is there already, whole and the same, is kept."""
    settings, here = job.settings(), provenance.here()
    with held(folder / "lock"):
        open_folder(folder, settings, here)
        sweep(folder)
        sweep(folder / "logs")
        sweep(folder / SCRATCH)
        plan = job.plan()
        finished, lost = _work(plan, folder, workers, say)
        told = [*plan.failures, *lost]
        made = complete_set(folder, settings, here, finished, told)
        unseen = list(_unseen(plan.wanted, made))
        if unseen:
            made = complete_set(folder, settings, here, finished, [*told, *unseen])
        shutil.rmtree(folder / SCRATCH, ignore_errors=True)
        return made


def _work(plan: Plan, folder: Path, workers: int, say: Say) -> tuple[list[str], list[Failure]]:
    """Do the tasks; return the logs that are done, in order, and those that were lost."""
    done: set[str] = set()
    lost: list[Failure] = []
    total = sum(map(len, plan.names))
    say("", 0, total)
    for event in run(partial(plan.start, folder), plan.tasks, workers, plan.modules):
        if isinstance(event, Finished):
            done.add(event.name)
            say(event.name, len(done), total)
            continue
        left = [name for name in plan.names[event.task] if name not in done]
        say(f"{event} over {', '.join(left)}: {_what_now(event)}", len(done), total)
        if not event.again:
            lost.extend(_lost(name, event) for name in left)
    return sorted(done), sorted(lost, key=lambda one: one.log)


def _what_now(event: Lost) -> str:
    return "trying again" if event.again else "giving up on it"


def _lost(log: str, event: Lost) -> Failure:
    return Failure(
        None,
        log,
        f"{event}, twice",
        expected="that it finishes the log",
        remedy="run again with fewer workers: memory may have run out",
    )


def _unseen(wanted: Sequence[str], made: SceneSet) -> Iterator[Failure]:
    told = {one.token for one in made.failures}
    for token in wanted:
        if token not in made and token not in told:
            yield Failure(token, "", "the token is in none of the logs that were read")
