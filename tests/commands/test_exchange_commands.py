"""``navaudit import``, ``export`` and ``certify``: options, exit codes and what is printed."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from navaudit.cli import main
from navaudit.labels.labelset import LabelSet
from navaudit.report.numbers import read_numbers
from navaudit.scene.logfile import Failure

TESTS = Path(__file__).parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

from labels.label_files import (  # noqa: E402
    draw,
    humans,
    load,
    same_bytes,
    write_folder,
    write_pickle,
    write_set,
)

TABLE = draw(["b1", "a2", "c3"])
INDEX = "token,log_name,timestamp_us\nb1,log1,20\nc3,log1,10\na2,log2,1\nd4,log2,2\n"


def run(*arguments):
    return CliRunner().invoke(main, list(map(str, arguments)))


@pytest.fixture
def labels(tmp_path):
    failures = [Failure("e5", "log1", "it is broken")]
    return write_set(tmp_path / "labels", TABLE, humans(TABLE), failures=failures).folder


@pytest.fixture
def file(tmp_path):
    return write_pickle(tmp_path / "file.pkl", TABLE)


def test_a_pickle_is_imported_and_exported(file, tmp_path):
    done = run("import", file, "--out", tmp_path / "set", "--workers", 1)
    assert done.exit_code == 0, done.output
    made = LabelSet.open(tmp_path / "set")
    assert done.stdout.splitlines() == [
        f"{tmp_path / 'set'}: 3 tokens of unknown logs, 40 candidates",
        f"digest {made.digest()}",
    ]
    assert done.stderr.splitlines() == ["0 of 0 MB", "0 of 3 tokens", "3 of 3 tokens"]
    out = tmp_path / "out.pkl"
    done = run("export", tmp_path / "set", "--policy", "raw", "--out", out)
    assert done.exit_code == 0, done.output
    assert same_bytes(load(out), {token: TABLE[token] for token in sorted(TABLE)})
    sha = hashlib.sha256(out.read_bytes()).hexdigest()
    assert done.stdout.splitlines() == [f"{out}: 3 tokens, policy raw", f"sha256 {sha}"]


def test_logs_and_times_come_from_a_table(tmp_path):
    folder = write_folder(tmp_path / "folder", TABLE)
    (tmp_path / "index.csv").write_text(INDEX)
    index = ("--index", tmp_path / "index.csv")
    done = run("import", folder, "--out", tmp_path / "set", *index, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["tokens"], told["logs"], told["candidates"]) == (3, 2, 40)
    assert told["unlabelled"] == ["d4"]
    assert told["settings"]["order"] == "log, time"
    assert set(told["provenance"]) >= {"code", "numpy", "imported"}
    made = LabelSet.open(tmp_path / "set")
    assert told["digest"] == made.digest()
    assert made.tokens == ("c3", "b1", "a2")
    done = run("import", folder, "--out", tmp_path / "set", *index)
    assert "1 have no labels: d4" in done.stderr


def test_logs_and_times_come_from_scenes(tmp_path):
    caches = TESTS / "golden" / "metric_cache"
    made = run("scenes", "--metric-cache", caches, "--out", tmp_path / "scenes", "--workers", 1)
    assert made.exit_code == 0, made.output
    from navaudit.scene.store import SceneSet

    scenes = SceneSet.open(tmp_path / "scenes")
    file = write_pickle(tmp_path / "x.pkl", draw(sorted(scenes.tokens)))
    done = run("import", file, "--out", tmp_path / "set", "--scenes", tmp_path / "scenes")
    assert done.exit_code == 0, done.output
    labels = LabelSet.open(tmp_path / "set")
    assert labels.tokens == scenes.tokens
    assert labels.logs == tuple(scenes.log_of(token) for token in scenes.tokens)


def test_a_split_is_held_to(file, tmp_path):
    split = tmp_path / "split.yaml"
    split.write_text("tokens: ['a2', 'b1', 'c3']\n")
    assert run("import", file, "--out", tmp_path / "set", "--split", split).exit_code == 0
    split.write_text("tokens: ['a2', 'b1', 'd4']\n")
    done = run("import", file, "--out", tmp_path / "other", "--split", split)
    assert done.exit_code == 2
    assert "1 without labels: d4; 1 not in the split: c3" in done.stderr
    split.write_text("log_names: ['x']\n")
    done = run("import", file, "--out", tmp_path / "other", "--split", split)
    assert (done.exit_code, "names no tokens" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("import", "nowhere.pkl", "--out", "set"),
        ("import", "nowhere.pkl", "--out", "set", "--index", "a", "--scenes", "b"),
        ("import", "nowhere.pkl", "--out", "set", "--index", "nowhere.csv"),
        ("import", "nowhere.pkl"),
        ("export", "nowhere", "--policy", "raw", "--out", "x.pkl"),
        ("export", "nowhere", "--policy", "kind", "--out", "x.pkl"),
        ("export", "nowhere", "--out", "x.pkl"),
        ("certify", "nowhere", "nowhere"),
        ("certify", "nowhere"),
        ("certify", "a", "b", "--policy-a", "kind"),
    ],
)
def test_wrong_use_exits_with_two_and_one_message(tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.exit_code == 2
    assert done.stderr
    assert "Traceback" not in done.output
    assert list(tmp_path.iterdir()) == []


def test_an_export_tells_what_it_wrote_and_what_is_missing(labels, tmp_path):
    out, mask = tmp_path / "x.pkl", tmp_path / "mask.npz"
    asked = ("export", labels, "--policy", "masked", "--out", out, "--mask", mask)
    done = run(*asked, "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["tokens"], told["candidates"], told["policy"]) == (3, 40, "masked")
    assert told["sha256"] == hashlib.sha256(out.read_bytes()).hexdigest()
    assert told["bytes"] == out.stat().st_size
    assert told["failed"] == ["e5"]
    assert told["provenance"]["labels"] == LabelSet.open(labels).digest()
    assert np.load(mask)["abstains"].any()
    assert "1 scenes have no labels: e5" in run(*asked).stderr


def test_an_imported_set_serves_raw_alone(file, tmp_path):
    run("import", file, "--out", tmp_path / "set")
    done = run("export", tmp_path / "set", "--policy", "published", "--out", tmp_path / "y.pkl")
    assert done.exit_code == 2
    assert "human's scores" in done.stderr
    assert not (tmp_path / "y.pkl").exists()


def test_labels_that_are_the_same_exit_with_zero(labels, file):
    done = run("certify", labels, file)
    assert done.exit_code == 0, done.output
    assert "3 of 3 tokens are the same on all nine columns" in done.stdout
    told = json.loads(run("certify", labels, file, "--json").stdout)
    assert told["same"]
    assert told["residuals"] == []
    assert (told["left_out"], told["population"], told["candidates"]) == (0, 3, 40)
    assert told["a"]["digest"] == LabelSet.open(labels).digest()
    assert told["b"]["digest"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert set(told["provenance"]) >= {"code", "numpy"}


def test_labels_that_differ_exit_with_one_and_are_written_down(labels, tmp_path):
    out = tmp_path / "out"
    done = run("certify", labels, labels, "--policy-b", "published", "--out", out)
    assert done.exit_code == 1
    forgiven = {token for token, human in humans(TABLE).items() if (human == 0).any()}
    assert 0 < len(forgiven) < 4
    assert f"{3 - len(forgiven)} of 3 tokens are the same" in done.stdout
    assert {line.split(":")[0] for line in done.stderr.splitlines() if "different" in line} == (
        forgiven
    )
    residuals = [json.loads(line) for line in (out / "residuals.jsonl").read_text().splitlines()]
    assert {one["token"] for one in residuals} == forgiven
    summary = json.loads((out / "certificate.json").read_text())
    assert (summary["different"], summary["same"]) == (len(forgiven), False)
    numbers = read_numbers(out)
    assert numbers["certify_different"] == str(len(forgiven))
    assert "reproduced" not in numbers


def test_published_labels_get_the_names_of_the_paper(labels, tmp_path):
    file, out = tmp_path / "x.pkl", tmp_path / "out"
    run("export", labels, "--policy", "published", "--out", file)
    done = run("certify", labels, file, "--policy-a", "published", "--out", out, "--workers", 2)
    assert done.exit_code == 0, done.output
    numbers = read_numbers(out)
    assert (numbers["population_tokens"], numbers["reproduced"]) == ("3", "3")
    assert (numbers["residual_total"], numbers["ties"]) == ("0", "0")
    trace = json.loads((out / "numbers.trace.json").read_text())
    assert trace["inputs"]["a"]["policy"] == "published"


def test_tokens_of_one_side_are_named(labels, tmp_path):
    file = write_pickle(tmp_path / "x.pkl", {**draw(["d4", "e5"]), "b1": TABLE["b1"]})
    done = run("certify", labels, file)
    assert done.exit_code == 1
    assert "0 different, 2 only in A, 2 only in B" in done.stdout
    assert "e5: only in b: it is broken" in done.stderr
    assert "a2: only in a\n" in done.stderr


@pytest.mark.parametrize("name", ["import", "export", "certify"])
def test_help_has_examples(name):
    done = run(name, "--help")
    assert done.exit_code == 0
    assert f"navaudit {name} " in done.stdout.split("Examples:")[1]
