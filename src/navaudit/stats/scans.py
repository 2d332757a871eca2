"""Rank statistics of one scene, each a single walk from the highest score to the lowest.

``ranked [candidate]`` are the marks of :mod:`navaudit.stats.ranked`. A statistic that needs both
kinds of candidates is the caller's to guard: these walks assume one positive and one negative.
Where a walk can treat ties in two ways, ``grouped`` makes a tie one step of the curve; otherwise
every candidate is a step of its own, in the order it stands.
"""

from __future__ import annotations

from navaudit.compiled import njit
from navaudit.stats.ranked import LAST, POSITIVE, Marks


@njit(cache=True)
def positives_of(ranked: Marks) -> int:
    """Number of positive candidates."""
    positives = 0
    for i in range(ranked.size):
        positives += ranked[i] & POSITIVE
    return positives


@njit(cache=True)
def rank_auc(ranked: Marks, positives: int) -> float:
    """(sum of the positives' tie-averaged ranks - n1(n1+1)/2) / (n1 n0).

    The numerator is counted as wins, a tie half a win, in integers: the quotient is the only
    rounding.
    """
    doubled_wins, above, tied_positives, tied = 0, 0, 0, 0
    for i in range(ranked.size):
        tied += 1
        tied_positives += ranked[i] & POSITIVE
        if ranked[i] & LAST:
            doubled_wins += (tied - tied_positives) * (2 * above + tied_positives)
            above += tied_positives
            tied_positives, tied = 0, 0
    return doubled_wins / (2.0 * positives * (ranked.size - positives))


@njit(cache=True)
def trapezoid_auc(ranked: Marks, positives: int) -> float:
    """The same area by the trapezoid rule over the ROC curve's points, summed in floating point."""
    negatives = ranked.size - positives
    area, tpr, fpr = 0.0, 0.0, 0.0
    hits = 0
    for i in range(ranked.size):
        hits += ranked[i] & POSITIVE
        if ranked[i] & LAST:
            next_tpr, next_fpr = hits / positives, (i + 1 - hits) / negatives
            area += (next_fpr - fpr) * (next_tpr + tpr) / 2.0
            tpr, fpr = next_tpr, next_fpr
    return area


@njit(cache=True)
def average_precision(ranked: Marks, positives: int, grouped: bool) -> float:
    """Precision at each step, weighted by the positives the step brings."""
    total, hits, hits_before = 0.0, 0, 0
    for i in range(ranked.size):
        hits += ranked[i] & POSITIVE
        if hits > hits_before and (not grouped or ranked[i] & LAST):
            total += (hits - hits_before) * (hits / (i + 1))
            hits_before = hits
    return total / positives


@njit(cache=True)
def partial_area(ranked: Marks, positives: int, max_fpr: float, grouped: bool) -> float:
    """Area under the ROC curve left of ``max_fpr``, cut by linear interpolation; at most max_fpr.

    Whole steps are added in integers, so the area is exactly 0.0 where no positive stands before
    the cut.
    """
    negatives = ranked.size - positives
    doubled, hits, misses, hits_before, misses_before = 0.0, 0, 0, 0, 0
    for i in range(ranked.size):
        hits += ranked[i] & POSITIVE
        misses = i + 1 - hits
        if grouped and not ranked[i] & LAST:
            continue
        if misses / negatives > max_fpr:
            width = (max_fpr - misses_before / negatives) * negatives
            slope = (hits - hits_before) / (misses - misses_before)
            doubled += width * (2 * hits_before + slope * width)
            break
        doubled += (misses - misses_before) * (hits + hits_before)
        hits_before, misses_before = hits, misses
    return doubled / (2.0 * positives * negatives)
