"""``navaudit doctor`` as a person or a script meets it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from navaudit.cli import main
from navaudit.numerics import platform


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
    assert "as on every processor" in told.stdout


def test_json_is_one_object_with_everything():
    told = doctor("--json")
    facts = json.loads(told.stdout)
    assert facts["verdict"] == "healthy"
    assert facts["closed_form_digest"] == platform.CLOSED_FORM_DIGEST
    assert facts["examination"]["fits"][0]["call"] == "numpy.linalg.pinv"
    assert facts["provenance"]["code"]


@pytest.fixture(scope="module")
def sick(sick_interpreter) -> list[str]:
    """How a person starts the doctor on the processor that broke the benchmark's own NumPy."""
    start = [sys.executable, "-c", "from navaudit.cli import main; main()", "doctor"]
    return ["env", "OPENBLAS_CORETYPE=Cooperlake", *start, "--python", sick_interpreter]


def test_a_broken_library_exits_one_and_says_what_to_do(sick):
    run = subprocess.run(sick, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "fits v0 = -355.7 m/s to a straight path at 10 m/s" in run.stdout
    assert "the bits of Cooperlake of OpenBLAS 0.3.20" in run.stdout
    assert "OPENBLAS_CORETYPE=Haswell" in run.stdout
    assert "install NumPy 1.24 or newer" in run.stdout
    assert run.stdout.rstrip().endswith("broken")


def test_a_broken_library_is_broken_in_json_too(sick):
    run = subprocess.run([*sick, "--json"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    facts = json.loads(run.stdout)
    assert facts["verdict"] == "broken"
    assert facts["pinv_bits"] == "Cooperlake of OpenBLAS 0.3.20"
    assert facts["closed_form_digest"] == platform.CLOSED_FORM_DIGEST


def test_a_pin_heals_a_broken_library(sick, sick_interpreter):
    doctor_there = [*sick[2:], "--json"]
    pinned = [*sick[:-2], "--pin", "haswell", "--python", sick_interpreter, "--", *doctor_there]
    run = subprocess.run(pinned, capture_output=True, text=True, check=False)
    facts = json.loads(run.stdout)
    assert (facts["verdict"], run.returncode) == ("healthy", 0)
    assert {one["kernel"] for one in facts["examination"]["blas"]} == {"Haswell"}
    assert not [one for one in facts["examination"]["simd_running"] if "AVX512" in one]


def test_a_python_that_cannot_tell_its_libraries_is_told_how(tmp_path):
    numpy = Path(np.__file__).parent
    for folder in (numpy, numpy.with_name("numpy.libs")):
        (tmp_path / folder.name).symlink_to(folder)
    shy = tmp_path / "python"
    shy.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} -S "$@"\n')
    shy.chmod(0o755)
    told = doctor("--python", str(shy))
    assert told.exit_code == 0
    assert "install threadpoolctl" in told.stdout
    assert "scipy" not in told.stdout


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


@pytest.mark.parametrize("first", ["#!/no/such/interpreter", "no interpreter named"])
def test_a_script_that_cannot_be_run_is_told(tmp_path, first):
    script = tmp_path / "script"
    script.write_text(f"{first}\n")
    script.chmod(0o755)
    run = navaudit("doctor", "--pin", "haswell", "--", str(script))
    assert run.returncode == 2
    assert run.stderr.startswith("navaudit: the command cannot be run")
    assert str(script) in run.stderr


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
