"""``navaudit doctor`` as a person or a script meets it."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from navaudit.cli import main
from navaudit.numerics import platform
from navaudit.numerics.platform import Fit


def doctor(*words: str):
    return CliRunner().invoke(main, ["doctor", *words])


def navaudit(*words: str) -> subprocess.CompletedProcess[str]:
    start = [sys.executable, "-c", "from navaudit.cli import main; main()"]
    return subprocess.run([*start, *words], capture_output=True, text=True, check=False)


def test_a_healthy_machine_exits_zero():
    told = doctor()
    assert told.exit_code == 0
    assert told.stdout.rstrip().endswith("healthy")
    assert "numpy.linalg.pinv" in told.stdout
    assert platform.CLOSED_FORM_DIGEST[:16] in told.stdout


def test_json_is_one_object_with_everything():
    told = doctor("--json")
    facts = json.loads(told.stdout)
    assert facts["verdict"] == "healthy"
    assert facts["closed_form_digest"] == platform.CLOSED_FORM_DIGEST
    assert facts["examination"]["fits"][0]["call"] == "numpy.linalg.pinv"
    assert facts["provenance"]["code"]


@pytest.fixture
def broken(monkeypatch):
    sick = Fit("numpy.linalg.pinv", -355.662, 6e4, None, None)
    examination = dataclasses.replace(platform.examine(), fits=(sick,), blas=None)
    monkeypatch.setattr(platform, "examine", lambda interpreter: examination)


@pytest.mark.usefixtures("broken")
def test_a_broken_machine_exits_one_and_says_what_to_do():
    told = doctor()
    assert told.exit_code == 1
    assert "fits v0 = -355.7 m/s to a straight path at 10 m/s" in told.stdout
    assert "OPENBLAS_CORETYPE=Haswell" in told.stdout
    assert "install threadpoolctl" in told.stdout
    assert told.stdout.rstrip().endswith("broken")


@pytest.mark.usefixtures("broken")
def test_a_broken_machine_is_broken_in_json_too():
    told = doctor("--json")
    assert told.exit_code == 1
    assert json.loads(told.stdout)["verdict"] == "broken"


def test_another_interpreter_is_examined():
    told = doctor("--python", sys.executable, "--json")
    assert told.exit_code == 0
    assert json.loads(told.stdout)["examination"]["interpreter"] == sys.executable


# --------------------------------------------------------------- --pin


def test_pins_are_lines_a_shell_evaluates():
    told = doctor("--pin", "haswell")
    assert told.exit_code == 0
    lines = told.stdout.splitlines()
    assert lines[0] == "export OPENBLAS_CORETYPE=Haswell"
    assert all(line.startswith("export ") for line in lines)
    script = f'{told.stdout}\nprintf "%s" "$OPENBLAS_CORETYPE"'
    shell = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert shell.stdout == "Haswell"


def test_pins_come_as_json():
    environment = json.loads(doctor("--pin", "zen", "--json").stdout)["environment"]
    assert environment["OPENBLAS_CORETYPE"] == "Zen"
    assert "NPY_DISABLE_CPU_FEATURES" in environment


SHOW = "import os; print(os.environ['OPENBLAS_CORETYPE']); raise SystemExit(7)"


def test_a_command_runs_pinned_and_keeps_its_exit_code():
    run = navaudit("doctor", "--pin", "haswell", "--", sys.executable, "-c", SHOW)
    assert (run.stdout, run.returncode) == ("Haswell\n", 7)


def test_a_script_is_examined_by_the_interpreter_it_names(tmp_path: Path):
    script = tmp_path / "script"
    script.write_text(f"#!{sys.executable}\n{SHOW}\n")
    script.chmod(0o755)
    run = navaudit("doctor", "--pin", "haswell", str(script), "--json")
    assert (run.stdout, run.returncode) == ("Haswell\n", 7)


def test_a_command_of_the_shell_runs_pinned_too():
    run = navaudit("doctor", "--pin", "prescott", "--", "sh", "-c", 'echo "$OPENBLAS_CORETYPE"')
    assert (run.stdout, run.returncode) == ("Prescott\n", 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--pin", "avx2"], "sapphirerapids"),
        (["--pin", "haswell", "--", "no-such-command"], "no such command"),
        (["--pin", "haswell", "--json", "--", "ls"], "--json has nothing to print"),
        (["--python", "no-such-python"], "no such interpreter"),
        (["--", "ls"], "add --pin"),
        (["--jsno"], "No such option"),
    ],
)
def test_wrong_use_exits_two_with_one_message(words, said):
    run = navaudit("doctor", *words)
    assert run.returncode == 2
    assert said in run.stdout + run.stderr
    assert "Traceback" not in run.stderr
