"""Every command in the documentation runs, in the order in which a reader meets it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from navaudit.cli import COMMANDS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    next(iter(one.values())) for one in yaml.safe_load((ROOT / "mkdocs.yml").read_text())["nav"]
]
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```", re.DOTALL | re.MULTILINE)
RUNNERS = {"sh": ["bash", "-euc"], "python": [sys.executable, "-c"]}
EXPORT = re.compile(r"^export (.+)$", re.MULTILINE)


def blocks_of(page):
    return BLOCK.findall((DOCS / page).read_text())


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder in which the pages are followed, and the environment they build up."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return tmp_path_factory.mktemp("docs"), {**os.environ, "PATH": path}


@pytest.mark.parametrize("page", PAGES)
def test_what_a_page_says_can_be_done(page, place):
    folder, environment = place
    for kind, text in blocks_of(page):
        done = subprocess.run(
            [*RUNNERS[kind], text],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{text}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        for line in EXPORT.findall(text):
            environment.update(one.split("=", 1) for one in line.split())


def test_every_page_is_in_the_contents():
    assert sorted(PAGES) == sorted(path.name for path in DOCS.glob("*.md"))


def test_commands_that_are_named_exist():
    for page in PAGES:
        for name in re.findall(r"`navaudit ([a-z]+)", (DOCS / page).read_text()):
            assert name in COMMANDS, f"{page} names navaudit {name}"


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)", (DOCS / page).read_text()):
            assert (DOCS / target).exists(), f"{page} leads to {target}"
