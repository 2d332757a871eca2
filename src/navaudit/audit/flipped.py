"""What the flips of a label set come to: the table of what turns from failing to passing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.flips import (
    COUNTS,
    FORGIVEN_FAILING,
    FORGIVEN_MIXED,
    FORGIVEN_PASSING,
    MILLIMETRES,
    ROWS,
    UNFORGIVEN_MIXED,
)
from navaudit.audit.insist import insist
from navaudit.audit.rounds import Part
from navaudit.audit.table import Cell, Table
from navaudit.axes import DT_S, STEPS
from navaudit.errors import BadInput
from navaudit.findings import Finding, count, number, percent
from navaudit.scene.logfile import Failure
from navaudit.score.lane import LIMIT_M, PATIENCE_STEPS
from navaudit.stats.order import upper_median

Ints = NDArray[np.int64]

BINS_M: Final = (1.0, 1.75, 3.5)
"""Edges of the human's own largest distance from the centreline, each in the bin below it."""

MIXED: Final = (FORGIVEN_MIXED, UNFORGIVEN_MIXED)
_LETTER: Final = {FORGIVEN_MIXED: "T", UNFORGIVEN_MIXED: "U"}
_WHERE: Final = "the flips of this label set"


@dataclass(frozen=True)
class Entries:
    """The failing candidates of all mixed columns of one kind."""

    columns: int
    counts: dict[str, int]
    """By the names of `COUNTS`."""
    far_m: float | None
    """Upper median of the largest distance from the centreline outside intersections: the middle of
    its millimetre."""
    run: int | None
    """Upper median of the longest run of steps beyond the limit."""


