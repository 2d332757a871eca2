"""Ranking: on how many tokens the two label files place different candidates first.

Tokens on which the two files differ are the affected ones; those whose published labels the rule
does not make of the raw ones are left out before anything is counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.firsts import BOTH, PUBLISHED, RAW, STATISTICS, S
from navaudit.audit.sheet import Sheet
from navaudit.audit.table import Table
from navaudit.findings import Finding, count, number, percent
from navaudit.stats.order import upper_median

Mask = NDArray[np.bool_]

RELATIONS: Final = (
    "equal",
    "raw_within_published",
    "published_within_raw",
    "crossing",
    "disjoint",
)
"""Of the two sets of first candidates; within means properly so."""

EQUAL, RAW_WITHIN, PUBLISHED_WITHIN, CROSSING, DISJOINT = range(5)


def relations(sizes: NDArray[np.int32]) -> NDArray[np.int64]:
    """Relation of two sets from their sizes and that of what they share, ``[..., 3]``.

    Examples
    --------
    >>> relations(np.array([[2, 2, 2], [3, 1, 1], [1, 3, 1], [2, 2, 1], [1, 1, 0]])).tolist()
    [0, 1, 2, 3, 4]
    """
    published, raw, both = (sizes[..., one] for one in (PUBLISHED, RAW, BOTH))
    all_raw, all_published = both == raw, both == published
    return np.select(
        [all_raw & all_published, all_raw, all_published, both > 0],
        [EQUAL, RAW_WITHIN, PUBLISHED_WITHIN, CROSSING],
        DISJOINT,
    )


@dataclass(frozen=True)
class Split:
    """One statistic's sets of first candidates over the affected tokens."""

    relations: tuple[int, ...]
    """``[relation]``: tokens."""
    agrees: int
    """Tokens on which the sets differ exactly if those of S do."""
    both_single: int
    both_several: int
    median_published: int | None
    """Upper median of how many are first."""
    median_raw: int | None

    @property
    def different(self) -> int:
        """Tokens on which the two sets are not the same."""
        return sum(self.relations) - self.relations[EQUAL]


@dataclass(frozen=True)
class Gains:
    """Single first candidates that differ: how much more one aggregate gives the raw file's."""

    tokens: int
    median: float | None
    positive: int


