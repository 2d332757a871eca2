"""The drill: workers, drivers and Ray workers are killed at random moments, twenty times in all.

Whatever is killed and whenever, the set that is there in the end has the digest, and the bytes, of
one that was made without a disturbance.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from labels.killing import WORKERS, crew, kill_drivers, killing, until_done
from labels.scene_sets import contents, small_job
from navaudit.labels.generate import generate
from navaudit.labels.labelset import LabelSet
from navaudit.labels.work import Processes

WORKER_KILLS, DRIVER_KILLS, RAY_KILLS = 7, 8, 5

pytestmark = [
    pytest.mark.skipif(not Path("/proc").exists(), reason="workers are found through /proc"),
]


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    return small_job(tmp_path_factory.mktemp("scenes") / "set", 8, 3, 40)


@pytest.fixture(scope="module")
def undisturbed(job, tmp_path_factory):
    begun = time.monotonic()
    made = generate(tmp_path_factory.mktemp("alone") / "labels", job)
    return made, time.monotonic() - begun


def expect_same(folder, undisturbed):
    made = LabelSet.open(folder)
    made.require_whole()
    assert made.digest() == undisturbed.digest()
    assert contents(folder) == contents(undisturbed.folder)


def test_the_drill_is_twenty_deaths():
    assert WORKER_KILLS + DRIVER_KILLS + RAY_KILLS == 20


def test_workers_may_be_killed(job, undisturbed, tmp_path):
    chance, killed, rounds = random.Random(5), 0, 0
    while killed < WORKER_KILLS:
        folder = tmp_path / f"{rounds}"
        with killing(crew, chance, undisturbed[1] / 2, WORKER_KILLS - killed) as gone:
            until_done(folder, job, Processes(WORKERS))
        killed, rounds = killed + len(gone), rounds + 1
        expect_same(folder, undisturbed[0])


def test_drivers_may_be_killed(job, undisturbed, tmp_path):
    folders = (tmp_path / f"{k}" for k in range(99))
    deaths = []
    for folder, killed in kill_drivers(folders, job, DRIVER_KILLS, undisturbed[1]):
        deaths.append(killed)
        expect_same(folder, undisturbed[0])
    assert deaths[-1] == DRIVER_KILLS


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="the extra cluster: no Ray")
def test_ray_workers_may_be_killed(job, undisturbed, tmp_path):
    """In a process of its own, for Ray leaves threads and settings behind."""
    np.save(tmp_path / "vocabulary.npy", job.vocabulary.poses)
    script = Path(__file__).with_name("killing.py")
    command = [sys.executable, script, job.scenes.folder, tmp_path / "vocabulary.npy", tmp_path]
    paths = {"PYTHONPATH": str(script.parents[1])}
    done = subprocess.run(
        [*map(str, command), str(RAY_KILLS)],
        env=os.environ | paths | {"RAY_USAGE_STATS_ENABLED": "0"},
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["killed"] == RAY_KILLS
    for folder in told["made"]:
        expect_same(Path(folder), undisturbed[0])
