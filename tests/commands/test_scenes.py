"""``navaudit scenes``: options, exit codes and what is printed."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from navaudit.cli import main
from navaudit.scene.store import SceneSet

TESTS = Path(__file__).parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

from scene.small_logs import GOLDEN, unpack, write_logs  # noqa: E402

COUNT = 3

FILTER = "num_history_frames: 4\nnum_future_frames: 10\nframe_interval: 1\n"


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Maps and logs laid out as NAVSIM lays them out, with a split."""
    root = tmp_path_factory.mktemp("world")
    unpack(GOLDEN / "maps", root / "maps")
    write_logs(root / "navsim_logs" / "mini", COUNT)
    splits = root / "splits" / "train_test_split"
    (splits / "scene_filter").mkdir(parents=True)
    (splits / "two.yaml").write_text("data_split: mini\ndefaults:\n  - scene_filter: two\n")
    (splits / "scene_filter" / "two.yaml").write_text(FILTER + "log_names: [log00, log02]\n")
    (splits / "scene_filter" / "more.yaml").write_text(FILTER + "log_names: [log00, log07]\n")
    return root


@pytest.fixture(scope="module")
def places(world):
    return ["--logs", str(world / "navsim_logs"), "--maps", str(world / "maps"), "--workers", "1"]


def run(*arguments, env=None):
    return CliRunner().invoke(main, ["scenes", *map(str, arguments)], env=env)


def test_scenes_are_made_and_told(places, tmp_path):
    out = tmp_path / "set"
    done = run(*places, "--out", out)
    assert done.exit_code == 0, done.output
    made = SceneSet.open(out)
    assert len(made) == COUNT
    assert done.stdout.splitlines() == [
        f"{out}: {COUNT} scenes of {COUNT} logs",
        f"digest {made.digest()}",
    ]
    assert done.stderr.splitlines()[0] == f"0 of {COUNT} logs"
    assert done.stderr.splitlines()[-1] == f"{COUNT} of {COUNT} logs: log02"


def test_json_is_alone_on_stdout(world, places, tmp_path):
    out = tmp_path / "set"
    split = world / "splits" / "train_test_split" / "two.yaml"
    done = run(*places, "--out", out, "--split", split, "--json", "--trig", "house")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["scenes"], told["logs"], told["failures"]) == (2, 2, [])
    assert told["digest"] == SceneSet.open(out).digest()
    assert told["settings"]["trig"] == "house"
    assert told["settings"]["filter"]["log_names"].startswith("2 of sha256")
    assert set(told["provenance"]) >= {"code", "numpy", "machine"}


def test_places_come_from_the_environment(world, tmp_path):
    env = {"OPENSCENE_DATA_ROOT": str(world), "NUPLAN_MAPS_ROOT": str(world / "maps")}
    done = run("--out", tmp_path / "set", "--workers", 1, env=env)
    assert done.exit_code == 0, done.output
    assert len(SceneSet.open(tmp_path / "set")) == COUNT


def test_failures_exit_with_one_and_are_named(world, places, tmp_path):
    split = world / "splits" / "train_test_split" / "scene_filter" / "more.yaml"
    done = run(*places, "--out", tmp_path / "set", "--split", split)
    assert done.exit_code == 1
    assert "failed: log log07: the log is not there" in done.stderr
    done = run(*places, "--out", tmp_path / "set", "--split", split, "--json")
    assert done.exit_code == 1
    (failure,) = json.loads(done.stdout)["failures"]
    assert failure["reason"]["expected"] == "log07.pkl"
    assert (failure["token"], failure["log"]) == (None, "log07")


@pytest.mark.parametrize(
    ("cut", "needs"),
    [
        ("num_history_frames: 30", "29 frames before it and 10 after it, and roadblock_ids"),
        ("num_future_frames: 30\nhas_route: false", "3 frames before it and 30 after it"),
        ("num_future_frames: 30\nlog_names: [log01]", "and a log or token that the filter names"),
    ],
)
def test_a_set_without_a_scene_is_no_success(places, tmp_path, cut, needs):
    (tmp_path / "cut.yaml").write_text(f"{cut}\n")
    done = run(*places, "--out", tmp_path / "set", "--split", tmp_path / "cut.yaml")
    assert done.exit_code == 1
    assert done.stderr.splitlines()[-1].startswith("no scene is there: one needs ")
    assert done.stderr.rstrip().endswith(needs)
    told = run(*places, "--out", tmp_path / "set", "--split", tmp_path / "cut.yaml", "--json")
    assert (told.exit_code, json.loads(told.stdout)["scenes"]) == (1, 0)


def test_memory_and_chunks_are_passed_on(places, tmp_path):
    lists = tmp_path / "lists.json"
    run(*places, "--out", tmp_path / "fresh")
    token = SceneSet.open(tmp_path / "fresh").tokens[0]
    lists.write_text(json.dumps({token: ["red_light_7"]}))
    done = run(*places, "--out", tmp_path / "set", "--memory", f"inject:{lists}", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["settings"]["memory"] == "inject"
    done = run(*places, "--out", tmp_path / "set", "--memory", "stock", "--chunks", 2)
    assert done.exit_code == 2
    assert "memory is inject there, and stock is asked for" in done.stderr
    assert "chunks is log there, and 2 is asked for" in done.stderr


def test_metric_caches_are_taken_too(tmp_path):
    caches = GOLDEN / "metric_cache"
    done = run("--metric-cache", caches, "--out", tmp_path / "set", "--workers", 1, "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["scenes"] == 6


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--memory", "golden"], "memory 'golden' does not exist"),
        (["--memory", "inject:nowhere.json"], "cannot be read"),
        (["--chunks", "0"], "chunks '0' do not exist"),
        (["--metric-cache", "x"], "--logs is of logs"),
        (["--workers", "0"], "--workers"),
        (["--split", "nowhere.yaml"], "cannot be read"),
    ],
)
def test_wrong_use_exits_with_two_and_one_message(places, tmp_path, arguments, complaint):
    given = [*places, *arguments, "--out", tmp_path / "set"]
    done = run(*given)
    assert done.exit_code == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.output
    assert not (tmp_path / "set").exists()


def test_missing_places_are_told(world, tmp_path):
    empty = {"OPENSCENE_DATA_ROOT": "", "NUPLAN_MAPS_ROOT": ""}
    done = run("--out", tmp_path / "set", env=empty)
    assert (done.exit_code, "OPENSCENE_DATA_ROOT" in done.stderr) == (2, True)
    logs = world / "navsim_logs"
    done = run("--logs", logs, "--out", tmp_path / "set", env=empty)
    assert (done.exit_code, "NUPLAN_MAPS_ROOT" in done.stderr) == (2, True)
    done = run("--logs", tmp_path, "--maps", world / "maps", "--out", tmp_path / "set")
    assert (done.exit_code, "there are no logs" in done.stderr) == (2, True)


def test_logs_of_several_splits_are_not_mixed(world, tmp_path):
    for name in ("mini", "test"):
        (tmp_path / "logs" / name).mkdir(parents=True)
        (tmp_path / "logs" / name / "a.pkl").touch()
    done = run("--logs", tmp_path / "logs", "--maps", world / "maps", "--out", tmp_path / "set")
    assert done.exit_code == 2
    assert "mini, test" in done.stderr


def test_help_has_examples():
    done = run("--help")
    assert done.exit_code == 0
    assert "navaudit scenes --metric-cache cache --out scenes" in done.output
