"""What is measured of a run: metrics under modes, in score points, and distances, in metres."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import LK
from navaudit.evaluate.distance import SHORT as DISTANCES
from navaudit.evaluate.epdms import BLIND, EC, EPDMS, SHORT
from navaudit.evaluate.scored import AS_SCORED, MODES, Scored

Floats = NDArray[np.float64]

POINTS: Final = 100.0
"""A score of 1 in score points."""

BOTH: Final = "both"
"""The mode of what forgiveness does not reach."""

UNTOUCHED: Final = (*BLIND, EC)
"""Metrics that are the same under every mode."""


@dataclass(frozen=True)
class Measure:
    """One number of each token."""

    metric: str
    """Short name."""
    mode: str
    unit: str

    def __str__(self) -> str:
        return self.metric if self.mode == BOTH else f"{self.metric} {self.mode.upper()}"

    def of(self, run: Scored) -> Floats | None:
        """Values ``[token]``; None where the run cannot give them."""
        if self.unit == "m":
            values = None if run.distance is None else run.distance[:, DISTANCES.index(self.metric)]
        else:
            modes = MODES if self.mode == BOTH else (self.mode,)
            column = SHORT.index(self.metric)
            scores = [run.scores[mode][:, column] for mode in modes if mode in run.scores]
            values = POINTS * scores[0] if scores else None
        return None if values is None or np.isnan(values).all() else values


def _of_scores() -> tuple[Measure, ...]:
    aggregate_first = (EPDMS, LK, EC, *(one for one in range(EC) if one != LK))
    return tuple(
        Measure(SHORT[metric], mode, "points")
        for metric in aggregate_first
        for mode in ((BOTH,) if metric in UNTOUCHED else MODES)
    )


MEASURES: Final = (*_of_scores(), *(Measure(name, BOTH, "m") for name in DISTANCES))
"""Everything that is measured, the paper's first."""

OUTCOMES: Final = tuple(Measure(SHORT[LK], mode, "points") for mode in MODES)
"""Where a lane-keeping outcome is read: without forgiveness if that is known."""


def outcome(one: Scored, other: Scored) -> tuple[Measure, NDArray[np.bool_]] | None:
    """Tokens on which two runs keep the lane alike, ``[token]``, and by which measure."""
    for measure in OUTCOMES:
        mine, theirs = measure.of(one), measure.of(other)
        if mine is not None and theirs is not None:
            return measure, np.asarray(mine == theirs, np.bool_)
    return None


__all__ = ["AS_SCORED", "BOTH", "MEASURES", "OUTCOMES", "POINTS", "Measure", "outcome"]
