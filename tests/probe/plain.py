"""The probe's readings by loops over candidates, and its matching by looking at everyone."""

import numpy as np


def auc(scores, passes):
    """Share of pairs of a passing and a failing candidate in the right order, a tie one half."""
    won = 0.0
    for one in scores[passes]:
        for other in scores[~passes]:
            won += 1.0 if one > other else 0.5 if one == other else 0.0
    return won / (passes.sum() * (~passes).sum())


def as_sorted(scores, passes):
    """Labels from the highest score to the lowest, ties in the order of candidates."""
    return passes[np.argsort(-scores.astype(float), kind="stable")]


def precision(ordered):
    hits = [k + 1 for k, one in enumerate(ordered) if one]
    return np.mean([(rank + 1) / place for rank, place in enumerate(hits)])


def area(ordered, cut):
    """Trapezoids of the ROC curve, a step for each candidate, left of the cut."""
    positives, negatives = ordered.sum(), (~ordered).sum()
    total, hits, misses = 0.0, 0, 0
    for one in ordered:
        if one:
            hits += 1
            continue
        left, misses = misses / negatives, misses + 1
        total += max(0.0, min(misses / negatives, cut) - left) * hits / positives
    return total


def mcclish(total, cut):
    least = cut * cut / 2.0
    return 0.5 * (1.0 + (total - least) / (cut - least))


def matching(treated, controls, caliper):
    """Partner of each treated count or None: the scarcest chooses first, the nearest free."""
    admissible = [
        [k for k, other in enumerate(controls) if abs(other - count) <= caliper]
        for count in treated
    ]
    free, partner = set(range(len(controls))), [None] * len(treated)
    for turn in sorted(range(len(treated)), key=lambda k: (len(admissible[k]), k)):
        open_to = [k for k in admissible[turn] if k in free]
        if open_to:
            count = treated[turn]
            chosen = min(open_to, key=lambda k: (abs(controls[k] - count), controls[k], k))
            partner[turn] = chosen
            free.remove(chosen)
    return partner


def resampled(values, statistic, resamples, seed):
    """A statistic of ``values [series, item]`` over drawn items, ``[resample, series]``."""
    random = np.random.default_rng(seed)
    items = values.shape[1]
    draws = random.integers(0, items, size=(resamples, items))
    return np.array([statistic(values[:, drawn], axis=1) for drawn in draws])
