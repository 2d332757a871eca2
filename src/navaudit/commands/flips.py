"""``navaudit flips``: what the overwrite turns from failing to passing in lane keeping."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final, cast, get_args

import click

from navaudit.audit.flipped import Flips
from navaudit.audit.flips import FlipsQuestion, expect_labels_of
from navaudit.audit.rounds import go_round, read_part
from navaudit.commands.asking import processors, tell
from navaudit.commands.telling import telling
from navaudit.errors import BadInput
from navaudit.labels.labelset import LabelSet
from navaudit.numerics.profiles import Solver
from navaudit.report.flipped import results
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import Vocabulary, read_vocabulary
from navaudit.score.score import Settings

_PATH: Final = click.Path(path_type=Path)
_NO: Final = 1


@click.command()
@click.argument("scenes", metavar="SCENES", type=_PATH)
@click.argument("labels", metavar="LABELS", type=_PATH)
@click.option("--out", required=True, type=_PATH, metavar="DIR", help="Folder of the results.")
@click.option(
    "--vocabulary",
    type=_PATH,
    metavar="V.npy",
    help="The candidates.  [the file that LABELS were made from]",
)
@click.option("--workers", type=click.IntRange(1), help="Processes.  [one per processor]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def flips(
    scenes: Path,
    labels: Path,
    out: Path,
    vocabulary: Path | None,
    workers: int | None,
    as_json: bool,
) -> None:
    r"""Drive every forgiven lane-keeping column again, and every other one that tells apart.

    What the overwrite turns from failing to passing is measured on the road: how far from the
    centreline and for how long, whether it keeps to the human's own path, what else it fails; and
    beside it what fails where the rule did not fire. Run it again to go on where it was stopped.
    Exits 1 where a stored column is not what the drives say, or a scene could not be driven.

    \b
    Examples:
      navaudit flips scenes labels --out flips
      navaudit flips scenes labels --vocabulary 16384.npy --workers 16 --out flips
    """
    opened, kept = SceneSet.open(scenes), LabelSet.open(labels)
    candidates = _candidates(vocabulary, kept)
    expect_labels_of(kept, opened.digest(), candidates)
    question = FlipsQuestion(kept, candidates, Settings(solver=_solver(kept)))
    with telling("scenes") as say:
        parts = go_round(opened, question, out, workers=workers or processors(), say=say)
    found = Flips.of((read_part(part) for part in parts), str(scenes))
    tell(results(found, question.record()), out, as_json, found.failures)
    if not found.agrees:
        sys.exit(_NO)


def _candidates(given: Path | None, labels: LabelSet) -> Vocabulary:
    """Read the vocabulary given, or the one whose path the labels remember."""
    if given is not None:
        return read_vocabulary(given)
    kept = labels.provenance.get("vocabulary")
    if isinstance(kept, str) and Path(kept).is_file():
        return read_vocabulary(Path(kept))
    raise BadInput(
        "the candidates are not known",
        where=str(labels.folder),
        expected="the vocabulary that the labels were made from",
        remedy="give it as --vocabulary V.npy",
    )


def _solver(labels: LabelSet) -> Solver:
    solver = labels.settings.get("solver", "closed")
    return cast(Solver, solver) if solver in get_args(Solver) else "closed"
