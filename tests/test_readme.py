"""README says what is: its commands run, its figures are the measured ones."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest

from navaudit.cli import COMMANDS, main

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from bench import readme  # noqa: E402

README = (ROOT / "README.md").read_text()


def _block(name: str, page: str = README) -> str:
    return page.split(f"<!-- {name} -->\n")[1].split("<!-- end -->", maxsplit=1)[0]


def test_measured_figures_are_those_that_were_measured():
    record = readme.read_record()
    assert _block("measured") == readme.table(record)
    assert _block("measured", readme.DOCS.read_text()) == readme.every_row(record)
    figures = [name for one in record["modules"].values() for name in one["figures"]]
    assert set(readme.TOLD) <= set(figures)
    assert len(figures) == len(set(figures))


def test_every_figure_that_is_told_can_be_measured_again():
    for module, measured in readme.read_record()["modules"].items():
        source = (ROOT / "bench" / f"{module}.py").read_text()
        for name in measured["figures"]:
            assert f"def {name}() -> Figure:" in source


def test_every_picture_is_there():
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", README)
    assert pictures
    assert all((ROOT / one).is_file() for one in pictures)


def test_every_command_is_listed():
    listed = re.findall(r"^\| `navaudit (\w+)", README, re.MULTILINE)
    assert listed == list(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example(name):
    command = main.get_command(None, name)
    text = command.get_help(command.make_context(name, ["--help"], resilient_parsing=True))
    assert f"navaudit {name}" in text


def test_the_demo_command_names_a_command_that_exists():
    words = shlex.split(_block("demo command").replace("```sh", "").replace("```", ""))
    assert words[words.index(".venv/bin/navaudit") + 1] in COMMANDS
