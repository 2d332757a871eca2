"""Logits and labels of the same scenes, met and read side by side, a few hundred at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.agent.logit_store import LogitStore
from navaudit.errors import BadInput
from navaudit.labels.labelset import LabelSet
from navaudit.probe.question import Question
from navaudit.score.forgive import forgiven_columns

BLOCK: Final = 256
"""Scenes held in memory at once, give or take a shard: about 50 MB of 16,384 candidates."""

_NAMED: Final = 3

Logits = NDArray[np.float32]


@dataclass(frozen=True)
class Block:
    """Some scenes' logits and labels; rows are ``tokens``."""

    tokens: tuple[str, ...]
    logits: tuple[Logits, Logits]
    """``[token, candidate]`` of the head and of the control."""
    passes: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    """``[token, candidate]``: the label is 1, in the column and in the control's own."""
    forgiven: NDArray[np.bool_]
    """``[token, column and control's]``: the rule fired there."""


def common_tokens(logits: LogitStore, labels: LabelSet, *, common: bool) -> tuple[str, ...]:
    """Return the tokens of both, in the order of the logits.

    A token that only one of them has is refused, unless ``common`` says to leave it out; so are
    sets of different candidates, and labels that know no human.
    """
    _expect_same_candidates(logits, labels)
    if not labels.knows_human:
        raise BadInput(
            "no human score is known, so it is not known where the rule fired",
            where=str(labels.folder),
            expected="labels before the rule, with the human's scores",
            remedy="make them with navaudit label: imported labels have no human scores",
        )
    both = tuple(token for token in logits.tokens if token in labels)
    if not both:
        raise BadInput(
            "logits and labels have no token in common",
            where=f"{logits.folder} and {labels.folder}",
            expected="logits and labels of the same scenes",
            remedy="make them of one scene set: navaudit logits and navaudit label",
        )
    if not common:
        _expect_same_tokens(logits, labels)
    return both


def _expect_same_candidates(logits: LogitStore, labels: LabelSet) -> None:
    ours, theirs = logits.settings.get("vocabulary"), labels.settings.get("vocabulary")
    known = isinstance(ours, str) and isinstance(theirs, str)
    if logits.candidates == labels.candidates and (not known or ours == theirs):
        return
    raise BadInput(
        f"the logits are of {logits.candidates} candidates, digest {ours}",
        where=f"{logits.folder} and {labels.folder}",
        expected=f"those of the labels: {labels.candidates} candidates, digest {theirs}",
        remedy="label with the vocabulary of the checkpoint, or give navaudit logits --vocabulary",
    )


def _expect_same_tokens(logits: LogitStore, labels: LabelSet) -> None:
    unlabelled = [token for token in logits.tokens if token not in labels]
    unseen = [token for token in labels.tokens if token not in logits]
    if not unlabelled and not unseen:
        return
    parts = [
        f"{len(tokens):,} tokens with {has} have no {lacks} ({_first(tokens)})"
        for tokens, has, lacks in ((unlabelled, "logits", "labels"), (unseen, "labels", "logits"))
        if tokens
    ]
    raise BadInput(
        "; ".join(parts),
        where=f"{logits.folder} and {labels.folder}",
        expected="the same tokens in both",
        remedy="make the missing ones, or read only those that have both: --common",
    )


def _first(tokens: Sequence[str]) -> str:
    return ", ".join(tokens[:_NAMED]) + (", ..." if len(tokens) > _NAMED else "")


def blocks(
    logits: LogitStore, labels: LabelSet, tokens: Sequence[str], question: Question
) -> Iterator[Block]:
    """Give the scenes of ``tokens``, which are in the order of the logits, block by block."""
    wanted = set(tokens)
    heads = zip(logits.stretches(question.head), logits.stretches(question.control), strict=True)
    rows: list[tuple[str, Logits, Logits]] = []
    for (at, head), (_, control) in heads:
        for token, one, other in zip(logits.tokens[at], head, control, strict=True):
            if token in wanted:
                rows.append((token, one, other))
        if len(rows) >= BLOCK:
            yield _block(rows, labels, question)
            rows = []
    if rows:
        yield _block(rows, labels, question)


def _block(
    rows: Sequence[tuple[str, Logits, Logits]], labels: LabelSet, question: Question
) -> Block:
    tokens = tuple(token for token, _, _ in rows)
    columns = [question.column, question.control_column]
    passes = np.empty((2, len(rows), labels.candidates), np.bool_)
    human = np.empty((len(rows), 2))
    for row, token in enumerate(tokens):
        passes[:, row] = labels.raw(token)[columns] == 1.0
        human[row] = labels.human[labels.index(token), columns]
    values = (np.stack([one for _, one, _ in rows]), np.stack([other for _, _, other in rows]))
    for name, each in zip((question.head, question.control), values, strict=True):
        _expect_ordered(each, tokens, name)
    return Block(tokens, values, (passes[0], passes[1]), forgiven_columns(human))


def _expect_ordered(values: Logits, tokens: Sequence[str], head: str) -> None:
    broken = np.isnan(values).any(axis=1)
    if broken.any():
        row = int(np.argmax(broken))
        raise BadInput(
            f"{int(np.isnan(values[row]).sum())} logits of the head {head} are NaN",
            where=f"token {tokens[row]}",
            expected="logits that can be ordered",
            remedy="make the logits again",
        )
