"""``navaudit flips`` from the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from navaudit.axes import LK
from navaudit.cli import main
from navaudit.labels.labelset import LabelSet

TESTS = Path(__file__).parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

from audit.labels import write_set  # noqa: E402
from labels.scene_sets import vocabulary, write_scenes  # noqa: E402

COUNT = 24


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Scenes, a file of candidates, and labels as ``navaudit label`` makes them."""
    folder = tmp_path_factory.mktemp("flips")
    write_scenes(folder / "scenes")
    np.save(folder / "v.npy", vocabulary(COUNT).poses)
    words = ["label", folder / "scenes", "--vocabulary", folder / "v.npy"]
    ran = CliRunner().invoke(
        main, [*map(str, words), "--out", str(folder / "labels"), "--workers", "1"]
    )
    assert ran.exit_code == 0, ran.output
    return folder


def run(*words):
    return CliRunner().invoke(main, ["flips", *map(str, words), "--workers", "1"])


def test_the_candidates_are_found_where_the_labels_had_them(made, tmp_path):
    ran = run(made / "scenes", made / "labels", "--out", tmp_path)
    assert ran.exit_code == 0, ran.output
    assert "Every stored column is what the check says of the drives." in ran.stdout
    assert "| leaves the road (%) |" in ran.stdout
    written = {"flips.md", "flips.csv", "flips_human.csv", "numbers.json", "tables.json"}
    assert written <= {one.name for one in tmp_path.iterdir()}
    numbers = json.loads((tmp_path / "numbers.json").read_text())
    labels = LabelSet.open(made / "labels")
    failing = [(labels.raw(token)[LK] == 0).sum() for token in labels.tokens]
    forgiven = labels.human[:, LK] == 0.0
    mixed = [0 < one < COUNT for one in failing]
    assert int(numbers["LK_forgiven"]) == forgiven.sum() > 0
    assert int(numbers["LK_mixed"]) == sum(forgiven & mixed)
    changed = sum(n for n, f, m in zip(failing, forgiven, mixed, strict=True) if f and m)
    assert int(numbers["LK_mixed_changed_entries"].replace(",", "")) == changed > 0


def test_json_is_one_object_and_agrees_with_the_files(made, tmp_path):
    ran = run(made / "scenes", made / "labels", "--out", tmp_path, "--json")
    told = json.loads(ran.stdout)
    assert told["numbers"] == json.loads((tmp_path / "numbers.json").read_text())
    assert told["inputs"]["labels"] == LabelSet.open(made / "labels").digest()


def test_a_stored_column_that_is_wrong_is_named_and_exits_one(made, tmp_path):
    labels = LabelSet.open(made / "labels")
    raw = np.stack([labels.raw(token) for token in labels.tokens])
    wrong = int(np.flatnonzero(labels.human[:, LK] == 0.0)[0])
    raw[wrong, LK, 0] = 1 - raw[wrong, LK, 0]
    write_set(tmp_path / "labels", raw, labels.human, labels.tokens)
    words = (made / "scenes", tmp_path / "labels", "--out", tmp_path / "out")
    ran = run(*words, "--vocabulary", made / "v.npy")
    assert ran.exit_code == 1
    assert f"1 columns are stored otherwise than the drives say: {labels.tokens[wrong]}" in (
        ran.stdout
    )
    assert json.loads((tmp_path / "out" / "numbers.json").read_text())["flip_differing_columns"]


def test_where_the_candidates_are_gone_they_are_asked_for(made, tmp_path):
    labels = LabelSet.open(made / "labels")
    raw = np.stack([labels.raw(token) for token in labels.tokens])
    write_set(tmp_path / "bare", raw, labels.human, labels.tokens)
    ran = run(made / "scenes", tmp_path / "bare", "--out", tmp_path / "out")
    assert ran.exit_code == 2
    assert "give it as --vocabulary" in ran.stderr


def test_other_candidates_are_refused(made, tmp_path):
    np.save(tmp_path / "other.npy", vocabulary(COUNT).poses[::-1])
    words = (made / "scenes", made / "labels", "--vocabulary", tmp_path / "other.npy")
    ran = run(*words, "--out", tmp_path / "out")
    assert ran.exit_code == 2
    assert "of another vocabulary" in ran.stderr
    assert not (tmp_path / "out").exists()


def test_help_shows_an_example():
    ran = CliRunner().invoke(main, ["flips", "--help"])
    assert "navaudit flips scenes labels --out flips" in ran.output
