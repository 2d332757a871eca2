"""``navaudit audit`` from the command line."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from navaudit.cli import main
from navaudit.report.paper import paper_numbers

TESTS = Path(__file__).parents[1]
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

from audit.labels import write_set  # noqa: E402
from audit.sets import draw  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Raw labels with human scores, and published ones without."""
    small = draw(np.random.default_rng(3), 40, 16, 0.2, range(9), 20, 0.5, True, True)
    folder = tmp_path_factory.mktemp("labels")
    write_set(folder / "raw", small.raw, small.human)
    write_set(folder / "published", small.published)
    return folder


def run(*words):
    return CliRunner().invoke(main, ["audit", *map(str, words), "--workers", "1"])


def test_an_audit_prints_what_it_found_and_writes_everything(folder, tmp_path):
    ran = run(folder / "raw", "--published", folder / "published", "--out", tmp_path)
    assert ran.exit_code == 0, ran.output
    assert "40 tokens audited" in ran.stdout
    assert "| P1: the human scores zero in a column |" in ran.stdout
    assert "40 of 40 tokens" in ran.stderr
    assert {"audit.md", "numbers.json", "failing_LK.png", "failing_LK.svg", "failing_LK.csv"} <= {
        one.name for one in tmp_path.iterdir()
    }


def test_json_is_one_object_with_numbers_and_provenance(folder, tmp_path):
    ran = run(folder / "raw", "--out", tmp_path, "--json")
    told = json.loads(ran.stdout)
    assert ran.exit_code == 0
    assert told["numbers"] == json.loads((tmp_path / "numbers.json").read_text())
    assert told["inputs"]["published"] is None
    assert told["provenance"]["navaudit"]


def test_every_number_of_the_paper_that_is_the_audits_has_its_name(folder, tmp_path):
    from navaudit.report.needs import AUDIT, need

    run(folder / "raw", "--published", folder / "published", "--out", tmp_path)
    ours = json.loads((tmp_path / "numbers.json").read_text())
    wanted = {name for name in paper_numbers() if need(name) is AUDIT}
    assert len(wanted) > 30
    assert wanted <= set(ours)


def test_a_folder_without_labels_is_bad_input(tmp_path):
    ran = run(tmp_path, "--out", tmp_path / "out")
    assert ran.exit_code == 2
    assert "holds no labels" in ran.stderr
    assert not (tmp_path / "out").exists()


def test_published_labels_alone_are_bad_input(folder, tmp_path):
    ran = run(folder / "published", "--out", tmp_path)
    assert ran.exit_code == 2
    assert "--published" in ran.stderr


def test_help_shows_an_example():
    ran = CliRunner().invoke(main, ["audit", "--help"])
    assert "navaudit audit labels --out audited" in ran.output
