"""``navaudit evaluate``: planned trajectories and scenes into a run and its result files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, Final, get_args

import click

from navaudit.commands.telling import telling
from navaudit.evaluate.epdms import EC, EPDMS, SWITCHES
from navaudit.evaluate.evaluate import Evaluation
from navaudit.evaluate.evaluate import evaluate as evaluate_plans
from navaudit.evaluate.plans import read_planned
from navaudit.evaluate.results import means
from navaudit.evaluate.run import Run
from navaudit.numerics.profiles import Solver
from navaudit.scene.store import SceneSet
from navaudit.score.score import Ddc, Settings

_FAILED: Final = 1
_NAMED: Final = 10
"""How many failures are printed; ``run.json`` has them all."""

_PATH: Final = click.Path(path_type=Path)


@click.command()
@click.argument("predictions", type=_PATH)
@click.argument("scenes", type=_PATH)
@click.option("--out", required=True, type=_PATH, metavar="RUN", help="Folder of the run.")
@click.option(
    "--ddc",
    type=click.Choice(get_args(Ddc)),
    default="v2.1",
    show_default=True,
    help="Body of driving direction; v2.1 spares intersections, as evaluation does.",
)
@click.option("--solver", type=click.Choice(get_args(Solver)), default="closed", show_default=True)
@click.option("--overlap", is_flag=True, help="Leave out what lacks a plan or a scene.")
@click.option("--workers", type=click.IntRange(1), help="Processes.  [one per processor]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def evaluate(
    predictions: Path,
    scenes: Path,
    out: Path,
    ddc: Ddc,
    solver: Solver,
    overlap: bool,
    workers: int | None,
    as_json: bool,
) -> None:
    r"""Score the plans in PREDICTIONS on SCENES: one stage, traffic that does not react.

    PREDICTIONS is a prediction file of GTRS, a submission, or a .npz of poses by token; SCENES a
    scene set. RUN then holds the scores and three NAVSIM result files: off.csv without forgiveness,
    on.csv with it, and pre-fix.csv, forgiven components beside the aggregate of unforgiven ones.
    Run it again to go on where it was stopped. Exits 1 where a token could not be scored: its row
    is empty, and run.json says why.

    \b
    Examples:
      navaudit evaluate predictions.pkl navtest --out runs/A0
      navaudit evaluate plans.npz navtest --overlap --json --out runs/mine
    """
    settings = Settings(ddc=ddc, progress_rule="batch", solver=solver)
    job = Evaluation(read_planned(predictions), SceneSet.open(scenes), settings, overlap)
    with telling("logs") as say:
        count = workers or len(os.sched_getaffinity(0))
        made = evaluate_plans(out, job, workers=count, say=say)
    if as_json:
        click.echo(json.dumps(_record(made, out)))
    else:
        _print(made, out)
    if made.failures:
        sys.exit(_FAILED)


def _means(made: Run) -> dict[str, dict[str, float | None]]:
    """Mean extended score and comfort under each switch, None where no token has one."""
    table = {switch: means(made.score(switch)) for switch in SWITCHES}
    return {
        switch: {
            name: None if row[metric] != row[metric] else float(row[metric])
            for name, metric in (("score", EPDMS), ("two_frame_extended_comfort", EC))
        }
        for switch, row in table.items()
    }


def _record(made: Run, out: Path) -> dict[str, Any]:
    return {
        "folder": str(out),
        "tokens": len(made),
        "scored": int(made.valid.sum()),
        "comfort": int((made.comfort == made.comfort).sum()),
        "means": _means(made),
        "digest": made.digest(),
        "failures": [
            {"token": one.token, "log": one.log, "reason": one.reason} for one in made.failures
        ],
        "settings": made.settings,
        "sources": made.sources,
        "provenance": made.provenance,
    }


def _print(made: Run, out: Path) -> None:
    click.echo(f"{out}: {int(made.valid.sum())} of {len(made)} tokens scored")
    for switch, row in _means(made).items():
        said = "---" if row["score"] is None else f"{100 * row['score']:.3f}"
        click.echo(f"EPDMS {switch}: {said}")
    for reason, tokens in made.sources["left out"].items():
        click.echo(f"left out, {reason}: {len(tokens)}, first {tokens[0]}", err=True)
    for one in made.failures[:_NAMED]:
        click.echo(f"failed: {one}", err=True)
    more = len(made.failures) - _NAMED
    if more > 0:
        click.echo(f"and {more} more failures, all in {out / 'run.json'}", err=True)
