"""A few scenes on disk with their recordings: a scene set, logs, pictures, and a checkpoint."""

from __future__ import annotations

import lzma
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from PIL import Image

from agent.drawn import agent_of
from agent.needs import torch
from navaudit.agent.backbone import settle
from navaudit.agent.checkpoint import Progress, write_checkpoint
from navaudit.scene.stock import read_scene
from navaudit.scene.store import SceneSet, complete_set, log_path, open_folder, write_log
from navaudit.world import pickles

GOLDEN = Path(__file__).parents[1] / "golden"
SPLIT = "mini"
CAMERAS = ("CAM_L0", "CAM_F0", "CAM_R0")
PER_LOG = (17, 3)
"""Scenes of each log: more than a shard in all."""


@dataclass(frozen=True)
class World:
    """Where everything lies."""

    root: Path

    @property
    def scenes(self):
        return SceneSet.open(self.root / "scenes")

    @property
    def logs(self):
        return self.root / "navsim_logs" / SPLIT

    @property
    def images(self):
        return self.root / "sensor_blobs" / SPLIT

    @property
    def checkpoint(self):
        return self.root / "tiny.ckpt"

    def picture(self, token, camera="CAM_L0"):
        """Path of a picture."""
        return next(self.images.glob(f"*/{camera}/{token}.png"))


def write_world(root, per_log=PER_LOG):
    """Write a world; every token, picture and status is its own."""
    rng = np.random.default_rng(7)
    world = World(root)
    packed = min((GOLDEN / "navsim_logs").glob("*.xz"))
    [frame, *_] = pickles.loads(lzma.decompress(packed.read_bytes()), pickles.LOG, packed.name)
    scene = read_scene(next((GOLDEN / "metric_cache").glob("*/*/*/metric_cache.pkl")))
    open_folder(root / "scenes", {"source": "tests"}, {})
    names = [f"log{k}" for k in range(len(per_log))]
    for number, (name, count) in enumerate(zip(names, per_log, strict=True)):
        tokens = [f"{number:02}{k:014x}" for k in range(count)]
        write_log(
            log_path(root / "scenes", name),
            name,
            {},
            [replace(scene, token=one, log=name, time_us=k) for k, one in enumerate(tokens)],
        )
        write_recording(world, name, tokens, frame, rng)
    complete_set(root / "scenes", {"source": "tests"}, {}, names)
    agent = agent_of()
    settle(agent.encoder, torch.rand(4, 3, *agent.shape.image))
    write_checkpoint(world.checkpoint, agent, None, Progress(0, 0, 0, True))
    return world


def write_recording(world, log, tokens, frame, rng):
    """Write one log and the pictures of its frames."""
    frames = []
    for k, token in enumerate(tokens):
        cams = {}
        for camera in CAMERAS:
            place = f"{log}/{camera}/{token}.png"
            coarse = rng.integers(0, 256, (9, 16, 3), np.uint8)
            (world.images / place).parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.kron(coarse, np.ones((30, 30, 1), np.uint8))).save(
                world.images / place, compress_level=1
            )
            cams[camera] = {"data_path": place}
        motion = list(rng.normal(size=4))
        command = np.eye(4, dtype=np.int64)[k % 4]
        frames.append({
            **frame, "token": token, "log_name": log, "timestamp": k + 1, "cams": cams,
            "anns": None, "ego_dynamic_state": motion, "driving_command": command,
        })  # fmt: skip
    world.logs.mkdir(parents=True, exist_ok=True)
    (world.logs / f"{log}.pkl").write_bytes(pickles.dumps(frames))
