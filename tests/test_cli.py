"""The command line's frame: what every command owes its user."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from navaudit.cli import COMMANDS, main


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_helps_with_an_example_on_a_line_of_its_own(name):
    result = CliRunner().invoke(main, [name, "--help"], terminal_width=80)
    assert result.exit_code == 0
    assert "\\b" not in result.output
    examples = re.search(r"^ *Examples?:((?: [^\n]*)?)\n?((?:.*\n)*)", result.output, re.MULTILINE)
    assert examples is not None, "no example"
    assert re.search(rf"(^|\n) *(eval \"\$\()?navaudit {name}\b", examples[1] + examples[2]) or (
        examples[1].startswith(f" navaudit {name}")
    )
    assert "--json" in result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_wrong_use_exits_with_two_and_no_traceback(name):
    result = CliRunner().invoke(main, [name, "--no-such-option"])
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert "no-such-option" in result.output


def test_an_unknown_command_is_named():
    result = CliRunner().invoke(main, ["lable"])
    assert result.exit_code == 2
    assert "lable" in result.output


@pytest.mark.parametrize("as_json", [False, True])
def test_what_the_disk_refuses_is_one_message(tmp_path, monkeypatch, as_json):
    (tmp_path / "file").write_text("no folder")
    words = ["town", str(tmp_path / "file" / "town"), "--scenes", "1", "--seed", "1"]
    words += ["--json"] if as_json else []
    monkeypatch.setattr("sys.argv", ["navaudit", *words])
    result = CliRunner().invoke(main, words)
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert "Not a directory" in result.output
    assert str(tmp_path / "file") in result.output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("words", [["doctor", "--json"], ["doctor"]])
def test_output_that_cannot_be_written_is_one_message(words):
    start = [sys.executable, "-c", "from navaudit.cli import main; main()"]
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [*start, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert run.returncode == 2
    assert run.stderr.startswith("navaudit: No space left on device")
    assert "Traceback" not in run.stderr


def test_who_stops_a_command_is_told_how_to_go_on(tmp_path):
    words = ["town", str(tmp_path / "town"), "--scenes", "400", "--seed", "1", "--no-cameras"]
    start = [sys.executable, "-c", "from navaudit.cli import main; main()", *words]
    with subprocess.Popen(start, stderr=subprocess.PIPE, text=True) as process:
        while not (tmp_path / "town").exists():
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=60)
    assert process.returncode == 130
    assert told.endswith("navaudit: stopped; the same command goes on from here\n")
    assert "Traceback" not in told
