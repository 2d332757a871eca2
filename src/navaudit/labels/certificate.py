"""What a comparison of two label sets found, and how it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit import findings
from navaudit.axes import COLUMNS, PDM, SHORT
from navaudit.findings import Finding
from navaudit.labels.compare import Entry, Halves, Tally

FEW: Final = 100
"""Residual tokens whose first differing entries are kept, and that a number names."""

_NAMING: Final = ("certify_equal", "reproduced", "residual_total")
"""Numbers that come with the tokens that are not equal."""


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two: tokens, and the values ``[column, candidate]`` of each."""

    path: Path
    policy: str
    tokens: tuple[str, ...]
    candidates: int
    values_of: Callable[[str], Halves]
    digest: str
    """Of a label set's contents, or of the file."""
    measured: bool = False
    """Whether it is a set with human scores, so that the policy says which labels these are."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """Why there are no labels of some tokens."""

    def record(self) -> dict[str, Any]:
        """What a report says of it."""
        return {
            "path": str(self.path),
            "policy": self.policy,
            "tokens": len(self.tokens),
            "digest": self.digest,
        }


@dataclass(frozen=True, eq=False)
class Certificate:
    """What a comparison found."""

    a: Side
    b: Side
    tokens: tuple[str, ...]
    """That both sides have, in the order of ``a``."""
    found: Tally
    """Of these."""
    first: Mapping[str, tuple[Entry, ...]]
    """First differing entries of the first tokens that differ."""

    @cached_property
    def only_a(self) -> tuple[str, ...]:
        """Tokens that ``b`` lacks."""
        have = set(self.tokens)
        return tuple(token for token in self.a.tokens if token not in have)

    @cached_property
    def only_b(self) -> tuple[str, ...]:
        """Tokens that ``a`` lacks."""
        have = set(self.tokens)
        return tuple(token for token in self.b.tokens if token not in have)

    @property
    def population(self) -> int:
        """Tokens of either side."""
        return len(self.tokens) + len(self.only_a) + len(self.only_b)

    @property
    def equal(self) -> int:
        """Tokens that are the same on all nine columns."""
        return int(self.found.equal.sum())

    @property
    def ties(self) -> int:
        """Tokens that differ by storage alone."""
        return int(self.found.tie.sum())

    @property
    def different(self) -> int:
        """Tokens that differ otherwise."""
        return len(self.tokens) - self.equal - self.ties

    @property
    def same(self) -> bool:
        """Whether both sides have the same labels of the same tokens."""
        return self.equal == self.population

    @property
    def differing(self) -> NDArray[np.intp]:
        """``[column]``: tokens of both sides on which a column differs."""
        counts: NDArray[np.intp] = np.count_nonzero(self.found.entries, axis=0)
        return counts

    def residuals(self) -> Iterator[dict[str, Any]]:
        """Describe every token that is not equal: those of both sides first."""
        tie = self.found.tie
        for row in np.flatnonzero(~self.found.equal).tolist():
            token = self.tokens[row]
            told: dict[str, Any] = {"token": token, "class": "tie" if tie[row] else "different"}
            differing = np.flatnonzero(self.found.entries[row]).tolist()
            told["columns"] = {COLUMNS[one]: self._column(row, one) for one in differing}
            if token in self.first:
                told["first"] = [_entry(one) for one in self.first[token]]
            yield told
        for token in self.only_a:
            yield _alone(token, "only in a", self.b.failed.get(token))
        for token in self.only_b:
            yield _alone(token, "only in b", self.a.failed.get(token))

    def _column(self, row: int, column: int) -> dict[str, Any]:
        return {
            "entries": int(self.found.entries[row, column]),
            "one_unit": int(self.found.one_unit[row, column]),
            "largest": _written(float(self.found.largest[row, column])),
        }

    def record(self) -> dict[str, Any]:
        """Sum up in plain values."""
        return {
            "same": self.same,
            "a": self.a.record(),
            "b": self.b.record(),
            "population": self.population,
            "candidates": self.a.candidates,
            "equal": self.equal,
            "ties": self.ties,
            "different": self.different,
            "only_a": len(self.only_a),
            "only_b": len(self.only_b),
            "columns": {
                name: {
                    "differing_tokens": int(self.differing[column]),
                    "differing_entries": int(self.found.entries[:, column].sum(dtype=np.int64)),
                }
                for column, name in enumerate(COLUMNS)
            },
        }

    def numbers(self, where: str = "") -> tuple[Finding, ...]:
        """Name what was counted; by the paper's names where it is what the paper counts."""
        own = {
            "tokens": self.population,
            "candidates": self.a.candidates,
            "equal": self.equal,
            "ties": self.ties,
            "different": self.different,
            "only_a": len(self.only_a),
            "only_b": len(self.only_b),
            **{f"differing_{SHORT[one]}": int(n) for one, n in enumerate(self.differing)},
        }
        counts = {f"certify_{name}": count for name, count in own.items()}
        if self.certifies:
            counts |= self._of_the_paper()
        few = tuple(one["token"] for one in self.residuals()) if self._has_few else ()
        return tuple(
            replace(findings.count(name, count, where), cases=few if name in _NAMING else ())
            for name, count in counts.items()
        )

    def _of_the_paper(self) -> dict[str, int]:
        return {
            "population_tokens": self.population,
            "reproduced": self.equal,
            "residual_total": self.population - self.equal,
            "ties": self.ties,
            # residuals that no tie explains: the paper traces each of its own to the metric cache
            "cache_residuals": self.population - self.equal - self.ties,
            "pdm_reproduced": len(self.tokens) - int(self.differing[PDM]),
        }

    @property
    def _has_few(self) -> bool:
        return self.population - self.equal <= FEW

    @property
    def certifies(self) -> bool:
        """Whether published labels stand on both sides: made by the rule, or as a file has them."""
        return all(one.policy == "published" or not one.measured for one in (self.a, self.b))


def _alone(token: str, how: str, why: str | None) -> dict[str, Any]:
    told = {"token": token, "class": how}
    return told if why is None else {**told, "reason": why}


def _entry(one: Entry) -> dict[str, Any]:
    told = asdict(one)
    return {**told, "column": COLUMNS[one.column], "a": _written(one.a), "b": _written(one.b)}


def _written(value: float) -> float | str | None:
    """A value for JSON, which has no NaN and no infinity."""
    if np.isnan(value):
        return None
    return value if np.isfinite(value) else str(value)
