"""What the stock generator computed: for scenes of our own, and for those beside the repository."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from navaudit.axes import STEPS
from navaudit.scene.scene import Scene
from navaudit.scene.stock import read_scene

HERE = Path(__file__).parents[1] / "golden"
SHARED = Path(__file__).parents[3] / "shared"

DDC_BODIES = {"v2.0": "v20", "v2.1": "ztrs"}
RULES = {"per-candidate": "gen_gt", "batch": "eval"}
"""What the stock arrays call our settings."""


@dataclass(frozen=True, eq=False)
class Golden:
    """One scene, its candidates and the stock generator's arrays about them."""

    scene: Scene
    poses: np.ndarray
    """``[candidate, pose, 3]``"""
    arrays: dict[str, np.ndarray]

    def labels(self, ddc, rule, forgiven=False):
        """Float16 ``[column, candidate]``, None if not stored."""
        name = f"labels_{'on' if forgiven else 'off'}_{RULES[rule]}_{DDC_BODIES[ddc]}ddc"
        return self.arrays.get(name)

    def human(self, ddc, rule):
        """Float64 ``[column]`` of the human, None if not stored."""
        return self.arrays.get(f"human_{RULES[rule]}_{DDC_BODIES[ddc]}ddc")

    def areas(self):
        """Bool ``[area, candidate, step]``: multiple lanes, non-drivable, oncoming."""
        unpacked = np.unpackbits(self.arrays["ego_areas"], axis=1, count=STEPS)
        return np.moveaxis(unpacked.astype(bool), 2, 0)[:, 1:]


OURS = sorted(path.stem for path in (HERE / "labels").glob("*.npz"))


@cache
def ours(name):
    """One of the committed scenes, with candidates of our own."""
    arrays = dict(np.load(HERE / "labels" / f"{name}.npz"))
    path = HERE / "labels" / f"{name}.pkl"
    if not path.exists():
        folder = HERE / "metric_cache" / str(arrays["log"]) / "unknown" / str(arrays["token"])
        path = folder / "metric_cache.pkl"
    return Golden(read_scene(path), np.load(HERE / "labels" / "candidates.npy"), arrays)


def missing():
    """Why the scenes beside the repository cannot be had; empty if they can."""
    wanted = (SHARED / "golden" / "scenes.json", SHARED / "data" / "vocabulary_8192.npy")
    gone = [path for path in wanted if not path.exists()]
    return f"not published with the code: {gone[0].name}" if gone else ""


def shared_names():
    """Names of the scenes beside the repository; one placeholder if there are none."""
    if missing():
        return ["none"]
    scenes = json.loads((SHARED / "golden" / "scenes.json").read_text())
    return [f"{one['index']:02d}_{one['name']}" for one in scenes]


@cache
def shared(name):
    """One of the scenes beside the repository, with candidates of the released vocabulary."""
    arrays = dict(np.load(SHARED / "golden" / "labels" / f"{name}.npz"))
    scenes = json.loads((SHARED / "golden" / "scenes.json").read_text())
    (one,) = (one for one in scenes if one["index"] == int(name[:2]))
    folder = SHARED / "golden" / "metric_cache" / one["log"] / "unknown" / one["token"]
    poses = np.load(SHARED / "data" / "vocabulary_8192.npy")[arrays["vocab_idx"]]
    return Golden(read_scene(folder / "metric_cache.pkl"), poses, arrays)
