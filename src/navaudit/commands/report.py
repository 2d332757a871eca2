"""``navaudit report``: results of other commands into one page."""

from __future__ import annotations

import json
from pathlib import Path

import click

from navaudit import provenance
from navaudit.errors import BadInput
from navaudit.labels.labelset import LabelSet
from navaudit.report.numbers import TRACE, read_numbers
from navaudit.report.report import PAGE, SCENES, Browse, write_report
from navaudit.scene.manifest import MANIFEST
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import read_vocabulary

_FOLDER = click.Path(path_type=Path)


@click.command()
@click.argument("folders", nargs=-1, required=True, type=_FOLDER, metavar="DIR...")
@click.option("--out", required=True, type=_FOLDER, metavar="REPORT", help="Folder of the report.")
@click.option("--vocabulary", type=_FOLDER, metavar="V.npy", help="For the browser of scenes.")
@click.option("--scenes", default=SCENES, show_default=True, help="How many scenes can be browsed.")
@click.option("--title", default="navaudit", show_default=True, help="What the page is called.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def report(
    folders: tuple[Path, ...],
    out: Path,
    vocabulary: Path | None,
    scenes: int,
    title: str,
    as_json: bool,
) -> None:
    r"""Make one page of what other commands wrote: tables, figures, numbers, and scenes to browse.

    DIRs are folders that audit, flips, probe, compare and others wrote, in any order. A scene set,
    its label set and --vocabulary add the browser of scenes. REPORT gets index.html, which needs
    no network, numbers.json with its trace, and numbers.tex.

    \b
    Example: navaudit report audit flips scenes labels --vocabulary 16384.npy --out report
    """
    results = [folder for folder in folders if (folder / TRACE).is_file()]
    browse = _browse([one for one in folders if one not in results], vocabulary, scenes)
    path = write_report(out, results, browse, title, say=_say)
    record = {"page": str(path), "numbers": len(read_numbers(out)), "folders": len(results)}
    if as_json:
        click.echo(json.dumps({**record, "provenance": provenance.here()}))
    else:
        click.echo(f"{path}: {record['numbers']} numbers of {len(results)} folders")


def _browse(folders: list[Path], vocabulary: Path | None, most: int) -> Browse | None:
    """Find the scene set and the label set among folders."""
    scenes = [one for one in folders if (one / MANIFEST).is_file()]
    labels = [one for one in folders if (one / "zarr.json").is_file()]
    strange = [one for one in folders if one not in scenes and one not in labels]
    if strange:
        raise BadInput(
            "this folder holds nothing that a report can show",
            where=str(strange[0]),
            expected=f"results with {TRACE}, a scene set, or a label set",
            remedy="name the folders that were given to other commands as --out",
        )
    if len(scenes) > 1 or len(labels) > 1:
        raise click.UsageError("give one scene set and one label set at most")
    if vocabulary is None or not scenes or not labels:
        if vocabulary is not None or scenes or labels:
            raise click.UsageError(
                f"to browse scenes takes a scene set, a label set and --vocabulary; without all "
                f"three leave them out, and {PAGE} has no browser"
            )
        return None
    return Browse(
        SceneSet.open(scenes[0]), LabelSet.open(labels[0]), read_vocabulary(vocabulary), most
    )


def _say(what: str, done: int, total: int) -> None:
    click.echo(f"{done} of {total}: {what}", err=True)
