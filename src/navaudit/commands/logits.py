"""``navaudit logits``: what every head of a checkpoint says of every candidate in every scene."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import click

from navaudit.agent.logit_store import LogitStore
from navaudit.agent.logits import make_logits
from navaudit.axes import HEADS
from navaudit.commands.recorded import job_of, of_recordings
from navaudit.commands.telling import telling

_FAILED: Final = 1


@click.command()
@of_recordings
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    metavar="LOGITS",
    help="Folder of the logits.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def logits(out: Path, as_json: bool, **recorded: Any) -> None:
    r"""Compute the logits of every head for every candidate in every scene.

    CHECKPOINT is a GTRS-Dense or Hydra-MDP checkpoint as released, or one of navaudit train; no
    code in it is run. Pictures and the ego's status are read from the scenes' recordings. LOGITS is
    a Zarr hierarchy, float32 [token, head, candidate]. Run it again to go on where it was stopped;
    other settings are refused. Exits 1 where a scene could not be seen: the ledger says why.

    \b
    Examples:
      navaudit logits gtrs_dense.ckpt scenes --images sensor_blobs/test --out logits
      navaudit logits step.ckpt scenes --images blobs --logs logs --out logits
      navaudit logits gtrs_dense.ckpt navtrain --device cuda --batch 8 --out logits
    """
    job = job_of(**recorded)
    with telling("scenes") as say:
        made = make_logits(out, job, say=say)
    if as_json:
        click.echo(json.dumps(_record(made)))
    else:
        click.echo(
            f"{made.folder}: {len(made)} tokens, {len(HEADS)} heads, {made.candidates:,} candidates"
        )
        click.echo(f"digest {made.digest()}")
    if made.failures:
        click.echo(f"{len(made.failures)} scenes failed; run again to try them again", err=True)
        sys.exit(_FAILED)


def _record(made: LogitStore) -> dict[str, Any]:
    return {
        "folder": str(made.folder),
        "tokens": len(made),
        "heads": list(HEADS),
        "candidates": made.candidates,
        "digest": made.digest(),
        "failures": [
            {"token": one.token, "log": one.log, "reason": one.reason} for one in made.failures
        ],
        "settings": made.settings,
        "provenance": made.provenance,
    }
