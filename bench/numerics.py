"""Figures of the numerics: ``python -m bench.numerics [--json] [--only NAME]``.

One function a figure. It takes nothing, measures everything it compares side by side in this run,
and returns a `Figure`; adding one means writing the function and naming it in ``FIGURES``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from navaudit import provenance
from navaudit.numerics.agreement import tabulate_gaps
from navaudit.numerics.profiles import fit

DATA = Path(__file__).parents[2] / "shared" / "data"
CANDIDATES: Final = 16_384


@dataclass(frozen=True)
class Figure:
    """A table of measured rows, and the one number a reader takes from it."""

    name: str
    headline: str
    value: float
    input: str
    rows: tuple[dict[str, Any], ...]


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


def cpu_seconds(work: Callable[[], object]) -> float:
    """Processor time of one call in this process, which other processes hardly disturb."""
    start = time.process_time()
    work()
    return time.process_time() - start


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


def show(figure: Figure, console: Console) -> None:
    """Print one figure's headline and its rows."""
    console.print(f"{figure.name}, {figure.input}: {figure.headline}: {figure.value:.4g}")
    table = Table(*figure.rows[0], box=SIMPLE)
    for row in figure.rows:
        table.add_row(
            *(f"{one:.3g}" if isinstance(one, float) else str(one) for one in row.values())
        )
    console.print(table)


def main() -> None:
    """Measure, and print tables or one JSON object."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", choices=[one.__name__ for one in FIGURES], action="append")
    asked = parser.parse_args()
    measured = [one() for one in FIGURES if not asked.only or one.__name__ in asked.only]
    if asked.json:
        figures = {one.name: asdict(one) for one in measured}
        print(json.dumps({"figures": figures, "provenance": provenance.here()}, allow_nan=False))
        return
    for one in measured:
        show(one, Console())


if __name__ == "__main__":
    main()
