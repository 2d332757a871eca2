"""How well scores order a scene's candidates: rank AUC, average precision, partial AUC.

``scores [scene, candidate]`` are float32 or float64 (float16 is widened), higher meaning more
likely positive; ``labels [scene, candidate]`` are bool. Every statistic is one float64 a scene, NaN
where the scene's labels are all equal. Scenes are independent and each is computed by one thread,
so the results do not depend on how many there are.

Ties. The rank AUC averages tied ranks. Average precision and partial AUC read the candidates one
by one in descending order, tied candidates as they come: in ascending candidate index, or as a
given ``order`` puts them (torch.argsort promises no order within a tie, so whoever used it must
keep its indices). ``grouped=True`` makes each tie one step of the curve, as scikit-learn does;
:mod:`navaudit.stats.ties` draws orders at random.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from navaudit.arrays import frozen
from navaudit.compiled import njit, prange
from navaudit.errors import BadInput
from navaudit.stats import scans
from navaudit.stats.ranked import Marks, rank, scratch
from navaudit.stats.scored import Scored, refuse_unordered, scored

MAX_FPR: Final = 0.1
"""False-positive rate below which the paper reads the partial AUC."""

CHUNK: Final = 16
"""Scenes that share one scratch room."""

AUC, TRAPEZOID, PRECISION, GROUPED_PRECISION, AREA, GROUPED_AREA = range(6)

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Readings:
    """Every statistic of the same scenes, ``[scene]`` each, from one sort a scene."""

    rank_auc: FloatArray
    trapezoid_auc: FloatArray
    average_precision: FloatArray
    grouped_average_precision: FloatArray
    partial_area: FloatArray
    grouped_partial_area: FloatArray


def readings(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    max_fpr: float = MAX_FPR,
    order: ArrayLike | None = None,
) -> Readings:
    """Every statistic of this module at once, for a pass that reads large arrays only once."""
    everything = _measured(scored(scores, labels, order), range(6), max_fpr)
    return Readings(*(frozen(row, np.float64, (None,)) for row in everything))


def rank_auc(scores: ArrayLike, labels: ArrayLike) -> FloatArray:
    """AUC of each scene from tie-averaged ranks, ``[scene]``; a tie counts one half.

    Examples
    --------
    >>> rank_auc([[0.9, 0.4, 0.4, 0.1]], [[True, True, False, False]]).tolist()
    [0.875]
    """
    return _measured(scored(scores, labels), [AUC])[0]


def trapezoid_auc(scores: ArrayLike, labels: ArrayLike) -> FloatArray:
    """AUC of each scene by the trapezoid rule, ``[scene]``: the cross-check of :func:`rank_auc`."""
    return _measured(scored(scores, labels), [TRAPEZOID])[0]


def average_precision(
    scores: ArrayLike, labels: ArrayLike, *, grouped: bool = False, order: ArrayLike | None = None
) -> FloatArray:
    """Average precision of each scene, ``[scene]``.

    Parameters
    ----------
    scores, labels
        ``[scene, candidate]``.
    grouped
        Whether a tie is one step.
    order
        ``[scene, candidate]`` indices that sort the scores in descending order.

    Examples
    --------
    >>> average_precision([[0.9, 0.4, 0.1]], [[True, False, True]]).round(4).tolist()
    [0.8333]
    """
    code = GROUPED_PRECISION if grouped else PRECISION
    return _measured(scored(scores, labels, order), [code])[0]


def partial_area(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    max_fpr: float = MAX_FPR,
    grouped: bool = False,
    order: ArrayLike | None = None,
) -> FloatArray:
    """Area under each scene's ROC curve left of ``max_fpr``, ``[scene]``, in 0..max_fpr.

    It is exactly 0.0 where no positive stands before the cut; :func:`zero_share` counts those.
    """
    code = GROUPED_AREA if grouped else AREA
    return _measured(scored(scores, labels, order), [code], max_fpr)[0]


def partial_auc(
    scores: ArrayLike,
    labels: ArrayLike,
    *,
    max_fpr: float = MAX_FPR,
    grouped: bool = False,
    order: ArrayLike | None = None,
) -> FloatArray:
    """McClish-corrected partial AUC of each scene, ``[scene]``.

    With ``grouped=True`` this is scikit-learn's ``roc_auc_score(max_fpr=...)``.
    """
    area = partial_area(scores, labels, max_fpr=max_fpr, grouped=grouped, order=order)
    return mcclish(area, max_fpr)


def mcclish(area: ArrayLike, max_fpr: float = MAX_FPR) -> FloatArray:
    """Map a partial area to the scale on which chance is 0.5 and perfection 1.

    Examples
    --------
    >>> float(mcclish(0.0).round(3))
    0.474
    """
    chance = 0.5 * max_fpr * max_fpr
    corrected: FloatArray = 0.5 * (1.0 + (np.asarray(area, float) - chance) / (max_fpr - chance))
    return corrected


def rate(max_fpr: float) -> float:
    """Refuse a false-positive rate outside (0, 1]."""
    if not 0.0 < max_fpr <= 1.0:
        raise BadInput(f"max_fpr is {max_fpr}", expected="a rate above 0 and at most 1")
    return float(max_fpr)


def zero_share(area: ArrayLike) -> float:
    """Share of scenes, among those with a partial area, whose area is exactly zero; NaN of none."""
    areas = np.asarray(area, float)
    defined = np.isfinite(areas)
    return float(np.mean(areas[defined] == 0.0)) if defined.any() else float("nan")


def _measured(scenes: Scored, wanted: Iterable[int], max_fpr: float = MAX_FPR) -> FloatArray:
    """Statistics ``[statistic, scene]`` of the scenes, in the order ``wanted`` names them."""
    codes = np.fromiter(wanted, np.int64)
    out = np.empty((codes.size, len(scenes.bits)))
    ordered = np.ones(len(scenes.bits), np.bool_)
    _measure(scenes, codes, rate(max_fpr), out, ordered)
    refuse_unordered(ordered)
    return out


@njit(parallel=True, cache=True)
def _measure(
    scenes: Scored,
    codes: NDArray[np.int64],
    max_fpr: float,
    out: FloatArray,
    ordered: NDArray[np.bool_],
) -> None:
    """Write ``out [statistic, scene]``, and ``ordered [scene]``: whether no score is NaN."""
    count = scenes.bits.shape[0]
    for chunk in prange((count + CHUNK - 1) // CHUNK):
        part = slice(chunk * CHUNK, min(count, (chunk + 1) * CHUNK))
        share = Scored(scenes.bits[part], scenes.sign, scenes.infinity, scenes.labels[part])
        _measure_chunk(share, codes, max_fpr, out[:, part], ordered[part])


@njit(cache=True)
def _measure_chunk(
    scenes: Scored,
    codes: NDArray[np.int64],
    max_fpr: float,
    out: FloatArray,
    ordered: NDArray[np.bool_],
) -> None:
    room = scratch(scenes.bits[0])
    ranked = np.empty(scenes.bits.shape[1], np.uint8)
    for s in range(ordered.size):
        ordered[s] = rank(scenes, s, room, ranked)
        if ordered[s]:
            positives = scans.positives_of(ranked)
            for m in range(codes.size):
                out[m, s] = _statistic(codes[m], ranked, positives, max_fpr)


@njit(cache=True)
def _statistic(code: int, ranked: Marks, positives: int, max_fpr: float) -> float:
    if positives in (0, ranked.size):
        return float(np.nan)
    if code == AUC:
        return scans.rank_auc(ranked, positives)
    if code == TRAPEZOID:
        return scans.trapezoid_auc(ranked, positives)
    if code in (PRECISION, GROUPED_PRECISION):
        return scans.average_precision(ranked, positives, code == GROUPED_PRECISION)
    return scans.partial_area(ranked, positives, max_fpr, code == GROUPED_AREA)
