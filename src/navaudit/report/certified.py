"""A certificate on disk: its summary, every residual, and its numbers.

::

    certificate.json   the counts, and what was compared
    residuals.jsonl    every token that is not equal, one JSON object a line
    numbers.json       every number by name, and numbers.trace.json where it comes from
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from navaudit import provenance
from navaudit.audit.table import Table
from navaudit.axes import COLUMNS
from navaudit.labels.certificate import Certificate
from navaudit.report.numbers import write_numbers
from navaudit.report.tabled import write_tables
from navaudit.scene.whole import put, whole_file

SUMMARY: Final = "certificate.json"
RESIDUALS: Final = "residuals.jsonl"


def write_certificate(folder: Path, found: Certificate) -> None:
    """Write the certificate, its residuals, and its numbers last."""
    with whole_file(folder / RESIDUALS) as stream:
        for one in found.residuals():
            stream.write(json.dumps(one).encode() + b"\n")
    put(folder / SUMMARY, (json.dumps(summary(found), indent=1) + "\n").encode())
    write_tables(folder, [_column_table(found)])
    inputs = {"a": found.a.record(), "b": found.b.record()}
    a, b = (f"{one.path.name} under policy {one.policy}" for one in (found.a, found.b))
    lead = f"A is {a}, B {b}. {said(found)[-1]}"
    write_numbers(folder, found.numbers(SUMMARY), "navaudit certify", inputs, lead=lead)


def summary(found: Certificate) -> dict[str, Any]:
    """Give the certificate as one JSON object, and what it was made with."""
    return {**found.record(), "provenance": provenance.here()}


def said(found: Certificate) -> list[str]:
    """Say what was compared and how much of it is the same, a sentence each."""
    return [
        *(
            f"{name}: {side.path}, policy {side.policy}, {len(side.tokens):,} tokens."
            for name, side in (("A", found.a), ("B", found.b))
        ),
        f"{found.equal:,} of {found.population:,} tokens are the same on all nine columns; "
        f"{found.ties:,} storage ties, {found.different:,} different, "
        f"{len(found.only_a):,} only in A, {len(found.only_b):,} only in B.",
    ]


def _column_table(found: Certificate) -> Table:
    columns = found.record()["columns"]
    return Table(
        "certified_columns",
        f"Tokens and entries whose bytes differ, of {found.population:,} tokens.",
        ("column", "tokens that differ", "entries that differ"),
        tuple((name, *columns[name].values()) for name in COLUMNS),
    )
