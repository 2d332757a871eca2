"""``navaudit audit``: what forgiveness changed and erased in a label set."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import click

from navaudit import provenance
from navaudit.audit.audit import Audit, audit_labels
from navaudit.audit.sources import Sources
from navaudit.commands.telling import telling
from navaudit.labels.labelset import LabelSet
from navaudit.report.audited import MARKDOWN, write_audit

_PATH: Final = click.Path(path_type=Path)
_SHOWN: Final = ("predicates", "columns")
"""Tables that are printed; the folder has all."""


@click.command()
@click.argument("labels", metavar="LABELS", type=_PATH)
@click.option("--out", required=True, type=_PATH, metavar="DIR", help="Folder of the results.")
@click.option(
    "--published",
    type=_PATH,
    metavar="PUBLISHED",
    help="Label set of what was published.  [what the rule makes of LABELS]",
)
@click.option("--workers", type=click.IntRange(1), help="Processes.  [one per processor]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def audit(
    labels: Path, out: Path, published: Path | None, workers: int | None, as_json: bool
) -> None:
    r"""Count what forgiveness changed and erased: columns, targets, rows, ranking and exposure.

    LABELS are raw labels. A column counts as forgiven where the human scored zero; where no human
    score is known, as after navaudit import, where the two sets differ and PUBLISHED is all ones.
    DIR then holds audit.md, a CSV file for every table, the histogram of lane keeping, and
    numbers.json, whose names are the paper's where the quantity is. Run it again to go on where it
    was stopped. Identities between the counts are checked; exits 1 if one fails.

    \b
    Examples:
      navaudit audit labels --out audited
      navaudit audit regenerated --published imported --out audited
    """
    sources = Sources(LabelSet.open(labels), LabelSet.open(published) if published else None)
    with telling("tokens") as say:
        found = audit_labels(sources, out, workers=workers or len(os.sched_getaffinity(0)), say=say)
    numbers = write_audit(out, found)
    if as_json:
        click.echo(json.dumps(_record(found, out, numbers)))
    else:
        _print(found, out)


def _record(found: Audit, out: Path, numbers: dict[str, str]) -> dict[str, Any]:
    return {
        "folder": str(out),
        "inputs": dict(found.record),
        "numbers": numbers,
        "provenance": provenance.here(),
    }


def _print(found: Audit, out: Path) -> None:
    click.echo(f"{out / MARKDOWN}: {len(found.sheet):,} tokens audited")
    click.echo(f"which columns were forgiven is known from {found.record['forgiven_known_from']}")
    for caution in found.cautions():
        click.echo(caution, err=True)
    for table in found.tables():
        if table.name in _SHOWN:
            click.echo(f"\n{table.markdown()}", nl=False)
