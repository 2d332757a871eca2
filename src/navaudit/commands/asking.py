"""How a command asks every scene of a set, and what it tells of scenes that could not answer."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click

from navaudit import provenance
from navaudit.report.tabled import Results, flat, write_results
from navaudit.scene.logfile import Failure

_FAILED: Final = 1
_NAMED: Final = 10
"""How many failures are printed."""


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


@contextmanager
def folder_or_none(out: Path | None) -> Iterator[Path]:
    """Give the folder asked for, or one that is gone when the block ends."""
    if out is not None:
        yield out
        return
    with tempfile.TemporaryDirectory(prefix="navaudit-") as folder:
        yield Path(folder)


def tell(
    results: Results, out: Path | None, as_json: bool, failures: Sequence[Failure] = ()
) -> None:
    """Write results where asked to, print them, and exit 1 where scenes failed."""
    numbers = flat(results.findings) if out is None else write_results(out, results)
    if as_json:
        told = {
            "folder": None if out is None else str(out),
            "inputs": dict(results.inputs),
            "numbers": numbers,
            "failures": [
                {"token": one.token, "log": one.log, "reason": one.reason} for one in failures
            ],
            "provenance": provenance.here(),
        }
        click.echo(json.dumps(told))
    else:
        _print(results, out)
    for one in failures[:_NAMED]:
        click.echo(f"failed: {one}", err=True)
    if len(failures) > _NAMED:
        click.echo(f"and {len(failures) - _NAMED} more failures", err=True)
    if failures:
        sys.exit(_FAILED)


def _print(results: Results, out: Path | None) -> None:
    for sentence in results.said:
        click.echo(sentence)
    for table in results.tables:
        click.echo(f"\n{table.markdown()}", nl=False)
    if out is not None:
        click.echo(f"\n{out / results.page}.md")
