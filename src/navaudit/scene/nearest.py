"""The order in which NumPy's unstable quicksort puts equal distances."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from navaudit.numerics.quicksort import SMALL, partition


def by_distance(distance: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the order of rising distance as ``np.argsort`` has it without vector instructions.

    Only where distances are equal is there a choice; then it is that of the introsort of NumPy
    1.23, which the stock planner sorts with (pdm_object_manager.py:176); newer ones sort with the
    vector instructions of the processor they meet.  Its fallback for hostile orders is left out.
    """
    order = np.argsort(distance, kind="stable")
    rising = distance[order]
    if len(order) <= SMALL + 1 or (rising[1:] > rising[:-1]).all():
        return order
    return np.array(_quicksort(distance.tolist()), np.int64)


def _quicksort(value: list[float]) -> list[int]:
    order = list(range(len(value)))
    parts = [(0, len(order) - 1)]
    while parts:
        low, high = parts.pop()
        if high - low > SMALL:
            middle = partition(order, value, low, high)
            parts += [(low, middle - 1), (middle + 1, high)]
        else:
            # insertion is stable
            order[low : high + 1] = sorted(order[low : high + 1], key=value.__getitem__)
    return order
