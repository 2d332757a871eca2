"""Scene sets of golden scenes under many tokens, in as many logs as asked, and few candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from navaudit.labels.generate import Job
from navaudit.scene.store import complete_set, log_path, write_log
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.score import Settings
from score.golden import ours

PAPER = Settings()

NAMES = (
    "straight_green", "curve", "lane_change", "carpark", "ttc_brake", "ddc_half", "heading_pi",
    "red_run", "synthetic_token", "random0",
)  # fmt: skip
"""Two humans among them fail lane keeping, and one scene has no human."""


def write_scenes(folder, logs=4, each=3, names=NAMES):
    """A scene set: as many logs, with as many scenes in each."""
    told, number = [], 0
    for log in range(logs):
        scenes = []
        for _ in range(each):
            scene = ours(names[number % len(names)]).scene
            token = f"{number:03x}{scene.token[3:]}"
            scenes.append(replace(scene, token=token, log=f"log{log:02}"))
            number += 1
        write_log(log_path(folder, f"log{log:02}"), f"log{log:02}", {"made": "here"}, scenes)
        told.append(f"log{log:02}")
    return complete_set(folder, {"source": "golden"}, {"navaudit": "0"}, told)


def vocabulary(count):
    """The first of the golden candidates."""
    return Vocabulary(ours(NAMES[0]).poses[:count])


def small_job(folder, logs=4, each=3, candidates=12, settings=PAPER, **rest):
    return Job(write_scenes(folder, logs, each, **rest), vocabulary(candidates), settings)


def contents(folder):
    """Every file of a label set, but for the lock."""
    paths = sorted(one for one in folder.rglob("*") if one.is_file() and one.name != "lock")
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in paths}


def odd_halves(rng, shape):
    """Float16 values as labels have them, and any others, NaN too."""
    plain = rng.choice(np.array([0, 0.5, 1], np.float16), shape)
    odd = rng.integers(0, 2**16, shape, dtype=np.uint16).view(np.float16)
    return np.where(rng.random(shape) < 0.3, odd, plain)


def lane_keeping_of(labels, token):
    """What a process sees of labels that were handed to it."""
    return labels[token]["lane_keeping"].tobytes()
