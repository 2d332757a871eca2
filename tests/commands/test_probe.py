"""``navaudit probe`` from the command line."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from navaudit.cli import main

TESTS = Path(__file__).parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

from probe.drawn import draw, write, write_logits  # noqa: E402

FEW = ("--resamples", "40", "--tie-draws", "3")
FILES = {
    "numbers.json", "numbers.trace.json", "probe.md", "probe_readings.csv",
    "probe_contrasts.csv", "probe_R.csv", "probe_matching.csv", "probe_strata.csv",
    "probe_ties.csv", "probe_scenes.csv",
    "probe_auc.png", "probe_auc.svg", "probe_auc.csv", "probe_failing.png", "probe_failing.svg",
    "probe_failing.csv",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("probe")
    write(folder, draw())
    return folder


def run(folder, *words, logits="logits", labels="labels"):
    words = (str(folder / logits), str(folder / labels), *map(str, words), *FEW)
    return CliRunner().invoke(main, ["probe", *words])


def files_of(out):
    return {one.name: one.read_bytes() for one in out.iterdir()}


def test_a_probe_prints_what_it_found_and_writes_everything(folder, tmp_path):
    ran = run(folder, "--out", tmp_path)
    assert ran.exit_code == 0, ran.output
    assert "scenes where the rule overwrote a mixed LK column" in ran.stdout
    assert "| R3 | the primary contrast" in ran.stdout
    assert "90 of 90 scenes" in ran.stderr
    assert set(files_of(tmp_path)) >= FILES
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    with (tmp_path / "probe_R.csv").open() as stream:
        points = {row["reading"]: float(row["point"]) for row in csv.DictReader(stream)}
    assert float(numbers["probe_R1"]) == round(points["R1"], 4)


def test_the_same_probe_writes_the_same_bytes(folder, tmp_path):
    for name in ("one", "two"):
        assert run(folder, "--out", tmp_path / name).exit_code == 0
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


def test_json_is_one_object_with_numbers_and_provenance(folder, tmp_path):
    ran = run(folder, "--out", tmp_path, "--json")
    told = json.loads(ran.stdout)
    assert told["numbers"] == json.loads((tmp_path / "numbers.json").read_text())
    assert told["inputs"]["question"]["head"] == "lane_keeping"
    assert told["inputs"]["tokens"] == 90
    assert told["provenance"]["navaudit"]


def test_a_report_leads_with_what_the_probe_says(folder, tmp_path):
    from navaudit.report.shelf import read_part

    run(folder, "--out", tmp_path)
    part = read_part(tmp_path, "part")
    assert part.kind == "probe"
    assert part.lead.startswith("On ")
    assert part.lead in (tmp_path / "probe.md").read_text()
    assert len(part.figures) == 2
    # the data of a figure is no table of its own
    assert len(part.tables) == 7
    files = {one["file"] for one in part.trace.values()} - {""}
    assert files <= set(files_of(tmp_path))


def test_any_head_against_any_column(folder, tmp_path):
    words = ("--head", "imi", "--column", "TLC", "--control", "ego_progress")
    ran = run(folder, "--out", tmp_path, *words, "--control-column", "DAC")
    assert ran.exit_code == 0, ran.output
    assert "the IMI head" in ran.stdout
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    assert "imi_on_tlc_beside_ep_T_imi_auc" in numbers
    assert not any(name.startswith("probe_") for name in numbers)


def test_the_imitation_head_needs_a_column(folder, tmp_path):
    ran = run(folder, "--out", tmp_path / "out", "--head", "imi")
    assert ran.exit_code == 2
    assert "--column" in ran.stderr
    assert not (tmp_path / "out").exists()


def test_tokens_of_one_alone_are_refused_and_can_be_left_out(folder, tmp_path):
    world = draw()
    write_logits(tmp_path / "logits", world.tokens[:60], world.logits[:60])
    (tmp_path / "labels").symlink_to(folder / "labels")
    ran = run(tmp_path, "--out", tmp_path / "out")
    assert ran.exit_code == 2
    assert "30 tokens with labels have no logits (token-0060, token-0061, token-0062" in ran.stderr
    assert "--common" in ran.stderr
    assert not (tmp_path / "out").exists()
    ran = run(tmp_path, "--out", tmp_path / "out", "--common")
    assert ran.exit_code == 0
    assert "30 tokens with labels alone are left out" in ran.stdout


def test_runs_are_named_and_others_read_beside_them(folder, tmp_path):
    world = draw(kept=1.0)
    write_logits(tmp_path / "P0", world.tokens, world.logits)
    also = ("--names", "nt_A0", "--also", f"nt_P0={tmp_path / 'P0'}")
    ran = run(folder, "--out", tmp_path / "out", *also)
    assert ran.exit_code == 0, ran.output
    numbers = json.loads((tmp_path / "out" / "numbers.json").read_text())
    assert float(numbers["nt_P0_R1"]) > float(numbers["nt_A0_R1"])
    assert {"nt_PA_R1_min", "nt_A_R3_max", "nt_T"} <= set(numbers)
    assert "| nt: P - A | R1 |" in ran.stdout
    assert {"probe_models.csv", "probe_arms.csv"} <= set(files_of(tmp_path / "out"))


@pytest.mark.parametrize("also", ["nt_P0", "nt-P0=x", "=x", "nt_P0="])
def test_another_model_without_a_name_or_a_folder_is_wrong_use(folder, tmp_path, also):
    ran = run(folder, "--out", tmp_path / "out", "--also", also)
    assert ran.exit_code == 2
    assert "NAME=LOGITS" in ran.stderr


def test_a_name_that_cannot_be_one_is_refused_before_anything_is_read(folder, tmp_path):
    ran = run(folder, "--out", tmp_path / "out", "--names", "nt A0")
    assert ran.exit_code == 2
    assert "90 scenes" not in ran.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_without_logits_is_bad_input(folder, tmp_path):
    ran = run(folder, "--out", tmp_path / "out", logits="labels")
    assert ran.exit_code == 2
    assert "not a store of logits" in ran.stderr
