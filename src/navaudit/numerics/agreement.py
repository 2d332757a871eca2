"""How far two solvers of the profile fits lie apart, by how much the paths move.

The curvature fit loses its footing where a path hardly moves: no data row holds it any more, only
an initial penalty of 1e-10 does. So solvers are compared by the greatest speed of the path.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from navaudit.numerics.profiles import Floats, Penalty, Solver, fit

PEAK_SPEEDS_MPS: Final = (0.0, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, float("inf"))
"""Edges of the classes; a path belongs where its greatest fitted speed lies."""

MOVING_MPS: Final = 1e-1
"""From this greatest speed on a path moves."""


@dataclass(frozen=True)
class Gap:
    """Greatest differences between two solvers over the paths of one class of peak speeds.

    The turn rate is the curvature times the speed beside it: what a tracker feels of it.
    """

    from_mps: float
    below_mps: float
    candidates: int
    speed_mps: float
    curvature_per_m: float
    turn_rate_radps: float
    greatest_curvature_per_m: float

    @property
    def moving(self) -> bool:
        """Whether every path of the class moves."""
        return self.from_mps >= MOVING_MPS


def tabulate_gaps(
    poses: Floats, solver: Solver, against: Solver = "closed", penalty: Penalty = "stock"
) -> tuple[Gap, ...]:
    """Fit paths ``[candidate, step, 3]`` with two solvers and tabulate where they part.

    Examples
    --------
    >>> resting = np.zeros((3, 41, 3))
    >>> [(gap.candidates, gap.speed_mps) for gap in tabulate_gaps(resting, "solve")]
    [(3, 0.0)]
    """
    speeds, curvatures = fit(poses, against, penalty)
    other_speeds, other_curvatures = fit(poses, solver, penalty)
    peak = np.abs(speeds).max(axis=1)
    speed = np.abs(speeds - other_speeds)
    curvature = np.abs(curvatures - other_curvatures)
    rows = []
    for low, high in pairwise(PEAK_SPEEDS_MPS):
        members = (low <= peak) & (peak < high)
        if members.any():
            wholes = speed, curvature, curvature * np.abs(speeds), np.abs(curvatures)
            greatest = (float(whole[members].max()) for whole in wholes)
            rows.append(Gap(low, high, int(members.sum()), *greatest))
    return tuple(rows)
