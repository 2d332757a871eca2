"""The steps of a demonstration, in order, and the record that lets a run go on.

Each step turns what earlier ones left into more, and into a few facts, which are written whole to
``demo.json`` when it is done. A run that was cut short goes on from there, within a step from
wherever the step's own work stands; a run of other code or settings begins anew.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

from navaudit import provenance
from navaudit.demo import driving, ground, learning, study, telling
from navaudit.demo.step import NARROW, Demo, Facts, Settings, Step
from navaudit.errors import Refused
from navaudit.scene.whole import PART, held, put

RECORD: Final = "demo.json"
LOCK: Final = "lock"

_FIRM_S: Final = 60.0
"""Seconds for which the pace is taken to be as foreseen, before any is measured."""

LEFT_OUT: Final = "left out"
"""The fact of a step that this installation cannot take, and why."""

NO_TORCH: Final = "torch is not installed; pip install 'navaudit[learn]', and run again"

STEPS: Final = (
    Step("doctor", "asking whether this machine computes right", ground.examine, lambda s: 1.0),
    Step(
        "town", "drawing a town: maps, logs, pictures, a vocabulary", ground.build_town,
        lambda s: 3.0 + 0.1 * s.scenes, ("town",),
    ),
    Step(
        "profiles", "fitting every candidate's speeds and curvatures, twice", ground.fit_profiles,
        lambda s: 1.0,
    ),
    Step(
        "scenes", "building scenes from the town's logs and maps", ground.build_scenes,
        lambda s: 30.0 + 0.02 * s.scenes, ("scenes",),
    ),
    Step(
        "labels", "driving and scoring every candidate in every scene", study.label_scenes,
        lambda s: 40.0 + 1.5e-5 * s.scenes * s.vocabulary, ("labels",),
    ),
    Step(
        "census", "scoring the humans, on whom forgiveness hangs", study.take_census,
        lambda s: 5.0 + 0.01 * s.scenes, ("census",),
    ),
    Step(
        "audit", "counting what forgiveness changed and erased", study.audit,
        lambda s: 2.0 + 5e-7 * s.scenes * s.vocabulary, ("audit",),
    ),
    Step(
        "flips", "driving what turns from failing to passing", study.drive_flips,
        lambda s: 5.0 + 9e-6 * s.scenes * s.vocabulary, ("flips",),
    ),
    Step(
        "certify", "comparing raw with published labels, entry by entry", study.certify,
        lambda s: 1.0 + 0.01 * s.scenes, ("certificate",),
    ),
    Step(
        "processors", "making labels again under other kernels", study.ask_processors,
        lambda s: 10.0 + 2e-3 * s.again[0] * s.again[1], ("processors",),
    ),
    Step(
        "export", "writing a label file that abstains where it was forgiven", study.export,
        lambda s: 1.0 + 1e-6 * s.scenes * s.vocabulary, ("exported",),
    ),
    Step(
        "explain", "explaining one candidate from above", study.draw_picture, lambda s: 3.0,
        ("explained.png",),
    ),
    Step(
        "narrow", "labelling the few candidates of a narrow agent", learning.label_narrow,
        lambda s: 2.0 + 2e-5 * s.scenes * NARROW, ("narrow",), learns=True,
    ),
    Step(
        "base", "training the narrow agent under published labels", learning.train_base,
        lambda s: 8.0 + 0.01 * s.base_steps * s.batch, ("agents",), learns=True,
    ),
    Step(
        "arms", "continuing it under published, masked, raw and all-pass labels",
        learning.train_arms, lambda s: 8.0 + 0.006 * 3.5 * len(s.seeds) * s.arm_steps * s.batch,
        ("trained", "agents"), learns=True,
    ),
    Step(
        "plans", "letting every agent look at every scene and choose", learning.plan,
        lambda s: 5.0 + 0.025 * 3.5 * len(s.seeds) * s.scenes, ("plans", "logits"), learns=True,
    ),
    Step(
        "probe", "asking what the heads still know where the rule fired", learning.probe,
        lambda s: 10.0, ("probe",), learns=True,
    ),
    Step(
        "evaluate", "scoring what every agent chose, with forgiveness off and on",
        driving.evaluate, lambda s: 10.0 + 0.02 * 3.5 * len(s.seeds) * s.scenes, ("runs",),
        learns=True,
    ),
    Step(
        "compare", "comparing the arms, seed by seed", driving.compare, lambda s: 5.0,
        ("compared", "pairs.toml"), learns=True,
    ),
    Step(
        "report", "putting everything on one page", telling.write_page,
        lambda s: 2.0 + 1.0 * s.browsed, ("report",),
    ),
    Step(
        "paper", "setting the paper's numbers beside ours", telling.stand_beside_the_paper,
        lambda s: 1.0, ("paper",),
    ),
)  # fmt: skip


class Watch(Protocol):
    """Told how a run goes."""

    def begins(self, at: int, step: Step, facts: Facts | None, left_s: float) -> None:
        """Step ``at`` of ``STEPS`` begins, or was done before; all may take ``left_s`` more."""
        ...

    def ends(self, step: Step, facts: Facts) -> None:
        """A step is done."""
        ...

    def says(self, what: str, done: int, total: int) -> None:
        """Tell how far a step is."""
        ...


def run(folder: Path, settings: Settings, watch: Watch, workers: int = 1) -> dict[str, Facts]:
    """Take the steps that are not done yet and return the facts of all."""
    wanted = {
        "settings": json.loads(json.dumps(asdict(settings))),
        "code": provenance.code_digest(),
    }
    _expect_ours(folder)
    with held(folder / LOCK):
        done = _settle(folder, wanted)
        demo = Demo(folder, settings, workers, watch.says)
        for at, step in enumerate(STEPS):
            watch.begins(at, step, done.get(step.name), _left_s(settings, done, STEPS[at:]))
            if step.name not in done:
                done[step.name] = _take(step, demo)
                _write(folder, wanted, done)
                watch.ends(step, done[step.name])
    return done


def _take(step: Step, demo: Demo) -> Facts:
    if step.learns and find_spec("torch") is None:
        return {LEFT_OUT: NO_TORCH}
    start = time.monotonic()
    facts = step.work(demo)
    return {**facts, "seconds": round(time.monotonic() - start, 1)}


def _left_s(settings: Settings, done: dict[str, Facts], left: Sequence[Step]) -> float:
    """How long the rest may take: what it costs on two cores, at the pace so far."""
    took = [(one.cost_s(settings), done[one.name].get("seconds")) for one in STEPS
            if one.name in done]  # fmt: skip
    known = [(cost, seconds) for cost, seconds in took if seconds is not None]
    cost = sum(one for one, _ in known)
    # a few steps say little of the others: kernels are compiled once
    pace = (_FIRM_S + sum(one for _, one in known)) / (_FIRM_S + cost)
    return pace * sum(one.cost_s(settings) for one in left if one.name not in done)


# ------------------------------------------------------------------------------------ the record


def _settle(folder: Path, wanted: Facts) -> dict[str, Facts]:
    """Return what is done; where that was of other code or settings, make room first."""
    record = _read(folder)
    if record is not None and any(record.get(name) != one for name, one in wanted.items()):
        _clear(folder)
        record = None
    steps: dict[str, Facts] = {} if record is None else record["steps"]
    done = {name: facts for name, facts in steps.items() if LEFT_OUT not in facts}
    if len(done) < len(steps):
        # what comes after a step that was left out would be told otherwise with it
        done.pop("report", None)
        done.pop("paper", None)
    _write(folder, wanted, done)
    return done


def _clear(folder: Path) -> None:
    """Remove what an earlier run left; its record last, so that a stop here is no harm."""
    for name in (name for step in STEPS for name in step.leaves):
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    (folder / RECORD).unlink()


def _expect_ours(folder: Path) -> None:
    strange = [
        one.name
        for one in (folder.iterdir() if folder.is_dir() else ())
        if one.name != LOCK and not one.name.endswith(PART)
    ]
    if strange and not (folder / RECORD).is_file():
        raise Refused(
            f"the folder holds something else than a demonstration: {strange[0]}",
            where=str(folder),
            expected=f"a new or empty folder, or one with {RECORD}",
            remedy="name another folder with --out",
        )


def _read(folder: Path) -> dict[str, Any] | None:
    path = folder / RECORD
    if not path.is_file():
        return None
    record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return record


def _write(folder: Path, wanted: Facts, done: dict[str, Facts]) -> None:
    text = json.dumps({**wanted, "steps": done, "provenance": provenance.here()}, indent=1)
    put(folder / RECORD, text.encode())
