"""One-to-one matching on a count, scarcest treatment first, and how well it balanced.

The paper fixes the count, the caliper, that a control serves once and that treatments choose in
order of increasing supply. It is silent on the rest, which is fixed here:

- a partner is admissible when the counts differ by at most the caliper, the caliper included;
- supply is the number of admissible controls before anyone has chosen;
- treatments of equal supply choose in the order they are given;
- a treatment takes the free admissible control nearest in count; at equal distance the smaller
  count; among controls of one count the one given first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from navaudit.arrays import frozen
from navaudit.compiled import njit
from navaudit.errors import BadInput

CALIPER: Final = 250
"""Candidates by which the paper lets the counts of a pair differ."""

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Matching:
    """Who is paired with whom, as indices into what was given.

    ``treatment [pair]`` ascends and ``control [pair]`` holds each partner; ``unmatched`` are the
    treatments left without one, ascending; ``supply [treatment]`` counts admissible controls.
    """

    treatment: Indices
    control: Indices
    unmatched: Indices
    supply: Indices


def match(treatment: ArrayLike, control: ArrayLike, *, caliper: int = CALIPER) -> Matching:
    """Pair the integer counts ``treatment [treatment]`` with ``control [control]``.

    Examples
    --------
    >>> pairs = match([100, 900], [90, 120, 5000], caliper=50)
    >>> pairs.control.tolist(), pairs.unmatched.tolist()
    ([0], [1])
    """
    treated, controls = _counts(treatment), _counts(control)
    if caliper < 0:
        raise BadInput(f"caliper is {caliper}", expected="a count that is not negative")
    by_count = np.argsort(controls, kind="stable")
    levels, firsts = np.unique(controls[by_count], return_index=True)
    stops = np.append(firsts[1:], controls.size)
    supply = _supply(treated, controls[by_count], caliper)
    turns = np.argsort(supply, kind="stable")
    places = _choose(treated[turns], levels, (firsts, stops), caliper)
    partner = np.full(treated.size, -1)
    partner[turns] = np.where(places < 0, -1, np.append(by_count, -1)[places])
    paired = np.flatnonzero(partner >= 0)
    unmatched = np.flatnonzero(partner < 0)
    found = (paired, partner[paired], unmatched, supply)
    return Matching(*(frozen(each, np.int64, (None,)) for each in found))


def imbalance(treatment: ArrayLike, control: ArrayLike) -> float:
    """Absolute standardized difference of two groups: |mean - mean| / sqrt(mean of variances).

    Variances are those of the values given, with divisor n - 1. Two constant groups differ by 0
    or by infinity. The paper reads the matched pairs' counts against a threshold of 0.1.

    Examples
    --------
    >>> imbalance([1, 2, 3], [2, 3, 4])
    1.0
    """
    first, second = np.asarray(treatment, float), np.asarray(control, float)
    if first.size < 2 or second.size < 2:
        raise BadInput(
            f"groups of {first.size} and {second.size}", expected="at least two values in each"
        )
    gap = abs(float(first.mean()) - float(second.mean()))
    spread = float(np.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2.0))
    if spread == 0.0:
        return 0.0 if gap == 0.0 else float("inf")
    return gap / spread


def _counts(values: ArrayLike) -> Indices:
    counts = np.asarray(values)
    if counts.ndim != 1 or (counts.size and counts.dtype.kind not in "iu"):
        raise BadInput(
            f"counts have shape {counts.shape} and dtype {counts.dtype}",
            expected="integers along one axis",
        )
    return counts.astype(np.int64)


def _supply(treated: Indices, ordered: Indices, caliper: int) -> Indices:
    """Number of controls within the caliper of each treatment, ``[treatment]``."""
    below = np.searchsorted(ordered, treated - caliper, side="left")
    above = np.searchsorted(ordered, treated + caliper, side="right")
    return above - below


@njit(cache=True)
def _choose(treated: Indices, levels: Indices, shelves: tuple[Any, Any], caliper: int) -> Indices:
    """Place among the controls ordered by count that each treatment takes in turn, or -1.

    Shelf k holds the controls of count ``levels[k]``, at places ``shelves[0][k]`` up to
    ``shelves[1][k]``. ``up[k]`` leads to the first shelf from k upwards that still holds some,
    ``down[k]`` to one more than the first from k - 1 downwards.
    """
    taken = shelves[0].copy()
    stops = shelves[1]
    last = levels.size
    up = np.arange(last + 1)
    down = np.arange(last + 1)
    places = np.full(treated.size, -1)
    for t in range(treated.size):
        count = treated[t]
        start = np.searchsorted(levels, count)
        above = _follow(up, start)
        below = _follow(down, start) - 1
        gap_above = levels[above] - count if above < last else caliper + 1
        gap_below = count - levels[below] if below >= 0 else caliper + 1
        shelf = above if gap_above < gap_below else below
        if min(gap_above, gap_below) > caliper:
            continue
        places[t] = taken[shelf]
        taken[shelf] += 1
        if taken[shelf] == stops[shelf]:
            up[shelf] = shelf + 1
            down[shelf + 1] = shelf
    return places


@njit(cache=True)
def _follow(pointers: Indices, start: int) -> int:
    """End of the chain of pointers from ``start``; every pointer walked is cut short to it."""
    end = start
    while pointers[end] != end:
        end = pointers[end]
    while pointers[start] != end:
        pointers[start], start = end, pointers[start]
    return end
