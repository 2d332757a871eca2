"""``navaudit processors`` from the command line."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from navaudit.cli import main

TESTS = Path(__file__).parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

from labels.scene_sets import vocabulary, write_scenes  # noqa: E402

TOKENS = 2


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("processors")
    write_scenes(folder / "scenes", logs=1, each=3)
    np.save(folder / "v.npy", vocabulary(12).poses)
    return folder


def run(world, *words):
    start = ["processors", world / "scenes", "--vocabulary", world / "v.npy"]
    few = ["--tokens", TOKENS, "--candidates", 8, "--repeats", 0, "--workers", 1]
    return CliRunner().invoke(main, [str(word) for word in (*start, *few, *words)])


def test_healthy_kernels_give_the_same_labels_and_exit_zero(world, tmp_path):
    ran = run(world, "--kernels", "haswell,default", "--out", tmp_path)
    assert ran.exit_code == 0, ran.output
    assert "Closed forms hold" in ran.stdout
    assert "| haswell |" in ran.stdout
    written = {one.name for one in tmp_path.iterdir()}
    assert {"processors.md", "processors.csv", "difference_map.png", "numbers.json"} <= written
    rows = list(csv.DictReader((tmp_path / "processors.csv").read_text().splitlines()))
    assert [row["tokens equal"] for row in rows] == ["2", "2"]


def test_a_broken_kernel_exits_one_and_the_closed_forms_hold(world, sick_interpreter, tmp_path):
    words = ("--kernels", "haswell,cooperlake", "--python", f"stock={sick_interpreter}")
    ran = run(world, *words, "--out", tmp_path, "--json")
    assert ran.exit_code == 1
    told = json.loads(ran.stdout)
    numbers = told["numbers"]
    assert numbers["processors_stock_cooperlake_reproduced"] == "0"
    assert numbers["processors_stock_cooperlake_closed_equal"] == str(TOKENS)
    assert numbers["processors_stock_cooperlake_crossfeed_equal"] == str(TOKENS)
    assert numbers["spr_default_reproduced"] == "0"
    assert numbers == json.loads((tmp_path / "numbers.json").read_text())
    # another set of kernels keeps the digest of the closed forms
    again = run(world, "--kernels", "default", "--out", tmp_path / "again", "--json")
    assert again.exit_code == 0
    digest = json.loads(again.stdout)["numbers"]["processors_closed_digest"]
    assert digest == numbers["processors_closed_digest"]


def test_a_kernel_that_cannot_be_had_is_named_and_the_others_run(world, tmp_path):
    words = (
        "--kernels",
        "default",
        "--python",
        f"here={sys.executable}",
        "--python",
        "gone=nowhere",
    )
    ran = run(world, *words, "--out", tmp_path)
    assert ran.exit_code == 0, ran.output
    assert "gone default was not run: there is no such interpreter: nowhere." in ran.stdout
    assert "gone default" in (tmp_path / "processors_absent.csv").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--kernels", ","), "names none"),
        (("--kernels", "broadwell"), "no kernel 'broadwell'"),
        (("--kernels", "default,default"), "comes twice"),
        (("--kernels", "default", "--python", "nowhere"), "the reference cannot be had"),
        (("--kernels", "default", "--ddc", "v3"), "v3"),
        (("--kernels", "default", "--progress-rule", "none"), "none"),
        (("--kernels", "default", "--solver", "closed"), "closed"),
    ],
)
def test_wrong_use_exits_two_with_one_message(world, tmp_path, words, said):
    ran = run(world, *words, "--out", tmp_path / "out")
    assert ran.exit_code == 2, ran.output
    assert said in ran.stderr
    assert "Traceback" not in ran.output
    assert not (tmp_path / "out").exists()


def test_help_shows_examples():
    ran = CliRunner().invoke(main, ["processors", "--help"])
    assert "--kernels haswell,skylakex --out processors" in ran.output
