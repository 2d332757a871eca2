"""``navaudit census``: what the human of every scene scores."""

from __future__ import annotations

from pathlib import Path
from typing import Final, cast, get_args

import click

from navaudit.audit.census import Census, HumanQuestion
from navaudit.audit.rounds import Question, gather, go_round, read_part
from navaudit.audit.v1 import V1Question
from navaudit.audit.v1_census import V1Census
from navaudit.commands.asking import folder_or_none, processors, tell
from navaudit.commands.telling import telling
from navaudit.numerics.profiles import Solver
from navaudit.report.censused import by_v1, by_v2
from navaudit.scene.store import SceneSet
from navaudit.score.score import Ddc, Settings

_PATH: Final = click.Path(path_type=Path)


@click.command()
@click.argument("scenes", metavar="SCENES", type=_PATH)
@click.option("--version", type=click.Choice(["v1", "v2"]), default="v2", show_default=True)
@click.option(
    "--solver", type=click.Choice(list(get_args(Solver))), default="closed", show_default=True
)
@click.option("--ddc", type=click.Choice(list(get_args(Ddc))), help="Body of v2.  [v2.0]")
@click.option(
    "--worst",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    metavar="K",
    help="So many worst conditioned scenes are looked at by themselves.",
)
@click.option("--out", type=_PATH, metavar="DIR", help="Folder of the results.")
@click.option("--workers", type=click.IntRange(1), help="Processes.  [one per processor]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def census(
    scenes: Path,
    version: str,
    solver: str,
    ddc: str | None,
    worst: int,
    out: Path | None,
    workers: int | None,
    as_json: bool,
) -> None:
    r"""Score the human of every scene, on whom the rule hangs.

    By v2: the nine values, where they are zero, whether they hang on the solver, and how far the
    rollouts part from what the human drove. By v1: the score by which scenes are said to have been
    screened, rebuilt in four ways, and who would not have passed. With DIR, what is scored is kept
    there with every table; run it again to go on where it was stopped. Exits 1 where a scene could
    not be scored.

    \b
    Examples:
      navaudit census scenes
      navaudit census navtrain --solver pinv --out census
      navaudit census navtrain --version v1 --out census-v1
    """
    opened, chosen = SceneSet.open(scenes), cast(Solver, solver)
    question: Question
    if version == "v1":
        if ddc is not None:
            raise click.UsageError("--ddc is of v2, and has no meaning with --version v1")
        question = V1Question(chosen)
    else:
        question = HumanQuestion(Settings(ddc=cast(Ddc, ddc or "v2.0")))
    with folder_or_none(out) as folder, telling("scenes") as say:
        parts = go_round(opened, question, folder, workers=workers or processors(), say=say)
        answers = gather((read_part(part) for part in parts), str(scenes))
    told = {"scenes": opened.digest(), "version": version, "solver": solver, **question.record()}
    if version == "v1":
        results = by_v1(V1Census.of(answers), told)
    else:
        results = by_v2(Census.of(answers, chosen, worst), told)
    tell(results, out, as_json, answers.failures)
