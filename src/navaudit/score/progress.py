"""Ego progress: how far along the centreline the centre comes, against the reference's progress."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import CENTRE, STEPS
from navaudit.compiled import njit
from navaudit.numerics.polyline import length_along

Floats = NDArray[np.float64]

FAR_ENOUGH_M: Final = 5.0
"""Progress counts only where the best is farther than this."""


@njit(cache=True, nogil=True)
def progress_m(line: Floats, measures: Floats, points: Floats) -> float:
    """Way along the line ``[vertex, xy]`` from the first centre to the last, at least 0."""
    last = len(line) - 1
    start = points[0, CENTRE]
    end = points[STEPS - 1, CENTRE]
    from_m = length_along(start[0], start[1], line, measures, 0, last)
    to_m = length_along(end[0], end[1], line, measures, 0, last)
    return max(to_m - from_m, 0.0)


def share_per_candidate(raw_m: Floats, product: Floats, reference_m: float) -> Floats:
    """Progress share as in label files: each candidate against itself and the reference alone.

    ``raw_m`` and ``product`` (of the multiplied metrics) are ``[candidate]``, ``reference_m`` the
    reference's progress times its own product.  A short scene gives 1, also to a candidate whose
    product is 0: the comment upstream promises 0 there, the code gives 1 (pdm_scorer.py:229-277).
    """
    masked = raw_m * product
    best = np.maximum(masked, reference_m)
    far = best > FAR_ENOUGH_M
    return np.divide(masked, best, out=np.ones_like(masked), where=far)


def share_of_batch(raw_m: Floats, product: Floats, reference_m: float) -> Floats:
    """Progress share as in evaluation: unmasked progress against the best masked one of all."""
    best = max(float((raw_m * product).max()), reference_m)
    if best > FAR_ENOUGH_M:
        return np.clip(raw_m / best, 0.0, 1.0)
    return np.ones_like(raw_m)
