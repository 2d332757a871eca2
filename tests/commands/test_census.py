"""``navaudit census`` from the command line."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from navaudit.cli import main
from navaudit.report.needs import CENSUS, need
from navaudit.report.paper import paper_numbers

TESTS = Path(__file__).parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

from labels.scene_sets import write_scenes  # noqa: E402


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("census") / "scenes"
    write_scenes(folder)
    return folder


def run(*words):
    return CliRunner().invoke(main, ["census", *map(str, words), "--workers", "1"])


def test_what_the_human_scores_is_printed_and_written(scenes, tmp_path):
    ran = run(scenes, "--out", tmp_path)
    assert ran.exit_code == 0, ran.output
    assert "the rule fires on" in ran.stdout
    assert "| any column (P1) |" in ran.stdout
    assert ran.stderr.splitlines()[-1].startswith("12 of 12 scenes")
    rows = list(csv.DictReader((tmp_path / "human.csv").read_text().splitlines()))
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert len(rows) == int(numbers["population_tokens"])
    zero = sum(float(row["lane_keeping"]) == 0.0 for row in rows)
    assert int(numbers["LK_forgiven"]) == zero > 0
    assert int(numbers["census_passed_over"]) == 12 - len(rows) > 0


def test_every_number_of_the_paper_that_is_the_census_has_its_name(scenes, tmp_path):
    run(scenes, "--out", tmp_path)
    ours = json.loads((tmp_path / "numbers.json").read_text())
    wanted = {name for name in paper_numbers() if need(name) is CENSUS}
    assert len(wanted) >= 6
    assert wanted <= set(ours)
    assert ours["solver_worst_conditioned"] == ours["solver_worst_looked_at"]


def test_a_second_run_answers_from_what_is_kept(scenes, tmp_path):
    first = run(scenes, "--out", tmp_path)
    before = (tmp_path / "numbers.json").read_bytes()
    again = run(scenes, "--out", tmp_path, "--solver", "pinv")
    assert again.stderr.splitlines()[0] == "12 of 12 scenes"
    assert "Solver pinv" in again.stdout
    third = run(scenes, "--out", tmp_path)
    assert third.stdout == first.stdout
    assert (tmp_path / "numbers.json").read_bytes() == before


def test_without_a_folder_nothing_is_kept(scenes, tmp_path):
    before = set(tmp_path.iterdir())
    told = json.loads(run(scenes, "--json").stdout)
    assert told["folder"] is None
    assert told["inputs"]["version"] == "v2"
    assert told["failures"] == []
    assert set(tmp_path.iterdir()) == before


def test_the_other_body_of_driving_direction_is_another_question(scenes):
    inputs = [json.loads(run(scenes, "--json", *words).stdout)["inputs"]
              for words in ((), ("--ddc", "v2.1"))]  # fmt: skip
    assert [one["ddc"] for one in inputs] == ["v2.0", "v2.1"]


def test_v1_has_tables_of_its_own(scenes, tmp_path):
    ran = run(scenes, "--version", "v1", "--out", tmp_path)
    assert ran.exit_code == 0, ran.output
    assert "Humans below 0.8 by v1" in ran.stdout
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert numbers["v1_direction_doubled"] == numbers["v1_tokens"]
    rows = list(csv.DictReader((tmp_path / "human_v1.csv").read_text().splitlines()))
    assert len(rows) == int(numbers["v1_tokens"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "nowhere"),
        (["SCENES", "--version", "v1", "--ddc", "v2.0"], "has no meaning"),
        (["SCENES", "--solver", "qr"], "qr"),
        (["SCENES", "--worst", "0"], "0"),
    ],
)
def test_wrong_use_exits_two_with_one_message(scenes, words, said):
    ran = run(*[scenes if word == "SCENES" else word for word in words])
    assert ran.exit_code == 2
    assert said in ran.stderr
    assert "Traceback" not in ran.output


def test_help_shows_examples():
    ran = CliRunner().invoke(main, ["census", "--help"])
    assert "navaudit census navtrain --version v1 --out census-v1" in ran.output
