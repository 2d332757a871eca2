"""The probe: how well a head still orders a scene's candidates where the rule fired.

Scenes whose column is mixed before the rule are read, the forgiven ones against the others::

    found = probe(LogitStore.open(logits), LabelSet.open(labels))
    found.contrasts.groups["forgiven"].medians[AUC]    median AUC with its interval
    found.contrasts.contrasts["difference"].matched    the primary contrast, of D
    findings(found, "probe")                           every number by its name, of `probe.named`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from navaudit.agent.logit_store import LogitStore
from navaudit.axes import SHORT
from navaudit.errors import BadInput
from navaudit.labels.labelset import LabelSet
from navaudit.probe.contrasts import Contrasts
from navaudit.probe.pairing import Pairing
from navaudit.probe.question import Question, short_head
from navaudit.probe.scenes import Say, Scenes, read_scenes, silent
from navaudit.probe.ties import Ties
from navaudit.probe.walk import blocks, common_tokens


@dataclass(frozen=True)
class Probe:
    """What a probe found."""

    question: Question
    record: Mapping[str, Any]
    """What it is made from, and everything that decides a number."""
    candidates: int
    scenes: Scenes
    pairing: Pairing
    contrasts: Contrasts
    ties: Ties

    @property
    def head(self) -> str:
        """Short name of the head, as tables have it."""
        return short_head(self.question.head).upper()

    @property
    def control(self) -> str:
        """Short name of the control."""
        return short_head(self.question.control).upper()

    @property
    def column(self) -> str:
        """Short name of the column."""
        return SHORT[self.question.column]


def probe(
    logits: LogitStore,
    labels: LabelSet,
    question: Question | None = None,
    *,
    common: bool = False,
    say: Say = silent,
) -> Probe:
    """Read logits against labels before the rule.

    Parameters
    ----------
    logits, labels
        Of the same scenes and candidates. Each is read once, some hundred scenes at a time.
    question
        Which head against which column; the paper's, lane keeping beside drivable area, by default.
    common
        Whether tokens that only one of the two has are left out, which otherwise are refused.
    say
        Told how many scenes are done.
    """
    question = question or Question()
    tokens = common_tokens(logits, labels, common=common)
    walk = blocks(logits, labels, tokens, question)
    scenes = read_scenes(walk, question, len(tokens), say)
    if not len(scenes):
        raise BadInput(
            f"the column {SHORT[question.column]} is mixed in none of {len(tokens):,} scenes",
            where=str(labels.folder),
            expected="scenes in which some candidates pass the column and some fail it",
            remedy="read another column: --column",
        )
    pairing = Pairing.of(scenes, question.caliper)
    return Probe(
        question,
        _record(logits, labels, tokens, question),
        labels.candidates,
        scenes,
        pairing,
        Contrasts.of(scenes, pairing, question),
        Ties.of(scenes),
    )


def _record(
    logits: LogitStore, labels: LabelSet, tokens: tuple[str, ...], question: Question
) -> dict[str, Any]:
    return {
        "logits": dict(logits.settings),
        "labels": labels.digest(),
        "tokens": len(tokens),
        "logit_tokens": len(logits),
        "label_tokens": len(labels),
        "candidates": labels.candidates,
        "question": question.record(),
    }
