"""``navaudit evaluate``: options, exit codes, and what is printed and written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from navaudit.agent.predictions import Prediction, write_predictions
from navaudit.cli import main
from navaudit.evaluate.results import read_results
from navaudit.evaluate.run import Run

TESTS = Path(__file__).parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

from evaluate.small import HALF_S, scene_set, straight_plan, token  # noqa: E402

POSES = straight_plan().poses


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("scenes")
    scene_set(folder, {"a": [(1, 0), (2, HALF_S)], "b": [(3, 0)]})
    return folder


def planned(path, *numbers):
    write_predictions(path, [Prediction(token(number), POSES) for number in numbers])
    return path


def run(*arguments):
    return CliRunner().invoke(main, ["evaluate", *map(str, arguments), "--workers", "1"])


def test_a_run_is_made_and_told(scenes, tmp_path):
    done = run(planned(tmp_path / "p.pkl", 1, 2, 3), scenes, "--out", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        f"{tmp_path / 'run'}: 3 of 3 tokens scored",
        "EPDMS off: 100.000",
        "EPDMS on: 100.000",
        "EPDMS pre-fix: 100.000",
    ]
    assert done.stderr.splitlines() == ["0 of 2 logs", "1 of 2 logs: a", "2 of 2 logs: b"]
    results = read_results(tmp_path / "run" / "on.csv")
    assert np.isnan(results.score[:, 8]).tolist() == [True, False, True]


def test_json_is_alone_on_stdout(scenes, tmp_path):
    given = (planned(tmp_path / "p.pkl", 1, 2, 3), scenes, "--out", tmp_path / "run")
    done = run(*given, "--json", "--ddc", "v2.0", "--solver", "solve")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["tokens"], told["scored"], told["comfort"], told["failures"]) == (3, 3, 1, [])
    assert told["means"]["off"]["score"] == pytest.approx(1.0, abs=1e-6)
    assert told["digest"] == Run.open(tmp_path / "run").digest()
    settings = told["settings"]
    assert (settings["ddc"], settings["solver"], settings["progress_rule"]) == (
        "v2.0", "solve", "batch",
    )  # fmt: skip
    assert set(told["provenance"]) >= {"code", "numpy", "machine"}


def test_evaluation_uses_its_own_direction_body_unless_told(scenes, tmp_path):
    given = (planned(tmp_path / "p.pkl", 1, 2, 3), scenes, "--out", tmp_path / "run", "--json")
    assert json.loads(run(*given).stdout)["settings"]["ddc"] == "v2.1"


def test_what_is_missing_exits_with_one_and_is_named(scenes, tmp_path):
    done = run(planned(tmp_path / "p.pkl", 1, 2, 9), scenes, "--out", tmp_path / "run")
    assert done.exit_code == 1
    assert "2 of 4 tokens scored" in done.stdout
    assert f"failed: token {token(3)}, log b: there is no plan for this token" in done.stderr
    assert f"failed: token {token(9)}, log unknown: there is no scene for this token" in done.stderr
    again = run(tmp_path / "p.pkl", scenes, "--out", tmp_path / "run", "--json")
    assert again.exit_code == 1
    assert len(json.loads(again.stdout)["failures"]) == 2


def test_the_overlap_is_evaluated_where_asked_for(scenes, tmp_path):
    predictions = planned(tmp_path / "p.pkl", 1, 9)
    done = run(predictions, scenes, "--out", tmp_path / "run", "--overlap")
    assert done.exit_code == 0, done.output
    assert f"left out, planned, and there is no scene: 1, first {token(9)}" in done.stderr
    assert "left out, there is a scene, and no plan: 2" in done.stderr


@pytest.mark.parametrize(
    ("predictions", "where", "complaint"),
    [
        ("nowhere.pkl", "scenes", "does not exist"),
        ("p.pkl", "nowhere", "the folder holds no scenes"),
        ("p.pkl", "strange", "none of 1 planned tokens has a scene"),
    ],
)
def test_bad_input_exits_with_two_and_one_message(scenes, tmp_path, predictions, where, complaint):
    planned(tmp_path / "p.pkl", 77)
    folder = scenes if where in ("scenes", "strange") else tmp_path / where
    done = run(tmp_path / predictions, folder, "--out", tmp_path / "run")
    assert done.exit_code == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.output
    assert not (tmp_path / "run").exists()


def test_help_has_examples():
    done = CliRunner().invoke(main, ["evaluate", "--help"])
    assert done.exit_code == 0
    assert "navaudit evaluate predictions.pkl navtest --out runs/A0" in done.output
