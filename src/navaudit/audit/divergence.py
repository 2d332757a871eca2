"""Divergence: how far rollouts part from what they were asked to follow, and how far they reach.

A rollout diverges where the fit it follows is wrong by metres. Two readings are in use of what
counts: how far it is from its proposal, or how large one step is; and how long its path is, or how
large one step is. A human who drives 20 m in four seconds exceeds a strict limit of the second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.table import Table
from navaudit.axes import X, Y
from navaudit.findings import Finding, count, number
from navaudit.rollout.rollout import Rollout

Floats = NDArray[np.float64]

LADDER: Final = ((20.0, 10.0), (100.0, 50.0), (200.0, 100.0))
"""Limits in m: of the deviation or the path, and of a single step."""

DEVIATION, STEP, PATH = range(3)
"""Columns of `reach`."""


def reach(rollout: Rollout) -> Floats:
    """Measure rollouts: ``[candidate, (deviation_m, step_m, path_m)]``, at the rear axle.

    The largest distance to the proposal at the same moment, the largest single step, and the sum
    of all steps; NaN or infinite where a state is not finite.
    """
    driven = rollout.states[:, :, : Y + 1]
    apart = driven - rollout.desired[:, :, : Y + 1]
    moves = np.diff(driven, axis=1)
    steps = np.hypot(moves[..., X], moves[..., Y])
    deviation = np.hypot(apart[..., X], apart[..., Y]).max(axis=1)
    return np.stack((deviation, steps.max(axis=1), steps.sum(axis=1)), axis=1)


def exceeds(
    reached: Floats, reading: int, limit_m: float, step_limit_m: float
) -> NDArray[np.bool_]:
    """Whether rollouts exceed a pair of limits, by deviation or path and step: ``[candidate]``.

    What is not finite exceeds every limit.

    Examples
    --------
    >>> reached = np.array([[5.0, 2.0, 40.0], [1.0, 11.0, 15.0]])
    >>> exceeds(reached, DEVIATION, 20.0, 10.0).tolist()
    [False, True]
    >>> exceeds(reached, PATH, 20.0, 10.0).tolist()
    [True, True]
    """
    return ~((reached[:, reading] <= limit_m) & (reached[:, STEP] <= step_limit_m))


@dataclass(frozen=True)
class Divergence:
    """How far the rollouts of a set reach, and how many exceed each rung of the ladder."""

    rollouts: int
    by_deviation: tuple[int, ...]
    """``[rung]``: rollouts that deviate, or step, farther."""
    by_path: tuple[int, ...]
    """``[rung]``: rollouts whose path, or a step of it, is longer."""
    worst: tuple[float, float, float]
    """Largest deviation, step and path in m."""
    path_percentile_95_m: float

    @classmethod
    def of(cls, reached: Floats) -> Divergence:
        """Count over ``[rollout, (deviation, step, path)]``."""

        def exceeding(reading: int) -> tuple[int, ...]:
            return tuple(int(exceeds(reached, reading, *limits).sum()) for limits in LADDER)

        deviation, step, path = (float(one) for one in reached.max(axis=0))
        known = reached[np.isfinite(reached[:, PATH]), PATH]
        percentile = float(np.percentile(known, 95)) if known.size else float("nan")
        worst = (deviation, step, path)
        return cls(len(reached), exceeding(DEVIATION), exceeding(PATH), worst, percentile)

    def findings(self) -> list[Finding]:
        """Name the counts; the strictest limits give ``div_tokens``."""
        rungs = [f"{limit:g}_{step:g}" for limit, step in LADDER]
        return [
            count("div_denominator", self.rollouts),
            count("div_tokens", self.by_deviation[0]),
            number("div_worst_deviation", self.worst[DEVIATION], 2),
            number("div_worst_step", self.worst[STEP], 2),
            number("div_longest_path", self.worst[PATH], 2),
            number("div_path_percentile_95", self.path_percentile_95_m, 2),
            *(
                count(f"div_deviation_{k}", n)
                for k, n in zip(rungs, self.by_deviation, strict=True)
            ),
            *(count(f"div_path_{k}", n) for k, n in zip(rungs, self.by_path, strict=True)),
        ]

    def table(self) -> Table:
        """The ladder in both readings."""
        rows = zip(LADDER, self.by_deviation, self.by_path, strict=True)
        return Table(
            "divergence",
            f"Rollouts of the human that exceed limits, of {self.rollouts:,}; the worst deviates "
            f"{self.worst[DEVIATION]:.2f} m, steps {self.worst[STEP]:.2f} m and drives "
            f"{self.worst[PATH]:.2f} m.",
            ("limit (m)", "step limit (m)", "by deviation or step", "by path or step"),
            tuple((f"{limit:g}", f"{step:g}", *counts) for (limit, step), *counts in rows),
        )
