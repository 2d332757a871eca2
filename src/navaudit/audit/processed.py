"""What the environments come to: how many labels each of them changes, and where that enters."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.environments import Absent, Ready
from navaudit.audit.insist import insist
from navaudit.audit.processors import READINGS
from navaudit.audit.rounds import Answers
from navaudit.audit.table import Cell, Table
from navaudit.axes import COLUMNS, SHORT
from navaudit.findings import Finding, count, number
from navaudit.stats.order import upper_median

Ints = NDArray[np.int64]

PUBLISHED, RAW = range(len(READINGS))

_WHERE: Final = "the processors"


@dataclass(frozen=True)
class Outcome:
    """What one environment makes of the scenes, beside what the reference makes of them."""

    ready: Ready
    tokens: int
    gave_up: int
    """Tokens on which the library could not fit; they have no labels, and are equal to nothing."""
    equal: tuple[int, int]
    """``[reading]``: tokens with all nine columns equal."""
    differing: Ints
    """``[reading, column]``: entries that differ."""
    largest: NDArray[np.float64]
    """``[reading, column]``"""
    shares: NDArray[np.float64]
    """``[token that has labels]``: percent of the published entries that differ."""
    human_differs: int
    """Tokens whose human scores differ in some bit."""
    moved_m: float
    """Largest distance between its drives and the reference's; NaN if it has none."""
    drives_differ: int
    """Drives that differ in some bit."""
    repeats_equal: int
    """Tokens on which every repeated run gives the same labels."""
    repeated_drives_equal: int
    paths_equal: int
    """Tokens whose paths, as they enter the simulator, are the same."""
    crossfeed_equal: int
    """Tokens on which the reference's drives give the reference's labels here, too."""
    closed_equal: int
    """Tokens whose labels by the closed forms are the same here."""
    from_closed: Ints
    """``[column]``: raw entries that differ from the closed forms'."""

    @property
    def median_share(self) -> float | None:
        """Upper median over tokens of the percentage of entries that differ."""
        return float(upper_median(self.shares)) if self.shares.size else None

    @property
    def largest_share(self) -> float | None:
        """Largest percentage of a token's entries that differ."""
        return float(self.shares.max()) if self.shares.size else None


