"""``navaudit label``: scenes and candidates into a label set."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from navaudit.labels.generate import Job, Progress, Say, generate
from navaudit.labels.labelset import LabelSet
from navaudit.labels.work import Cluster, Executor, Processes
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import read_vocabulary
from navaudit.score.score import Settings

_FAILED: Final = 1
_NAMED: Final = 10
"""How many failures are printed; the set's ledger has them all."""

_FOLDER: Final = click.Path(path_type=Path)


@click.command()
@click.argument("scenes", metavar="SCENES", type=_FOLDER)
@click.option(
    "--vocabulary",
    metavar="V.npy",
    type=_FOLDER,
    required=True,
    help="The candidates: float32 [candidate, 40, 3].",
)
@click.option("--out", required=True, type=_FOLDER, metavar="LABELS", help="Folder of the set.")
@click.option("--ddc", default="v2.0", show_default=True, help="v2.0 or v2.1.")
@click.option(
    "--progress-rule", default="per-candidate", show_default=True, help="per-candidate or batch."
)
@click.option("--solver", default="closed", show_default=True, help="closed, pinv, pinvh or solve.")
@click.option("--workers", type=click.IntRange(1), help="Processes.  [one per processor]")
@click.option("--ray", metavar="ADDRESS", help="Work on a Ray cluster: local, auto or HOST:PORT.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def label(
    scenes: Path,
    vocabulary: Path,
    out: Path,
    ddc: str,
    progress_rule: str,
    solver: str,
    workers: int | None,
    ray: str | None,
    as_json: bool,
) -> None:
    r"""Label scenes: score every candidate of a vocabulary, and the human, in each of them.

    LABELS is a Zarr hierarchy of raw values and the human's; what a trainer is given follows from
    them by a policy. Run it again to go on where it was stopped; other scenes, candidates or
    settings are refused. Exits 1 where a scene could not be labelled: the set's ledger says why.

    \b
    Examples:
      navaudit label scenes --vocabulary 16384.npy --out labels
      navaudit label scenes --vocabulary 8192.npy --ddc v2.1 --workers 16 --out labels-v2.1
      navaudit label navtrain --vocabulary 16384.npy --ray auto --out shared/labels
    """
    asked: dict[str, Any] = {"ddc": ddc, "progress_rule": progress_rule, "solver": solver}
    candidates = read_vocabulary(vocabulary)
    job = Job(SceneSet.open(scenes), candidates, Settings(**asked), vocabulary)
    executor: Executor = Processes(workers or len(os.sched_getaffinity(0)))
    if ray is not None:
        executor = Cluster(ray, workers)
    with _teller(len(job.vocabulary)) as say:
        made = generate(out, job, executor=executor, say=say)
    if as_json:
        click.echo(json.dumps(_record(made)))
    else:
        _print(made)
    if made.failures:
        sys.exit(_FAILED)


@contextmanager
def _teller(candidates: int) -> Iterator[Say]:
    """Tell how far the work is: by a bar on a terminal, and otherwise line by line."""
    console, begun = Console(stderr=True), time.monotonic()

    def pace(progress: Progress) -> str:
        rate = progress.scenes * candidates / max(time.monotonic() - begun, 1e-3)
        return f"{rate:,.0f} labels/s"

    if not console.is_terminal:

        def say_line(progress: Progress) -> None:
            if progress.what or not progress.scenes:
                left = _left(progress, time.monotonic() - begun)
                click.echo(f"{_line(progress)}, {pace(progress)}{left}", err=True)

        yield say_line
        return
    columns = (BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[pace]}"))
    with Bar(TextColumn("scenes"), *columns, TimeRemainingColumn(), console=console) as bar:
        task = bar.add_task("scenes", total=None, pace="")

        def say(progress: Progress) -> None:
            if " " in progress.what:
                bar.console.print(progress.what, highlight=False, markup=False)
            done, total = progress.scenes + progress.kept, progress.scenes_in_all
            bar.update(task, completed=done, total=total, pace=pace(progress))

        yield say


def _line(progress: Progress) -> str:
    scenes = f"{progress.scenes + progress.kept} of {progress.scenes_in_all} scenes"
    what = f" ({progress.what})" if progress.what else ""
    return f"{scenes}, {progress.logs} of {progress.logs_in_all} logs{what}"


def _left(progress: Progress, seconds: float) -> str:
    """How long the rest takes at the pace so far."""
    if not progress.scenes:
        return ""
    rest = progress.scenes_in_all - progress.kept - progress.scenes
    return f", {round(seconds * rest / progress.scenes):,} s left"


def _record(made: LabelSet) -> dict[str, Any]:
    return {
        "folder": str(made.folder),
        "tokens": len(made),
        "logs": len(set(made.logs)),
        "candidates": made.candidates,
        "digest": made.digest(),
        "failures": [
            {"token": one.token, "log": one.log, "reason": one.reason} for one in made.failures
        ],
        "settings": made.settings,
        "provenance": made.provenance,
    }


def _print(made: LabelSet) -> None:
    logs = len(set(made.logs))
    click.echo(f"{made.folder}: {len(made)} tokens of {logs} logs, {made.candidates:,} candidates")
    click.echo(f"digest {made.digest()}")
    for one in made.failures[:_NAMED]:
        click.echo(f"failed: {one}", err=True)
    more = len(made.failures) - _NAMED
    if more > 0:
        click.echo(f"and {more} more failures, all in {made.folder / 'zarr.json'}", err=True)
