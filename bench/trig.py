"""What an angle costs: ``python -m bench.trig``, nanoseconds a call beside the C library's.

Each kernel runs in a compiled loop over points it has seen before, one thread. The best of many
short runs counts, since every disturbance only adds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Final

import numpy as np
from bench.figures import Figure, run
from numba import njit

from navaudit.numerics import trig

POINTS: Final = 2_000
RUNS: Final = 400


@njit
def library_sincos(angle_rad: float) -> tuple[float, float]:
    return math.sin(angle_rad), math.cos(angle_rad)


@njit
def library_wrap_to_pi(angle_rad: float) -> float:
    return (angle_rad + math.pi) % (2.0 * math.pi) - math.pi


@njit
def library_wrap_by_atan2(angle_rad: float) -> float:
    return math.atan2(math.sin(angle_rad), math.cos(angle_rad))


library = {
    "sin": math.sin,
    "cos": math.cos,
    "sincos": library_sincos,
    "tan": math.tan,
    "acos": math.acos,
    "wrap_to_pi": library_wrap_to_pi,
    "wrap_by_atan2": library_wrap_by_atan2,
    "atan2": math.atan2,
    "hypot": math.hypot,
}


def loop_over(kernel: Callable[..., object], name: str) -> Callable[..., float]:
    """Compile a loop that uses every result, so that none is optimized away."""
    if name == "sincos":

        @njit
        def loop(y: np.ndarray, x: np.ndarray) -> float:
            total = 0.0
            for i in range(y.size):
                sine, cosine = kernel(y[i])
                total += sine + cosine
            return total

    elif name in {"atan2", "hypot"}:

        @njit
        def loop(y: np.ndarray, x: np.ndarray) -> float:
            total = 0.0
            for i in range(y.size):
                total += kernel(y[i], x[i])
            return total

    else:

        @njit
        def loop(y: np.ndarray, x: np.ndarray) -> float:
            total = 0.0
            for i in range(y.size):
                total += kernel(y[i])
            return total

    return loop


def nanoseconds(kernel: Callable[..., object], name: str) -> float:
    """Measure one call, of a heading's size, or of a cosine, or of a point of the world."""
    rng = np.random.default_rng(0)
    limit = {"acos": 1.0, "atan2": 1e3, "hypot": 1e3}.get(name, 4.0)
    y, x = rng.uniform(-limit, limit, (2, POINTS))
    loop = loop_over(kernel, name)
    loop(y, x)
    best = math.inf
    for _ in range(RUNS):
        start = time.perf_counter_ns()
        loop(y, x)
        best = min(best, time.perf_counter_ns() - start)
    return best / POINTS


def trig_cost() -> Figure:
    """Every kernel against the C library's, in the same loop."""
    rows = tuple(
        {
            "function": name,
            "ns": nanoseconds(getattr(trig, name), name),
            "library ns": nanoseconds(other, name),
        }
        for name, other in library.items()
    )
    sincos = next(row["ns"] for row in rows if row["function"] == "sincos")
    return Figure("trig_cost", "nanoseconds for sincos", sincos, f"{POINTS} random points", rows)


FIGURES: Final = (trig_cost,)


if __name__ == "__main__":
    run(__doc__, FIGURES)
