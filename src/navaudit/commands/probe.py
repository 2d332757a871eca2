"""``navaudit probe``: how well a head still orders candidates where the rule fired."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import click

from navaudit.agent.logit_store import LogitStore
from navaudit.axes import HEADS
from navaudit.commands.asking import tell
from navaudit.commands.telling import telling
from navaudit.labels.labelset import LabelSet
from navaudit.probe import named
from navaudit.probe.models import read_models
from navaudit.probe.probe import probe as read_probe
from navaudit.probe.question import Question, column_named, column_of
from navaudit.report.probed import results_of, write_figures

_PATH: Final = click.Path(path_type=Path)
_HEADS: Final = click.Choice(list(HEADS))
_USUAL: Final = Question()


def _number(name: str, least: int, words: str) -> Callable[[Callable[..., Any]], Any]:
    """Give a command a whole number of the question as an option."""
    flag, usual = f"--{name.replace('_', '-')}", getattr(_USUAL, name)
    return click.option(
        flag, type=click.IntRange(least), default=usual, show_default=True, metavar="N", help=words
    )


@click.command()
@click.argument("logits", metavar="LOGITS", type=_PATH)
@click.argument("labels", metavar="LABELS", type=_PATH)
@click.option("--out", required=True, type=_PATH, metavar="DIR", help="Folder of the results.")
@click.option("--head", type=_HEADS, default=_USUAL.head, show_default=True, help="Read by scene.")
@click.option("--column", metavar="COLUMN", help="It is read against.  [the head's own]")
@click.option(
    "--control",
    type=_HEADS,
    default=_USUAL.control,
    show_default=True,
    metavar="HEAD",
    help="Read beside it.",
)
@click.option("--control-column", metavar="COLUMN", help="In D.  [the control's own]")
@click.option(
    "--names",
    metavar="PREFIX",
    help="How the names of numbers begin, such as hmdp_tr or nt_A0.  [probe]",
)
@click.option(
    "--also",
    multiple=True,
    metavar="NAME=LOGITS",
    help="Another model on the same scenes and pairs, such as nt_P1=logits; may be repeated.",
)
@click.option("--common", is_flag=True, help="Leave out tokens that only one of the two has.")
@_number("caliper", 0, "Failing candidates by which a pair may differ.")
@_number("width", 1, "Failing candidates that a stratum spans.")
@click.option(
    "--max-fpr",
    type=float,
    default=_USUAL.max_fpr,
    show_default=True,
    help="False-positive rate below which the partial AUC is read.",
)
@_number("resamples", 1, "Of the bootstrap.")
@_number("seed", 0, "Of the bootstrap.")
@_number("tie_draws", 0, "Random orders of tied candidates.")
@_number("tie_seed", 0, "Of those orders.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def probe(
    logits: Path,
    labels: Path,
    out: Path,
    names: str | None,
    also: tuple[str, ...],
    common: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    r"""Read how well a head of LOGITS still orders each scene's candidates.

    LABELS are raw labels. Scenes whose column the rule overwrote are set against scenes where it
    did not fire: in pairs on the number of failing candidates, the scarcest first, and in strata of
    it. A control head is read on the same column, and on its own in the contrast D. Intervals are
    percentile bootstraps. DIR then holds probe.md, a CSV file for every table and every scene, two
    figures with their data, and numbers.json; --names says whose they are.

    \b
    Examples:
      navaudit probe logits labels --out probed
      navaudit probe hydra-logits labels --names hmdp_tr --out probed-hydra
      navaudit probe logits labels --head traffic_light_compliance --out probed-tlc
      navaudit probe A0 labels --names nt_A0 --also nt_P0=P0 --also nt_P1=P1 --out probed
    """
    question = _question(**asked)
    kept, raw = LogitStore.open(logits), LabelSet.open(labels)
    others = _stores(also)
    if names is not None:
        named.expect_prefix(names)
    with telling("scenes") as say:
        found = read_probe(kept, raw, question, common=common, say=say)
        prefix = names or named.prefix_of(found)
        models = read_models(found, prefix, others, raw, say=say) if others else None
    results = results_of(found, prefix, models)
    write_figures(out, found)
    tell(results, out, as_json)


def _question(
    head: str, column: str | None, control: str, control_column: str | None, **asked: Any
) -> Question:
    return Question(
        head=head,
        column=column_named(column) if column else column_of(head),
        control=control,
        control_column=column_named(control_column) if control_column else column_of(control),
        **asked,
    )


def _stores(also: tuple[str, ...]) -> dict[str, LogitStore]:
    """Open further logits, by the names of their models."""
    found: dict[str, LogitStore] = {}
    for one in also:
        name, _, folder = one.partition("=")
        if not named.is_prefix(name) or not folder or name in found:
            raise click.UsageError(f"--also {one}: give NAME=LOGITS once, such as nt_P1=logits")
        found[name] = LogitStore.open(Path(folder))
    return found
