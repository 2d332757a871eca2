"""Rows: on how many tokens the overwrite makes different candidates' labels the same.

Each token is compared with itself. Medians are upper ones, taken before and after separately.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.distinct import NINE_RAW, REPRESENTATIONS, SEVEN_LOSS
from navaudit.audit.predicates import erases
from navaudit.audit.sheet import Sheet
from navaudit.audit.table import Table
from navaudit.axes import LOSS_COLUMNS
from navaudit.findings import Finding, count, number, percent
from navaudit.stats.order import upper_median


@dataclass(frozen=True)
class Paired:
    """One representation of the rows of the tokens on which the rule fired."""

    tokens: int
    median_before: int | None
    median_after: int | None
    dropped: int
    """Sum over the tokens of distinct rows before less those after."""
    decreases: int
    """Tokens with fewer distinct rows after."""
    single_before: int
    """Tokens whose rows are all the same."""
    single_after: int

    @classmethod
    def of(cls, before: NDArray[np.int32], after: NDArray[np.int32]) -> Paired:
        """Compare distinct rows ``[token]``."""
        return cls(
            tokens=len(before),
            median_before=_median(before),
            median_after=_median(after),
            dropped=int((before.astype(np.int64) - after).sum()),
            decreases=int(np.count_nonzero(after < before)),
            single_before=int(np.count_nonzero(before == 1)),
            single_after=int(np.count_nonzero(after == 1)),
        )

    @property
    def mean_drop(self) -> float | None:
        """Mean over the tokens of distinct rows before less those after."""
        return self.dropped / self.tokens if self.tokens else None


@dataclass(frozen=True)
class Rows:
    """Distinct rows of the tokens on which the rule fired, and of the others."""

    paired: tuple[Paired, ...]
    """``[representation]``"""
    untouched: int
    """Tokens on which the rule did not fire."""
    untouched_median: int | None
    """Upper median of their distinct raw rows of nine columns."""
    untouched_sum: int
    redundant: int
    """Tokens that lose a distinction the loss reads, and no row, since other columns repeat it."""

    @classmethod
    def of(cls, sheet: Sheet) -> Rows:
        """Count the rows of a sheet."""
        fired = sheet.fired
        others = sheet.rows_before[~fired, NINE_RAW]
        fewer = sheet.rows_after[:, SEVEN_LOSS] < sheet.rows_before[:, SEVEN_LOSS]
        return cls(
            paired=tuple(
                Paired.of(sheet.rows_before[fired, r], sheet.rows_after[fired, r])
                for r in range(len(REPRESENTATIONS))
            ),
            untouched=len(others),
            untouched_median=_median(others),
            untouched_sum=int(others.sum(dtype=np.int64)),
            redundant=int(np.count_nonzero(erases(sheet, LOSS_COLUMNS, loss=True) & ~fewer)),
        )

    @property
    def untouched_mean(self) -> float | None:
        """Mean of the distinct raw rows of nine columns where the rule did not fire."""
        return self.untouched_sum / self.untouched if self.untouched else None

    def findings(self) -> list[Finding]:
        """Name the counts of each representation, and the contrast with the other tokens."""
        found = [count("paired_pool", self.paired[0].tokens)]
        for name, one in zip(REPRESENTATIONS, self.paired, strict=True):
            found += [
                _maybe(f"rows_{name}_before_median", one.median_before),
                _maybe(f"rows_{name}_after_median", one.median_after),
                number(f"rows_{name}_mean_drop", one.mean_drop, 2),
                count(f"rows_{name}_decreases", one.decreases),
                percent(f"rows_{name}_decreases_percent", one.decreases, one.tokens, 2),
                count(f"rows_{name}_single_before", one.single_before),
                count(f"rows_{name}_single_after", one.single_after),
            ]
        return [
            *found,
            count("rows_redundant_tokens", self.redundant),
            count("rows_untouched_tokens", self.untouched),
            _maybe("rows_untouched_median", self.untouched_median),
            number("rows_untouched_mean", self.untouched_mean, 2),
        ]

    def table(self) -> Table:
        """Paired distinct rows, and those of tokens on which the rule did not fire."""
        rows = [
            (
                name.replace("_", " "),
                one.median_before,
                one.median_after,
                number("", one.mean_drop, 2).text,
                one.decreases,
                percent("", one.decreases, one.tokens, 2).text,
            )
            for name, one in zip(REPRESENTATIONS, self.paired, strict=True)
        ]
        others = ("nine raw, where the rule did not fire", self.untouched_median)
        return Table(
            "rows",
            f"Distinct label rows of {self.paired[0].tokens:,} tokens on which the rule fired, and "
            f"of {self.untouched:,} on which it did not.",
            (
                "representation", "median before", "median after", "mean drop", "decreases",
                "decreases percent",
            ),
            (*rows, (*others, None, None, None, None)),
        )  # fmt: skip


def _median(values: NDArray[np.int32]) -> int | None:
    return int(upper_median(values)) if values.size else None


def _maybe(name: str, value: int | None) -> Finding:
    return number(name, None, 0) if value is None else count(name, value)
