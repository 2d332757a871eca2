"""``navaudit export``: a label set as a GTRS pickle."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

import click

from navaudit import provenance
from navaudit.commands.telling import telling
from navaudit.labels.exchange import export_labels
from navaudit.labels.labelset import LabelSet
from navaudit.labels.mapping import Labels
from navaudit.labels.policies import POLICIES
from navaudit.labels.roll import named

_PATH: Final = click.Path(path_type=Path)


@click.command()
@click.argument("labels", metavar="LABELS", type=_PATH)
@click.option("--policy", required=True, type=click.Choice(POLICIES), help="Which labels to write.")
@click.option("--out", required=True, type=_PATH, metavar="PICKLE", help="The file to write.")
@click.option("--mask", type=_PATH, metavar="NPZ", help="Where the policy abstains, by token.")
@click.option("--workers", type=click.IntRange(1), help="Threads.  [one per processor]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def export(
    labels: Path, policy: str, out: Path, mask: Path | None, workers: int | None, as_json: bool
) -> None:
    r"""Write a label set as a GTRS pickle, {token: {column: float16[candidate]}}, in its order.

    raw: as measured. published: the rule of the released labels. masked: NaN where the rule speaks.
    pass-lk: every lane-keeping target passes. path: where the human fails lane keeping, candidates
    are judged against the human's path. All but raw need what the human scores, which imported sets
    lack. PICKLE appears whole or not at all, in the place of what was there.

    \b
    Examples:
      navaudit export labels --policy published --out navtrain_16384.pkl
      navaudit export labels --policy masked --out masked.pkl --mask masked.npz
    """
    label_set = LabelSet.open(labels)
    with telling("tokens") as say:
        digest = export_labels(
            Labels(label_set, policy),
            out,
            mask=mask,
            workers=workers or len(os.sched_getaffinity(0)),
            say=say,
        )
    failed = [one.token for one in label_set.failures if one.token is not None]
    if as_json:
        record = {
            "file": str(out),
            "mask": None if mask is None else str(mask),
            "policy": policy,
            "tokens": len(label_set),
            "candidates": label_set.candidates,
            "bytes": out.stat().st_size,
            "sha256": digest,
            "failed": failed,
            "provenance": {"labels": label_set.digest(), **provenance.here()},
        }
        click.echo(json.dumps(record))
        return
    click.echo(f"{out}: {len(label_set)} tokens, policy {policy}")
    click.echo(f"sha256 {digest}")
    if failed:
        click.echo(f"{len(failed)} scenes have no labels: {named(failed)}", err=True)
