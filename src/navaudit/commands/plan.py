"""``navaudit plan``: the trajectory that a checkpoint chooses in every scene."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import click

from navaudit import provenance
from navaudit.agent.planning import make_plans
from navaudit.commands.recorded import job_of, of_recordings
from navaudit.commands.telling import telling

_FAILED: Final = 1
_PATH: Final = click.Path(path_type=Path)


@click.command()
@of_recordings
@click.option("--out", required=True, type=_PATH, metavar="PREDICTIONS", help="Prediction file.")
@click.option(
    "--logits",
    type=_PATH,
    metavar="LOGITS",
    help="Folder to keep the logits in, or to take them from.  [a folder that is removed]",
)
@click.option("--poses-only", is_flag=True, help="Leave the heads out of the file.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def plan(out: Path, logits: Path | None, poses_only: bool, as_json: bool, **recorded: Any) -> None:
    r"""Choose one candidate in every scene, by the released agents' rule.

    PREDICTIONS is a pickle as GTRS writes it, token to trajectory and the logarithms of all heads;
    navaudit evaluate reads it. PREDICTIONS.json beside it says which candidates were chosen, and
    what they follow from. It appears whole when all scenes are done; a run that was stopped
    goes on from its logits. Exits 1 where a scene could not be seen: the file lacks it then.

    \b
    Examples:
      navaudit plan gtrs_dense.ckpt scenes --images sensor_blobs/test --out plans.pkl
      navaudit plan gtrs_dense.ckpt navtest --device cuda --logits logits --out plans.pkl
    """
    job = job_of(**recorded)
    with telling("scenes") as say:
        made = make_plans(out, job, logits=logits, heads=not poses_only, say=say)
    if as_json:
        click.echo(json.dumps({**made.record(), "provenance": provenance.here()}))
    else:
        different = len(set(made.chosen.values()))
        click.echo(f"{out}: {len(made.chosen)} plans, {different} different candidates")
        click.echo(f"sha256 {made.digest}")
    if made.failures:
        click.echo(f"{len(made.failures)} scenes have no plan; run again to try them", err=True)
        sys.exit(_FAILED)
