"""The demonstration runs, is the same twice, and goes on where it stopped."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from navaudit import demo
from navaudit.cli import main


def _run(folder, *more):
    return CliRunner().invoke(
        main, ["demo", "--out", str(folder), "--scenes", "6", "--json", *more]
    )


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo") / "out"
    answer = _run(folder)
    assert answer.exit_code == 0, answer.output
    return folder, json.loads(answer.stdout)


def test_every_step_leaves_facts(first):
    folder, told = first
    assert list(told["steps"]) == [step.name for step in demo.STEPS]
    kept = json.loads((folder / demo.RECORD).read_text())
    assert kept["steps"] == told["steps"]


def test_a_second_run_finds_everything_done(first, monkeypatch):
    folder, told = first

    def refuse(*_):
        raise AssertionError("a finished step was run again")

    steps = tuple(demo.Step(step.name, step.tells, refuse) for step in demo.STEPS)
    monkeypatch.setattr(demo, "STEPS", steps)
    assert json.loads(_run(folder).stdout)["steps"] == told["steps"]


def test_a_run_cut_short_goes_on(first):
    folder, told = first
    record = json.loads((folder / demo.RECORD).read_text())
    last = list(record["steps"])[-1]
    del record["steps"][last]
    (folder / demo.RECORD).write_text(json.dumps(record))
    again = json.loads(_run(folder).stdout)["steps"]
    assert list(again) == list(told["steps"])
    for name, facts in told["steps"].items():
        for key, value in facts.items():
            if key not in {"seconds", "pinv_takes_times"} and not key.startswith("largest_gap"):
                assert again[name][key] == value


def test_other_settings_begin_anew(first, tmp_path):
    _, told = first
    other = json.loads(_run(tmp_path / "other", "--seed", "8").stdout)["steps"]
    assert other["town"]["sha256"] != told["steps"]["town"]["sha256"]
