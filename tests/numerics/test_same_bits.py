"""One digest for every processor: the kernels, SIMD paths and threads at hand change no bit."""

from __future__ import annotations

import platform as sys_platform
import subprocess
import sys
from pathlib import Path

import pytest

from navaudit.numerics import platform

SCRIPT = Path(__file__).with_name("bits.py")
CPUINFO = Path("/proc/cpuinfo")

DIGEST = "c36a1bd62acb3745c25f6687bbc3db7b17f8846f93d98d7ad5cb824298234736"
"""The digest every machine must print; it changes when trigonometry or profiles do, never else."""

# two spellings each: glibc renamed its switches, and passes over those it does not know
LESS_GLIBC = "glibc.cpu.hwcaps=-AVX2_Usable,-FMA_Usable,-AVX512F_Usable,-AVX2,-FMA,-AVX512F"


def digest(what: str, **settings: str) -> str:
    assignments = [f"{name}={value}" for name, value in settings.items()]
    run = subprocess.run(
        ["env", *assignments, sys.executable, str(SCRIPT), what],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    return run.stdout.strip()


@pytest.mark.parametrize("kernel", ["Haswell", "SkylakeX", "Prescott"])
def test_the_blas_kernel_changes_nothing(kernel):
    assert digest("1", OPENBLAS_CORETYPE=kernel) == DIGEST


def test_numpy_without_avx512_changes_nothing():
    pins = platform.pins("haswell", platform.examine().simd_running)
    assert digest("1", **pins) == DIGEST


def test_the_mathematical_library_changes_nothing():
    assert digest("1", GLIBC_TUNABLES=LESS_GLIBC) == DIGEST


@pytest.mark.parametrize("threads", ["1", "2"])
def test_threads_change_nothing(threads):
    assert digest(threads, NUMBA_NUM_THREADS=threads) == DIGEST


@pytest.mark.slow
def test_the_compiler_target_changes_nothing(tmp_path):
    generic = digest("1", NUMBA_CPU_NAME="generic", NUMBA_CACHE_DIR=str(tmp_path))
    assert generic == DIGEST


def test_the_blas_kernel_has_teeth():
    libraries = platform.examine().blas or ()
    if not any("openblas" in one.library for one in libraries):
        pytest.skip("NumPy does not compute through OpenBLAS here")
    kernels = [digest("lapack", OPENBLAS_CORETYPE=one) for one in ("Haswell", "Prescott")]
    assert len(set(kernels)) == 2


def test_numpy_without_avx512_has_teeth():
    pins = platform.pins("haswell", platform.examine().simd_running)
    if not pins["NPY_DISABLE_CPU_FEATURES"]:
        pytest.skip("NumPy takes no AVX-512 path here")
    assert digest("simd", **pins) != digest("simd", NPY_DISABLE_CPU_FEATURES="")


def test_the_mathematical_library_has_teeth():
    if "glibc" not in sys_platform.libc_ver() or " fma" not in CPUINFO.read_text():
        pytest.skip("this C library has no fused products to go without")
    assert digest("libm", GLIBC_TUNABLES=LESS_GLIBC) != digest("libm", GLIBC_TUNABLES="")
