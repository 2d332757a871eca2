"""The survey: label sets are read once, by one process or many, and become a sheet.

::

    sheet.npz             the whole sheet, and the key of what it was made from
    work/<key>/*.npz      sheets of some tokens, until all are measured
    lock                  held by the run that writes

What was measured before a run was cut short is kept, under a key of the labels and the code.
"""

from __future__ import annotations

import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit import provenance
from navaudit.audit.sheet import Sheet
from navaudit.audit.sources import Sources
from navaudit.errors import BadInput, NavauditError, Unhealthy
from navaudit.scene.crew import Lost, Work, run
from navaudit.scene.whole import held, sweep, whole_file

Say = Callable[[str, int, int], None]
"""Told what happened, how many tokens are done, and how many there will be."""

SHEET: Final = "sheet.npz"
TASK: Final = 512
"""Tokens that a process measures before it saves what it has."""
READ: Final = 64
"""Tokens whose labels are in memory at a time; a shard holds as many."""


def silent(what: str, done: int, total: int) -> None:
    """Say nothing."""


def survey(sources: Sources, folder: Path, *, workers: int = 1, say: Say = silent) -> Sheet:
    """Measure all tokens of the sources, or read what was measured of them before."""
    places = sources.places
    key = provenance.digest_settings({**sources.record(), "code": provenance.code_digest()})
    with held(folder / "lock"):
        known = _read_sheet(folder / SHEET, key)
        if known is not None and np.array_equal(known.place, places):
            say("", len(places), len(places))
            return known
        sheet = _measure(sources, places, folder / "work" / key[:16], workers, say)
        _write_sheet(folder / SHEET, sheet, key)
        shutil.rmtree(folder / "work")
    return sheet


@dataclass(frozen=True)
class _Task:
    """Some tokens, and the file that takes their sheet."""

    places: NDArray[np.int64]
    path: Path


def _measure(
    sources: Sources, places: NDArray[np.int64], folder: Path, workers: int, say: Say
) -> Sheet:
    key = folder.name
    # whole shards to a task, so that none is read twice
    groups = np.split(places, np.flatnonzero(np.diff(places // TASK)) + 1)
    tasks = [_Task(group, folder / f"{group[0]:08d}.npz") for group in groups]
    sweep(folder)
    parts = {task.path: _read_sheet(task.path, key) for task in tasks}
    left = [task for task in tasks if parts[task.path] is None]
    done = len(places) - sum(len(task.places) for task in left)
    say("", done, len(places))
    for event in run(partial(_surveyor, sources, key), left, workers, (__name__,)):
        task = left[event.task]
        if isinstance(event, Lost):
            say(_complain(event, task, sources), done, len(places))
            continue
        done += len(task.places)
        say(event.name, done, len(places))
    return Sheet.merge(_whole_sheet(task.path, key) for task in tasks)


def _surveyor(sources: Sources, key: str) -> Work:
    def work(task: _Task) -> Iterator[str]:
        reads = np.split(task.places, np.flatnonzero(np.diff(task.places // READ)) + 1)
        sheet = Sheet.merge(sources.measure(places) for places in reads)
        _write_sheet(task.path, sheet, key)
        yield task.path.stem

    return work


def _complain(event: Lost, task: _Task, sources: Sources) -> str:
    """Say that a process died over a task; refuse to go on without its tokens."""
    tokens = sources.raw.tokens
    stretch = f"tokens {tokens[task.places[0]]} to {tokens[task.places[-1]]}"
    if event.again:
        return f"{event} over {stretch}: trying again"
    raise Unhealthy(
        f"{event}, twice",
        where=stretch,
        remedy="run again with fewer workers: memory may have run out; what is done is kept",
    )


def _write_sheet(path: Path, sheet: Sheet, key: str) -> None:
    with whole_file(path) as stream:
        np.savez_compressed(stream, key=np.array(key), **sheet.arrays())


def _read_sheet(path: Path, key: str) -> Sheet | None:
    """Read a sheet; None where there is none, or one of something else."""
    try:
        with path.open("rb") as stream, np.load(stream) as file:
            arrays = {name: file[name] for name in file.files}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise _damaged(path, str(error)) from error
    if str(arrays.pop("key", "")) != key:
        return None
    try:
        return Sheet.of(arrays)
    except (KeyError, TypeError, NavauditError) as error:
        raise _damaged(path, str(error)) from error


def _whole_sheet(path: Path, key: str) -> Sheet:
    sheet = _read_sheet(path, key)
    if sheet is None:
        raise _damaged(path, "it has vanished")
    return sheet


def _damaged(path: Path, how: str) -> BadInput:
    return BadInput(
        f"the sheet of measures is damaged: {how}",
        where=str(path),
        remedy="remove it and run again: its tokens are measured anew",
    )
