"""The drill: workers, drivers and Ray workers are killed at random moments, twenty times in all,
and whole nodes of a Ray cluster.

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
from navaudit.errors import BadInput
from navaudit.labels.generate import generate
from navaudit.labels.labelset import LabelSet
from navaudit.labels.work import Cluster, Processes

WORKER_KILLS, DRIVER_KILLS, RAY_KILLS, NODE_KILLS = 7, 8, 5, 2

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


def test_the_drill_is_twenty_deaths_of_processes():
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


needs_ray = pytest.mark.skipif(
    importlib.util.find_spec("ray") is None, reason="the extra cluster: no Ray"
)


def drilled(*words, patience_s=300):
    """What a drill on Ray found; in a process of its own, for Ray leaves threads behind."""
    script = Path(__file__).with_name("killing.py")
    done = subprocess.run(
        [sys.executable, str(script), *map(str, words)],
        env=os.environ | {"PYTHONPATH": str(script.parents[1]), "RAY_USAGE_STATS_ENABLED": "0"},
        capture_output=True,
        check=False,
        timeout=patience_s,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout.splitlines()[-1])


@needs_ray
@pytest.mark.parametrize(("who", "kills"), [("hands", RAY_KILLS), ("nodes", NODE_KILLS)])
def test_workers_and_nodes_of_ray_may_be_killed(job, undisturbed, tmp_path, who, kills):
    np.save(tmp_path / "vocabulary.npy", job.vocabulary.poses)
    told = drilled(job.scenes.folder, tmp_path / "vocabulary.npy", tmp_path, kills, who)
    assert told["killed"] == kills
    for folder in told["made"]:
        expect_same(Path(folder), undisturbed[0])


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://[::1]:1", "127.0.0.1:99999", "nowhere"])
def test_a_cluster_that_is_not_there_is_told_at_once(job, tmp_path, address):
    begun = time.monotonic()
    with pytest.raises(BadInput, match="there is no Ray cluster") as caught:
        generate(tmp_path / "labels", job, executor=Cluster(address))
    assert caught.value.where == f"--ray {address}"
    assert time.monotonic() - begun < 30


@needs_ray
def test_what_is_lost_on_a_node_is_done_on_the_last_processor_left():
    """Whoever held that processor has to let go of it, though no work is waiting when it ends."""
    told = drilled("last", 1, patience_s=150)
    assert told["killed"]
    assert told["lost"] == [True]
    assert told["finished"] == ["0", "1"]
