"""Scores and labels at the door of the ranking kernels: checked once, as bit patterns after."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from navaudit.compiled import njit
from navaudit.errors import BadInput

_PATTERNS = {
    np.dtype(np.float32): (np.uint32, 0x8000_0000, 0x7F80_0000),
    np.dtype(np.float64): (np.uint64, 0x8000_0000_0000_0000, 0x7FF0_0000_0000_0000),
}


class Scored(NamedTuple):
    """Scenes of scored, labelled candidates.

    ``bits [scene, candidate]`` are the scores' IEEE patterns as unsigned integers, ``sign`` and
    ``infinity`` the patterns of -0.0 and +inf, ``labels [scene, candidate]`` 0 or 1.
    """

    bits: NDArray[Any]
    sign: Any
    infinity: Any
    labels: NDArray[np.uint8]


def scored(scores: ArrayLike, labels: ArrayLike, order: ArrayLike | None = None) -> Scored:
    """Check ``scores``, ``labels`` and ``order``, all ``[scene, candidate]``.

    Scores are float32 or float64, float16 is widened exactly; labels are bool. With an ``order``
    both are taken in it, and it must sort the scores in descending order.
    """
    points, truth = np.asarray(scores), np.asarray(labels)
    _check(points, truth)
    if points.dtype == np.float16:
        points = points.astype(np.float32)
    if order is not None:
        points, truth = _in_order(points, truth, np.asarray(order))
    unsigned, sign, infinity = _PATTERNS[points.dtype]
    bits = _read_only(points, unsigned)
    return Scored(bits, unsigned(sign), unsigned(infinity), _read_only(truth, np.uint8))


def refuse_unordered(ordered: NDArray[np.bool_]) -> None:
    """Raise for the scenes, ``[scene]`` false, in which some score is NaN."""
    if not ordered.all():
        raise BadInput(
            f"{int((~ordered).sum())} scenes hold a NaN score",
            where=f"scene {int(np.argmin(ordered))} first",
            expected="scores that can be ordered",
            remedy="look at the forward pass that wrote them",
        )


def _read_only(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    """The array's bytes as another type; always read-only, so that one compiled kernel serves."""
    view: NDArray[Any] = np.ascontiguousarray(array).view(dtype)
    view.setflags(write=False)
    return view


def _check(points: NDArray[Any], truth: NDArray[Any]) -> None:
    if points.ndim != 2 or points.shape != truth.shape or points.shape[1] == 0:
        raise BadInput(
            f"scores have shape {points.shape}, labels {truth.shape}",
            expected="the same two axes [scene, candidate], at least one candidate",
        )
    if points.dtype.kind != "f" or points.dtype.itemsize > 8 or truth.dtype != np.bool_:
        raise BadInput(
            f"scores are {points.dtype}, labels {truth.dtype}",
            expected="floating-point scores of at most 64 bits and bool labels",
            remedy="say which label value is positive, for instance labels == 1.0",
        )


def _in_order(
    points: NDArray[Any], truth: NDArray[Any], order: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    if order.shape != points.shape or order.dtype.kind not in "iu":
        raise BadInput(
            f"order has shape {order.shape} and dtype {order.dtype}",
            expected=f"integer indices of shape {points.shape}",
        )
    ordered = _permutes(order)
    if ordered.all():
        points = np.take_along_axis(points, order.astype(np.int64, copy=False), axis=1)
        truth = np.take_along_axis(truth, order.astype(np.int64, copy=False), axis=1)
        ordered = _descends(points)
    if not ordered.all():
        raise BadInput(
            "the order given is not a descending order of the scores",
            where=f"scene {int(np.argmin(ordered))} first",
            expected="a permutation of the candidates along which no score rises",
            remedy="pass the indices of the sort that read these very scores",
        )
    return points, truth


@njit(cache=True)
def _permutes(order: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether each scene's order holds every candidate once, ``[scene]``."""
    scenes, candidates = order.shape
    permutes = np.empty(scenes, np.bool_)
    for s in range(scenes):
        seen = np.zeros(candidates, np.bool_)
        count = 0
        for i in range(candidates):
            candidate = order[s, i]
            if 0 <= candidate < candidates and not seen[candidate]:
                seen[candidate] = True
                count += 1
        permutes[s] = count == candidates
    return permutes


@njit(cache=True)
def _descends(points: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether no score rises along the candidates, ``[scene]``."""
    descends = np.ones(points.shape[0], np.bool_)
    for s in range(points.shape[0]):
        for i in range(1, points.shape[1]):
            if points[s, i] > points[s, i - 1]:
                descends[s] = False
    return descends
