"""``navaudit demo``: everything that exists, end to end, on a synthetic town."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn
from rich.table import Table

from navaudit import provenance
from navaudit.demo import RECORD, Settings, Step, run


@click.command()
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("navaudit-demo"),
    show_default=True,
    help="Where everything is written.",
)
@click.option("--scenes", type=int, default=Settings.scenes, show_default=True)
@click.option("--seed", type=int, default=Settings.seed, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def demo(folder: Path, scenes: int, seed: int, as_json: bool) -> None:
    r"""Run everything that exists on a synthetic town.

    A run that is cut short goes on where it stopped.

    \b
    Example:
      navaudit demo --out navaudit-demo
    """
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        teller = _Teller(console, progress)
        facts = run(folder, Settings(scenes, seed), teller.begin, teller.say)
    if as_json:
        click.echo(json.dumps({"steps": facts, "provenance": provenance.here()}))
    else:
        _print(folder, facts)


class _Teller:
    """Says what is being done: a moving bar on a terminal, plain lines elsewhere."""

    def __init__(self, console: Console, progress: Progress) -> None:
        self.console = console
        self.progress = progress
        self.bar = progress.add_task("", total=None)

    def begin(self, step: Step, facts: dict[str, Any] | None) -> None:
        """Announce a step."""
        text = step.tells if facts is None else f"{step.tells}: done before"
        if self.progress.disable:
            self.console.print(f"{step.name}: {text}", highlight=False)
        self.progress.update(self.bar, description=text, completed=0, total=None)

    def say(self, what: str, done: int, total: int) -> None:
        """Move the bar."""
        self.progress.update(self.bar, description=what, completed=done, total=total)


def _print(folder: Path, facts: dict[str, dict[str, Any]]) -> None:
    table = Table("step", "what came of it", "s", box=None, pad_edge=False)
    for name, told in facts.items():
        said = ", ".join(
            f"{key.replace('_', ' ')} {_short(value)}"
            for key, value in told.items()
            if key != "seconds" and not isinstance(value, (dict, list))
        )
        table.add_row(name, said, f"{told['seconds']:g}")
    Console().print(table)
    click.echo(f"everything is in {folder}; the facts are in {folder / RECORD}")


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    text = str(value)
    return text[:12] + "…" if len(text) > 40 else text
