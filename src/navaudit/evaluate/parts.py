"""What the plans of one log are worth, settled in one go and kept in a file.

A part is a ``.npz`` without pickles: the arrays of a `Part`, and ``record``, JSON with the log, the
digest of what it was made from, and the failures. A part that is damaged or made from something
else is made again.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit import provenance
from navaudit.agent.predictions import Plan
from navaudit.arrays import frozen
from navaudit.axes import PDM
from navaudit.errors import NavauditError
from navaudit.evaluate.adjacent import steps_between
from navaudit.evaluate.comfort import extended_comfort
from navaudit.evaluate.distance import DISTANCES
from navaudit.evaluate.judge import Judged, judge_plan
from navaudit.evaluate.plans import digest_plan
from navaudit.evaluate.wanted import is_original
from navaudit.scene.code import code_of
from navaudit.scene.crew import Work
from navaudit.scene.kept import fault
from navaudit.scene.logfile import Failure
from navaudit.scene.scene import Scene
from navaudit.scene.store import SceneSet
from navaudit.scene.whole import whole_file
from navaudit.score.score import Settings

Floats = NDArray[np.float64]
Plans = tuple[tuple[str, Plan], ...]
Judge = Callable[[Scene, Plan, Settings], Judged]
"""Scores a plan; `judge.judge_plan`, unless a test puts another in its place."""

SUFFIX: Final = ".part.npz"


@dataclass(frozen=True, eq=False)
class Part:
    """Rows of one log, by time; NaN where a token failed. Axes as those of `run.Run`."""

    tokens: tuple[str, ...]
    components: Floats
    human: Floats
    comfort: Floats
    distance: Floats
    failures: tuple[Failure, ...]

    def __post_init__(self) -> None:
        count = len(self.tokens)
        for name, axes in (
            ("components", (count, PDM)),
            ("human", (count, PDM)),
            ("comfort", (count,)),
            ("distance", (count, len(DISTANCES))),
        ):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float64, axes))


@dataclass(frozen=True)
class Task:
    """The plans of one log."""

    log: str
    plans: Plans
    made_from: str
    """Digest of all that decides the part."""


def begin(folder: Path, scenes: SceneSet, settings: Settings, judge: Judge = judge_plan) -> Work:
    """Make a process ready to settle logs into parts in a folder."""

    def work(task: Task) -> Iterator[str]:
        log, plans, made_from = task.log, task.plans, task.made_from
        path = folder / f"{log}{SUFFIX}"
        there = read_part(path, made_from)
        if there is None or there.failures:
            write_part(path, settle(log, plans, scenes, settings, judge), made_from)
        yield log

    return work


def task_of(log: str, plans: Plans, scenes: SceneSet, settings: Settings) -> Task:
    """Lay out the work of one log; what it is made from is code, settings, scenes and plans."""
    rows = [[token, scenes.digest_of(token), digest_plan(plan)] for token, plan in plans]
    inputs = {"code": code_of(Path(__file__)), "settings": asdict(settings), "rows": rows}
    return Task(log, plans, provenance.digest_settings(inputs))


def settle(
    log: str, plans: Plans, scenes: SceneSet, settings: Settings, judge: Judge = judge_plan
) -> Part:
    """Judge the plans of one log, by time, each beside the one before it."""
    count = len(plans)
    components, human = np.full((count, PDM), np.nan), np.full((count, PDM), np.nan)
    comfort, distance = np.full(count, np.nan), np.full((count, len(DISTANCES)), np.nan)
    failures = []
    before: tuple[str, Floats] | None = None
    for row, (token, plan) in enumerate(plans):
        judged = _try(log, token, lambda: judge(scenes.scene(token), plan, settings))  # noqa: B023
        if isinstance(judged, Failure):
            failures.append(judged)
            continue
        components[row], human[row], distance[row] = (
            judged.components,
            judged.human,
            judged.distance,
        )
        if is_original(token):
            now = (token, judged.states)
            comfort[row] = np.nan if before is None else _comfort(before, now, scenes)
            before = now
    tokens = tuple(token for token, _ in plans)
    return Part(tokens, components, human, comfort, distance, tuple(failures))


def _try(log: str, token: str, work: Callable[[], Judged]) -> Judged | Failure:
    try:
        return work()
    except NavauditError as error:
        return Failure.of(error, token, log)
    except MemoryError:
        raise
    except Exception as error:
        return replace(fault(error, token, log), expected="a score, or a reason why there is none")


def _comfort(before: tuple[str, Floats], now: tuple[str, Floats], scenes: SceneSet) -> float:
    """Extended comfort of a frame beside the one before, NaN where that is too long ago."""
    times_us = scenes.time_us_of(before[0]), scenes.time_us_of(now[0])
    steps = steps_between(*times_us, (before[0], now[0]))
    return np.nan if steps is None else extended_comfort(before[1], now[1], steps)


def write_part(path: Path, part: Part, made_from: str) -> None:
    """Write a part whole."""
    record = {
        "made_from": made_from,
        "tokens": part.tokens,
        "failures": [asdict(one) for one in part.failures],
    }
    text = json.dumps(record, allow_nan=False).encode()
    with whole_file(path) as stream:
        np.savez(
            stream,
            record=np.frombuffer(text, np.uint8),
            components=part.components,
            human=part.human,
            comfort=part.comfort,
            distance=part.distance,
        )


def read_part(path: Path, made_from: str | None = None) -> Part | None:
    """Read a part; None if it is not there, damaged, or made from something else."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        record: Mapping[str, Any] = json.loads(arrays.pop("record").tobytes())
        if made_from is not None and record["made_from"] != made_from:
            return None
        failures = tuple(Failure(**one) for one in record["failures"])
        return Part(tokens=tuple(record["tokens"]), failures=failures, **arrays)
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile):
        return None
