"""``navaudit compare``: runs, or result files of anyone's, against each other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from navaudit.commands.telling import telling
from navaudit.evaluate.compare import Comparison
from navaudit.evaluate.compare import compare as compare_pairs
from navaudit.evaluate.contrasts import ALL
from navaudit.evaluate.epdms import EC, EPDMS, SHORT
from navaudit.evaluate.named import findings
from navaudit.evaluate.observed import observed
from navaudit.evaluate.pairs import Pairs, pairs_of_two, read_pairs, source_of
from navaudit.evaluate.written import MARKDOWN, inputs, write
from navaudit.report.forest import write_forest
from navaudit.report.numbers import write_numbers
from navaudit.stats.rounding import interval_text

_PATH: Final = click.Path(path_type=Path)
_SHOWN: Final = (SHORT[EPDMS], SHORT[EC])
"""Metrics whose contrasts are printed; the tables have all."""


@click.command()
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option("--pairs", "pairs_file", type=_PATH, metavar="FILE", help="What minus what.")
@click.option("--out", required=True, type=_PATH, metavar="DIR", help="Folder of the tables.")
@click.option("--human", type=_PATH, metavar="PATH", help="Whose human values make F and R.")
@click.option("--index", type=_PATH, metavar="CSV", help="Token and log_name of every token.")
@click.option("--resamples", type=click.IntRange(1), help="Of the logs.  [10000]")
@click.option("--seed", type=int, help="Of the resampling.  [0]")
@click.option("--leave-out-failed", is_flag=True, help="From all runs, what failed in any.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(
    runs: tuple[str, ...],
    pairs_file: Path | None,
    out: Path,
    leave_out_failed: bool,
    as_json: bool,
    **overrides: Any,
) -> None:
    r"""Compare RUNs token by token, with intervals over resampled logs and verdicts over seeds.

    A RUN is a run of navaudit evaluate or a one-stage NAVSIM result file, PATH or NAME=PATH. FILE,
    TOML or JSON, names arms with their runs by seed and says what is compared with what; without
    it, the second of two RUNs is compared with the first. Runs whose tokens or settings differ are
    refused. DIR then holds compare.md, tables, a forest plot with its data, and numbers.json.

    \b
    A file of pairs:
      pairs = [["P", "A"], ["A0", "released"]]
      [arms]
      A = ["A0", "A1", "A2"]
      P = ["P0", "P1", "P2"]
    --human takes a run, a scene set, a label set, a census, a CSV of humans, or a list of tokens.

    \b
    Examples:
      navaudit compare runs/* --pairs retraining.toml --out compared
      navaudit compare ours=a.csv theirs=b.csv --index navtest_index.csv --out compared
    """
    given = [source_of(run) for run in runs]
    pairs = pairs_of_two(given) if pairs_file is None else read_pairs(pairs_file, given)
    stated = {name: value for name, value in overrides.items() if value is not None}
    pairs = replace(pairs, **stated)
    with telling("things read") as say:
        made = compare_pairs(pairs, leave_out_failed=leave_out_failed, say=say)
    told = write(out, made)
    write_forest(out, made)
    said = "\n".join(observed(made))
    write_numbers(out, findings(made), "navaudit compare", inputs(made), lead=said)
    if as_json:
        click.echo(json.dumps(told))
    else:
        _print(made, out, pairs)


def _print(made: Comparison, out: Path, pairs: Pairs) -> None:
    click.echo(f"{out / MARKDOWN}: {len(made.aligned.runs)} runs, {made.tokens(ALL)} tokens")
    for caution in made.cautions:
        click.echo(caution, err=True)
    letters = {(one.pair, one.measure): one for one in made.judgements if one.population == ALL}
    for one in made.contrasts:
        if one.population != ALL or one.measure.metric not in _SHOWN:
            continue
        judged = letters.get((one.pair, one.measure))
        said = interval_text(one.point, one.low, one.high)
        verdict = "" if judged is None else f"  {judged.verdict.letter}"
        click.echo(f"{one.treated} - {one.control}  {one.measure}  {said}{verdict}")
