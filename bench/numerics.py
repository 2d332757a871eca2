"""Figures of the numerics: ``python -m bench.numerics [--json] [--only NAME]``.

The closed forms of the profile fits against the stock pseudoinverse, on the published vocabularies
where they are at hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from bench.figures import Figure, cpu_seconds, run
from threadpoolctl import threadpool_limits

from navaudit.numerics.agreement import tabulate_gaps
from navaudit.numerics.profiles import fit

DATA = Path(__file__).parents[2] / "shared" / "data"
CANDIDATES: Final = 16_384


def paths(vocabulary: str, count: int) -> tuple[np.ndarray, str]:
    """Candidate paths ``[candidate, step, 3]``, published or else random, and what they are."""
    published = DATA / vocabulary
    if published.exists():
        candidates = np.load(published).astype(np.float64)
        start = np.zeros((len(candidates), 1, 3))
        return np.concatenate((start, candidates), axis=1), vocabulary
    rng = np.random.default_rng(0)
    speed = rng.uniform(-1, 15, (count, 1)) + rng.normal(0, 0.1, (count, 41)).cumsum(axis=1)
    heading = rng.normal(0, 0.01, (count, 41)).cumsum(axis=1)
    moves = 0.1 * np.maximum(speed, 0.0) * np.stack((np.cos(heading), np.sin(heading)))
    return np.stack((*moves.cumsum(axis=-1), heading), axis=-1), f"{count} random drives"


def profile_fits() -> Figure:
    """Closed form against the stock pseudoinverse, one thread each, in turns."""
    poses, source = paths("vocabulary_16384_estimated.npy", CANDIDATES)
    fit(poses[:2])  # compiled, or read from the compiler's cache, before the clock starts
    closed, stock = [], []
    with threadpool_limits(1):
        for _ in range(2):
            closed += [cpu_seconds(lambda: fit(poses)) for _ in range(5)]
            stock.append(cpu_seconds(lambda: fit(poses, "pinv")))
    best = {"closed": min(closed), "pinv": min(stock)}
    rows = tuple(
        {"solver": solver, "seconds": took, "candidates/s": round(len(poses) / took)}
        for solver, took in best.items()
    )
    ratio = best["pinv"] / best["closed"]
    return Figure("profile_fits", "pinv takes this many times longer", ratio, source, rows)


def profile_gaps() -> Figure:
    """Where closed form and pseudoinverse part, by the greatest speed of the path."""
    poses, source = paths("vocabulary_8192.npy", CANDIDATES // 2)
    gaps = tabulate_gaps(poses, "pinv")
    worst = max(gap.curvature_per_m for gap in gaps if gap.moving)
    rows = tuple(
        {
            "from m/s": gap.from_mps,
            "below m/s": gap.below_mps if np.isfinite(gap.below_mps) else None,
            "candidates": gap.candidates,
            "gap m/s": gap.speed_mps,
            "gap 1/m": gap.curvature_per_m,
            "gap rad/s": gap.turn_rate_radps,
            "peak 1/m": gap.greatest_curvature_per_m,
        }
        for gap in gaps
    )
    return Figure("profile_gaps", "greatest curvature gap where it moves", worst, source, rows)


FIGURES: Final = (profile_fits, profile_gaps)


if __name__ == "__main__":
    run(__doc__, FIGURES)