@dataclass(frozen=True)
class Processors:
    """All environments, those that could not be had, and the closed forms in each."""

    tokens: int
    candidates: int
    repeats: int
    outcomes: tuple[Outcome, ...]
    """The reference first."""
    absent: tuple[Absent, ...]
    closed_digest: str
    """SHA-256 over the labels of the closed forms of all tokens."""

    @classmethod
    def of(
        cls, answers: Answers, ready: Sequence[Ready], absent: Sequence[Absent], repeats: int
    ) -> Processors:
        """Count the answers of a round, and hold them to what must be so."""
        array = answers.array
        candidates = int(array["candidates"][0])
        outcomes = tuple(_outcome(one, array, k, candidates) for k, one in enumerate(ready))
        digests = "\n".join(array["closed_digest"].tolist())
        found = cls(
            len(answers.tokens),
            candidates,
            repeats,
            outcomes,
            tuple(absent),
            hashlib.sha256(digests.encode()).hexdigest(),
        )
        reference = outcomes[0]
        insist("the reference equals itself", reference.equal, (found.tokens,) * 2, _WHERE)
        insist(
            "the reference differs nowhere from itself", int(reference.differing.sum()), 0, _WHERE
        )
        for one in outcomes:
            none = int((one.shares == 0.0).sum())
            insist("tokens without a differing entry are equal", none, one.equal[PUBLISHED], _WHERE)
        return found

    @property
    def closed_holds(self) -> bool:
        """Whether the labels of the closed forms, and the scorer, are the same everywhere."""
        return all(
            one.closed_equal == one.crossfeed_equal == one.paths_equal == one.tokens
            for one in self.outcomes
        )

    @property
    def all_equal(self) -> bool:
        """Whether every environment that could be had gives the reference's labels."""
        return all(one.equal == (one.tokens,) * 2 for one in self.outcomes)

    # ---------------------------------------------------------------------------------- results

    def findings(self) -> list[Finding]:
        """Name the counts of every environment, and as the paper does those it measured."""
        found = [
            count("processors_environments", len(self.outcomes)),
            count("processors_absent", len(self.absent)),
            count("processors_tokens", self.tokens),
            count("processors_candidates", self.candidates),
            Finding("processors_closed_digest", self.closed_digest, self.closed_digest),
        ]
        for one in self.outcomes:
            name = f"processors_{one.ready.name.replace(' ', '_').replace('-', '_')}"
            found += [
                count(f"{name}_reproduced", one.equal[PUBLISHED]),
                count(f"{name}_reproduced_raw", one.equal[RAW]),
                count(f"{name}_differing", int(one.differing[PUBLISHED].sum())),
                number(f"{name}_differing_median", one.median_share, 1),
                number(f"{name}_differing_max", one.largest_share, 1),
                count(f"{name}_repeats_equal", one.repeats_equal),
                count(f"{name}_crossfeed_equal", one.crossfeed_equal),
                count(f"{name}_closed_equal", one.closed_equal),
            ]
        return [_placed(one) for one in (*found, *self._as_the_paper())]

    def _as_the_paper(self) -> list[Finding]:
        """The default of a Sapphire Rapids under the NumPy the benchmark asks for.

        Only beside the kernel of a Broadwell, which is the paper's reference.
        """
        known = [one for one in self.outcomes[1:] if one.ready.runs("0.3.20", "Cooperlake")]
        if not (known and self.outcomes[0].ready.runs("0.3.20", "Haswell")):
            return []
        one = known[0]
        quiet = [one for one in self.outcomes if one.ready.runs("0.3.20", "Haswell")
                 and not one.ready.environment.avx512]  # fmt: skip
        return [
            *(count("ob_allpin_nodispatch_tokens", other.equal[PUBLISHED]) for other in quiet[:1]),
            count("ob_pin_tokens", one.tokens),
            count("spr_default_tokens", one.tokens),
            count("spr_default_reproduced", one.equal[PUBLISHED]),
            count("spr_noforgiveness_tokens", one.tokens),
            number("ob_default_differing_median", one.median_share, 1),
            number("ob_default_differing_max", one.largest_share, 1),
        ]

    def tables(self) -> tuple[Table, ...]:
        """Environments, their columns, what was controlled, and what could not be had."""
        rows = tuple((one.name, one.reason) for one in self.absent)
        title = "Environments that this machine does not run."
        absent = Table("processors_absent", title, ("environment", "reason"), rows)
        shown = (self._environment_table(), self._column_table(), self._control_table())
        return (*shown, absent) if rows else shown

    def _environment_table(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for one in self.outcomes:
            found = one.ready.examination
            avx512 = any(path.startswith(("AVX512", "X86_V4")) for path in found.simd_running)
            rows.append((
                one.ready.name, found.numpy, one.ready.blas, "yes" if avx512 else "no",
                "healthy" if one.ready.healthy else "broken", one.equal[PUBLISHED], one.equal[RAW],
                int(one.differing[PUBLISHED].sum()), number("", one.median_share, 1).text,
                number("", one.largest_share, 1).text, one.gave_up,
            ))  # fmt: skip
        return Table(
            "processors",
            f"Labels of {self.tokens:,} tokens and {self.candidates:,} candidates made again, "
            f"beside those of {self.outcomes[0].ready.name}; shares are of a token's nine columns.",
            (
                "environment", "NumPy", "OpenBLAS", "AVX-512", "fits", "tokens equal",
                "equal without the rule", "entries that differ", "median percent", "most percent",
                "gave up",
            ),
            tuple(rows),
        )  # fmt: skip

    def _column_table(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for one in self.outcomes[1:]:
            differing, largest = one.differing[PUBLISHED], one.largest[PUBLISHED]
            rows.append((one.ready.name, "entries that differ", *differing.tolist()))
            rows.append((one.ready.name, "largest difference", *largest.tolist()))
        return Table(
            "processors_columns",
            "What differs from the reference, column by column.",
            ("environment", "what", *SHORT),
            tuple(rows),
        )

    def _control_table(self) -> Table:
        rows: list[tuple[Cell, ...]] = []
        for one in self.outcomes:
            repeated = one.repeats_equal if self.repeats else None
            drives = one.repeated_drives_equal if self.repeats else None
            moved = None if np.isnan(one.moved_m) else one.moved_m
            rows.append((
                one.ready.name, one.paths_equal, one.crossfeed_equal, one.closed_equal, repeated,
                drives, one.drives_differ, moved, one.human_differs, int(one.from_closed.sum()),
            ))  # fmt: skip
        return Table(
            "processors_controls",
            f"Controls, of {self.tokens:,} tokens: paths as they enter the simulator; the "
            "reference's drives, scored under this kernel; labels by the closed forms; and "
            f"{self.repeats} repeated runs.",
            (
                "environment", "same paths", "cross-feed equal", "closed forms equal",
                "repeats equal", "repeated drives equal", "drives that differ", "moved (m)",
                "humans that differ", "entries not as the closed forms'",
            ),
            tuple(rows),
        )  # fmt: skip


def _outcome(ready: Ready, array: Any, k: int, candidates: int) -> Outcome:
    gave_up = array["gave_up"][:, k]
    there = ~gave_up
    differing = array["differing"][:, k]
    in_all = differing.sum(axis=2)
    equal = tuple(int((there & (in_all[:, reading] == 0)).sum()) for reading in (PUBLISHED, RAW))
    moved = array["moved_m"][there, k]
    return Outcome(
        ready,
        len(gave_up),
        int(gave_up.sum()),
        (equal[PUBLISHED], equal[RAW]),
        differing.sum(axis=0),
        array["largest"][:, k].max(axis=0),
        100.0 * in_all[there, PUBLISHED] / (len(COLUMNS) * candidates),
        int(array["human_differs"][:, k].any(axis=1).sum()),
        float(moved.max()) if moved.size else float("nan"),
        int(array["drives_differ"][:, k].sum()),
        int(array["repeats_equal"][:, k].sum()),
        int(array["repeated_drives_equal"][:, k].sum()),
        int(array["paths_equal"][:, k].sum()),
        int(array["crossfeed_equal"][:, k].sum()),
        int(array["closed_equal"][:, k].sum()),
        array["from_closed"][:, k].sum(axis=0),
    )


def _placed(finding: Finding) -> Finding:
    controls = finding.name.endswith(("repeats_equal", "crossfeed_equal", "closed_equal"))
    where = "processors_controls.csv" if controls else "processors.csv"
    return Finding(finding.name, finding.value, finding.text, where)
