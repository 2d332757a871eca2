"""``navaudit demo``: the whole study, end to end, on a synthetic town."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
from rich.table import Table
from rich.text import Text

from navaudit import provenance
from navaudit.demo.course import LEFT_OUT, RECORD, STEPS, run
from navaudit.demo.step import Settings, Step

_BESIDE: Final = ("seconds", LEFT_OUT)
_LONG: Final = 40
"""Characters from which a fact is cut short."""


@click.command()
@click.option(
    "--out",
    "folder",
    type=click.Path(path_type=Path),
    default=Path("navaudit-demo"),
    show_default=True,
    help="Where everything is written.",
)
@click.option("--scenes", type=click.IntRange(1), help="How many.  [96; 16 if quick]")
@click.option("--seed", type=int, default=Settings.seed, show_default=True)
@click.option(
    "--quick",
    is_flag=True,
    help="In far less time: few candidates, and agents that learn next to nothing.",
)
@click.option("--workers", type=click.IntRange(1), help="Processes.  [one per processor]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def demo(
    folder: Path,
    scenes: int | None,
    seed: int,
    quick: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    r"""Run the whole study on a synthetic town: labels, audit, agents, and one page of it all.

    It tells what it is doing, how long that may take, and where things are; DIR/report/index.html
    is the page. A run that is cut short goes on where it stopped. Agents take torch: without it
    their steps are left out, and told of. The digest that is printed at the end is over all
    numbers that follow from the settings alone; it is the same on every machine.

    \b
    Examples:
      navaudit demo --out navaudit-demo
      navaudit demo --quick --out navaudit-demo
    """
    settings = (
        Settings.quick(scenes or 16, seed) if quick else Settings(scenes or Settings.scenes, seed)
    )
    console = Console(stderr=True)
    with moving_bar(console) as progress:
        teller = Teller(folder, console, progress)
        facts = run(folder, settings, teller, workers or len(os.sched_getaffinity(0)))
    if as_json:
        click.echo(json.dumps({"steps": facts, "provenance": provenance.here()}))
    else:
        _print(folder, facts)


def moving_bar(console: Console) -> Progress:
    """Return a bar that fits a narrow terminal, and is silent where there is no terminal."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20),
               TextColumn("{task.fields[count]}"), _TimeLeft())  # fmt: skip
    return Progress(*columns, console=console, disable=not console.is_terminal, transient=True)


class _TimeLeft(ProgressColumn):
    """How long all may take yet, which goes down also while a step has nothing to tell."""

    def render(self, task: Task) -> Text:
        """Return it in words."""
        return Text(_left(max(task.fields["until"] - time.monotonic(), 0.0)))


class Teller:
    """Says what is being done: in lines that stay, and a moving bar below them on a terminal."""

    def __init__(self, folder: Path, console: Console, progress: Progress) -> None:
        self.folder, self.console, self.progress = folder, console, progress
        self.bar = progress.add_task("", total=None, count="", until=0.0)

    def begins(self, at: int, step: Step, facts: dict[str, Any] | None, left_s: float) -> None:
        """Announce a step: which it is of how many, what it does, how long all may take yet."""
        what = f"[{at + 1}/{len(STEPS)}] {step.name}: {step.tells}"
        if facts is not None:
            self._say(f"{what}: done before")
            return
        where = f" -> {self.folder / step.leaves[0]}" if step.leaves else ""
        # a moving bar keeps telling what is left; a line can only tell once
        left = f" ({_left(left_s)})" if self.progress.disable else ""
        self._say(f"{what}{where}{left}")
        until = time.monotonic() + left_s
        self.progress.update(
            self.bar, description=step.name, completed=0, total=None, count="", until=until
        )

    def says(self, what: str, done: int, total: int) -> None:
        """Move the bar."""
        self.progress.update(self.bar, completed=done, total=total, count=f"{done}/{total}")

    def ends(self, step: Step, facts: dict[str, Any]) -> None:
        """Say what came of a step."""
        told = f"left out: {facts[LEFT_OUT]}" if LEFT_OUT in facts else _told(facts)
        took = f" in {facts['seconds']:g} s" if "seconds" in facts else ""
        self._say(f"  {step.name}{took}: {told}")

    def _say(self, line: str) -> None:
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)


def _left(seconds: float) -> str:
    return f"{_span(seconds)} left in all"


def _span(seconds: float) -> str:
    if seconds < 50.0:
        return f"about {max(10 * round(seconds / 10), 5)} s"
    minutes = seconds / 60.0
    return f"about {max(round(minutes), 1)} min"


def _told(facts: dict[str, Any]) -> str:
    return ", ".join(
        f"{key.replace('_', ' ')} {_short(value)}"
        for key, value in facts.items()
        if key not in _BESIDE and not isinstance(value, (dict, list))
    )


def _print(folder: Path, facts: dict[str, dict[str, Any]]) -> None:
    table = Table("step", "what came of it", "s", box=None, pad_edge=False)
    for name, told in facts.items():
        if LEFT_OUT in told:
            table.add_row(name, f"left out: {told[LEFT_OUT]}", "")
        else:
            table.add_row(name, _told(told), f"{told['seconds']:g}")
    Console().print(table)
    audit, page = facts["audit"], facts["report"]
    took_s = sum(one["seconds"] for one in facts.values() if "seconds" in one)
    click.echo(
        f"Forgiveness fired on {audit['P1_count']} of {facts['scenes']['scenes']} scenes; on "
        f"{audit['headline_count']} it erased a distinction that the training loss reads."
    )
    click.echo(f"All steps together took {took_s / 60.0:.1f} min.")
    click.echo(f"digest of the numbers that all machines share: {page['digest']}")
    click.echo(f"everything is in {folder}; the facts are in {folder / RECORD}")
    click.echo(f"open {folder / page['page']}")


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    text = str(value)
    return text[:12] + "…" if len(text) > _LONG else text
