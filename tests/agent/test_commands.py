"""``navaudit logits`` and ``navaudit plan``: options, exit codes and what is printed."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from agent.drawn import paths
from agent.needs import torch
from navaudit.agent.logit_store import LogitStore
from navaudit.agent.predictions import read_predictions
from navaudit.axes import HEADS
from navaudit.cli import main


def run(*arguments, env=None):
    return CliRunner().invoke(main, [str(one) for one in arguments], env=env)


@pytest.fixture
def places(recorded_world):
    world = recorded_world
    return [world.checkpoint, world.root / "scenes", "--images", world.images]


@pytest.fixture(scope="module")
def kept(recorded_world, tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept") / "L"
    world = recorded_world
    done = run(
        "logits", world.checkpoint, world.root / "scenes", "--images", world.images, "--out", folder
    )
    assert done.exit_code == 0, done.output
    return folder, done


def test_logits_are_made_and_told(kept):
    folder, done = kept
    made = LogitStore.open(folder)
    assert done.stdout.splitlines() == [
        f"{folder}: 20 tokens, 8 heads, 24 candidates",
        f"digest {made.digest()}",
    ]
    assert done.stderr.splitlines() == [
        "0 of 20 scenes",
        f"16 of 20 scenes: {made.tokens[15]}",
        f"20 of 20 scenes: {made.tokens[19]}",
    ]


def test_json_is_alone_on_stdout(places, kept):
    done = run("logits", *places, "--out", kept[0], "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["tokens"], told["heads"], told["failures"]) == (20, list(HEADS), [])
    assert told["digest"] == LogitStore.open(kept[0]).digest()
    assert told["provenance"]["torch"] == str(torch.__version__)


@pytest.mark.parametrize("level", ["split", "root", "environment"])
def test_recordings_are_found_as_navsim_lays_them_out(recorded_world, kept, level, tmp_path):
    world = recorded_world
    where = {
        "split": ["--images", world.images],
        "root": ["--images", world.root / "sensor_blobs", "--logs", world.root / "navsim_logs"],
        "environment": [],
    }[level]
    env = {"OPENSCENE_DATA_ROOT": str(world.root)} if level == "environment" else {}
    scenes = world.root / "scenes"
    done = run("plan", world.checkpoint, scenes, *where, "--logits", kept[0], "--out",
               tmp_path / "p.pkl", env=env)  # fmt: skip
    assert done.exit_code == 0, done.output
    assert done.stderr == "20 of 20 scenes\n"


def test_recordings_that_are_elsewhere_are_asked_for(recorded_world, tmp_path):
    world = recorded_world
    scenes = world.root / "scenes"
    env = {"OPENSCENE_DATA_ROOT": ""}
    none = run("logits", world.checkpoint, scenes, "--out", tmp_path / "L", env=env)
    assert none.exit_code == 2
    assert "give --images, or set OPENSCENE_DATA_ROOT" in none.stderr
    away = run("logits", world.checkpoint, scenes, "--images", tmp_path, "--out", tmp_path / "L")
    assert away.exit_code == 2
    assert "there are no sensor blobs of the scenes" in away.stderr
    assert not (tmp_path / "L").exists()


def test_plans_are_written_and_told(places, kept, tmp_path):
    path = tmp_path / "p.pkl"
    done = run("plan", *places, "--logits", kept[0], "--out", path, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert list(told["chosen"]) == list(read_predictions(path))
    assert set(told["provenance"]) >= {"code", "numpy", "machine"}
    plain = run("plan", *places, "--logits", kept[0], "--out", path, "--poses-only")
    assert plain.exit_code == 0, plain.output
    different = len(set(told["chosen"].values()))
    assert plain.stdout.splitlines()[0] == f"{path}: 20 plans, {different} different candidates"


def test_a_vocabulary_can_be_given(places, tmp_path):
    own = paths(5, seed=2).numpy()
    np.save(tmp_path / "v.npy", own)
    path = tmp_path / "p.pkl"
    done = run("plan", *places, "--vocabulary", tmp_path / "v.npy", "--out", path)
    assert done.exit_code == 0, done.output
    for poses in read_predictions(path).values():
        assert any(np.array_equal(poses, one) for one in own)


def test_scenes_without_pictures_exit_with_one(recorded_world, tmp_path):
    world = recorded_world
    images = tmp_path / "blobs"
    images.mkdir()
    (images / "log0").symlink_to(world.images / "log0")
    where = [world.checkpoint, world.root / "scenes", "--images", images, "--logs", world.logs]
    done = run("plan", *where, "--out", tmp_path / "p.pkl")
    assert done.exit_code == 1
    assert "3 scenes have no plan" in done.stderr
    assert "there is no such picture" in done.stderr
    assert len(read_predictions(tmp_path / "p.pkl")) == 17
    done = run("logits", *where, "--out", tmp_path / "L", "--json")
    assert done.exit_code == 1
    assert len(json.loads(done.stdout)["failures"]) == 3


def test_bad_input_is_one_clear_message(places, kept, tmp_path, monkeypatch):
    (tmp_path / "no.ckpt").write_bytes(b"no")
    done = run("logits", tmp_path / "no.ckpt", *places[1:], "--out", tmp_path / "L")
    assert done.exit_code == 2
    assert done.stderr.startswith("navaudit: the checkpoint cannot be read")
    other = ["logits", *map(str, places), "--out", str(kept[0]), "--batch", "2", "--json"]
    monkeypatch.setattr(sys, "argv", ["navaudit", *other])
    done = run(*other)
    assert done.exit_code == 2
    assert "batch is 1 there" in json.loads(done.stdout)["error"]["what"]


@pytest.mark.parametrize("command", ["logits", "plan"])
def test_help_has_an_example_and_says_where_status_comes_from(command):
    done = run(command, "--help")
    assert done.exit_code == 0
    assert f"navaudit {command} gtrs_dense.ckpt scenes --images" in done.stdout
    assert "--logs" in done.stdout
    assert "status" in done.stdout
