"""Entries: single targets that the overwrite turned into passing ones, out of all there are.

In a forgiven column every candidate that failed is changed, in a mixed column as in one in which
all failed; a candidate that passed keeps its 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.sheet import Sheet
from navaudit.audit.table import Table
from navaudit.audit.tally import FAILING, LOSS_VALUES
from navaudit.axes import COLUMNS, LK, LOSS_COLUMNS, SHORT
from navaudit.findings import Finding, count, counts, percent
from navaudit.stats.order import at_five_ranks

Ints = NDArray[np.int64]

BINS: Final = 32
"""Bins of the histogram; of 16,384 candidates each spans 512."""


@dataclass(frozen=True)
class Entries:
    """Changed targets, column by column."""

    targets: int
    """Tokens times candidates times loss columns."""
    changed_mixed: Ints
    """``[column]``: changed in columns that the loss would have read as mixed."""
    changed_failing: Ints
    """``[column]``: changed in columns in which every candidate failed."""
    ranks: tuple[tuple[int, ...], ...]
    """``[column]``: failing candidates of its forgiven columns at the five ranks, if it has any."""

    @classmethod
    def of(cls, sheet: Sheet) -> Entries:
        """Count the changed targets of a sheet."""
        failing = np.where(sheet.forgiven, sheet.before[:, :, FAILING], 0).astype(np.int64)
        mixed = sheet.before[:, :, LOSS_VALUES] >= 2
        return cls(
            targets=len(sheet) * sheet.candidates * len(LOSS_COLUMNS),
            changed_mixed=np.where(mixed, failing, 0).sum(axis=0),
            changed_failing=np.where(mixed, 0, failing).sum(axis=0),
            ranks=tuple(_ranks(failing[sheet.forgiven[:, c], c]) for c in range(len(COLUMNS))),
        )

    @property
    def changed(self) -> Ints:
        """``[column]``: changed targets."""
        return self.changed_mixed + self.changed_failing

    @property
    def changed_in_loss(self) -> int:
        """Changed targets of the loss columns."""
        return int(self.changed[list(LOSS_COLUMNS)].sum())

    def findings(self) -> list[Finding]:
        """Name the counts; exact_* and ranks_* are of loss columns, as the paper has them."""
        in_loss = self.changed_in_loss
        found = [
            count("target_entries", self.targets),
            count("supervision_entries_exact", in_loss),
            percent("supervision_share_exact_percent", in_loss, self.targets, 4),
            count("other_changed_entries_exact", in_loss - int(self.changed[LK])),
        ]
        for c in range(len(COLUMNS)):
            found.extend(self._findings_of(c))
        return found

    def _findings_of(self, c: int) -> list[Finding]:
        short, mixed = SHORT[c], int(self.changed_mixed[c])
        found = [
            count(f"{short}_changed_entries", self.changed[c]),
            count(f"{short}_mixed_changed_entries", mixed),
            count(f"{short}_all_zero_changed_entries", self.changed_failing[c]),
            percent(f"{short}_mixed_entry_percent", mixed, self.targets, 4),
            counts(f"ranks_{short}", self.ranks[c]),
        ]
        if c in LOSS_COLUMNS and c != LK:
            found.append(count(f"exact_{short}", self.changed[c]))
        return found

    def table(self) -> Table:
        """Changed targets and failing candidates at the five ranks, column by column."""
        order = sorted(range(len(COLUMNS)), key=lambda c: (c not in LOSS_COLUMNS, -self.changed[c]))
        return Table(
            "entries",
            "Targets the overwrite changed, and failing candidates of overwritten columns at five "
            f"ranks; percent of {self.targets:,} targets of the seven loss columns.",
            (
                "column", "changed", "in mixed", "in all failing", "percent",
                "least", "quarter", "half", "three quarters", "most",
            ),
            tuple(
                (
                    SHORT[c],
                    int(self.changed[c]),
                    int(self.changed_mixed[c]),
                    int(self.changed_failing[c]),
                    percent("", int(self.changed[c]), self.targets, 4).text
                    if c in LOSS_COLUMNS
                    else None,
                    *(self.ranks[c] or (None,) * 5),
                )
                for c in order
            ),
        )  # fmt: skip


@dataclass(frozen=True)
class Histogram:
    """Columns of one metric by how many candidates fail them."""

    column: int
    edges: Ints
    """``[bin + 1]``; a bin holds its lower edge, and the last its upper one too."""
    forgiven: Ints
    """``[bin]``: forgiven columns, before the overwrite."""
    unforgiven: Ints
    """``[bin]``: columns not forgiven that are published mixed."""
    median: int | None
    """Upper median over the forgiven columns."""
    unforgiven_median: int | None

    @classmethod
    def of(cls, sheet: Sheet, column: int = LK) -> Histogram:
        """Count the columns of one metric."""
        width = -(-sheet.candidates // BINS)
        edges = width * np.arange(-(-sheet.candidates // width) + 1)
        fired = sheet.forgiven[:, column]
        forgiven = sheet.before[fired, column, FAILING]
        other = ~fired & (sheet.after[:, column, LOSS_VALUES] >= 2)
        unforgiven = sheet.after[other, column, FAILING]
        return cls(
            column=column,
            edges=edges,
            forgiven=np.histogram(forgiven, edges)[0],
            unforgiven=np.histogram(unforgiven, edges)[0],
            median=(_ranks(forgiven) or (None,) * 5)[2],
            unforgiven_median=(_ranks(unforgiven) or (None,) * 5)[2],
        )

    def table(self) -> Table:
        """List the bins."""
        return Table(
            f"failing_{SHORT[self.column]}",
            f"{SHORT[self.column]} columns by failing candidates; the last bin holds its end.",
            ("from", "to", "forgiven", "unforgiven"),
            tuple(
                zip(
                    self.edges[:-1].tolist(),
                    self.edges[1:].tolist(),
                    self.forgiven.tolist(),
                    self.unforgiven.tolist(),
                    strict=True,
                )
            ),
        )


def _ranks(values: NDArray[np.integer]) -> tuple[int, ...]:
    return tuple(int(one) for one in at_five_ranks(values)) if values.size else ()
