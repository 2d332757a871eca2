"""``navaudit import``: GTRS labels into a label set."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final

import click

from navaudit.commands.telling import telling
from navaudit.errors import BadInput
from navaudit.labels.exchange import Imported, import_labels
from navaudit.labels.gtrs import GtrsLabels
from navaudit.labels.roll import Roll, named, read_roll, roll_of_scenes
from navaudit.scene.filters import read_either
from navaudit.scene.store import SceneSet

_PATH: Final = click.Path(path_type=Path)


@click.command("import")
@click.argument("source", metavar="PICKLE", type=_PATH)
@click.option("--out", required=True, type=_PATH, metavar="LABELS", help="Folder of the label set.")
@click.option("--scenes", type=_PATH, metavar="SCENES", help="Scenes that know logs and times.")
@click.option(
    "--index", type=_PATH, metavar="CSV", help="Or a table: token, log_name, timestamp_us."
)
@click.option(
    "--split", type=_PATH, metavar="YAML", help="Whose tokens must be there, and only they."
)
@click.option("--workers", type=click.IntRange(1), help="Threads.  [one per processor]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def import_(
    source: Path,
    out: Path,
    scenes: Path | None,
    index: Path | None,
    split: Path | None,
    workers: int | None,
    as_json: bool,
) -> None:
    r"""Make a label set of GTRS labels: a pickle, or a folder of <token>/tmp.pkl.

    Values are kept as they stand, under whatever rule they were made; what the human scores is not
    in such files, so the set serves policy raw alone. Tokens come by log and time where --scenes or
    --index tells them, else by token, their logs unknown. Run it again to go on where it was
    stopped.

    \b
    Examples:
      navaudit import navtrain_16384.pkl --out released --index navtrain.csv
      navaudit import navtrain_16384.pkl --out released --split train_test_split/navtrain.yaml
    """
    roll, tokens = _roll(scenes, index), None if split is None else _tokens(split)
    with telling("files" if source.is_dir() else "MB") as say:
        found = GtrsLabels(source, say)
    with telling("tokens") as say:
        made = import_labels(
            found,
            out,
            roll=roll,
            split=tokens,
            workers=workers or len(os.sched_getaffinity(0)),
            say=say,
        )
    if as_json:
        click.echo(json.dumps(_record(made)))
    else:
        _print(made)


def _roll(scenes: Path | None, index: Path | None) -> Roll | None:
    if scenes is not None and index is not None:
        raise click.UsageError("--scenes and --index both tell logs and times: give one of them")
    if scenes is not None:
        return roll_of_scenes(SceneSet.open(scenes))
    return None if index is None else read_roll(index)


def _tokens(split: Path) -> tuple[str, ...]:
    tokens = read_either(split)[0].tokens
    if tokens is None:
        raise BadInput("the split names no tokens", where=str(split), expected="tokens")
    return tokens


def _record(made: Imported) -> dict[str, Any]:
    labels = made.labels
    return {
        "folder": str(labels.folder),
        "tokens": len(labels),
        "logs": len(set(labels.logs) - {""}),
        "candidates": labels.candidates,
        "digest": labels.digest(),
        "unlabelled": list(made.unlabelled),
        "settings": dict(labels.settings),
        "provenance": dict(labels.provenance),
    }


def _print(made: Imported) -> None:
    labels = made.labels
    logs = len(set(labels.logs) - {""})
    of = f"{logs} logs" if logs else "unknown logs"
    click.echo(f"{labels.folder}: {len(labels)} tokens of {of}, {labels.candidates} candidates")
    click.echo(f"digest {labels.digest()}")
    if made.unlabelled:
        click.echo(f"{len(made.unlabelled)} have no labels: {named(made.unlabelled)}", err=True)
