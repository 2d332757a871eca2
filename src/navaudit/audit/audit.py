"""The audit of a label set: read it once, measure every token, count, and check the counts.

The published labels are those of a second set, or what the rule makes of the raw ones. A column is
forgiven where the human scored zero; where no human score is known, where the files differ and the
published column is all ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from navaudit.audit.identities import Counted
from navaudit.audit.sheet import Sheet
from navaudit.audit.sources import HUMAN, Sources
from navaudit.audit.survey import Say, silent, survey
from navaudit.audit.table import Table
from navaudit.findings import Finding, count


@dataclass(frozen=True)
class Audit:
    """What the audit of a label set found."""

    record: Mapping[str, Any]
    """The label sets it is of, and how it is known that a column was forgiven."""
    tokens: tuple[str, ...]
    """Every token of the raw set; a sheet's places index it."""
    sheet: Sheet
    counted: Counted

    def findings(self) -> list[Finding]:
        """Name every number; each says which table shows it in context."""
        one = self.counted
        parts = (
            (one.predicates.findings(), "predicates"),
            (one.columns.findings(), "columns"),
            (one.entries.findings(), "entries"),
            (one.rows.findings(), "rows"),
            (one.ranking.findings(), "ranking"),
            (one.exposure.findings(), "exposure"),
            (one.differences.findings(self.tokens, certifies=self.certifies), "differences"),
        )
        found = [replace(f, where=f"{table}.csv") for part, table in parts for f in part]
        return [*found, count("human_unknown_tokens", int(self.record["human_unknown"]))]

    @property
    def certifies(self) -> bool:
        """Whether a file of published labels is held to the rule and the human's scores."""
        record = self.record
        return record["published"] is not None and record["forgiven_known_from"] == HUMAN

    def cautions(self) -> list[str]:
        """Say what a reader of the numbers should know of the label sets."""
        record, residuals = self.record, self.counted.differences.residuals
        left_out = record["raw_tokens"] - record["tokens"]
        said = [
            (left_out, f"{left_out:,} raw tokens are not in the published set, and left out"),
            (len(residuals), f"{len(residuals):,} tokens differ by more than the rule"),
            (record["human_unknown"] if record["forgiven_known_from"] == HUMAN else 0,
             f"{record['human_unknown']:,} tokens lack a human score, which counts as no zero"),
            (record["failures"], f"{record['failures']:,} scenes of the raw set have no labels"),
        ]  # fmt: skip
        return [words for n, words in said if n]

    def tables(self) -> tuple[Table, ...]:
        """Every table, in the order of the paper."""
        one = self.counted
        return (
            one.predicates.table(),
            one.columns.table(),
            one.columns.value_table(),
            one.entries.table(),
            one.histogram.table(),
            one.rows.table(),
            one.ranking.table(),
            one.ranking.tie_table(),
            one.ranking.gain_table(),
            one.exposure.table(),
            one.differences.table(),
        )


def audit_labels(sources: Sources, folder: Path, *, workers: int = 1, say: Say = silent) -> Audit:
    """Audit label sets; what is measured is kept in the folder, and not measured again.

    The result does not depend on the number of workers, nor on how often it was cut short.
    """
    sheet = survey(sources, folder, workers=workers, say=say)
    return Audit(sources.record(), sources.raw.tokens, sheet, Counted.of(sheet))
