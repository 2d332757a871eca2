"""``navaudit compare``: runs and result files in, tables and numbers out."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from navaudit.cli import main
from navaudit.evaluate.run import Run
from navaudit.report.numbers import read_numbers

TESTS = Path(__file__).parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

from evaluate.small import HERE, random_comfort, random_components, random_human, token  # noqa: E402

COUNT = 40
FILES = {"contrasts.csv", "levels.csv", "compare.md", "forest.json", "compare.json"}
NAMES = ("A0", "A1", "P0", "P1")

PAIRS = """
pairs = [["P", "A"]]
resamples = 200
prefix = "rt"
[arms]
A = ["A0", "A1"]
P = ["P0", "P1"]
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs of ours, two arms at two seeds."""
    root = tmp_path_factory.mktemp("runs")
    random = np.random.default_rng(0)
    human, comfort = random_human(random, COUNT), random_comfort(random, COUNT)
    for name in NAMES:
        made = Run(
            tokens=tuple(map(token, range(COUNT))),
            logs=tuple(f"log{row // 4}" for row in range(COUNT)),
            time_us=np.arange(COUNT),
            components=random_components(random, COUNT),
            human=human,
            comfort=comfort,
            distance=random.random((COUNT, 3)),
            settings={"ddc": "v2.1", "scenes": "abc"},
        )
        made.write(root / name)
    (root / "pairs.toml").write_text(PAIRS)
    return root


def run(*arguments):
    return CliRunner().invoke(main, ["compare", *map(str, arguments)])


def given(runs):
    return [runs / name for name in NAMES]


def test_everything_is_written_and_the_aggregate_told(runs, tmp_path):
    done = run(*given(runs), "--pairs", runs / "pairs.toml", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert {path.name for path in tmp_path.iterdir()} == FILES | {
        "numbers.json", "numbers.trace.json", "forest.csv", "forest.png", "forest.svg",
        "figures.json", "own_means.csv", "tables.json",
    }  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines[0] == f"{tmp_path / 'compare.md'}: 4 runs, 40 tokens"
    assert lines[1].startswith("P0 - A0  EPDMS OFF  ")
    assert lines[1][-1] in "OSU"
    numbers = read_numbers(tmp_path)
    text = (tmp_path / "compare.md").read_text()
    assert f"| {numbers['rt_P0A0_off_EPDMS_all']} [{numbers['rt_P0A0_off_EPDMS_all_lo']}, " in text
    assert "## P minus A" in text


def test_tables_and_record_say_the_same(runs, tmp_path):
    done = run(*given(runs), "--pairs", runs / "pairs.toml", "--out", tmp_path, "--json")
    told = json.loads(done.stdout)
    assert told == json.loads((tmp_path / "compare.json").read_text())
    assert told["contrasts"] == json.loads((tmp_path / "forest.json").read_text())
    with (tmp_path / "contrasts.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    points = [entry["point"] for one in told["contrasts"] for entry in one["entries"]]
    assert sorted(float(row["point"]) for row in rows if row["point"]) == sorted(
        one for one in points if one is not None
    )
    assert len(rows) == len(points)
    with (tmp_path / "levels.csv").open(newline="") as stream:
        levels = list(csv.DictReader(stream))
    assert len(levels) == len(told["levels"])
    assert told["inputs"]["A0"].keys() == {"run.json"}
    assert set(told["provenance"]) >= {"code", "numpy"}
    letters = {one["verdict"]["letters"][0] for one in told["contrasts"] if one["verdict"]}
    assert letters <= {"O", "S", "U"}


def test_the_same_comparison_has_the_same_bytes(runs, tmp_path):
    for name in ("one", "other"):
        out = tmp_path / name
        assert run(*given(runs), "--pairs", runs / "pairs.toml", "--out", out).exit_code == 0
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "other" / path.name).read_bytes()


def test_two_runs_need_no_file(runs, tmp_path):
    done = run(runs / "A0", f"mine={runs / 'P0'}", "--out", tmp_path, "--resamples", 50, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["pairs"], told["resamples"]) == ([["mine", "A0"]], 50)
    assert all(one["verdict"] is None for one in told["contrasts"])


def test_stock_result_files_are_compared(tmp_path):
    folder = HERE / "evaluation"
    stated = {
        "pairs": [["b", "a"]],
        "runs": {
            plan: {switch: str(folder / f"{plan}_{switch}.csv") for switch in ("off", "on")}
            for plan in "ab"
        },
    }
    (tmp_path / "pairs.json").write_text(json.dumps(stated))
    done = run("--pairs", tmp_path / "pairs.json", "--out", tmp_path / "out", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["logs"] == 17
    assert told["comfort_tokens"] == {"all": 1}
    assert told["runs"]["a"]["modes"] == ["off", "on"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"settings": {"ddc": "v2.0", "scenes": "abc"}}, "ddc is v2.1 there and v2.0 here"),
        ({"tokens": tuple(map(token, range(1, COUNT + 1)))}, "differ in their tokens"),
        ({"logs": ("elsewhere",) * COUNT}, "is from log 'log0' by A0, and from 'elsewhere'"),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(runs, tmp_path, change, complaint):
    other = Run.open(runs / "P0")
    Run(**{**vars(other), **change}).write(tmp_path / "P0")
    done = run(runs / "A0", tmp_path / "P0", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert complaint in done.stderr
    assert "Traceback" not in done.output
    assert not (tmp_path / "out").exists()


def test_failed_tokens_stop_it_unless_they_may_be_left_out(runs, tmp_path):
    other = Run.open(runs / "P0")
    components = other.components.copy()
    components[3] = np.nan
    Run(**{**vars(other), "components": components}).write(tmp_path / "P0")
    done = run(runs / "A0", tmp_path / "P0", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert f"1 of 40 tokens were not scored, first {token(3)}" in done.stderr
    left = run(runs / "A0", tmp_path / "P0", "--out", tmp_path / "out", "--leave-out-failed")
    assert left.exit_code == 0, left.output
    assert "1 tokens failed in some run and are left out of all" in left.stderr


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["one"], "1 runs and no file of pairs"),
        (["one", "two"], "cannot be read"),
        (["--pairs", "none.toml"], "cannot be read"),
        (["--resamples", "0"], "--resamples"),
    ],
)
def test_wrong_use_exits_with_two(tmp_path, arguments, complaint):
    done = run(*arguments, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert complaint in done.output + done.stderr
    assert "Traceback" not in done.output


def test_help_has_examples():
    done = run("--help")
    assert done.exit_code == 0
    assert "navaudit compare runs/* --pairs retraining.toml --out compared" in done.output
