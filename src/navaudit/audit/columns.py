"""Columns: what overwriting a column erases, counted over every column that was overwritten.

Before the overwrite a column was already all ones, constant at a failing value, or mixed; as the
loss reads it, or as stored. A candidate fails a column where its label, as the loss reads it, is
not 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.consumer import HALVED
from navaudit.audit.sheet import Sheet
from navaudit.audit.table import Cell, Table
from navaudit.audit.tally import FAILING, HALF_BIT, KINDS, LOSS_VALUES, VALUES, ZERO_BIT
from navaudit.axes import COLUMNS, LOSS_COLUMNS, SHORT
from navaudit.findings import Finding, count, number, percent
from navaudit.stats.order import upper_median

Ints = NDArray[np.int64]

_NUMERALS: Final = ("one", "two", "three")


@dataclass(frozen=True)
class Classes:
    """Forgiven columns by what they were before; every count is ``[column]``."""

    forgiven: Ints
    already_one: Ints
    all_failing: Ints
    """Constant at a value that fails; as the loss reads them, these are all zero."""
    mixed: Ints

    @classmethod
    def of(cls, sheet: Sheet, *, loss: bool) -> Classes:
        """Class the forgiven columns of a sheet, as the loss reads them or as stored."""
        failing = sheet.before[:, :, FAILING]
        values = sheet.before[:, :, LOSS_VALUES if loss else VALUES]
        # each class by a test of its own: that they add up is an identity of the audit
        kinds = (failing == 0, (values == 1) & (failing == sheet.candidates), values >= 2)
        counts = (np.count_nonzero(sheet.forgiven & kind, axis=0) for kind in kinds)
        return cls(np.count_nonzero(sheet.forgiven, axis=0), *counts)


@dataclass(frozen=True)
class Columns:
    """What was overwritten, column by column."""

    tokens: int
    fired: int
    """Tokens on which the rule fired."""
    candidates: int
    loss: Classes
    raw: Classes
    pooled_median: tuple[int | None, ...]
    """``[column]``: upper median of failing candidates over all its forgiven columns."""
    mixed_failing: tuple[tuple[int, int, int] | None, ...]
    """``[column]``: least, upper median and most failing candidates of mixed forgiven columns."""
    unforgiven_mixed: Ints
    """``[column]``: columns not forgiven that are published mixed, as the loss reads them."""
    unforgiven_median: tuple[int | None, ...]
    """``[column]``: upper median of failing candidates over those."""
    valued: NDArray[np.int64]
    """``[column, 1 2 3]``: forgiven columns of so many values as stored."""
    value_sets: tuple[tuple[tuple[int, int], int], ...]
    """Forgiven columns by column and kinds of values."""

    @classmethod
    def of(cls, sheet: Sheet) -> Columns:
        """Count the forgiven columns of a sheet."""
        failing = sheet.before[:, :, FAILING]
        mixed = sheet.forgiven & (sheet.before[:, :, LOSS_VALUES] >= 2)
        other = ~sheet.forgiven & (sheet.after[:, :, LOSS_VALUES] >= 2)
        everyone = range(len(COLUMNS))
        return cls(
            tokens=len(sheet),
            fired=int(np.count_nonzero(sheet.fired)),
            candidates=sheet.candidates,
            loss=Classes.of(sheet, loss=True),
            raw=Classes.of(sheet, loss=False),
            pooled_median=tuple(_median(failing[sheet.forgiven[:, c], c]) for c in everyone),
            mixed_failing=tuple(_range(failing[mixed[:, c], c]) for c in everyone),
            unforgiven_mixed=np.count_nonzero(other, axis=0),
            unforgiven_median=tuple(
                _median(sheet.after[other[:, c], c, FAILING]) for c in everyone
            ),
            valued=np.stack([_valued(sheet, n) for n in (1, 2, 3)], axis=1),
            value_sets=_value_sets(sheet),
        )

    def of_loss(self, of_column: Ints) -> int:
        """Add up a count over the loss columns."""
        return int(of_column[list(LOSS_COLUMNS)].sum())

    def findings(self) -> list[Finding]:
        """Name the counts of every column, and the sums over the loss columns."""
        found = [count("forgiven_token_columns", int(self.loss.forgiven.sum()))]
        for name, of_column in self._classes():
            found.append(count(f"loss_columns_{name}", self.of_loss(of_column)))
        for column in range(len(COLUMNS)):
            found.extend(self._findings_of(column))
        return found

    def _classes(self) -> tuple[tuple[str, Ints], ...]:
        loss = self.loss
        return (
            ("forgiven", loss.forgiven),
            ("already_one", loss.already_one),
            ("all_zero", loss.all_failing),
            ("mixed", loss.mixed),
            ("raw_mixed", self.raw.mixed),
        )

    def _findings_of(self, c: int) -> list[Finding]:
        short = SHORT[c]
        found = [count(f"{short}_{name}", of_column[c]) for name, of_column in self._classes()]
        forgiven, mixed = int(self.loss.forgiven[c]), int(self.loss.mixed[c])
        least, median, most = self.mixed_failing[c] or (None, None, None)
        return [
            *found,
            percent(f"{short}_forgiven_share", forgiven, self.fired, 2),
            percent(f"{short}_mixed_percent", mixed, self.tokens, 2),
            percent(f"{short}_mixed_of_forgiven_percent", mixed, forgiven, 2),
            percent(f"{short}_raw_mixed_of_forgiven_percent", int(self.raw.mixed[c]), forgiven, 2),
            _maybe(f"{short}_pooled_median", self.pooled_median[c]),
            _maybe(f"{short}_mixed_min", least),
            _maybe(f"{short}_mixed_median", median),
            _maybe(f"{short}_mixed_max", most),
            _share(f"{short}_mixed_median_percent", median, self.candidates),
            *(
                count(f"{short}_{name}_valued", n)
                for name, n in zip(_NUMERALS, self.valued[c], strict=True)
            ),
            count(f"{short}_unforgiven_mixed", self.unforgiven_mixed[c]),
            _maybe(f"{short}_unforgiven_mixed_median", self.unforgiven_median[c]),
        ]

    def table(self) -> Table:
        """Classes of every column after the consumer's mapping, and the pooled median."""
        rows = [self._row(SHORT[c], [of[c] for of in self._four()], c) for c in _by_count(self)]
        together = [self.of_loss(of) for of in self._four()]
        return Table(
            "columns",
            "What overwritten columns held before, as the loss reads it; medians are upper ones.",
            (
                "column", "forgiven", "already one", "all failing", "mixed", "mixed percent",
                "pooled median failing", "raw mixed",
            ),
            (*rows, self._row("the seven loss columns", together, None)),
        )  # fmt: skip

    def _four(self) -> tuple[Ints, ...]:
        return tuple(of_column for _, of_column in self._classes()[:4])

    def _row(self, name: str, counts: list[int], column: int | None) -> tuple[Cell, ...]:
        share = percent("", counts[3], counts[0], 2).text
        median = None if column is None else self.pooled_median[column]
        raw = self.of_loss(self.raw.mixed) if column is None else int(self.raw.mixed[column])
        return (name, *map(int, counts), share, median, raw)

    def value_table(self) -> Table:
        """Which values the overwritten columns held, as stored and as the loss reads them."""
        return Table(
            "values",
            "Overwritten columns by the values they held before.",
            ("column", "values", "as the loss reads them", "columns"),
            tuple(
                (SHORT[column], _value_set(kinds), _value_set(_read(column, kinds)), columns)
                for (column, kinds), columns in self.value_sets
            ),
        )


