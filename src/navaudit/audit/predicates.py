"""Predicates of a token: the rule fired, it changed a value, it erased a distinction.

P1: some column is forgiven. P2: some forgiven column held a value other than 1. P3: some forgiven
column, of a set and in a reading, held two different values. The reading is as stored, or as the
loss reads it. Every predicate is a mask ``[token]``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.sheet import Sheet
from navaudit.audit.table import Table
from navaudit.audit.tally import KINDS, LOSS_VALUES, ONE_BIT, VALUES
from navaudit.axes import COLUMNS, LK, LOSS_COLUMNS
from navaudit.findings import Finding, count, number, percent

Mask = NDArray[np.bool_]

STORED: Final = tuple(range(len(COLUMNS)))


def fires(sheet: Sheet, columns: Sequence[int] = STORED) -> Mask:
    """P1: a column of the set is forgiven."""
    return _any(sheet.forgiven, columns)


def overwrites(sheet: Sheet, columns: Sequence[int] = STORED) -> Mask:
    """P2: a forgiven column of the set held a value other than 1."""
    return _any(sheet.forgiven & (sheet.before[:, :, KINDS] != ONE_BIT), columns)


def erases(sheet: Sheet, columns: Sequence[int] = STORED, *, loss: bool) -> Mask:
    """P3: a forgiven column of the set held two values, as stored or as the loss reads them."""
    values = sheet.before[:, :, LOSS_VALUES if loss else VALUES]
    return _any(sheet.forgiven & (values >= 2), columns)


def mapping_erases(sheet: Sheet, columns: Sequence[int] = LOSS_COLUMNS) -> Mask:
    """A published column of the set holds two values of which the loss reads but one."""
    after = sheet.after
    return _any((after[:, :, VALUES] >= 2) & (after[:, :, LOSS_VALUES] == 1), columns)


def _any(of_column: Mask, columns: Sequence[int]) -> Mask:
    return np.any(of_column[:, list(columns)], axis=1)


@dataclass(frozen=True)
class Predicates:
    """How many tokens fulfil each predicate."""

    tokens: int
    candidates: int
    p1: int
    p1_loss_columns: int
    p2: int
    p3_raw: int
    """Of any stored column, as stored."""
    p3_raw_loss_columns: int
    p3_loss: int
    """Of any stored column, as the loss reads it."""
    p3_loss_loss_columns: int
    """Of a loss column, as the loss reads it: the headline."""
    lk: int
    """Lane keeping is forgiven."""
    mapping: int
    """The loss's own mapping leaves a loss column constant that was published mixed."""
    mapping_and_p3: int

    @classmethod
    def of(cls, sheet: Sheet) -> Predicates:
        """Count the tokens of a sheet."""
        headline, mapping = erases(sheet, LOSS_COLUMNS, loss=True), mapping_erases(sheet)
        return cls(
            tokens=len(sheet),
            candidates=sheet.candidates,
            p1=_size(fires(sheet)),
            p1_loss_columns=_size(fires(sheet, LOSS_COLUMNS)),
            p2=_size(overwrites(sheet)),
            p3_raw=_size(erases(sheet, loss=False)),
            p3_raw_loss_columns=_size(erases(sheet, LOSS_COLUMNS, loss=False)),
            p3_loss=_size(erases(sheet, loss=True)),
            p3_loss_loss_columns=_size(headline),
            lk=_size(sheet.forgiven[:, LK]),
            mapping=_size(mapping),
            mapping_and_p3=_size(mapping & headline),
        )

    def findings(self) -> list[Finding]:
        """Name the counts, and their shares of all tokens."""
        shares = {
            "P1": self.p1,
            "P1_loss_columns": self.p1_loss_columns,
            "P2": self.p2,
            "P3_raw_stored_columns": self.p3_raw,
            "P3_raw_loss_columns": self.p3_raw_loss_columns,
            "P3_loss_stored_columns": self.p3_loss,
            "headline": self.p3_loss_loss_columns,
            "mapping_erased": self.mapping,
        }
        found = [count("population_tokens", self.tokens), count("vocab_dense", self.candidates)]
        for name, tokens in shares.items():
            found.append(count(f"{name}_count", tokens))
            found.append(percent(f"{name}_percent", tokens, self.tokens, 4))
        times = self.p3_loss_loss_columns / self.mapping if self.mapping else None
        return [
            *found,
            count("P3_outside_loss_columns_only", self.p3_loss - self.p3_loss_loss_columns),
            count("mapping_erased_overlap", self.mapping_and_p3),
            number("headline_times_mapping_erased", times, 1),
        ]

    def table(self) -> Table:
        """Nested predicates, as the paper's first table has them."""
        rows = (
            ("P1: the human scores zero in a column", self.p1),
            ("P2: the overwrite changes a value", self.p2),
            ("P3: raw mixed, any stored column", self.p3_raw),
            ("P3: raw mixed, a loss column", self.p3_raw_loss_columns),
            ("P3: loss-effective mixed, any stored column", self.p3_loss),
            ("P3: loss-effective mixed, a loss column", self.p3_loss_loss_columns),
            ("the loss's mapping leaves a mixed loss column constant", self.mapping),
            ("both of the last two", self.mapping_and_p3),
        )
        return Table(
            "predicates",
            f"Tokens that fulfil each predicate, of {self.tokens:,}.",
            ("predicate", "tokens", "percent"),
            tuple((name, n, percent("", n, self.tokens, 4).text) for name, n in rows),
        )


def _size(mask: Mask) -> int:
    return int(np.count_nonzero(mask))
