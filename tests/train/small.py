"""Twenty scenes to learn from: recordings, labels drawn at random, a tiny agent, and recipes."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from agent.recorded import World, write_world
from labels.label_files import draw, humans, write_set
from navaudit.axes import COLUMNS, LK, TLC
from navaudit.labels.labelset import LabelSet
from navaudit.train.recipe import Recipe

CANDIDATES = 24
SCENES = 20


@dataclass(frozen=True)
class Small:
    """Where everything lies."""

    world: World

    @property
    def labels(self):
        return LabelSet.open(self.world.root / "labels")

    def recipe(self, **changes):
        """Six steps of a continued training, in parts; ``changes`` take the place of settings."""
        settings = {
            "labels": self.world.root / "labels", "scenes": self.world.root / "scenes",
            "logs": self.world.logs, "images": self.world.images,
            "checkpoint": self.world.checkpoint, "steps": 6, "batch": 8, "part": 3, "rate": 1e-3,
            "save": (2,), "keep_every": 4, "threads": 1,
        }  # fmt: skip
        return Recipe(**{**settings, **changes})


def write_small(root):
    """Write all of it; lane keeping is forgiven in some scenes, traffic lights in every one."""
    world = write_world(root)
    tokens = world.scenes.tokens
    table, human = draw(tokens, CANDIDATES), humans(draw(tokens, CANDIDATES))
    for one in human.values():
        one[TLC] = 0.0
    logs = {token: world.scenes.log_of(token) for token in tokens}
    along = {token: table[token][0] for token in tokens if human[token][LK] == 0.0}
    write_set(root / "labels", table, human, logs, along=along)
    return Small(world)


def lines_of(folder):
    """The lines of a run's log that tell of steps."""
    lines = (folder / "log.jsonl").read_text().splitlines()
    return [json.loads(one) for one in lines[1:]]


def files_of(folder):
    """Bytes of everything that a run left."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def labels_of(labels, arm):
    """What each policy makes of labels, and where it speaks: by the words of the paper.

    Returns float64 ``[token, column, candidate]`` and bool ``[token, column]``.
    """
    raw = np.stack([labels.raw(token) for token in labels.tokens]).astype(np.float64)
    forgiven = labels.human == 0.0
    speaks = np.ones_like(forgiven)
    if arm in ("published", "pass-lk", "path"):
        raw[forgiven] = 1.0
    if arm == "pass-lk":
        raw[:, LK] = 1.0
    if arm == "masked":
        speaks = ~forgiven
    if arm == "path":
        for row, token in enumerate(labels.tokens):
            if forgiven[row, LK]:
                raw[row, LK] = labels.path_lane_keeping(token)
    for name in ("no_at_fault_collisions", "driving_direction_compliance"):
        column = raw[:, COLUMNS.index(name)]
        column[column == 0.5] = 0.0
    return raw, speaks
