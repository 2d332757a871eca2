"""What tests of several rooms need: which examples are drawn, and the NumPy that fell ill."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# who only wants to know whether all is well gets the same examples everywhere;
# who looks for trouble asks for new ones: pytest --hypothesis-profile explore
settings.register_profile("steady", derandomize=True)
settings.register_profile("explore", derandomize=False)
settings.load_profile("steady")

SICK_NUMPY = "1.23.4"  # the version the benchmark asks for, with OpenBLAS 0.3.20


@pytest.fixture(scope="session")
def sick_interpreter(request) -> str:
    """A Python of its own with the NumPy the benchmark asks for, kept between runs."""
    cpuinfo = Path("/proc/cpuinfo")
    if not cpuinfo.exists() or "avx512_bf16" not in cpuinfo.read_text():
        pytest.skip("this processor has no AVX-512 BF16, so it cannot run the Cooperlake kernel")
    kept = request.config.cache.mkdir(f"numpy-{SICK_NUMPY}-python-{sys.version_info[1]}")
    ready, making = kept / "ready", kept / f"making-{os.getpid()}"
    if not ready.exists():
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", making], check=True)
        _install(making / "bin" / "python", f"numpy=={SICK_NUMPY}", "threadpoolctl")
        try:
            making.rename(ready)
        except OSError:  # another run was faster
            shutil.rmtree(making)
    return str(ready / "bin" / "python")


def _install(interpreter: Path, *packages: str) -> None:
    pip = [sys.executable, "-m", "pip", "--python", str(interpreter), "install", "--quiet"]
    how = ["--retries", "1", "--only-binary", ":all:", "--no-deps"]
    run = subprocess.run([*pip, *how, *packages], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        shutil.rmtree(interpreter.parents[1])
        why = (run.stderr.strip().splitlines() or ["no reason given"])[-1]
        pytest.skip(f"cannot install {' '.join(packages)} here: {why}")
