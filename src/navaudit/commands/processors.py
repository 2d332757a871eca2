"""``navaudit processors``: the same labels under other kernels and versions of NumPy."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import click

from navaudit.audit.environments import Absent, Environment, Ready, make_ready
from navaudit.audit.processed import Processors
from navaudit.audit.processors import ProcessorsQuestion
from navaudit.audit.rounds import gather, go_round, read_part
from navaudit.commands.asking import processors as here
from navaudit.commands.asking import tell
from navaudit.commands.telling import telling
from navaudit.errors import BadInput, Unhealthy
from navaudit.numerics.lapack import SOLVERS
from navaudit.report.processed import draw, results
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import read_vocabulary
from navaudit.score.score import Settings

_PATH: Final = click.Path(path_type=Path)
_NO: Final = 1


@click.command()
@click.argument("scenes", metavar="SCENES", type=_PATH)
@click.option("--vocabulary", metavar="V.npy", type=_PATH, required=True, help="The candidates.")
@click.option(
    "--kernels",
    default="default,haswell,skylakex",
    show_default=True,
    metavar="K,K,...",
    help="OpenBLAS kernels, such as cooperlake; haswell-noavx512 keeps NumPy off AVX-512, default "
    "is the library's own choice. The first is the reference.",
)
@click.option(
    "--python",
    "interpreters",
    multiple=True,
    metavar="[NAME=]INTERPRETER",
    help="Another Python with NumPy, in which the profiles are fitted; may come again.",
)
@click.option("--out", required=True, type=_PATH, metavar="DIR", help="Folder of the results.")
@click.option("--solver", type=click.Choice(SOLVERS), default="pinv", show_default=True)
@click.option("--ddc", default="v2.0", show_default=True, help="v2.0 or v2.1.")
@click.option(
    "--progress-rule", default="per-candidate", show_default=True, help="per-candidate or batch."
)
@click.option(
    "--repeats",
    type=click.IntRange(0),
    default=1,
    show_default=True,
    help="Further runs of every environment, each in a process of its own.",
)
@click.option("--candidates", type=click.IntRange(1), help="Only so many candidates.  [all]")
@click.option("--tokens", type=click.IntRange(1), help="Only so many scenes.  [all]")
@click.option(
    "--workers", type=click.IntRange(1), help="Scenes at once, each in all environments.  [1 a CPU]"
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def processors(
    scenes: Path,
    vocabulary: Path,
    kernels: str,
    interpreters: tuple[str, ...],
    out: Path,
    solver: str,
    ddc: str,
    progress_rule: str,
    repeats: int,
    candidates: int | None,
    tokens: int | None,
    workers: int | None,
    as_json: bool,
) -> None:
    r"""Make labels again under other OpenBLAS kernels, and compare them entry by entry.

    Linear algebra enters a stock label through the two profile fits alone. They are run in every
    environment: a kernel, an interpreter with its NumPy, AVX-512 or not. Everything else is done
    here. Controls are run beside it: the reference's drives scored under each kernel, labels by
    the closed forms, repeated runs. A kernel that this machine does not run is named with the
    reason. Run it again to go on where it was stopped. Exits 1 where labels differ.

    \b
    Examples:
      navaudit processors scenes --vocabulary 8192.npy --kernels haswell,skylakex --out processors
      navaudit processors scenes --vocabulary 8192.npy --kernels haswell,cooperlake \
        --python stock=~/envs/navsim/bin/python --candidates 1024 --out stock-processors
    """
    opened, known = SceneSet.open(scenes), read_vocabulary(vocabulary)
    ready, absent = _examined(kernels, interpreters, solver)
    scoring: dict[str, Any] = {"ddc": ddc, "progress_rule": progress_rule}
    question = ProcessorsQuestion(
        opened,
        known if candidates is None else known.take(slice(candidates)),
        ready,
        solver,
        Settings(**scoring),
        repeats,
        None if tokens is None else frozenset(opened.tokens[:tokens]),
    )
    with telling("scenes") as say:
        parts = go_round(opened, question, out, workers=workers or here(), say=say)
    answers = gather((read_part(part) for part in parts), str(scenes))
    found = Processors.of(answers, ready, absent, repeats)
    draw(found, answers, out)
    tell(results(found, question.record()), out, as_json, answers.failures)
    if not found.closed_holds:
        raise Unhealthy(
            "labels that hang on no kernel differ from process to process",
            where=str(out / "processors_controls.csv"),
            expected="the same closed forms, paths and scores under every kernel",
            remedy="run navaudit doctor",
        )
    if not found.all_equal:
        sys.exit(_NO)


def _examined(
    kernels: str, interpreters: Sequence[str], solver: str
) -> tuple[tuple[Ready, ...], tuple[Absent, ...]]:
    """Examine every kernel of every interpreter; the first has to be there: it is the reference."""
    names = [name.strip() for name in kernels.split(",") if name.strip()]
    if not names:
        raise click.UsageError("--kernels names none")
    asked = [
        Environment.named(name, interpreter, label)
        for label, interpreter in map(_labelled, interpreters or (sys.executable,))
        for name in names
    ]
    twice = {one.name for one in asked if [two.name for two in asked].count(one.name) > 1}
    if twice:
        raise click.UsageError(
            f"{sorted(twice)[0]!r} comes twice: give interpreters names, as in old=/envs/old/python"
        )
    examined = [make_ready(one, solver) for one in asked]
    first = examined[0]
    if isinstance(first, Absent):
        raise BadInput(
            f"the reference cannot be had: {first.reason}",
            where=first.name,
            expected="a kernel that this machine runs as the first of --kernels",
            remedy="name haswell, or default, first",
        )
    return (
        tuple(one for one in examined if isinstance(one, Ready)),
        tuple(one for one in examined if isinstance(one, Absent)),
    )


def _labelled(given: str) -> tuple[str, str]:
    """Split ``NAME=INTERPRETER``; one without a name has none."""
    label, _, interpreter = given.rpartition("=")
    path = str(Path(interpreter).expanduser())
    return label, path if shutil.which(path) else interpreter
