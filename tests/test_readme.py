"""README says what is: its commands run, its figures are the measured ones."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from navaudit.cli import COMMANDS, main

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def _block(name: str) -> str:
    return README.split(f"<!-- {name} -->\n")[1].split("<!-- end -->")[0]


def test_measured_figures_are_those_that_were_measured():
    code = (
        "import json, pathlib; from bench.__main__ import MEASURED, table;"
        "print(table(json.loads(MEASURED.read_text())), end='')"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert _block("measured") == answer.stdout
    assert len(json.loads((ROOT / "bench" / "measured.json").read_text())["figures"]) > 5


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
