"""Results on disk: a page of tables to read, each of them as CSV, and the numbers.

::

    <page>.md         every table to read
    <table>.csv       one table, unrounded; also those too long to read
    tables.json       their titles, in the order in which a page shows them
    numbers.json      every number by name, and numbers.trace.json where it comes from
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from navaudit.audit.table import Table
from navaudit.findings import Finding
from navaudit.report.numbers import write_numbers
from navaudit.scene.whole import put

TITLES: Final = "tables.json"
"""Titles of the tables of a folder, in order."""


@dataclass(frozen=True)
class Results:
    """What a command found."""

    command: str
    """The command, such as ``navaudit census``."""
    title: str
    said: Sequence[str]
    """Sentences that stand before the tables."""
    tables: Sequence[Table]
    findings: Sequence[Finding]
    inputs: Mapping[str, Any]
    """What the results were made from."""
    long: Sequence[Table] = field(default=())
    """Tables that are not part of the page."""
    lead: str = ""
    """What a report says of it all, in a sentence or two."""

    @property
    def page(self) -> str:
        """Stem of the page: the last word of the command."""
        return self.command.split()[-1]


def write_results(folder: Path, results: Results) -> dict[str, str]:
    """Write everything, the numbers last; return them."""
    write_tables(folder, (*results.tables, *results.long))
    put(folder / f"{results.page}.md", "\n".join(_lines(results)).encode())
    return write_numbers(folder, results.findings, results.command, results.inputs, results.lead)


def write_tables(
    folder: Path, tables: Iterable[Table], others: Mapping[str, str] | None = None
) -> None:
    """Write each table as CSV, and what they are called, in order.

    ``others`` are titles, by name, of tables that somebody else writes into the folder.
    """
    titles = {}
    for table in tables:
        put(folder / f"{table.name}.csv", table.csv().encode())
        titles[table.name] = table.title
    titles |= others or {}
    put(folder / TITLES, (json.dumps(titles, indent=1) + "\n").encode())


def flat(findings: Iterable[Finding]) -> dict[str, str]:
    """Numbers as they are written, by name."""
    return {one.name: one.text for one in findings}


def _lines(results: Results) -> Iterator[str]:
    yield f"# {results.title}\n"
    yield "".join(f"{sentence}\n" for sentence in results.said)
    for table in results.tables:
        yield f"## {table.name.replace('_', ' ')}\n"
        yield table.markdown()
