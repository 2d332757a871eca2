"""Exposure: how likely vocabulary dropout was to show the loss the distinction that was erased.

Dropout keeps s of N candidates, each choice as likely as any other. Two values of a column survive
unless all that are kept come from one group of candidates that the loss reads alike. Where these
groups have sizes n::

    p = 1 - sum of C(n, s) / C(N, s)

which for a column of two values is the hypergeometric p(k) of either group's size k. It is computed
in whole numbers and rounded to a double once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from navaudit.audit.consumer import sampled
from navaudit.audit.sheet import Sheet
from navaudit.audit.table import Table
from navaudit.audit.tally import LARGEST, LOSS_VALUES, THIRD
from navaudit.axes import LOSS_COLUMNS
from navaudit.findings import Finding, count, number

Groups = tuple[int, ...]


@lru_cache(maxsize=8)
def _ways(candidates: int, kept: int) -> tuple[int, ...]:
    """C(n, kept) for n from ``kept`` to ``candidates``, each made from the one before."""
    ways = [1]
    for n in range(kept + 1, candidates + 1):
        ways.append(ways[-1] * n // (n - kept))
    return tuple(ways)


def lost(groups: Sequence[int], candidates: int, kept: int | None = None) -> tuple[int, int]:
    """Samples of ``kept`` candidates with one value alone, and all samples, exactly."""
    kept = sampled(candidates) if kept is None else kept
    ways = _ways(candidates, kept)
    return sum(ways[n - kept] for n in groups if n >= kept), ways[-1]


def survives(groups: Sequence[int], candidates: int, kept: int | None = None) -> float:
    """Probability that two values of a column survive dropout, the nearest double to it.

    ``groups`` are the numbers of candidates that the loss reads alike; half are kept if not told.

    Examples
    --------
    >>> survives((1, 16383), 16384)
    0.5
    >>> survives((8192, 8192), 16384)
    1.0
    """
    alone, samples = lost(groups, candidates, kept)
    # a quotient of whole numbers is rounded correctly however large they are
    return (samples - alone) / samples


@dataclass(frozen=True)
class Exposure:
    """Mixed forgiven columns of the loss, each with the same weight."""

    candidates: int
    columns: Mapping[Groups, int]
    """Columns by the sizes of their groups that alone can fill a sample, descending."""

    @classmethod
    def of(cls, sheet: Sheet) -> Exposure:
        """Pool the columns of a sheet."""
        mixed = sheet.forgiven & (sheet.before[:, :, LOSS_VALUES] >= 2)
        loss = list(LOSS_COLUMNS)
        # three groups can fill a sample only where there are three candidates; four never
        sizes = sheet.before[:, loss, LARGEST : THIRD + 1][mixed[:, loss]]
        kept = sampled(sheet.candidates)
        pooled = Counter(tuple(n for n in groups if n >= kept) for groups in sizes.tolist())
        return cls(sheet.candidates, dict(sorted(pooled.items())))

    @property
    def population(self) -> int:
        """Number of columns."""
        return sum(self.columns.values())

    def mean(self) -> float | None:
        """Mean probability that two values survive, the nearest double to it."""
        if not self.columns:
            return None
        _, samples = lost((), self.candidates)
        alone = sum(lost(groups, self.candidates)[0] * n for groups, n in self.columns.items())
        return (samples * self.population - alone) / (samples * self.population)

    def certain(self) -> int:
        """Columns whose probability is 1.0 to double precision."""
        each = ((survives(groups, self.candidates), n) for groups, n in self.columns.items())
        return sum(n for p, n in each if p == 1.0)

    def least(self) -> float | None:
        """Least probability of any column."""
        return min((survives(groups, self.candidates) for groups in self.columns), default=None)

    def findings(self) -> list[Finding]:
        """Name the pool and its probabilities."""
        return [
            count("exposure_population", self.population),
            number("exposure_mean_probability", self.mean(), 6),
            count("exposure_p_one", self.certain()),
            number("exposure_min_probability", self.least(), 6),
        ]

    def table(self) -> Table:
        """Columns by the probability that the distinction survives, up to certainty."""
        edges = (0.0, 0.5, 0.75, 0.9, 0.99, 0.999, 0.999999, 1.0)
        probabilities = np.array([survives(one, self.candidates) for one in self.columns])
        counts = np.array(list(self.columns.values()), np.int64)
        rows = []
        for low, high in pairwise(edges):
            inside = (probabilities >= low) & (probabilities < high)
            rows.append((f"at least {low:g}, below {high:g}", int(counts[inside].sum())))
        rows.append(("1 to double precision", self.certain()))
        return Table(
            "exposure",
            f"Mixed overwritten loss columns by the probability that dropout, keeping "
            f"{sampled(self.candidates):,} of {self.candidates:,}, keeps two of their values.",
            ("probability", "columns"),
            tuple(rows),
        )
