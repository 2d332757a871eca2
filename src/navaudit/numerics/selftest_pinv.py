"""Does an interpreter's linear algebra work? A script for any Python since 3.8 with NumPy.

It fits two profiles whose answer is known, with the two normal matrices of the benchmark's tracker
and each library call by which its users invert them, and prints one JSON object: the fitted values
and the digest of their bits, the BLAS libraries and kernels that computed them, and the SIMD paths
NumPy takes. It stands alone, so that another environment can be examined without installing
anything there; SciPy and threadpoolctl are asked too where they are present.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this script, whose platform.py would hide Python's own

import hashlib
import json
import math
import platform
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

try:
    from numpy._core import _multiarray_umath as _umath  # type: ignore[attr-defined]
except ImportError:  # before NumPy 2
    from numpy.core import _multiarray_umath as _umath  # type: ignore[no-redef, unused-ignore]
try:
    import scipy.linalg
except ImportError:
    scipy = None
try:
    import threadpoolctl
except ImportError:
    threadpoolctl = None

SPEED_MPS = 10.0
CURVATURE_PER_M = 0.02
MOVES = 40
DT_S = 0.1


def least_squares(matrix: Any, penalty: Any, observed: Any, inverse: Callable[[Any], Any]) -> Any:
    """Regularised least squares as the tracker writes it: inverse of the normal matrix first."""
    normal = np.einsum("ji,jk->ik", matrix, matrix) + penalty
    return np.einsum("ij,j->i", np.einsum("ij,kj->ik", inverse(normal), matrix), observed)


def accumulate(solution: Any) -> Any:
    """Turn a first value and its rates of change into the values they lead through."""
    return solution[0] + np.concatenate(([0.0], np.cumsum(solution[1:] * DT_S)))


def fit_straight_path(inverse: Callable[[Any], Any]) -> Any:
    """Speeds in m/s ``[displacement]`` of a car that goes straight on at 10 m/s."""
    matrix = np.tri(MOVES) * DT_S**2
    matrix[:, 0] = DT_S
    rows = np.zeros((MOVES - 2, MOVES))  # the penalty as it is, not as meant: see profiles.py
    rows[:, 1:-1] = -np.eye(MOVES - 2)
    rows[-1, -1] = 1.0
    ways = np.full(MOVES, SPEED_MPS * DT_S)
    return accumulate(least_squares(matrix, 1e-4 * rows.T @ rows, ways, inverse))


def fit_steady_bend(inverse: Callable[[Any], Any]) -> Any:
    """Curvatures in 1/m ``[displacement]`` of a car that rounds a 50 m bend at 10 m/s."""
    matrix = np.tri(MOVES) * SPEED_MPS * DT_S**2
    matrix[:, 0] = SPEED_MPS * DT_S
    penalty = 1e-2 * np.eye(MOVES)
    penalty[0, 0] = 1e-10
    turns = np.full(MOVES, SPEED_MPS * DT_S * CURVATURE_PER_M)
    return accumulate(least_squares(matrix, penalty, turns, inverse))


def try_inverse(inverse: Callable[[Any], Any]) -> dict[str, float | str | None]:
    """First fitted speed and curvature, how far the worst ones lie off, and the digest of all."""
    try:
        speeds, curvatures = fit_straight_path(inverse), fit_steady_bend(inverse)
    except np.linalg.LinAlgError:  # a broken kernel may also fail to converge
        speeds = curvatures = np.full(MOVES, math.nan)
    found = {
        "first_speed_mps": speeds[0],
        "speed_error_mps": np.abs(speeds - SPEED_MPS).max(),
        "first_curvature_per_m": curvatures[0],
        "curvature_error_per_m": np.abs(curvatures - CURVATURE_PER_M).max(),
    }
    told: dict[str, float | str | None] = {
        name: float(one) if np.isfinite(one) else None for name, one in found.items()
    }
    bits = np.concatenate((speeds, curvatures)).astype("<f8").tobytes()
    return {**told, "digest": hashlib.sha256(bits).hexdigest()}


def inverses() -> dict[str, Callable[[Any], Any]]:
    """Name every way at hand to invert a normal matrix."""
    found: dict[str, Callable[[Any], Any]] = {
        "numpy.linalg.pinv": np.linalg.pinv,
        "numpy.linalg.solve": lambda normal: np.linalg.solve(normal, np.eye(len(normal))),
    }
    if scipy is not None:
        found["scipy.linalg.pinvh"] = scipy.linalg.pinvh
    return found


def loaded_blas() -> list[dict[str, Any]] | None:
    """Name the BLAS libraries this process has loaded; None where nobody can tell."""
    if threadpoolctl is None:
        return None
    libraries = [
        {
            "library": "/".join(Path(pool["filepath"]).parts[-2:]),
            "version": pool.get("version"),
            "kernel": pool.get("architecture"),
            "threads": pool.get("num_threads"),
        }
        for pool in threadpoolctl.threadpool_info()
        if pool.get("user_api") == "blas"
    ]
    return sorted(libraries, key=lambda one: str(one["library"]))


def processor_name() -> str:
    """Name the processor as its maker does, where the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor() or platform.machine()


def examine() -> dict[str, Any]:
    """Fit with every inverse at hand, on one thread if that can be, and say what they ran on."""
    # how many threads share a sum changes its last bits too
    with nullcontext() if threadpoolctl is None else threadpoolctl.threadpool_limits(1):
        fits = {name: try_inverse(inverse) for name, inverse in inverses().items()}
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": None if scipy is None else scipy.__version__,
        "processor": processor_name(),
        "fits": fits,
        "blas": loaded_blas(),
        "simd_baseline": list(_umath.__cpu_baseline__),
        "simd_running": [one for one in _umath.__cpu_dispatch__ if _umath.__cpu_features__[one]],
    }


if __name__ == "__main__":
    json.dump(examine(), sys.stdout, allow_nan=False)
