"""The roll: which log each token is from, and in which order tokens come.

Label files name tokens and nothing else. Scenes, or a table of tokens, logs and times, know more.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from navaudit.errors import BadInput
from navaudit.scene.store import SceneSet

INDEX: Final = ("token", "log_name", "timestamp_us")
"""Columns of a table of tokens; others may stand beside them."""

_NAMED: Final = 5


@dataclass(frozen=True, eq=False)
class Roll:
    """Tokens with their logs, by log name, then time."""

    source: str
    """What it was read from, in words."""
    log_of: Mapping[str, str]
    """By token, in order."""

    def digest(self) -> str:
        """SHA-256 over tokens and logs, in order."""
        lines = (f"{token} {log}\n" for token, log in self.log_of.items())
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def arrange(self, tokens: Iterable[str]) -> tuple[tuple[str, str], ...]:
        """Return these tokens in order, each with its log; one that is not on the roll is refused.

        Examples
        --------
        >>> Roll("table", {"b": "log1", "a": "log2", "c": "log2"}).arrange(["a", "b"])
        (('b', 'log1'), ('a', 'log2'))
        """
        wanted = set(tokens)
        strange = sorted(wanted - set(self.log_of))
        if strange:
            raise BadInput(
                f"{len(strange)} tokens with labels are not among the {self.source}",
                where=named(strange),
                expected="a log and a time for every token",
                remedy="give what the labels were made from, or import without it",
            )
        return tuple((token, log) for token, log in self.log_of.items() if token in wanted)

    def unlabelled(self, tokens: Iterable[str]) -> tuple[str, ...]:
        """Return those on the roll that are not among these tokens, in order."""
        have = set(tokens)
        return tuple(token for token in self.log_of if token not in have)


def roll_of_scenes(scenes: SceneSet) -> Roll:
    """Take the tokens of a set of scenes."""
    return Roll("scenes", MappingProxyType({one: scenes.log_of(one) for one in scenes.tokens}))


def read_roll(path: Path) -> Roll:
    """Read a table of tokens: CSV with ``token``, ``log_name`` and ``timestamp_us``."""
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = list(_rows(csv.DictReader(stream), path))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"the table of tokens cannot be read: {error}", where=str(path)) from error
    log_of: dict[str, str] = {}
    for log, _, token in sorted(rows):
        if token in log_of:
            raise BadInput(f"token {token} stands there twice", where=str(path))
        log_of[token] = log
    return Roll("rows of the table", MappingProxyType(log_of))


def _rows(table: csv.DictReader[str], path: Path) -> Iterator[tuple[str, int, str]]:
    missing = [name for name in INDEX if name not in (table.fieldnames or ())]
    if missing:
        raise BadInput(
            f"the table of tokens has no column {missing[0]}",
            where=str(path),
            expected=", ".join(INDEX),
        )
    for row in table:
        token, log, time = (row[name] for name in INDEX)
        where = f"{path}, line {table.line_num}"
        if not token or not log or time is None:
            raise BadInput("a row is not complete", where=where, expected=", ".join(INDEX))
        try:
            yield log, int(time), token
        except ValueError as error:
            raise BadInput(
                f"timestamp_us is {time!r:.40}", where=where, expected="whole microseconds"
            ) from error


def require_all(tokens: Iterable[str], wanted: Iterable[str], where: str) -> None:
    """Refuse labels that are not those of a split: some of it missing, or tokens beside it."""
    have, split = set(tokens), set(wanted)
    missing, strange = sorted(split - have), sorted(have - split)
    if missing or strange:
        said = [
            f"{len(some)} {how}: {named(some)}"
            for some, how in ((missing, "without labels"), (strange, "not in the split"))
            if some
        ]
        raise BadInput(
            "the labels are not those of the split",
            where=f"{where}; {'; '.join(said)}",
            expected=f"labels of its {len(split)} tokens",
        )


def named(tokens: Iterable[str]) -> str:
    """Name the first few of many tokens.

    Examples
    --------
    >>> named(["a", "b"])
    'a, b'
    """
    every = list(tokens)
    more = len(every) - _NAMED
    return ", ".join(every[:_NAMED]) + (f" and {more} more" if more > 0 else "")
