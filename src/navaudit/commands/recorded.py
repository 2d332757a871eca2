"""Where a command finds the recordings of scenes, and how its agent is to compute."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from navaudit.agent.computing import PRECISIONS, Computing
from navaudit.agent.logits import Job
from navaudit.errors import BadInput
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import read_vocabulary

_PATH: Final = click.Path(path_type=Path)
_ROOT: Final = "OPENSCENE_DATA_ROOT"
_LOGS: Final = "navsim_logs"
_BLOBS: Final = "sensor_blobs"

_OPTIONS: Final = (
    click.argument("checkpoint", metavar="CHECKPOINT", type=_PATH),
    click.argument("scenes", metavar="SCENES", type=_PATH),
    click.option(
        "--images",
        type=_PATH,
        metavar="DIR",
        help=f"Sensor blobs of the scenes' data split.  [{_ROOT}/{_BLOBS}]",
    ),
    click.option(
        "--logs",
        type=_PATH,
        metavar="DIR",
        help=f"Logs that the scenes were made from; they name the pictures and hold the ego's "
        f"status.  [{_LOGS} beside {_BLOBS}]",
    ),
    click.option(
        "--vocabulary",
        type=_PATH,
        metavar="V.npy",
        help="Candidates, in the place of those in the checkpoint.",
    ),
    click.option("--device", default="cpu", show_default=True, metavar="cpu|cuda"),
    click.option(
        "--precision",
        type=click.Choice(list(PRECISIONS)),
        default="float32",
        show_default=True,
        help="What matrix products are computed in.",
    ),
    click.option(
        "--batch", type=click.IntRange(1), default=1, show_default=True, help="Scenes at once."
    ),
    click.option("--readers", type=click.IntRange(1), help="Threads that read pictures."),
)


def of_recordings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the arguments and options that `job_of` takes."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def job_of(
    checkpoint: Path,
    scenes: Path,
    images: Path | None,
    logs: Path | None,
    vocabulary: Path | None,
    device: str,
    precision: str,
    batch: int,
    readers: int | None,
) -> Job:
    """Put together what the options say."""
    opened = SceneSet.open(scenes)
    log = opened.logs[0] if len(opened) else ""
    blobs = _holding(images or _from_environment("--images", _BLOBS), log, "sensor blobs")
    records = _holding(logs or _beside(blobs), f"{log}.pkl", "logs")
    readers = readers or len(os.sched_getaffinity(0))
    return Job(
        checkpoint,
        opened,
        records,
        blobs,
        None if vocabulary is None else read_vocabulary(vocabulary),
        Computing(device, precision, batch, readers),
    )


def _holding(folder: Path, name: str, what: str) -> Path:
    """Return the folder that holds what bears a name: the one given, or the one below it."""
    if (folder / name).exists():
        return folder
    below = sorted(one for one in folder.glob("*") if (one / name).exists())
    if len(below) == 1:
        return below[0]
    raise BadInput(
        f"there are no {what} of the scenes" if not below else f"there are {what} of many splits",
        where=str(folder),
        expected=name,
        remedy="give the folder of their data split",
    )


def _beside(blobs: Path) -> Path:
    """Return where NAVSIM keeps the logs of these sensor blobs."""
    for root, below in ((blobs.parent.parent, blobs.name), (blobs.parent, "")):
        if (root / _LOGS / below).is_dir():
            return root / _LOGS / below
    return _from_environment("--logs", _LOGS)


def _from_environment(option: str, below: str) -> Path:
    if not os.environ.get(_ROOT):
        raise click.UsageError(f"give {option}, or set {_ROOT}")
    return Path(os.environ[_ROOT]) / below
