"""``navaudit explain``: why one candidate scores as it does, in words and a picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from navaudit import provenance
from navaudit.axes import SHORT
from navaudit.commands.scene_source import SceneSource
from navaudit.errors import BadInput
from navaudit.report.explained import picture_of, write_picture
from navaudit.report.look import LOOKS
from navaudit.report.wording import GRADED, ORDER, forgiveness, headline
from navaudit.scene.vocabulary import read_vocabulary
from navaudit.score.explain import Explanation
from navaudit.score.explain import explain as explain_candidate
from navaudit.score.reason import Reason
from navaudit.score.score import Settings


@click.command()
@click.argument("scenes", metavar="SCENES", type=click.Path(path_type=Path))
@click.argument("token", metavar="TOKEN")
@click.option("--candidate", type=int, required=True, help="Row of the vocabulary.")
@click.option(
    "--vocabulary",
    "vocabulary_path",
    metavar="V.npy",
    type=click.Path(path_type=Path),
    required=True,
    help="The candidates: float32 [candidate, 40, 3].",
)
@click.option("--ddc", default="v2.0", show_default=True, help="v2.0 or v2.1.")
@click.option(
    "--progress-rule", default="per-candidate", show_default=True, help="per-candidate or batch."
)
@click.option("--solver", default="closed", show_default=True, help="closed, pinv, pinvh or solve.")
@click.option(
    "--out",
    metavar="PICTURE",
    type=click.Path(path_type=Path),
    help="PNG or SVG; explain-TOKEN-CANDIDATE.png if not given.",
)
@click.option(
    "--theme", type=click.Choice(list(LOOKS)), default="light", show_default=True, help="Colours."
)
@click.option("--north-up", is_flag=True, help="Let north point up, not the car.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def explain(
    scenes: Path,
    token: str,
    candidate: int,
    vocabulary_path: Path,
    ddc: str,
    progress_rule: str,
    solver: str,
    out: Path | None,
    theme: str,
    north_up: bool,
    as_json: bool,
) -> None:
    r"""Explain the scores of one candidate: which step, which object, how far from the threshold.

    SCENES is a folder of scenes, a folder of stock metric caches, or one metric_cache.pkl. TOKEN
    may be cut short where no other token begins like it. A picture is written beside the words.

    \b
    Examples:
      navaudit explain scenes 1ca2767b --candidate 320 --vocabulary 8192.npy
      navaudit explain metric_cache 1ca2767b --candidate 320 --vocabulary 8192.npy --out why.svg
    """
    asked: dict[str, Any] = {"ddc": ddc, "progress_rule": progress_rule, "solver": solver}
    settings = Settings(**asked)
    scene = SceneSource.open(scenes).scene(token)
    vocabulary = read_vocabulary(vocabulary_path)
    explanation = explain_candidate(scene, vocabulary, candidate, settings)
    path = out or Path(f"explain-{scene.token}-{candidate}.png")
    if not path.parent.is_dir():
        raise BadInput("the folder of the picture does not exist", where=str(path.parent))
    write_picture(picture_of(scene, explanation, LOOKS[theme], north_up), path)
    if as_json:
        made_of = {"vocabulary": vocabulary.digest, **provenance.here()}
        record = {**explanation.record(), "log": scene.log, "picture": str(path)}
        click.echo(json.dumps({**record, "provenance": made_of}))
    else:
        _print(explanation, path, Console())


def _print(explanation: Explanation, path: Path, console: Console) -> None:
    where = f"candidate {explanation.candidate} in scene {explanation.token}"
    console.print(f"[bold]{escape(headline(explanation))}[/]", highlight=False, soft_wrap=True)
    console.print(f"{where}, ddc {explanation.settings.ddc}", style="dim", highlight=False)
    table = Table("metric", "score", "published", "human", "margin", "why", box=SIMPLE)
    for column in ORDER:
        table.add_row(*_row(explanation, explanation.driven.reasons[column]))
    console.print(table)
    console.print(forgiveness(explanation), highlight=False, soft_wrap=True)
    console.print(f"picture: {path}", highlight=False, soft_wrap=True)


def _row(explanation: Explanation, reason: Reason) -> tuple[str, ...]:
    column = reason.column
    score = f"{reason.score:.3f}" if column in GRADED else f"{reason.score:g}"
    if reason.fails and column not in GRADED:
        score = f"[bold red]{score}[/]"
    turned = column in explanation.turned
    published = f"[green]{explanation.published[column]:.3g}[/]" if turned else ""
    human = explanation.human
    humans = "" if human is None else f"{human.scores[column]:.3g}"
    margin = "" if reason.margin is None else f"{reason.margin:+.2f} {reason.unit}".rstrip()
    return SHORT[column], score, published, humans, margin, escape(reason.words)
