"""The demonstration: everything that exists, run end to end on a synthetic town.

A demonstration is a list of steps. Each turns a folder of earlier results into a few facts, which
are written whole to ``demo.json`` when the step is done; a run that was cut short goes on from
there, and a run of other code or settings begins anew.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from navaudit import provenance
from navaudit.axes import COLUMNS, LOSS_COLUMNS, SHORT
from navaudit.errors import Unhealthy
from navaudit.numerics import platform
from navaudit.numerics.profiles import fit
from navaudit.report.explained import picture_of, write_picture
from navaudit.rollout.desire import turns_of
from navaudit.scene.filters import read_split
from navaudit.scene.from_logs import FromLogs
from navaudit.scene.prepare import prepare
from navaudit.scene.scene import Scene
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import Vocabulary, read_vocabulary
from navaudit.scene.whole import put
from navaudit.score.explain import explain
from navaudit.score.forgive import forgive, forgiven_columns
from navaudit.score.referee import score_proposals
from navaudit.score.score import score_human, score_scene
from navaudit.world.town.build import Settings as TownSettings
from navaudit.world.town.build import write_town

Facts = dict[str, Any]
Say = Callable[[str, int, int], None]
"""Told what is being done, how much is done, and how much there will be."""

RECORD: Final = "demo.json"


@dataclass(frozen=True)
class Settings:
    """How large a demonstration is."""

    scenes: int = 24
    seed: int = 7
    vocabulary: int = 4_096


@dataclass(frozen=True)
class Step:
    """One step of the demonstration."""

    name: str
    tells: str
    """What it does, as a person reads it while waiting."""
    work: Callable[[Path, Settings, Say], Facts]


def examine(folder: Path, settings: Settings, say: Say) -> Facts:
    """Ask whether this machine computes right before anything is computed."""
    diagnosis = platform.diagnose(platform.examine(), platform.closed_form_digest())
    if diagnosis.verdict != "healthy":
        raise Unhealthy(
            "the numeric libraries of this environment compute wrong numbers",
            expected="healthy",
            remedy="; ".join(diagnosis.remedies),
        )
    return {"verdict": diagnosis.verdict, "closed_form_digest": diagnosis.closed_form_digest}


def build_town(folder: Path, settings: Settings, say: Say) -> Facts:
    """Write the town in the formats of nuPlan, OpenScene and NAVSIM."""
    town = TownSettings(
        settings.scenes, settings.seed, camera_scale=0.25, vocabulary_size=settings.vocabulary
    )
    record = write_town(folder / "town", town, say)
    return {name: record[name] for name in ("scenes", "logs", "meant", "sha256")}


def fit_profiles(folder: Path, settings: Settings, say: Say) -> Facts:
    """Fit every candidate's speeds and curvatures in closed form and by the stock pseudoinverse."""
    vocabulary = _vocabulary(folder, settings)
    paths = np.zeros((len(vocabulary), 41, 3))
    paths[:, 1:] = vocabulary.poses
    start = time.process_time()
    speeds, curvatures = fit(paths)
    closed_s = time.process_time() - start
    start = time.process_time()
    stock_speeds, stock_curvatures = fit(paths, "pinv")
    return {
        "candidates": len(paths),
        "digest": provenance.digest_arrays([speeds, curvatures]),
        "largest_gap_mps": float(np.abs(speeds - stock_speeds).max()),
        "largest_gap_per_m": float(np.abs(curvatures - stock_curvatures).max()),
        "pinv_takes_times": (time.process_time() - start) / max(closed_s, 1e-9),
    }


def build_scenes(folder: Path, settings: Settings, say: Say) -> Facts:
    """Build every scene of the town from its logs and maps, with the reference trajectory."""
    town = folder / "town"
    split = read_split(town / "splits" / "train_test_split", "town")
    job = FromLogs(
        logs=town / "navsim_logs" / "town",
        maps=town / "maps",
        judge=score_proposals,
        scene_filter=split.scene_filter,
    )
    made = prepare(folder / "scenes", job, say=say)
    return {"scenes": len(made), "failures": len(made.failures), "digest": made.digest()}


