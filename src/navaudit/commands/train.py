"""``navaudit train``: labels and pictures into checkpoints."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import click

from navaudit import provenance
from navaudit.commands.telling import telling
from navaudit.errors import BadInput
from navaudit.train.loop import Trained
from navaudit.train.loop import train as run
from navaudit.train.recipe import read_recipe
from navaudit.train.targets import ARMS

_PATH = click.Path(path_type=Path)


@click.command()
@click.argument("config", metavar="CONFIG.toml", type=_PATH)
@click.option("--arm", type=click.Choice(list(ARMS)), help="Labels to learn from.")
@click.option("--seed", type=int, help="Order of scenes, draws of candidates, first weights.")
@click.option("--steps", type=int, help="Steps of the optimizer in this run.")
@click.option("--resume", type=_PATH, metavar="CKPT", help="Go on from here.  [OUT/last.ckpt]")
@click.option("--device", metavar="cpu|cuda", help="Where to compute.")
@click.option("--threads", type=click.IntRange(1), help="Of torch, on a processor.")
@click.option(
    "--at", type=_PATH, metavar="DIR", help="What paths in CONFIG are relative to.  [its folder]"
)
@click.option("--out", required=True, type=_PATH, metavar="DIR", help="Folder of the run.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def train(
    config: Path,
    arm: str | None,
    seed: int | None,
    steps: int | None,
    resume: Path | None,
    device: str | None,
    threads: int | None,
    at: Path | None,
    out: Path,
    as_json: bool,
) -> None:
    r"""Train an agent, or continue a checkpoint, under one label policy.

    CONFIG.toml states the experiment: command, cost, what is expected, agent, data, steps. Options
    take the place of its settings, and its paths start from its folder or from --at. Arms of one
    seed see the same scenes and candidates at every step; the log's digest of draws proves it. Run
    it again to go on where it was stopped.

    \b
    Examples:
      navaudit train experiments/town.toml --arm raw --seed 0 --at . --out runs/P0
      navaudit train experiments/gtrs-m-2.toml --at data --device cuda --out runs/M2
    """
    _expect_alone()
    overrides = {"arm": arm, "seed": seed, "steps": steps, "device": device, "threads": threads}
    recipe = read_recipe(config, overrides, at)
    with telling("steps") as say:
        made = run(recipe, out, resume=resume, say=say)
    if as_json:
        click.echo(json.dumps({**_record(made), "provenance": provenance.here()}))
    else:
        click.echo(f"{made.checkpoint}: step {made.step}")
        click.echo(f"draws {made.draws}")


def _record(made: Trained) -> dict[str, Any]:
    return {
        "checkpoint": str(made.checkpoint),
        "step": made.step,
        "draws": made.draws,
        "digest": provenance.digest_file(made.checkpoint),
    }


def _expect_alone() -> None:
    """Refuse to be one of many processes, as launchers of distributed training start them."""
    ranks = os.environ.get("WORLD_SIZE", "1")
    if ranks.isdecimal() and int(ranks) > 1:
        raise BadInput(
            f"the command was started as {ranks} processes",
            where="WORLD_SIZE",
            expected="one process a run: it takes the whole step on one device, part by part",
            remedy="start it without torchrun; give each arm and seed a device of its own: "
            "--device cuda:0, --device cuda:1",
        )
