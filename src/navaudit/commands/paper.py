"""``navaudit paper``: the paper's named numbers beside ours."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Final

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from navaudit import provenance
from navaudit.report.numbers import gather
from navaudit.report.paper import (
    DIFFERENT,
    NOT_MEASURED,
    REPRODUCED,
    Standing,
    stand,
    tally,
    wanting,
)
from navaudit.report.standings import write_standings

_DIFFERENCES: Final = 1
_COLOURS: Final = {REPRODUCED: "green", DIFFERENT: "red", NOT_MEASURED: "dim"}


@click.command()
@click.argument("numbers", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", type=click.Path(path_type=Path), metavar="DIR", help="Write paper.csv and numbers.tex."
)
@click.option("--all", "everything", is_flag=True, help="Show what was not measured here, too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def paper(numbers: tuple[Path, ...], out: Path | None, everything: bool, as_json: bool) -> None:
    r"""Set the paper's 933 named numbers beside those of NUMBERS, tables or folders that hold one.

    A number counts where it was measured on the paper's own data. Exits 1 where one differs.

    \b
    Example: navaudit paper audit/numbers.json probe/numbers.json --out paper
    """
    ours = gather(numbers)
    standings = stand(ours)
    if out is not None:
        write_standings(out, ours, standings)
    if as_json:
        told = [asdict(one) for one in standings]
        record = {"tally": tally(standings), "numbers": told, "provenance": provenance.here()}
        click.echo(json.dumps(record))
    else:
        _print([one for one in standings if everything or one.standing != NOT_MEASURED])
        click.echo(", ".join(f"{n} {name}" for name, n in tally(standings).items()))
        for need, n in wanting(standings).items():
            click.echo(f"  {n} by {need.command}: needs {need.data}")
    if tally(standings)[DIFFERENT]:
        sys.exit(_DIFFERENCES)


def _print(standings: list[Standing]) -> None:
    if not standings:
        return
    table = Table("name", "paper", "ours", "standing", "why", box=SIMPLE)
    for one in standings:
        colour = _COLOURS[one.standing]
        cells = (one.name, one.paper, one.ours or "", f"[{colour}]{one.standing}[/]", one.why)
        table.add_row(*cells)
    Console().print(table)
