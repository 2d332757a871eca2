"""How a command tells how far its work is: by a bar on a terminal, and otherwise line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

Say = Callable[[str, int, int], None]
"""Told what happened, how many things are done, and how many there will be."""


@contextmanager
def telling(things: str) -> Iterator[Say]:
    """Give what tells of ``things`` on stderr; what happened is a name, or a sentence to print."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda what, done, total: click.echo(
            f"{done} of {total} {things}{': ' if what else ''}{what}", err=True
        )
        return
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task(things, total=None)

        def say(what: str, done: int, total: int) -> None:
            if " " in what:
                progress.console.print(what, highlight=False, markup=False)
            progress.update(bar, completed=done, total=total)

        yield say
