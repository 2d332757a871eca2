"""Ego progress: how far along the centreline the centre comes, against the reference's progress."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import borrowing
from navaudit.numerics.polyline import distance_to_polyline, length_along, vertex_measures

Floats = NDArray[np.float64]

STRETCH: Final = 16
"""Segments of a line that are bounded together."""
FAR_ENOUGH_M: Final = 5.0
"""Progress counts only where the best is farther than this."""


class Way(NamedTuple):
    """A centreline to measure progress along."""

    line: Floats
    """``[vertex, xy]``"""
    measures: Floats
    """``[vertex]``: length along the line up to each vertex, in m."""
    bounds: Floats
    """``[stretch, (west, south, east, north)]`` of every ``STRETCH`` segments."""


def measure_way(line: Floats) -> Way:
    """Measure a centreline ``[vertex, xy]``."""
    firsts = range(0, len(line) - 1, STRETCH)
    bounds = np.empty((len(firsts), 4))
    for k, first in enumerate(firsts):
        part = line[first : first + STRETCH + 1]
        bounds[k] = [*part.min(axis=0), *part.max(axis=0)]
    return Way(line, vertex_measures(line), bounds)


@borrowing
def way_along(way: Way, x: float, y: float) -> float:
    """How far along the line its point nearest to ``(x, y)`` lies, in m; the first of equals.

    Looks at the stretch whose bounds are nearest, then only at those that could still win.
    """
    stretches = way.bounds.shape[0]
    segments = way.line.shape[0] - 1
    closest, best = np.inf, 0
    for k in range(stretches):
        gap = _gap2(way.bounds, k, x, y)
        if gap < closest:
            closest, best = gap, k
    first = best * STRETCH
    last = min(first + STRETCH, segments)
    nearest = distance_to_polyline(x, y, way.line, first, last)
    low, high = first, last
    limit = nearest * nearest * (1.0 + 1e-9) + 1e-9
    for k in range(stretches):
        if _gap2(way.bounds, k, x, y) <= limit:
            low = min(low, k * STRETCH)
            high = max(high, min(k * STRETCH + STRETCH, segments))
    return length_along(x, y, way.line, way.measures, low, high)


@borrowing
def way_off(way: Way, x: float, y: float) -> float:
    """Return how far ``(x, y)`` is from the line, in m; looks where the line may be nearest."""
    stretches = way.bounds.shape[0]
    segments = way.line.shape[0] - 1
    closest, best = np.inf, 0
    for k in range(stretches):
        gap = _gap2(way.bounds, k, x, y)
        if gap < closest:
            closest, best = gap, k
    first = best * STRETCH
    nearest = distance_to_polyline(x, y, way.line, first, min(first + STRETCH, segments))
    for k in range(stretches):
        if k != best and _gap2(way.bounds, k, x, y) <= nearest * nearest * (1.0 + 1e-9) + 1e-9:
            first = k * STRETCH
            last = min(first + STRETCH, segments)
            nearest = min(nearest, distance_to_polyline(x, y, way.line, first, last))
    return nearest


@borrowing
def _gap2(bounds: Floats, k: int, x: float, y: float) -> float:
    """Square of the distance from a point to the bounds of a stretch."""
    dx = max(max(bounds[k, 0] - x, x - bounds[k, 2]), 0.0)
    dy = max(max(bounds[k, 1] - y, y - bounds[k, 3]), 0.0)
    return dx * dx + dy * dy


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
