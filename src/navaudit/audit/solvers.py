"""Solvers: whether the human's scores hang on how the normal matrices are inverted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.insist import insist
from navaudit.audit.table import Cell, Table
from navaudit.axes import COLUMNS, SHORT
from navaudit.findings import Finding, count
from navaudit.numerics import lapack
from navaudit.numerics.profiles import Solver
from navaudit.rollout.rollout import paths_of
from navaudit.score.forgive import forgiven_columns

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

SOLVERS: Final[tuple[Solver, ...]] = get_args(Solver)
"""All of them; the closed form first."""

STOCK: Final = SOLVERS.index("pinv")
"""What the benchmark calls."""

LAPACK: Final = [SOLVERS.index(one) for one in lapack.SOLVERS]
"""Those that go through LAPACK: the stock one and what may be put in its place."""

INVERTERS: Final = ("pinvh", "solve")
"""Solvers whose inverses are held against the stock one."""

SPEED, CURVATURE = range(2)


def side_by_side(desired: Floats) -> dict[str, NDArray[Any]]:
    """Hold the inverses of one desired path ``[1, step, 5]`` side by side.

    ``condition`` is ``[(speed, curvature)]``, ``gap`` ``[inverter, (speed, curvature)]``; see
    `navaudit.numerics.lapack.compare_inverses`.
    """
    conditions, gaps = lapack.compare_inverses(paths_of(desired), INVERTERS)
    return {"condition": conditions[0], "gap": gaps[0]}


@dataclass(frozen=True)
class Agreement:
    """How the solvers' nine values of every human compare, bit by bit."""

    tokens: int
    identical: Truths
    """``[token]``: all nine values are the same by every solver of LAPACK."""
    closed_identical: Truths
    """``[token]``: all nine values of the closed forms are the stock ones."""
    differing: NDArray[np.int64]
    """``[solver, column]``: tokens whose value is not the stock one."""
    zero_sets: NDArray[np.int64]
    """``[solver, column]``: tokens on which the rule would fire."""
    parted: NDArray[np.int64]
    """``[solver, column]``: tokens on which the rule would fire by this solver or by the stock one
    and not by both."""
    worst: NDArray[np.int64]
    """Places of the tokens with the worst conditioned curvature matrices, the worst first."""
    condition: Floats
    """``[token, (speed, curvature)]``"""
    gap: Floats
    """``[inverter, (speed, curvature)]``: greatest relative difference of the inverses."""

    @classmethod
    def of(cls, array: Mapping[str, NDArray[Any]], worst: int) -> Agreement:
        """Compare ``human`` ``[token, solver, column]`` and what `side_by_side` measured."""
        human = array["human"]
        bits = np.ascontiguousarray(human).view(np.int64)
        differs = bits != bits[:, STOCK : STOCK + 1]
        zero = forgiven_columns(human)
        condition = array["condition"]
        # the most ill-conditioned first; of equals the earlier
        order = np.argsort(-condition[:, CURVATURE], kind="stable")[:worst]
        agreement = cls(
            len(human),
            ~differs[:, LAPACK].any(axis=(1, 2)),
            ~differs[:, SOLVERS.index("closed")].any(axis=1),
            differs.sum(axis=0),
            zero.sum(axis=0),
            (zero != zero[:, STOCK : STOCK + 1]).sum(axis=0),
            order,
            condition,
            array["gap"].max(axis=0),
        )
        most = int(agreement.differing.max(initial=0))
        every = int(agreement.differing.sum())
        everywhere = agreement.identical & agreement.closed_identical
        differing = agreement.tokens - int(everywhere.sum())
        bounded = most <= differing <= every
        insist("tokens that differ lie between the most and the sum", bounded, True, "the solvers")
        return agreement

    @property
    def worst_identical(self) -> int:
        """Of the worst conditioned tokens, those on which all solvers of LAPACK agree."""
        return int(self.identical[self.worst].sum())

    def findings(self) -> list[Finding]:
        """Name the counts."""
        gaps = {
            f"solver_gap_{name}_{fit}": float(self.gap[k, f])
            for k, name in enumerate(INVERTERS)
            for f, fit in ((SPEED, "speed"), (CURVATURE, "curvature"))
        }
        return [
            count("solver_identical", int(self.identical.sum()), "solvers.csv"),
            count("solver_closed_identical", int(self.closed_identical.sum()), "solvers.csv"),
            count("solver_worst_conditioned", self.worst_identical, "solver_matrices.csv"),
            count("solver_worst_looked_at", len(self.worst), "solver_matrices.csv"),
            count("solver_zero_sets_parted", int((self.parted > 0).sum()), "solvers.csv"),
            *(
                Finding(name, value, f"{value:.3e}", "solver_matrices.csv")
                for name, value in gaps.items()
            ),
        ]

    def table(self) -> Table:
        """Column by column, what differs from the stock solver and how often the rule fires."""
        rows = []
        for column in range(len(COLUMNS)):
            differing = [int(self.differing[s, column]) for s in range(len(SOLVERS)) if s != STOCK]
            zeros = [int(one) for one in self.zero_sets[:, column]]
            rows.append((SHORT[column], *differing, *zeros))
        others = [one for one in SOLVERS if one != SOLVERS[STOCK]]
        return Table(
            "solvers",
            f"Human values that differ in some bit from the stock solver's, and zero sets by each; "
            f"all nine agree by every solver of LAPACK on {int(self.identical.sum()):,} of "
            f"{self.tokens:,}, and by the closed forms on {int(self.closed_identical.sum()):,}.",
            ("column", *(f"{s} differs" for s in others), *(f"zero by {s}" for s in SOLVERS)),
            tuple(rows),
        )

    def matrix_table(self) -> Table:
        """The normal matrices: how ill-conditioned, and how far the inverses part."""
        rows: list[tuple[Cell, ...]] = []
        for fit, name in ((SPEED, "speed"), (CURVATURE, "curvature")):
            condition = self.condition[:, fit]
            gaps = [float(self.gap[k, fit]) for k in range(len(INVERTERS))]
            rows.append((name, float(np.median(condition)), float(condition.max()), *gaps))
        return Table(
            "solver_matrices",
            f"Normal matrices of the humans' fits; of the {len(self.worst):,} worst conditioned "
            f"curvature matrices, all solvers of LAPACK agree on {self.worst_identical:,}.",
            (
                "matrix",
                "median condition",
                "worst condition",
                *(f"{s} from pinv" for s in INVERTERS),
            ),
            tuple(rows),
        )
