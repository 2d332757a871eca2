"""Identities: what must hold between the counts of any label set, whatever is in it.

Both sides of each are counted by ways of their own. One that fails means that something is wrong
with the machine or with navaudit, and nothing of the audit is to be believed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from navaudit.audit.columns import Classes, Columns
from navaudit.audit.differences import Differences
from navaudit.audit.distinct import NINE_RAW, SEVEN_LOSS, SEVEN_RAW
from navaudit.audit.entries import Entries, Histogram
from navaudit.audit.exposure import Exposure, survives
from navaudit.audit.predicates import Predicates, erases, fires, overwrites
from navaudit.audit.ranking import EQUAL, Ranking
from navaudit.audit.rows import Rows
from navaudit.audit.sheet import Sheet
from navaudit.audit.tally import FAILING
from navaudit.axes import COLUMNS, LOSS_COLUMNS
from navaudit.errors import Unhealthy


@dataclass(frozen=True)
class Counted:
    """Everything the audit counts on one sheet."""

    predicates: Predicates
    columns: Columns
    entries: Entries
    histogram: Histogram
    rows: Rows
    ranking: Ranking
    exposure: Exposure
    differences: Differences

    @classmethod
    def of(cls, sheet: Sheet) -> Counted:
        """Count a sheet, and hold the counts to every identity."""
        counted = cls(
            Predicates.of(sheet),
            Columns.of(sheet),
            Entries.of(sheet),
            Histogram.of(sheet),
            Rows.of(sheet),
            Ranking.of(sheet),
            Exposure.of(sheet),
            Differences.of(sheet),
        )
        for what, one, other in identities(sheet, counted):
            if one != other:
                raise Unhealthy(
                    f"an identity fails: {what}",
                    where="the audit of these labels",
                    expected=f"{one} = {other}",
                    remedy="run navaudit doctor; if it finds nothing, this is a bug of navaudit",
                )
        return counted


Identity = tuple[str, int, int]


def identities(sheet: Sheet, counted: Counted) -> Iterator[Identity]:
    """Say what must be equal, with both sides as they were counted."""
    yield from _of_predicates(sheet, counted)
    for loss, classes in ((True, counted.columns.loss), (False, counted.columns.raw)):
        yield from _of_classes(classes, "as the loss reads it" if loss else "as stored")
    yield from _of_entries(sheet, counted)
    yield from _of_rows(sheet)
    yield from _of_ranking(sheet, counted.ranking)
    yield from _of_exposure(counted)
    yield from _of_differences(sheet, counted)


def _of_predicates(sheet: Sheet, counted: Counted) -> Iterator[Identity]:
    p1, p2 = fires(sheet), overwrites(sheet)
    raw, loss = erases(sheet, loss=False), erases(sheet, loss=True)
    headline = erases(sheet, LOSS_COLUMNS, loss=True)
    already = counted.columns.raw.already_one
    if not already.any():
        yield "P1 = P2 where no forgiven column was all ones", _size(p1), _size(p2)
    # a token is in P1 alone only if all of its forgiven columns were all ones
    only = sheet.forgiven.sum(axis=1) == (sheet.forgiven & (sheet.before[:, :, FAILING] == 0)).sum(
        axis=1
    )
    yield "P1 less P2 are tokens that held ones only", _size(p1) - _size(p2), _size(p1 & only)
    for name, inner, outer in (
        ("P2 lies within P1", p2, p1),
        ("raw P3 lies within P2", raw, p2),
        ("loss-effective P3 lies within raw P3", loss, raw),
        ("P3 of loss columns lies within P3 of stored columns", headline, loss),
    ):
        yield name, _size(inner & ~outer), 0


def _of_classes(classes: Classes, reading: str) -> Iterator[Identity]:
    for c, name in enumerate(COLUMNS):
        together = int(classes.already_one[c] + classes.all_failing[c] + classes.mixed[c])
        yield f"the classes of {name}, {reading}, add up", together, int(classes.forgiven[c])


def _of_entries(sheet: Sheet, counted: Counted) -> Iterator[Identity]:
    entries, classes = counted.entries, counted.columns.loss
    good = sheet.reproduced
    for c, name in enumerate(COLUMNS):
        fired = sheet.forgiven[:, c]
        constant = int(classes.all_failing[c]) * sheet.candidates
        yield f"all-failing {name} changes every target", int(entries.changed_failing[c]), constant
        changed = int(sheet.changed[fired & good, c].sum(dtype=np.int64))
        failing = int(sheet.before[fired & good, c, FAILING].sum(dtype=np.int64))
        yield f"changed targets of {name} are those that failed", changed, failing
    histogram = counted.histogram
    forgiven = int(classes.forgiven[histogram.column])
    yield "the histogram holds every forgiven column", int(histogram.forgiven.sum()), forgiven
    other = int(counted.columns.unforgiven_mixed[histogram.column])
    yield "the histogram holds every other mixed column", int(histogram.unforgiven.sum()), other


def _of_rows(sheet: Sheet) -> Iterator[Identity]:
    good, headline = sheet.reproduced, erases(sheet, LOSS_COLUMNS, loss=True)
    before, after = sheet.rows_before[good], sheet.rows_after[good]
    yield "the rule makes no row distinct", int(np.count_nonzero(after > before)), 0
    for rows in (sheet.rows_before, sheet.rows_after):
        wider = rows[:, [NINE_RAW, SEVEN_RAW]] < rows[:, [SEVEN_RAW, SEVEN_LOSS]]
        yield "leaving out columns or values makes no row distinct", int(np.count_nonzero(wider)), 0
    lost = (after < before)[:, SEVEN_LOSS]
    yield "rows merge for the loss only where P3 holds", _size(lost & ~headline[good]), 0
    still = ~sheet.differs
    moved = np.count_nonzero(sheet.rows_after[still] != sheet.rows_before[still])
    yield "equal labels have equal rows", int(moved), 0


def _of_ranking(sheet: Sheet, ranking: Ranking) -> Iterator[Identity]:
    for split in ranking.splits:
        yield "the relations add up to the affected", sum(split.relations), ranking.affected
        parts = sum(n for relation, n in enumerate(split.relations) if relation != EQUAL)
        yield "different sets are of four relations", split.different, parts
    affected = _size(overwrites(sheet) & sheet.reproduced)
    yield "the affected are P2 less its residuals", ranking.affected, affected
    gains = ranking.gains
    yield "both aggregates judge the same tokens", gains[0].tokens, gains[1].tokens


def _of_exposure(counted: Counted) -> Iterator[Identity]:
    exposure, columns = counted.exposure, counted.columns
    mixed = columns.of_loss(columns.loss.mixed)
    yield "dropout is asked of every mixed loss column", exposure.population, mixed
    # a single candidate of its kind is kept half the time, and any larger group more often
    if exposure.candidates % 2 == 0 and exposure.candidates > 2:
        rare = sum(survives(groups, exposure.candidates) < 0.5 for groups in exposure.columns)
        yield "no distinction survives dropout less than half the time", rare, 0


def _of_differences(sheet: Sheet, counted: Counted) -> Iterator[Identity]:
    found, columns = counted.differences, counted.columns
    left = counted.predicates.p1 * len(COLUMNS) - int(columns.loss.forgiven.sum())
    yield "columns of P1 are forgiven or left alone", found.compared, left
    together = found.tokens - len(found.residuals)
    yield "tokens are reproduced or residual", counted.ranking.tokens, together
    alone = _size(sheet.differs & ~fires(sheet))
    apart = _size(~sheet.reproduced & ~fires(sheet))
    yield "where the rule did not fire, a difference is a residual", alone, apart


def _size(mask: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    return int(np.count_nonzero(mask))
