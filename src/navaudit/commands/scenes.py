"""``navaudit scenes``: logs and maps, or stock metric caches, into a set of scenes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TimeRemainingColumn

from navaudit.errors import BadInput
from navaudit.scene.filters import read_either
from navaudit.scene.from_caches import FromCaches
from navaudit.scene.from_logs import EVERY_SCENE, FromLogs
from navaudit.scene.memory import memory_of
from navaudit.scene.prepare import Job, Say, prepare
from navaudit.scene.store import Failure, SceneSet
from navaudit.score.referee import score_proposals

_FAILED: Final = 1
_NAMED: Final = 10
"""How many failures are printed; the manifest has them all."""

_FOLDER: Final = click.Path(path_type=Path)
_OF_LOGS: Final = ("logs", "maps", "split", "chunks", "memory", "trig")


@click.command()
@click.option("--out", required=True, type=_FOLDER, metavar="SCENES", help="Folder of the set.")
@click.option("--logs", type=_FOLDER, metavar="DIR", help="[OPENSCENE_DATA_ROOT/navsim_logs]")
@click.option("--maps", type=_FOLDER, metavar="DIR", help="[NUPLAN_MAPS_ROOT]")
@click.option(
    "--split",
    type=_FOLDER,
    metavar="YAML",
    help="NAVSIM split or scene filter; without it, every frame that can be a scene is one.",
)
@click.option(
    "--chunks",
    default="log",
    show_default=True,
    metavar="log|N|scene",
    help="Where the planner's memory starts anew; N: as stock caching by N workers.",
)
@click.option(
    "--memory",
    default="fresh",
    show_default=True,
    metavar="fresh|stock|blind|inject:FILE",
    help="What the planner remembers from scene to scene.",
)
@click.option("--trig", type=click.Choice(["libm", "house"]), default="libm", show_default=True)
@click.option("--metric-cache", "caches", type=_FOLDER, metavar="DIR", help="Instead of logs.")
@click.option("--workers", type=click.IntRange(1), help="Processes.  [one per processor]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def scenes(
    ctx: click.Context,
    out: Path,
    logs: Path | None,
    maps: Path | None,
    split: Path | None,
    chunks: str,
    memory: str,
    trig: str,
    caches: Path | None,
    workers: int | None,
    as_json: bool,
) -> None:
    r"""Make scenes, with their reference trajectories, from logs and maps or from metric caches.

    Run it again to go on where it was stopped; scenes of other settings in SCENES are refused.
    Exits 1 where a scene could not be made: the manifest in SCENES says which and why.

    \b
    Examples:
      navaudit scenes --logs town/navsim_logs/town --maps town/maps --out scenes
      navaudit scenes --split train_test_split/navtrain.yaml --workers 16 --out navtrain
      navaudit scenes --chunks 8 --memory stock --out as-cached
      navaudit scenes --metric-cache cache --out scenes
    """
    job: Job
    if caches is not None:
        _refuse_beside_caches(ctx)
        job = FromCaches(caches)
    else:
        cut, data_split = (EVERY_SCENE, None) if split is None else read_either(split)
        job = FromLogs(
            logs=_log_folder(logs, data_split),
            maps=maps or _from_environment("--maps", "NUPLAN_MAPS_ROOT"),
            judge=score_proposals,
            scene_filter=cut,
            chunks=chunks,
            memory=memory_of(memory),
            trig=trig,
        )
    with _teller() as say:
        made = prepare(out, job, workers=workers or len(os.sched_getaffinity(0)), say=say)
    if as_json:
        click.echo(json.dumps(_record(made)))
    else:
        _print(made)
    if made.failures or not len(made):
        sys.exit(_FAILED)


def _refuse_beside_caches(ctx: click.Context) -> None:
    given = click.core.ParameterSource.COMMANDLINE
    for name in _OF_LOGS:
        if ctx.get_parameter_source(name) is given:
            raise click.UsageError(f"--{name} is of logs, and has no meaning with --metric-cache")


def _log_folder(given: Path | None, data_split: str | None) -> Path:
    """Return the folder that holds the logs themselves: the one given, or the one below it."""
    folder = given or _from_environment("--logs", "OPENSCENE_DATA_ROOT") / "navsim_logs"
    if data_split is not None and (folder / data_split).is_dir():
        return folder / data_split
    if any(folder.glob("*.pkl")):
        return folder
    below = sorted({path.parent for path in folder.glob("*/*.pkl")})
    if len(below) == 1:
        return below[0]
    raise BadInput(
        "there are no logs" if not below else "there are logs of several data splits",
        where=str(folder),
        expected="*.pkl",
        remedy="give the folder of one of them as --logs"
        + (f": {', '.join(one.name for one in below)}" if below else ""),
    )


def _from_environment(option: str, name: str) -> Path:
    if not os.environ.get(name):
        raise click.UsageError(f"give {option}, or set {name}")
    return Path(os.environ[name])


@contextmanager
def _teller() -> Iterator[Say]:
    """Tell how far the work is: by a bar on a terminal, and otherwise line by line."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _tell_line
        return
    columns = (*Progress.get_default_columns()[:2], MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        bar = progress.add_task("logs", total=None)

        def say(what: str, done: int, total: int) -> None:
            if " " in what:
                progress.console.print(what, highlight=False, markup=False)
            progress.update(bar, completed=done, total=total)

        yield say


def _tell_line(what: str, done: int, total: int) -> None:
    click.echo(f"{done} of {total} logs{': ' if what else ''}{what}", err=True)


def _record(made: SceneSet) -> dict[str, Any]:
    return {
        "folder": str(made.folder),
        "scenes": len(made),
        "logs": len(made.logs),
        "digest": made.digest(),
        "failures": [
            {"token": one.token, "log": one.log, "reason": one.reason} for one in made.failures
        ],
        "settings": made.settings,
        "provenance": made.provenance,
    }


def _print(made: SceneSet) -> None:
    click.echo(f"{made.folder}: {len(made)} scenes of {len(made.logs)} logs")
    click.echo(f"digest {made.digest()}")
    if not len(made) and not made.failures:
        click.echo(f"no scene is there: {_asked(made.settings)}", err=True)
    for one in made.failures[:_NAMED]:
        _complain(one)
    more = len(made.failures) - _NAMED
    if more > 0:
        click.echo(f"and {more} more failures, all in {made.folder / 'manifest.json'}", err=True)


def _asked(settings: dict[str, Any]) -> str:
    """Say what a scene needs, where none was found and nothing failed."""
    cut = settings.get("filter")
    if cut is None:
        return "the index names no cache"
    return (
        f"one needs {cut['num_history_frames'] - 1} frames before it and "
        f"{cut['num_future_frames']} after it"
        + (", and roadblock_ids" if cut["has_route"] else "")
        + (", and a log or token that the filter names" if _narrowed(cut) else "")
    )


def _narrowed(cut: dict[str, Any]) -> bool:
    return cut["log_names"] is not None or cut["tokens"] is not None


def _complain(failure: Failure) -> None:
    click.echo(f"failed: {failure}", err=True)
