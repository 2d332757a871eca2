"""Crews: what becomes of processes whose work is ended by another's error."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

CREW = """
import multiprocessing, sys, time
from pathlib import Path
from navaudit.errors import BadInput
from navaudit.scene.crew import run
from navaudit.scene.whole import whole_file

FOLDER = Path({folder!r})


def start():
    lock = multiprocessing.Lock()  # as libraries have them

    def work(task):
        yield "begun"
        if task == 0:
            while not (FOLDER / "there").exists():
                time.sleep(0.01)
            raise BadInput("there is no room")
        with whole_file(FOLDER / "slow") as stream, lock:
            (FOLDER / "there").touch()
            {busy}

    return work


if __name__ == "__main__":
    try:
        list(run(start, [0, 1], 2))
    except BadInput as error:
        print(error)
"""


@pytest.mark.parametrize(
    ("busy", "leaves"),
    [
        ("time.sleep(60)", True),
        ("__import__('signal').signal(15, __import__('signal').SIG_IGN); time.sleep(60)", False),
    ],
)
def test_an_error_of_one_ends_the_others_quietly(tmp_path, busy, leaves):
    script = tmp_path / "crew.py"
    script.write_text(CREW.format(folder=str(tmp_path), busy=busy))
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=False, timeout=100
    )
    assert time.monotonic() - begun < 50
    assert done.stdout == "there is no room\n"
    if leaves:
        assert done.stderr == ""
        assert not list(Path(tmp_path).glob("*.part"))
        assert not list(Path(tmp_path).glob(".*.part"))
