"""What scoring a scene yields: nine columns a candidate, and where each metric fails first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import COLUMNS, DAC, DDC, EP, HC, LK, NC, PDM, TLC, TTC
from navaudit.score.progress import share_of_batch, share_per_candidate

Floats = NDArray[np.float64]

WEIGHTS: Final = (5.0, 5.0, 2.0, 2.0)
"""Of ego progress, time to collision, lane keeping and history comfort."""

RULES: Final = ("per-candidate", "batch")


@dataclass(frozen=True, eq=False)
class ScoreSheet:
    """Scores of the candidates of one scene."""

    columns: Floats
    """``[column, candidate]``, columns as ``axes.COLUMNS``."""
    progress_m: Floats
    """``[candidate]``: way along the centreline, not normalised."""
    first_step: NDArray[np.int8]
    """``[column, candidate]``: step at which the metric fails first, -1 where it does not."""

    def __post_init__(self) -> None:
        columns = frozen(self.columns, np.float64, (len(COLUMNS), None))
        count = columns.shape[1]
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "progress_m", frozen(self.progress_m, np.float64, (count,)))
        steps = frozen(self.first_step, np.int8, (len(COLUMNS), count))
        object.__setattr__(self, "first_step", steps)

    def labels(self) -> NDArray[np.float16]:
        """Return the columns as they are stored: float16 ``[column, candidate]``."""
        return self.columns.astype(np.float16)


def add_progress(columns: Floats, progress_m: Floats, reference_m: float, rule: str) -> None:
    """Fill ego progress and the aggregate of ``[column, candidate]`` in place.

    ``reference_m`` is the reference's progress times its own product.  The per-candidate rule
    measures each candidate against it, the rule of the batch against the best of all with it.
    """
    product = columns[NC] * columns[DAC] * columns[TLC] * columns[DDC]
    share = share_per_candidate if rule == "per-candidate" else share_of_batch
    columns[EP] = share(progress_m, product, reference_m)
    weighted = columns[EP] * WEIGHTS[0] + columns[TTC] * WEIGHTS[1]
    weighted = weighted + columns[LK] * WEIGHTS[2] + columns[HC] * WEIGHTS[3]
    columns[PDM] = product * (weighted / sum(WEIGHTS))
