"""What every figure of the bench is made of: a table of measured rows and one number to take away.

A bench module lists functions in ``FIGURES``. Each takes nothing, measures everything it compares
side by side in one run, and returns a `Figure`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numba
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

from navaudit import provenance
from navaudit.numerics.platform import examine


@dataclass(frozen=True)
class Figure:
    """A table of measured rows, and the one number a reader takes from it."""

    name: str
    headline: str
    value: float
    input: str
    rows: tuple[dict[str, Any], ...]


Measure = Callable[[], Figure]


def cpu_seconds(work: Callable[[], object]) -> float:
    """Processor time of one call in this process, which other processes hardly disturb."""
    start = time.process_time()
    work()
    return time.process_time() - start


def best(work: Callable[[], object], times: int = 5) -> float:
    """Least processor time of some calls, after one that compiles."""
    work()
    return min(cpu_seconds(work) for _ in range(times))


def show(figure: Figure, console: Console) -> None:
    """Print one figure's headline and its rows."""
    console.print(f"{figure.name}, {figure.input}: {figure.headline}: {figure.value:.4g}")
    table = Table(*figure.rows[0], box=SIMPLE)
    for row in figure.rows:
        table.add_row(
            *(f"{one:.3g}" if isinstance(one, float) else str(one) for one in row.values())
        )
    console.print(table)


def report(measured: Sequence[Figure]) -> dict[str, Any]:
    """One JSON object of figures, with what they were measured from."""
    figures = {one.name: asdict(one) for one in measured}
    processor = examine().processor
    return {"figures": figures, "provenance": {**provenance.here(), "processor": processor}}


def run(title: str, figures: Sequence[Measure], every_core: Sequence[Measure] = ()) -> None:
    """Measure what the command line asks for, and print tables or one JSON object."""
    parser = argparse.ArgumentParser(description=title.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", choices=[one.__name__ for one in figures], action="append")
    asked = parser.parse_args()
    chosen = [one for one in figures if not asked.only or one.__name__ in asked.only]
    measured = [take(one, one in every_core) for one in chosen]
    if asked.json:
        print(json.dumps(report(measured), allow_nan=False))
        return
    for one in measured:
        show(one, Console())


def take(measure: Measure, every_core: bool = False) -> Figure:
    """Take one figure, with every library on one thread unless it is about threads."""
    if every_core:
        return measure()
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    with threadpool_limits(1):
        figure = measure()
    numba.set_num_threads(before)
    return figure
