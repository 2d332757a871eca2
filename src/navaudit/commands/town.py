"""``navaudit town``: write a synthetic town in the real file formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress, TaskID

from navaudit import provenance
from navaudit.world.town.build import Settings, write_town
from navaudit.world.town.vocabulary import LARGEST


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--scenes", type=int, required=True, help="How many scenes.")
@click.option("--seed", type=int, required=True, help="Everything follows from it.")
@click.option("--no-cameras", is_flag=True, help="Write no camera files.")
@click.option(
    "--camera-scale",
    type=float,
    default=1.0,
    show_default=True,
    help="Size of the images, of 1920 by 1080: in quarters.",
)
@click.option(
    "--vocabulary-size",
    type=int,
    default=LARGEST,
    show_default=True,
    help="Candidates in the vocabulary.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")  # fmt: skip
def town(
    folder: Path,
    scenes: int,
    seed: int,
    no_cameras: bool,
    camera_scale: float,
    vocabulary_size: int,
    as_json: bool,
) -> None:
    r"""Write a synthetic town into DIR in the formats of nuPlan, OpenScene and NAVSIM.

    DIR then holds maps/, navsim_logs/town/, sensor_blobs/town/, splits/, a vocabulary and, last,
    town.json. The same settings always give the same bytes. A finished DIR is left as it is; an
    unfinished one is completed; one of other settings is refused.

    \b
    Examples:
      navaudit town town-200 --scenes 200 --seed 7
      navaudit town town-16 --scenes 16 --seed 7 --camera-scale 0.5 --vocabulary-size 1024
    """
    settings = Settings(scenes, seed, not no_cameras, camera_scale, vocabulary_size)
    console = Console(stderr=True)
    with Progress(console=console, disable=not console.is_terminal) as progress:
        record = write_town(folder, settings, _Teller(progress))
    if as_json:
        where = {"folder": str(folder), "provenance": provenance.here()}
        click.echo(json.dumps({**record, **where}))
    else:
        _print(folder, record)


class _Teller:
    """Moves one bar for each thing that is written."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.bars: dict[str, TaskID] = {}

    def __call__(self, what: str, done: int, total: int) -> None:
        if what not in self.bars:
            self.bars[what] = self.progress.add_task(what, total=total)
        self.progress.update(self.bars[what], completed=done)


def _print(folder: Path, record: dict[str, Any]) -> None:
    meant = ", ".join(f"{count} {kind}" for kind, count in record["meant"].items()) or "none"
    click.echo(f"{folder}: {record['scenes']} scenes in {record['logs']} logs")
    click.echo(f"scenes in which the human is meant to break a rule: {meant}")
    for name, digest in record["sha256"].items():
        click.echo(f"sha256 {digest[:16]}  {name}")
