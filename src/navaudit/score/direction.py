"""Driving direction: how far the car goes against the traffic within a second."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import CENTRE, STEPS
from navaudit.compiled import borrowing
from navaudit.score.cells import CROSSROADS, ON_ROUTE, Cells, lies_in

Floats = NDArray[np.float64]

WINDOW: Final = 10
"""A window holds the step and this many before it: eleven displacements."""
TOLERATED_M: Final = 2.0
VIOLATION_M: Final = 6.0


@borrowing
def oncoming_ways(cells: Cells, points: Floats, spare_crossroads: bool, ways: Floats) -> float:
    """Write each step's way in oncoming traffic ``[step]`` in m; returns their sum.

    A centre on no lane or connector of the route counts as oncoming, also off the road.
    ``spare_crossroads`` is the body of v2.1: a centre within an intersection does not count.
    """
    ways[0] = 0.0
    total = 0.0
    for step in range(1, STEPS):
        x, y = points[step, CENTRE, 0], points[step, CENTRE, 1]
        ways[step] = 0.0
        if lies_in(cells, ON_ROUTE, x, y):
            continue
        if spare_crossroads and lies_in(cells, CROSSROADS, x, y):
            continue
        dx = x - points[step - 1, CENTRE, 0]
        dy = y - points[step - 1, CENTRE, 1]
        ways[step] = math.sqrt(dx * dx + dy * dy)
        total += ways[step]
    return total


@borrowing
def window_way(ways: Floats, step: int) -> float:
    """Sum the window that ends at a step, in the order of NumPy's pairwise sum."""
    first = max(0, step - WINDOW)
    count = step + 1 - first
    if count < 8:
        total = 0.0
        for i in range(first, step + 1):
            total += ways[i]
        return total
    w = ways[first : step + 1]
    total = ((w[0] + w[1]) + (w[2] + w[3])) + ((w[4] + w[5]) + (w[6] + w[7]))
    for i in range(8, count):
        total += w[i]
    return total


@borrowing
def driving_direction(
    cells: Cells, points: Floats, spare_crossroads: bool, ways: Floats
) -> tuple[float, int]:
    """Score one candidate 1, 0.5 or 0, with the first step of its worst grade (``STEPS`` if 1).

    ``ways`` ``[step]`` is scratch.
    """
    total = oncoming_ways(cells, points, spare_crossroads, ways)
    # no window can exceed the sum of all steps by more than rounding
    if total < TOLERATED_M - 1e-6:
        return 1.0, STEPS
    score, first = 1.0, STEPS
    for step in range(STEPS):
        way = window_way(ways, step)
        if way >= VIOLATION_M:
            return 0.0, step
        if way >= TOLERATED_M and score == 1.0:
            score, first = 0.5, step
    return score, first