@dataclass(frozen=True)
class Flips:
    """What the failing candidates of lane-keeping columns do on the road."""

    tokens: tuple[str, ...]
    kind: Ints
    """``[token]``"""
    candidates: int
    """Driven in all."""
    differing: tuple[str, ...]
    """Tokens whose stored column is not what the check says of the drives."""
    human_differing: tuple[str, ...]
    """Tokens whose stored human score is not what the check says of the human's drive."""
    path_differing: tuple[str, ...]
    """Tokens whose stored check against the human's path is not the one run anew."""
    human_far_m: NDArray[np.float64]
    """``[mixed forgiven column]``: the human's own largest distance from the centreline."""
    entries: dict[int, Entries]
    """By kind."""
    passed_over: int
    failures: tuple[Failure, ...]

    @classmethod
    def of(cls, parts: Iterable[Part], where: str) -> Flips:
        """Add up the parts of a round, one at a time, and hold the sums to what must be so."""
        gathered = _Gathered.of(parts)
        if not gathered.tokens:
            raise BadInput(
                "no lane-keeping column could be driven again",
                where=where,
                expected="labels of these scenes, with a column that is forgiven or tells apart",
                remedy=f"the first failure: {gathered.failures[0]}" if gathered.failures else None,
            )
        rows = {name: np.concatenate([one[name] for one in gathered.rows]) for name in ROWS}
        kind = rows["kind"]
        tokens = np.array(gathered.tokens)
        flips = cls(
            gathered.tokens,
            kind,
            int(rows["candidates"].sum()),
            tuple(tokens[rows["differing"] > 0].tolist()),
            tuple(tokens[rows["human_differs"]].tolist()),
            tuple(tokens[rows["path_differing"] > 0].tolist()),
            rows["human_far_m"][kind == FORGIVEN_MIXED],
            {one: _entries(gathered, rows, one) for one in MIXED},
            gathered.passed_over,
            gathered.failures,
        )
        flips._insist()
        return flips

    def _insist(self) -> None:
        for one in MIXED:
            counts = self.entries[one].counts
            both = counts["fails_path_and_dac"]
            least = counts["fails_path"] + counts["fails_dac"] - counts["entries"]
            within = max(least, 0) <= both <= min(counts["fails_path"], counts["fails_dac"])
            insist("failing both lies within what failing each allows", within, True, _WHERE)
            held = counts["fails_dac"] <= counts["fails_other"] <= counts["entries"]
            insist("leaving the road is one of the other checks", held, True, _WHERE)
        columns = int(
            np.isin(self.kind, (FORGIVEN_MIXED, FORGIVEN_FAILING, FORGIVEN_PASSING)).sum()
        )
        other = self.entries[UNFORGIVEN_MIXED].columns
        insist("forgiven and other columns add up", columns + other, len(self.tokens), _WHERE)
        flipped = self.entries[FORGIVEN_MIXED].columns
        insist("the bins add up to the mixed forgiven columns", sum(self.bins()), flipped, _WHERE)

    @property
    def agrees(self) -> bool:
        """Whether everything that is stored is what the drives say."""
        return not (self.differing or self.human_differing or self.path_differing)

    def bins(self) -> tuple[int, ...]:
        """Mixed forgiven columns by how far the human gets from the centreline."""
        return tuple(np.bincount(np.searchsorted(BINS_M, self.human_far_m), minlength=4).tolist())

    # ---------------------------------------------------------------------------------- results

    def findings(self) -> list[Finding]:
        """Name the counts as the paper does; T are the forgiven columns, U the others."""
        flipped, other = (self.entries[one] for one in MIXED)
        failing = int((self.kind == FORGIVEN_FAILING).sum())
        forgiven = int((self.kind != UNFORGIVEN_MIXED).sum())
        median = upper_median(self.human_far_m) if flipped.columns else None
        found = [
            count("LK_forgiven", forgiven),
            count("LK_mixed", flipped.columns),
            count("LK_all_zero", failing),
            count("LK_unforgiven_mixed", other.columns),
            count("LK_mixed_changed_entries", flipped.counts["entries"]),
            count("flip_U_fail_entries", other.counts["entries"]),
            count("flip_rollout_candidates", self.candidates),
            count("flip_rollout_steps", STEPS),
            number("flip_step_s", DT_S, 1),
            number("flip_lk_limit_m", LIMIT_M, 1),
            count("flip_lk_steps_required", PATIENCE_STEPS),
            number("flip_T_human_devC_median_m", median, 2),
            _share("flip_T_devC_gt_human_percent", flipped, "farther_than_human"),
            _share("flip_T_lkH_dac_fail_percent", flipped, "fails_path_and_dac"),
            count("flip_differing_columns", len(self.differing)),
            count("flip_human_differing", len(self.human_differing)),
            count("flip_path_differing", len(self.path_differing)),
            count("flip_failures", len(self.failures)),
        ]
        for kind in MIXED:
            found += _findings_of(_LETTER[kind], self.entries[kind])
        for letter, n in zip("abcd", self.bins(), strict=True):
            name = f"flip_T_human_bin_{letter}_percent"
            found.append(percent(name, n, flipped.columns, 1))
        edges = (number(f"flip_human_bin_{k}_m", m, p)
                 for k, m, p in zip("abc", BINS_M, (1, 2, 1), strict=True))  # fmt: skip
        return [_placed(one) for one in (*found, *edges)]

    def tables(self) -> tuple[Table, ...]:
        """The table of flipped and of other failing entries, and the human's own distances."""
        return self._entry_table(), self._human_table()

    def _entry_table(self) -> Table:
        one, other = (self.entries[kind] for kind in MIXED)
        rows: list[tuple[Cell, ...]] = [
            ("columns", one.columns, other.columns),
            ("entries", one.counts["entries"], other.counts["entries"]),
        ]
        for words, name in (
            ("fails lane keeping against the human's path (%)", "fails_path"),
            ("fails it, and leaves the road (%)", "fails_path_and_dac"),
            (f"within {LIMIT_M:g} m of the human's rollout (%)", "within"),
            ("leaves the road (%)", "fails_dac"),
            ("fails another check (%)", "fails_other"),
            ("gets farther from the centreline than the human (%)", "farther_than_human"),
        ):
            rows.append((words, *(_share("", side, name).text for side in (one, other))))
        for words, medians in (
            ("largest distance from the centreline, median (m)", (one.far_m, other.far_m)),
            (f"longest run beyond {LIMIT_M:g} m, median (steps)", (one.run, other.run)),
        ):
            places = 2 if "(m)" in words else 0
            rows.append((words, *(number("", m, places).text for m in medians)))
        return Table(
            "flips",
            "Failing entries of mixed lane-keeping columns: those the overwrite turns to passing, "
            f"and those of columns it leaves alone; {self.candidates:,} candidates driven.",
            ("", "forgiven, flipped", "unforgiven, failing"),
            tuple(rows),
        )

    def _human_table(self) -> Table:
        edges = ("0", *(f"{edge:g}" for edge in BINS_M), "")
        columns = self.entries[FORGIVEN_MIXED].columns
        return Table(
            "flips_human",
            "Mixed forgiven columns by the human's own largest distance from the centreline.",
            ("farther than (m)", "up to (m)", "columns", "percent"),
            tuple(
                (low, high or None, n, percent("", n, columns, 1).text)
                for low, high, n in zip(edges[:-1], edges[1:], self.bins(), strict=True)
            ),
        )


