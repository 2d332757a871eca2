"""Plans and scenes into a `Run`, by one process or many, from wherever the last attempt stopped.

Logs are shared out; each is settled whole, because a frame's extended comfort needs the frame
before it, and kept in a file until all are done. What a run holds follows from plans, scenes and
settings alone.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from navaudit import provenance
from navaudit.agent.predictions import Plan
from navaudit.axes import PDM
from navaudit.errors import Refused
from navaudit.evaluate.adjacent import expect_comparable
from navaudit.evaluate.distance import DISTANCES
from navaudit.evaluate.epdms import SWITCHES
from navaudit.evaluate.judge import EVALUATION, judge_plan
from navaudit.evaluate.parts import SUFFIX, Judge, Part, Task, begin, read_part, task_of
from navaudit.evaluate.plans import digest_plans
from navaudit.evaluate.run import MANIFEST, SCORES, Run, read_manifest
from navaudit.evaluate.wanted import Wanted, is_original, want
from navaudit.scene.crew import Finished, Lost
from navaudit.scene.crew import run as run_crew
from navaudit.scene.logfile import Failure
from navaudit.scene.store import SceneSet
from navaudit.scene.whole import PART, held, sweep
from navaudit.score.score import Settings

Say = Callable[[str, int, int], None]
"""Told what happened, how many logs are done, and how many there will be."""

PARTS: Final = "parts"


def _silent(what: str, done: int, total: int) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Evaluation:
    """What is evaluated, and how."""

    plans: Mapping[str, Plan]
    scenes: SceneSet
    settings: Settings = EVALUATION
    partial: bool = False
    """Whether tokens that lack a plan or a scene are left out, and not failures."""
    judge: Judge = judge_plan


def evaluate(folder: Path, evaluation: Evaluation, *, workers: int = 1, say: Say = _silent) -> Run:
    """Make a run in a folder, or hand back the one that is there if it is the same."""
    scenes, plans = evaluation.scenes, evaluation.plans
    wanted = want(scenes, plans, partial=evaluation.partial)
    _expect_comparable(wanted)
    described = _described(evaluation, wanted)
    with held(folder / "lock"):
        there = _there(folder, described)
        if there is not None:
            return there
        sweep(folder)
        sweep(folder / PARTS)
        parts, lost = _settle_all(folder / PARTS, evaluation, wanted, workers, say)
        made = _joined(wanted, parts, lost, described)
        made.write(folder)
        if not made.failures:
            shutil.rmtree(folder / PARTS)
    return made


def _expect_comparable(wanted: Wanted) -> None:
    rows = [row for row in wanted.scored if is_original(wanted.tokens[row])]
    expect_comparable(
        [wanted.tokens[row] for row in rows],
        [wanted.logs[row] for row in rows],
        [wanted.times_us[row] for row in rows],
    )


def _described(evaluation: Evaluation, wanted: Wanted) -> dict[str, dict[str, Any]]:
    """Settings and sources of the run to be, as they are kept."""
    scenes = evaluation.scenes
    seen = {token: scenes.digest_of(token) for token in wanted.tokens if token in scenes}
    settings = {
        "stages": 1,
        "traffic": "non-reactive",
        **asdict(evaluation.settings),
        "scenes": provenance.digest_settings(seen),
    }
    sources = {
        "plans": digest_plans(evaluation.plans),
        "scenes": str(scenes.folder),
        "overlap": evaluation.partial,
        "left out": {reason: list(tokens) for reason, tokens in wanted.left_out.items()},
    }
    return {"settings": settings, "sources": sources}


def _there(folder: Path, described: Mapping[str, Mapping[str, Any]]) -> Run | None:
    """Return the finished run of a folder if it is the one asked for; refuse any other.

    One in which something failed is made again, as far as its parts are not good.
    """
    manifest = read_manifest(folder)
    if manifest is None:
        _expect_ours(folder)
        return None
    have = _compared(manifest)
    asked = _compared(described)
    differing = [name for name in sorted({*have, *asked}) if have.get(name) != asked.get(name)]
    if differing:
        raise Refused(
            "the folder holds another run: "
            + "; ".join(
                f"{one} is {have.get(one)} there, not {asked.get(one)}" for one in differing
            ),
            where=str(folder),
            remedy="name another folder, or remove this one",
        )
    made = Run.open(folder)
    return None if made.failures else made


def _compared(described: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    sources = described["sources"]
    return {**described["settings"], "plans": sources["plans"], "overlap": sources["overlap"]}


def _expect_ours(folder: Path) -> None:
    known = {"lock", PARTS, SCORES, *(f"{switch}.csv" for switch in SWITCHES)}
    strange = [one.name for one in folder.iterdir() if one.name not in known]
    strange = [name for name in strange if not name.endswith(PART)]
    if strange:
        raise Refused(
            f"the folder holds something else than a run: {strange[0]}",
            where=str(folder),
            expected=f"a new or empty folder, or one with {MANIFEST}",
            remedy="name another folder",
        )


# --------------------------------------------------------------------------------- log by log


def _settle_all(
    folder: Path, evaluation: Evaluation, wanted: Wanted, workers: int, say: Say
) -> tuple[list[Part], dict[str, Lost]]:
    """Settle every log into a part; return the parts, and the logs that were lost over."""
    tasks = _tasks(evaluation, wanted)
    start = partial(begin, folder, evaluation.scenes, evaluation.settings, evaluation.judge)
    done, lost = 0, {}
    say("", 0, len(tasks))
    for event in run_crew(start, tasks, workers, (judge_plan.__module__,)):
        if isinstance(event, Finished):
            done += 1
            say(event.name, done, len(tasks))
            continue
        log = tasks[event.task].log
        now = "trying again" if event.again else "giving up on it"
        say(f"{event} over {log}: {now}", done, len(tasks))
        if not event.again:
            lost[log] = event
    return [_settled(folder, task) for task in tasks if task.log not in lost], lost


def _tasks(evaluation: Evaluation, wanted: Wanted) -> list[Task]:
    by_log: dict[str, list[tuple[str, Plan]]] = {}
    for row in wanted.scored:
        token = wanted.tokens[row]
        by_log.setdefault(wanted.logs[row], []).append((token, evaluation.plans[token]))
    scenes, settings = evaluation.scenes, evaluation.settings
    return [task_of(log, tuple(plans), scenes, settings) for log, plans in by_log.items()]


def _settled(folder: Path, task: Task) -> Part:
    path = folder / f"{task.log}{SUFFIX}"
    part = read_part(path, task.made_from)
    if part is None:
        raise Refused(
            "a part of the run is gone or damaged",
            where=str(path),
            remedy="run the same navaudit evaluate again",
        )
    return part


def _joined(
    wanted: Wanted,
    parts: list[Part],
    lost: Mapping[str, Lost],
    described: Mapping[str, Mapping[str, Any]],
) -> Run:
    """Put the parts' rows where the run has them; what failed stays NaN."""
    count = len(wanted.tokens)
    components, human = np.full((count, PDM), np.nan), np.full((count, PDM), np.nan)
    comfort, distance = np.full(count, np.nan), np.full((count, len(DISTANCES)), np.nan)
    place = {token: row for row, token in enumerate(wanted.tokens)}
    failures = list(wanted.failures)
    for part in parts:
        rows = [place[token] for token in part.tokens]
        components[rows], human[rows] = part.components, part.human
        comfort[rows], distance[rows] = part.comfort, part.distance
        failures += part.failures
    failures += [_lost(wanted, row, lost) for row in wanted.scored if wanted.logs[row] in lost]
    return Run(
        tokens=wanted.tokens,
        logs=wanted.logs,
        time_us=np.array(wanted.times_us, np.int64),
        components=components,
        human=human,
        comfort=comfort,
        distance=distance,
        provenance=provenance.here(),
        failures=tuple(sorted(failures, key=lambda one: place[str(one.token)])),
        **described,
    )


def _lost(wanted: Wanted, row: int, lost: Mapping[str, Lost]) -> Failure:
    log = wanted.logs[row]
    return Failure(
        wanted.tokens[row],
        log,
        f"{lost[log]}, twice",
        expected="that it finishes the log",
        remedy="run again with fewer workers: memory may have run out",
    )
