"""What the GTRS training consumer does with a label file: columns, mapping, weights, dropout."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import COLUMNS, DAC, DDC, EP, LK, NC, TLC, TTC

HALVED: Final = (NC, DDC)
"""Columns in which the loss reads 0.5 as 0.0."""

LOSS_WEIGHTS: Final = {NC: 3.0, DAC: 3.0, TTC: 4.0, EP: 2.0, DDC: 1.0, LK: 2.0, TLC: 3.0}
"""Released weight of each loss column's BCE term."""


def loss_mapped(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels ``[..., column, candidate]`` as the loss reads them: NC and DDC without halves.

    Examples
    --------
    >>> loss_mapped(np.full((9, 1), 0.5))[:, 0].tolist()
    [0.0, 0.5, 0.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]
    """
    mapped = labels.copy()
    for column in HALVED:
        of_one = mapped[..., column, :]
        of_one[of_one == 0.5] = 0.0
    return mapped


def sampled(candidates: int) -> int:
    """How many candidates vocabulary dropout keeps in a step.

    Examples
    --------
    >>> sampled(16384)
    8192
    """
    return candidates // 2


HALVED_MASK: Final = np.isin(np.arange(len(COLUMNS)), HALVED)
"""``[column]``: whether the mapping touches it."""
