"""First steps: the machine, the town, its scenes."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from navaudit import provenance
from navaudit.demo.step import Demo, Facts
from navaudit.errors import Unhealthy
from navaudit.numerics import platform
from navaudit.numerics.profiles import fit
from navaudit.scene.filters import read_split
from navaudit.scene.from_logs import FromLogs
from navaudit.scene.prepare import prepare
from navaudit.scene.store import SceneSet
from navaudit.score.referee import score_proposals
from navaudit.world.town.build import Settings as TownSettings
from navaudit.world.town.build import write_town
from navaudit.world.trigonometry import HOUSE


def examine(demo: Demo) -> Facts:
    """Ask whether this machine computes right before anything is computed."""
    diagnosis = platform.diagnose(platform.examine(), platform.closed_form_digest())
    if diagnosis.verdict != "healthy":
        raise Unhealthy(
            "the numeric libraries of this environment compute wrong numbers",
            expected="healthy",
            remedy="; ".join(diagnosis.remedies),
        )
    return {"verdict": diagnosis.verdict, "closed_form_digest": diagnosis.closed_form_digest}


def build_town(demo: Demo) -> Facts:
    """Write the town in the formats of nuPlan, OpenScene and NAVSIM."""
    size = demo.settings
    town = TownSettings(size.scenes, size.seed, camera_scale=0.25, vocabulary_size=size.vocabulary)
    record = write_town(demo.at("town"), town, demo.say)
    return {name: record[name] for name in ("scenes", "logs", "meant", "sha256")}


def fit_profiles(demo: Demo) -> Facts:
    """Fit every candidate's speeds and curvatures in closed form and by the stock pseudoinverse."""
    vocabulary = demo.vocabulary()
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


def build_scenes(demo: Demo) -> Facts:
    """Build every scene of the town from its logs and maps, with the reference trajectory."""
    made = prepare_scenes(demo, "town", demo.at("scenes"))
    return {
        "scenes": len(made),
        "logs": len(made.logs),
        "failures": len(made.failures),
        "digest": made.digest(),
    }


def prepare_scenes(demo: Demo, split: str, out: Path) -> SceneSet:
    """Build the scenes of a split; by the house's trigonometry, the same on every machine."""
    town = demo.at("town")
    job = FromLogs(
        logs=town / "navsim_logs" / "town",
        maps=town / "maps",
        judge=score_proposals,
        scene_filter=read_split(town / "splits" / "train_test_split", split).scene_filter,
        trig=HOUSE.name,
    )
    return prepare(out, job, workers=demo.workers, say=demo.say)
