"""A hundred thousand mutants of each kind: values or our own errors, nothing else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from navaudit.world.pickles import KINDS

MUTANTS = 100_000

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="needs /proc to bound the memory of a process"
)


def mutants(which, count, seed, ajar=0):
    program = Path(__file__).with_name("mutate_pickles.py")
    return subprocess.run(
        [sys.executable, program, *map(str, (which, count, seed, ajar))],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_an_open_door_is_found():
    done = mutants(0, 3_000, 7, ajar=1)
    assert done.returncode == 1
    assert "canary" in done.stdout


@pytest.mark.parametrize("which", range(len(KINDS)), ids=[kind.title for kind in KINDS])
def test_some_mutants(which):
    done = mutants(which, 3_000, 7)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("which", range(len(KINDS)), ids=[kind.title for kind in KINDS])
def test_a_hundred_thousand_mutants(which):
    done = mutants(which, MUTANTS, 20_210_610)
    assert done.returncode == 0, done.stdout + done.stderr