@dataclass
class _Gathered:
    """Parts added up as they come."""

    tokens: tuple[str, ...]
    rows: list[dict[str, NDArray[Any]]]
    far: dict[int, dict[int, int]]
    runs: dict[int, Ints]
    passed_over: int
    failures: tuple[Failure, ...]

    @classmethod
    def of(cls, parts: Iterable[Part]) -> _Gathered:
        runs = {kind: np.zeros(STEPS + 1, np.int64) for kind in MIXED}
        found = cls((), [], {kind: {} for kind in MIXED}, runs, 0, ())
        tokens: list[str] = []
        for part in parts:
            found.passed_over += len(part.passed_over)
            found.failures += part.failures
            if not part.tokens:
                continue
            tokens.extend(part.tokens)
            found.rows.append(part.answer)
            for kind in MIXED:
                found.runs[kind] += part.answer[f"runs_{kind}"]
                value, times = part.answer[f"far_mm_{kind}"], part.answer[f"far_count_{kind}"]
                held = found.far[kind]
                for one, n in zip(value.tolist(), times.tolist(), strict=True):
                    held[one] = held.get(one, 0) + n
        found.tokens = tuple(tokens)
        return found


def _entries(gathered: _Gathered, rows: dict[str, NDArray[Any]], kind: int) -> Entries:
    of_kind = rows["kind"] == kind
    counts = {name: int(rows[name][of_kind].sum()) for name in COUNTS}
    far, runs = gathered.far[kind], gathered.runs[kind]
    insist("every failing entry has a distance", sum(far.values()), counts["entries"], _WHERE)
    insist("every failing entry has a longest run", int(runs.sum()), counts["entries"], _WHERE)
    values = np.array(sorted(far), np.int64)
    times = np.array([far[one] for one in values.tolist()], np.int64)
    bin_mm = _upper_median_of(values, times)
    far_m = None if bin_mm is None else (bin_mm + 0.5) / MILLIMETRES
    return Entries(int(of_kind.sum()), counts, far_m, _upper_median_of(np.arange(STEPS + 1), runs))


def _upper_median_of(values: Ints, times: Ints) -> int | None:
    """Upper median of ascending values that occur several times each."""
    total = int(times.sum())
    if not total:
        return None
    return int(values[np.searchsorted(np.cumsum(times), total // 2, side="right")])


def _findings_of(letter: str, one: Entries) -> list[Finding]:
    return [
        _share(f"flip_{letter}_lkH_fail_percent", one, "fails_path"),
        _share(f"flip_{letter}_within_half_m_percent", one, "within"),
        _share(f"flip_{letter}_dac_fail_percent", one, "fails_dac"),
        _share(f"flip_{letter}_other_fail_percent", one, "fails_other"),
        number(f"flip_{letter}_devC_median_m", one.far_m, 2),
        number(f"flip_{letter}_runC_median_steps", one.run, 0),
    ]


def _share(name: str, one: Entries, counted: str) -> Finding:
    return percent(name, one.counts[counted], one.counts["entries"], 1)


def _placed(finding: Finding) -> Finding:
    where = "flips_human.csv" if "human" in finding.name else "flips.csv"
    return Finding(finding.name, finding.value, finding.text, where)
