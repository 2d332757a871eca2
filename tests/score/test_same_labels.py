"""The labels of golden scenes have one digest, to the last bit of float64, on every processor."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from navaudit.numerics import platform

SCRIPT = Path(__file__).with_name("label_bits.py")

DIGEST = "f2b550131a9373e2ba3a867de3cf8e30695a2e4cfc4e3bab41e4f824948629b8"
"""What every machine must print; it changes when a kernel's arithmetic does, never else."""

# glibc renamed its switches, and passes over those it does not know
LESS_GLIBC = "glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX512F_Usable,-AVX2,-FMA,-AVX512F"

ENVIRONMENTS = {
    "haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "skylakex": {"OPENBLAS_CORETYPE": "SkylakeX"},
    "prescott": {"OPENBLAS_CORETYPE": "Prescott"},
    "plain libm": {"GLIBC_TUNABLES": LESS_GLIBC},
}


def digest(threads: int = 1, **settings: str) -> str:
    assignments = [f"{name}={value}" for name, value in settings.items()]
    run = subprocess.run(
        ["env", *assignments, sys.executable, str(SCRIPT), str(threads)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_kernels_and_libraries_change_nothing(name):
    assert digest(**ENVIRONMENTS[name]) == DIGEST


def test_numpy_without_avx512_changes_nothing():
    assert digest(**platform.pins("haswell", platform.examine().simd_running)) == DIGEST


def test_threads_change_nothing():
    assert digest(threads=2) == DIGEST


@pytest.mark.slow
def test_the_compiler_target_changes_nothing(tmp_path):
    assert digest(NUMBA_CPU_NAME="generic", NUMBA_CACHE_DIR=str(tmp_path)) == DIGEST