def _by_count(columns: Columns) -> list[int]:
    """Loss columns by how often they are forgiven, then the others."""
    forgiven = columns.loss.forgiven
    return sorted(range(len(COLUMNS)), key=lambda c: (c not in LOSS_COLUMNS, -forgiven[c], c))


def _valued(sheet: Sheet, distinct: int) -> Ints:
    return np.count_nonzero(sheet.forgiven & (sheet.before[:, :, VALUES] == distinct), axis=0)


def _value_sets(sheet: Sheet) -> tuple[tuple[tuple[int, int], int], ...]:
    token, column = np.nonzero(sheet.forgiven)
    keys = np.column_stack((column, sheet.before[token, column, KINDS]))
    sets, counts = np.unique(keys, axis=0, return_counts=True)
    keyed = zip(sets.tolist(), counts.tolist(), strict=True)
    return tuple(((column, kinds), columns) for (column, kinds), columns in keyed)


def _read(column: int, kinds: int) -> int:
    """Kinds of values that the loss reads where it is given these."""
    if column in HALVED and kinds & HALF_BIT:
        return (kinds & ~HALF_BIT) | ZERO_BIT
    return kinds


def _value_set(kinds: int) -> str:
    names = ("0", "1/2", "1", "others")
    return "{" + ", ".join(one for bit, one in enumerate(names) if kinds >> bit & 1) + "}"


def _median(values: NDArray[np.int32]) -> int | None:
    return int(upper_median(values)) if values.size else None


def _range(values: NDArray[np.int32]) -> tuple[int, int, int] | None:
    if not values.size:
        return None
    return int(values.min()), int(upper_median(values)), int(values.max())


def _maybe(name: str, value: int | None) -> Finding:
    return number(name, None, 0) if value is None else count(name, value)


def _share(name: str, part: int | None, whole: int) -> Finding:
    return percent(name, 0, 0, 2) if part is None else percent(name, part, whole, 2)
