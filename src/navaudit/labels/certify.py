"""Two label sets or label files, token by token and column by column.

A token is *equal* where all nine columns are the same bytes; a *storage tie* where ``pdm_score`` is
the same and every entry that differs is one float16 unit apart; otherwise *different*. Tokens that
only one side has are named, and count as not reproduced.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from navaudit.errors import BadInput
from navaudit.labels.ahead import ahead
from navaudit.labels.certificate import FEW, Certificate, Side
from navaudit.labels.compare import Entry, Tally, first_entries, join, tally
from navaudit.labels.gtrs import EACH, GtrsLabels, Say, silent
from navaudit.labels.labelset import LabelSet
from navaudit.labels.mapping import Labels
from navaudit.labels.policies import needs_human, no_human

Entries = tuple[Entry, ...]

_BLOCK: Final = 256
"""Tokens that one thread compares, one after the other."""
_FIRST: Final = 3
"""Entries of a column that are kept of such a token."""


def open_side(path: Path, policy: str = "raw", say: Say = silent) -> Side:
    """Open a label set, a GTRS pickle, or a folder of ``<token>/tmp.pkl``.

    Files hold labels under a rule that they do not name: they are taken as they stand.
    """
    path = Path(path)
    if path.is_file() or (path.is_dir() and any(path.glob(f"*/{EACH}"))):
        if needs_human(policy):
            raise no_human(policy, str(path))
        found = GtrsLabels(path, say)
        return Side(path, policy, found.tokens, found.candidates, found.raw, found.digest)
    labels = Labels(LabelSet.open(path), policy)
    of = labels.label_set
    failed = {one.token: one.what for one in of.failures if one.token is not None}
    return Side(
        path,
        policy,
        of.tokens,
        of.candidates,
        labels.values_of,
        of.digest(),
        of.knows_human,
        failed,
    )


def certify(a: Side, b: Side, *, workers: int = 1, say: Say = silent) -> Certificate:
    """Compare all labels of two sides; other numbers of candidates are refused."""
    if a.candidates != b.candidates:
        raise BadInput(
            f"there are {a.candidates} and {b.candidates} candidates",
            where=f"{a.path} and {b.path}",
            expected="labels of one vocabulary",
        )
    of_b = set(b.tokens)
    tokens = tuple(token for token in a.tokens if token in of_b)
    blocks = [tokens[start : start + _BLOCK] for start in range(0, len(tokens), _BLOCK)]
    first: dict[str, Entries] = {}
    found: list[Tally] = []
    done = 0
    say("", 0, len(tokens))
    for block, (counts, entries) in zip(
        blocks, ahead(lambda part: _compare(a, b, part), blocks, workers), strict=True
    ):
        found.append(counts)
        first.update(list(entries.items())[: FEW - len(first)])
        done += len(block)
        say("", done, len(tokens))
    return Certificate(a, b, tokens, join(found), first)


def _compare(a: Side, b: Side, tokens: Sequence[str]) -> tuple[Tally, dict[str, Entries]]:
    """Compare some tokens, and keep the first entries of those that differ."""
    found: list[Tally] = []
    first: dict[str, Entries] = {}
    for token in tokens:
        mine, theirs = a.values_of(token), b.values_of(token)
        found.append(tally(mine[None], theirs[None]))
        if not found[-1].equal.all():
            first[token] = first_entries(mine, theirs, _FIRST)
    return join(found), first