def score_scenes(folder: Path, settings: Settings, say: Say) -> Facts:
    """Score every candidate and the human of every scene, and ask what forgiveness would change."""
    scenes = SceneSet.open(folder / "scenes")
    vocabulary = _vocabulary(folder, settings)
    turns = turns_of(vocabulary.poses)
    sheets, humans, took_s = [], [], 0.0
    for k, scene in enumerate(scenes):
        say("scoring", k, len(scenes))
        start = time.process_time()
        sheets.append(score_scene(scene, vocabulary, turns=turns).labels())
        took_s += time.process_time() - start
        humans.append(score_human(scene).columns[:, 0])
    raw, human = np.stack(sheets), np.stack(humans)
    fired = forgiven_columns(human)
    changed = (forgive(raw, human) != raw).sum(axis=2)
    mixed = fired & (raw.min(axis=2) != raw.max(axis=2))
    loss = np.isin(np.arange(len(COLUMNS)), LOSS_COLUMNS)
    return {
        "digest": provenance.digest_arrays([raw, human]),
        "tokens": list(scenes.tokens),
        "forgiven": {name: int(n) for name, n in zip(SHORT, fired.sum(axis=0), strict=True)},
        "scenes_forgiven": int(fired.any(axis=1).sum()),
        "scenes_that_lose_a_distinction": int((mixed & loss).any(axis=1).sum()),
        "labels_changed": int(changed.sum()),
        "labels": int(raw.size),
        "candidates_per_cpu_second": round(raw.shape[0] * raw.shape[2] / took_s),
    }


def draw_picture(folder: Path, settings: Settings, say: Say) -> Facts:
    """Explain one candidate of a forgiven scene, in a picture from above."""
    scenes = SceneSet.open(folder / "scenes")
    vocabulary = _vocabulary(folder, settings)
    scene, candidate = _worth_explaining(scenes, vocabulary)
    path = write_picture(
        picture_of(scene, explain(scene, vocabulary, candidate)), folder / "explained.png"
    )
    return {"token": scene.token, "candidate": candidate, "picture": path.name}


def _worth_explaining(scenes: SceneSet, vocabulary: Vocabulary) -> tuple[Scene, int]:
    """A scene the rule fires on, if any, and a candidate that the rule would turn to passing."""
    for scene in scenes:
        fired = forgiven_columns(score_human(scene).columns[:, 0])
        if fired.any():
            labels = score_scene(scene, vocabulary).columns
            turned = (labels[fired] == 0.0).any(axis=0)
            if turned.any():
                best = np.where(turned, labels[list(LOSS_COLUMNS)].sum(axis=0), -1.0)
                return scene, int(best.argmax())
    return next(iter(scenes)), 0


def _vocabulary(folder: Path, settings: Settings) -> Vocabulary:
    return read_vocabulary(folder / "town" / f"vocabulary_{settings.vocabulary}.npy")


STEPS: Final = (
    Step("doctor", "asking whether this machine computes right", examine),
    Step("town", "drawing a town: maps, logs, pictures, a vocabulary", build_town),
    Step("profiles", "fitting every candidate's speeds and curvatures, twice", fit_profiles),
    Step("scenes", "building scenes from the town's logs and maps", build_scenes),
    Step("scores", "driving and scoring every candidate of every scene", score_scenes),
    Step("picture", "explaining one candidate from above", draw_picture),
)


def run(
    folder: Path,
    settings: Settings,
    begin: Callable[[Step, Facts | None], None],
    say: Say,
) -> dict[str, Facts]:
    """Run the steps that are not done yet and return the facts of all.

    ``begin`` is told each step, with its facts where it was done before.
    """
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {"settings": asdict(settings), "code": provenance.code_digest()}
    done = _done(folder, wanted)
    for step in STEPS:
        begin(step, done.get(step.name))
        if step.name not in done:
            start = time.monotonic()
            facts = step.work(folder, settings, say)
            done[step.name] = {**facts, "seconds": round(time.monotonic() - start, 1)}
            text = json.dumps({**wanted, "steps": done, "provenance": provenance.here()}, indent=1)
            put(folder / RECORD, text.encode())
    return done


def _done(folder: Path, wanted: Facts) -> dict[str, Facts]:
    path = folder / RECORD
    if not path.exists():
        return {}
    record = json.loads(path.read_text())
    same = all(record.get(name) == value for name, value in wanted.items())
    return dict(record["steps"]) if same else {}
