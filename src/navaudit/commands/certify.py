"""``navaudit certify``: two label sets or label files, entry by entry."""

from __future__ import annotations

import json
import os
import sys
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from navaudit.axes import COLUMNS
from navaudit.commands.telling import telling
from navaudit.labels.certificate import Certificate, Side
from navaudit.labels.certify import certify as certify_sides
from navaudit.labels.certify import open_side
from navaudit.labels.policies import POLICIES
from navaudit.report.certified import RESIDUALS, SUMMARY, said, summary, write_certificate

_NOT_THE_SAME: Final = 1
_NAMED: Final = 10
"""Residual tokens that are printed."""
_TOLD: Final = 1000
"""Residual tokens in the JSON object; the file of residuals has them all."""

_PATH: Final = click.Path(path_type=Path)
_POLICY: Final = click.Choice(POLICIES)


@click.command()
@click.argument("a", metavar="A", type=_PATH)
@click.argument("b", metavar="B", type=_PATH)
@click.option("--policy-a", type=_POLICY, default="raw", show_default=True, help="Of a label set.")
@click.option("--policy-b", type=_POLICY, default="raw", show_default=True, help="Of a label set.")
@click.option(
    "--out", type=_PATH, metavar="DIR", help=f"Write numbers.json, {SUMMARY} and {RESIDUALS}."
)
@click.option("--workers", type=click.IntRange(1), help="Threads.  [one per processor]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def certify(
    a: Path,
    b: Path,
    policy_a: str,
    policy_b: str,
    out: Path | None,
    workers: int | None,
    as_json: bool,
) -> None:
    r"""Compare labels token by token and column by column, as the bytes of their float16 values.

    A and B are label sets, GTRS pickles or folders of <token>/tmp.pkl; pickles are taken as they
    stand. A token is equal, a storage tie (pdm_score the same, every entry that differs one float16
    unit apart) or different. Exits 1 unless both have the same labels of the same tokens.

    \b
    Examples:
      navaudit certify labels navtrain_16384.pkl --policy-a published --out certificate
      navaudit certify labels labels --policy-a raw --policy-b published
    """
    sides = [_open(path, policy) for path, policy in ((a, policy_a), (b, policy_b))]
    with telling("tokens") as say:
        found = certify_sides(*sides, workers=workers or len(os.sched_getaffinity(0)), say=say)
    if out is not None:
        write_certificate(out, found)
    if as_json:
        told = list(islice(found.residuals(), _TOLD))
        left_out = found.population - found.equal - len(told)
        click.echo(json.dumps({**summary(found), "residuals": told, "left_out": left_out}))
    else:
        _print(found, out)
    if not found.same:
        sys.exit(_NOT_THE_SAME)


def _open(path: Path, policy: str) -> Side:
    with telling("MB" if path.is_file() else "files") as say:
        return open_side(path, policy, say)


def _print(found: Certificate, out: Path | None) -> None:
    for sentence in said(found):
        click.echo(sentence)
    if found.equal + len(found.only_a) + len(found.only_b) < found.population:
        _print_columns(found)
    for one in islice(found.residuals(), _NAMED):
        click.echo(f"{one['token']}: {one['class']}{_where(one)}", err=True)
    more = found.population - found.equal - _NAMED
    if more > 0:
        all_of_them = f"all in {out / RESIDUALS}" if out else "--out DIR writes all of them"
        click.echo(f"and {more:,} more, {all_of_them}", err=True)


def _print_columns(found: Certificate) -> None:
    table = Table("column", "tokens that differ", "entries that differ", box=SIMPLE)
    columns = found.record()["columns"]
    for name in COLUMNS:
        counts = columns[name]
        if counts["differing_tokens"]:
            table.add_row(name, *(f"{count:,}" for count in counts.values()))
    Console().print(table)


def _where(residual: dict[str, Any]) -> str:
    why = [f"{name} in {told['entries']:,}" for name, told in residual.get("columns", {}).items()]
    why += [residual["reason"]] if "reason" in residual else []
    return f": {', '.join(why)}" if why else ""
