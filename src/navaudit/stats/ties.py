"""Ties broken at random: what the order of tied candidates could have made of a reading.

Within a tie only the labels' order matters, so a draw permutes the labels of each tie that holds
both kinds. Draw ``d`` of scene ``s`` has a random stream of its own, keyed by (seed, s, d): neither
threads nor the split of a pass into blocks change it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from navaudit.arrays import frozen
from navaudit.compiled import njit, prange
from navaudit.errors import BadInput
from navaudit.stats import scans
from navaudit.stats.auc import MAX_FPR, rate
from navaudit.stats.ranked import LAST, POSITIVE, Marks, rank, scratch
from navaudit.stats.scored import Scored, refuse_unordered, scored


@dataclass(frozen=True)
class TieDraws:
    """Readings under randomly broken ties, ``[draw, scene]``; NaN where labels are constant."""

    average_precision: NDArray[np.float64]
    partial_area: NDArray[np.float64]


def tie_draws(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    draws: int,
    seed: int,
    first_scene: int = 0,
    max_fpr: float = MAX_FPR,
) -> TieDraws:
    """Break the ties of ``scores [scene, candidate]`` at random, ``draws`` times.

    Parameters
    ----------
    scores, labels
        ``[scene, candidate]``, as in :mod:`navaudit.stats.auc`.
    draws, seed
        How many orders, and which.
    first_scene
        Index of the first scene in the whole pass, so that a pass in blocks draws as one.
    max_fpr
        Cut of the partial area.
    """
    if draws < 1 or seed < 0 or first_scene < 0:
        raise BadInput(
            f"draws={draws}, seed={seed}, first_scene={first_scene}",
            expected="at least one draw, a seed and an index that are not negative",
        )
    scenes = scored(scores, labels)
    out = np.full((2, draws, len(scenes.bits)), np.nan)
    ordered = np.ones(len(scenes.bits), np.bool_)
    key = np.uint64(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])
    streams = _streams(key, np.uint64(first_scene), len(ordered))
    _draw(scenes, streams, rate(max_fpr), out, ordered)
    refuse_unordered(ordered)
    return TieDraws(*(frozen(each, np.float64, (draws, None)) for each in out))


@njit(parallel=True, cache=True)
def _draw(
    scenes: Scored,
    streams: NDArray[np.uint64],
    max_fpr: float,
    out: NDArray[np.float64],
    ordered: NDArray[np.bool_],
) -> None:
    """Write ``out [reading, draw, scene]``, and ``ordered [scene]``: whether no score is NaN."""
    for s in prange(scenes.bits.shape[0]):
        ordered[s] = _draw_scene(scenes, s, streams[s], max_fpr, out[:, :, s])


@njit(cache=True)
def _streams(key: np.uint64, first_scene: np.uint64, scenes: int) -> NDArray[np.uint64]:
    """One random stream a scene, ``[scene]``."""
    streams = np.empty(scenes, np.uint64)
    for s in range(scenes):
        streams[s] = _mixed(key + _mixed(first_scene + np.uint64(s)))
    return streams


@njit(cache=True)
def _draw_scene(
    scenes: Scored, scene: int, stream: np.uint64, max_fpr: float, out: NDArray[np.float64]
) -> bool:
    candidates = scenes.bits.shape[1]
    ranked = np.empty(candidates, np.uint8)
    if not rank(scenes, scene, scratch(scenes.bits[scene]), ranked):
        return False
    positives = scans.positives_of(ranked)
    if 0 < positives < candidates:
        drawn = np.empty_like(ranked)
        for d in range(out.shape[1]):
            drawn[:] = ranked
            _shuffle_ties(drawn, _mixed(stream + np.uint64(d)))
            out[0, d] = scans.average_precision(drawn, positives, False)
            out[1, d] = scans.partial_area(drawn, positives, max_fpr, False)
    return True


@njit(cache=True)
def _shuffle_ties(ranked: Marks, state: np.uint64) -> None:
    """Permute the labels inside each tie of ``ranked [candidate]``, uniformly, in place."""
    first = 0
    hits = 0
    for i in range(ranked.size):
        hits += ranked[i] & POSITIVE
        if ranked[i] & LAST:
            if 0 < hits < i + 1 - first:
                state = _shuffle(ranked, first, i, state)
            first = i + 1
            hits = 0


@njit(cache=True)
def _shuffle(ranked: Marks, first: int, last: int, state: np.uint64) -> np.uint64:
    """Fisher-Yates on the positive marks of ``ranked[first:last + 1]``; the LAST mark stays."""
    for i in range(last, first, -1):
        state += np.uint64(0x9E3779B97F4A7C15)
        # 53 random bits as a fraction: the bias of the product is below 2**-39 here
        fraction = np.int64(_mixed(state) >> np.uint64(11)) * 2.0**-53
        j = first + np.int64(fraction * (i + 1 - first))
        here, there = ranked[i] & POSITIVE, ranked[j] & POSITIVE
        ranked[i] = (ranked[i] & LAST) | there
        ranked[j] = (ranked[j] & LAST) | here
    return state


@njit(cache=True)
def _mixed(state: np.uint64) -> np.uint64:
    """The output function of SplitMix64 (Steele, Lea and Flood 2014): a bijection of 64 bits."""
    z = np.uint64(state)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