@dataclass(frozen=True)
class Ranking:
    """What the two files place first."""

    tokens: int
    """Tokens whose published labels the rule makes of the raw ones."""
    affected: int
    """Of those, tokens on which the files differ."""
    splits: tuple[Split, ...]
    """``[statistic]``"""
    raw_ranks_nothing: int
    """Affected tokens of which S excludes every raw candidate."""
    nothing_within: int
    """Of those, tokens whose published set lies properly within the raw one."""
    gains: tuple[Gains, Gains]
    """``[published raw]``: by each file's own aggregate, under S."""

    @classmethod
    def of(cls, sheet: Sheet) -> Ranking:
        """Compare the first candidates of a sheet."""
        reproduced = sheet.reproduced
        kept = sheet.where(reproduced & sheet.differs)
        related = relations(kept.ranked)
        gains = kept.gain[np.isfinite(kept.gain).all(axis=1)]
        nothing = kept.nothing[:, RAW]
        return cls(
            tokens=int(np.count_nonzero(reproduced)),
            affected=len(kept),
            splits=tuple(
                _split(kept.ranked[:, s], related[:, s], related[:, S])
                for s in range(len(STATISTICS))
            ),
            raw_ranks_nothing=int(np.count_nonzero(nothing)),
            nothing_within=int(np.count_nonzero(nothing & (related[:, S] == PUBLISHED_WITHIN))),
            gains=(_gains(gains[:, PUBLISHED]), _gains(gains[:, RAW])),
        )

    def findings(self) -> list[Finding]:
        """Name the counts, and their shares of the affected tokens and of all."""
        found = [
            count("ranking_tokens", self.tokens),
            count("ranking_affected", self.affected),
            count("ranking_unaffected", self.tokens - self.affected),
            count("ranking_S_raw_ranks_nothing", self.raw_ranks_nothing),
            count("ranking_S_raw_ranks_nothing_published_within", self.nothing_within),
            *self._shares(
                "S_different_and_ranking", self.splits[S].different - self.nothing_within
            ),
        ]
        for name, split in zip(STATISTICS, self.splits, strict=True):
            found.extend(self._of_split(name, split))
        found.extend(self._shares("S_both_single_different", self.gains[0].tokens))
        single = self.splits[S].both_single
        share = percent("ranking_S_both_single_different_of_single_percent",
                        self.gains[0].tokens, single, 2)  # fmt: skip
        return [*found, share, *self._of_gains()]

    def _shares(self, name: str, tokens: int) -> list[Finding]:
        return [
            count(f"ranking_{name}", tokens),
            percent(f"ranking_{name}_of_affected_percent", tokens, self.affected, 2),
            percent(f"ranking_{name}_percent", tokens, self.tokens, 2),
        ]

    def _of_split(self, name: str, split: Split) -> list[Finding]:
        counted = dict(zip(RELATIONS, split.relations, strict=True))
        counted |= {"different": split.different, "agrees_with_S": split.agrees}
        counted |= {"both_single": split.both_single, "both_several": split.both_several}
        medians = (("published", split.median_published), ("raw", split.median_raw))
        return [
            *(one for key, n in counted.items() for one in self._shares(f"{name}_{key}", n)),
            *(
                number(f"ranking_{name}_median_{key}", median, 0) if median is None
                else count(f"ranking_{name}_median_{key}", median)
                for key, median in medians
            ),
        ]  # fmt: skip

    def _of_gains(self) -> list[Finding]:
        found = []
        for name, gains in zip(("published", "raw"), self.gains, strict=True):
            found += [
                number(f"ranking_S_gain_{name}_median", gains.median, 2, signed=True),
                count(f"ranking_S_gain_{name}_positive", gains.positive),
            ]
        return found

    def table(self) -> Table:
        """Relations of the two sets under each statistic."""
        return Table(
            "ranking",
            f"First candidates of both files on {self.affected:,} affected of {self.tokens:,} "
            "tokens.",
            ("relation", *(f"{name}" for name in STATISTICS), "S percent of affected",
             "S percent of all"),
            tuple(
                (
                    name.replace("_", " "),
                    *(split.relations[r] for split in self.splits),
                    percent("", self.splits[S].relations[r], self.affected, 2).text,
                    percent("", self.splits[S].relations[r], self.tokens, 2).text,
                )
                for r, name in enumerate(RELATIONS)
            ),
        )  # fmt: skip

    def tie_table(self) -> Table:
        """How many are first, and how often the split agrees with that of S."""
        return Table(
            "ranking_ties",
            f"First candidates on {self.affected:,} affected tokens; medians are upper ones.",
            ("statistic", "different", "agrees with S", "percent", "both single", "both several",
             "median published", "median raw"),
            tuple(
                (
                    name, one.different, one.agrees,
                    percent("", one.agrees, self.affected, 2).text,
                    one.both_single, one.both_several, one.median_published, one.median_raw,
                )
                for name, one in zip(STATISTICS, self.splits, strict=True)
            ),
        )  # fmt: skip

    def gain_table(self) -> Table:
        """Score points that each aggregate gives the raw file's choice over the published one's."""
        return Table(
            "ranking_gains",
            "Tokens on which each file has one first candidate, and not the same.",
            ("aggregate", "tokens", "median points", "positive"),
            tuple(
                (name, one.tokens, number("", one.median, 2, signed=True).text, one.positive)
                for name, one in zip(("published", "raw"), self.gains, strict=True)
            ),
        )


def _split(sizes: NDArray[np.int32], related: NDArray[np.int64], of_s: NDArray[np.int64]) -> Split:
    published, raw = sizes[:, PUBLISHED], sizes[:, RAW]
    return Split(
        relations=tuple(np.bincount(related, minlength=len(RELATIONS)).tolist()),
        agrees=int(np.count_nonzero((related == EQUAL) == (of_s == EQUAL))),
        both_single=int(np.count_nonzero((published == 1) & (raw == 1))),
        both_several=int(np.count_nonzero((published > 1) & (raw > 1))),
        median_published=int(upper_median(published)) if published.size else None,
        median_raw=int(upper_median(raw)) if raw.size else None,
    )


def _gains(points: NDArray[np.float64]) -> Gains:
    median = float(upper_median(points)) if points.size else None
    return Gains(len(points), median, int(np.count_nonzero(points > 0)))
