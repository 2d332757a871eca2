"""Differences: where two label files part, and whether the rule is all that parts them.

The rule reproduces a token where its published labels are what the rule makes of the raw ones, bit
by bit in every column; the others are residuals. Where the published labels are derived from the
raw ones there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.sheet import Sheet
from navaudit.audit.table import Table
from navaudit.axes import COLUMNS, PDM, SHORT
from navaudit.findings import Finding, count

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Differences:
    """Token-columns of two files, compared bit by bit."""

    tokens: int
    differing: int
    """Tokens that differ somewhere."""
    differing_columns: Ints
    """``[column]``: tokens whose column differs."""
    residual_columns: Ints
    """``[column]``: tokens whose published column is not what the rule makes of the raw one."""
    residuals: tuple[int, ...]
    """Places of the tokens with such a column."""
    compared: int
    """Columns the rule left alone, of tokens on which it fired."""
    equal: int
    """Of those, columns on which the two files are the same."""

    @classmethod
    def of(cls, sheet: Sheet) -> Differences:
        """Compare the files of a sheet."""
        left_alone = sheet.fired[:, None] & ~sheet.forgiven
        return cls(
            tokens=len(sheet),
            differing=int(np.count_nonzero(sheet.differs)),
            differing_columns=np.count_nonzero(sheet.changed > 0, axis=0),
            residual_columns=np.count_nonzero(sheet.residual, axis=0),
            residuals=tuple(sheet.place[~sheet.reproduced].tolist()),
            compared=int(np.count_nonzero(left_alone)),
            equal=int(np.count_nonzero(left_alone & (sheet.changed == 0))),
        )

    def findings(self, tokens: Sequence[str] = (), *, certifies: bool = False) -> list[Finding]:
        """Name the counts; ``tokens`` name the residual ones.

        Where the published labels are a file's, and it is known from the human what the rule makes
        of the raw ones, the comparison certifies them and the counts have the paper's names too.
        """
        cases = tuple(tokens[place] for place in self.residuals) if tokens else ()
        rest = len(self.residuals)
        by_rule = {
            "reproduced": self.tokens - rest,
            "residual_total": rest,
            "pdm_reproduced": self.tokens - int(self.residual_columns[PDM]),
        }
        named = {f"rule_{name}": n for name, n in by_rule.items()} | (by_rule if certifies else {})
        return [
            *(
                replace(count(name, n), cases=cases if name.endswith("residual_total") else ())
                for name, n in named.items()
            ),
            count("differing_tokens", self.differing),
            count("untouched_comparisons", self.compared),
            count("untouched_equal", self.equal),
            *(count(f"{SHORT[c]}_differing", n) for c, n in enumerate(self.differing_columns)),
            *(count(f"{SHORT[c]}_residual", n) for c, n in enumerate(self.residual_columns)),
        ]

    def table(self) -> Table:
        """Tokens that differ, column by column."""
        return Table(
            "differences",
            f"Tokens whose label files differ, of {self.tokens:,}; a residual is not the rule's.",
            ("column", "differing", "residual"),
            tuple(
                (SHORT[c], int(self.differing_columns[c]), int(self.residual_columns[c]))
                for c in range(len(COLUMNS))
            ),
        )
