"""First candidates: whom a label file places first, and how far two files agree on them.

Three statistics of a candidate's labels as the loss reads them, each without breaking ties: the
rule that the released agent applies to its predictions at inference (``S``), the sum weighted as
the loss weighs (``lossw``), and the aggregate itself (``pdm``)::

    S     = 0.1 ln TLC + 0.1 ln NC + 0.9 ln DAC + 0.2 ln DDC + 6 ln(7 TTC + 7 EP + 3 LK)
    lossw = 3 NC + 3 DAC + 4 TTC + 2 EP + 1 DDC + 2 LK + 3 TLC

in float64, summed from the left, with ln 0 = minus infinity. No training code ranks labels; this
is a diagnosis. NC, DDC and, in what the scorer writes, DAC and TLC are 0 or 1, so that among
candidates with a finite S only the last term differs; its arguments are exact and too far apart for
any logarithm to confuse. Which candidates are first does therefore not depend on the platform's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.codes import HALF, LEVELS, Codes
from navaudit.audit.consumer import LOSS_WEIGHTS
from navaudit.axes import DAC, DDC, EP, LK, NC, PDM, TLC, TTC
from navaudit.compiled import njit

Floats = NDArray[np.float64]

STATISTICS: Final = ("S", "lossw", "pdm")
S, LOSSW, AGGREGATE = range(3)

SETS: Final = ("published", "raw", "both")
"""Whose first candidates are counted: each file's, and what the two have in common."""
PUBLISHED, RAW, BOTH = range(3)

POINTS: Final = 100.0
"""Score points of a label of 1."""

VALUE: Final[Floats] = np.arange(LEVELS, dtype=np.uint16).view(np.float16).astype(np.float64)
"""``[code]``: what a code stands for."""
HALVED_VALUE: Final[Floats] = np.where(np.arange(LEVELS) == HALF, 0.0, VALUE)
"""``[code]``: what the loss reads it as in NC and DDC."""
with np.errstate(divide="ignore"):
    LOG: Final[Floats] = np.log(VALUE)
    HALVED_LOG: Final[Floats] = np.log(HALVED_VALUE)

_WEIGHTS: Final = np.array([LOSS_WEIGHTS.get(column, 0.0) for column in range(PDM)])


@dataclass(frozen=True)
class Ranked:
    """One token's first candidates in two files."""

    sizes: NDArray[np.int32]
    """``[statistic, published raw both]``: how many are first in each file, and in both."""
    nothing: NDArray[np.bool_]
    """``[published raw]``: S excludes every candidate; all are first, at minus infinity."""
    gain: Floats
    """``[published raw]``: score points by which that file's aggregate prefers the raw file's first
    candidate to the published file's; NaN unless each has one alone under S, and not the same."""


def statistics(codes: Codes) -> Floats:
    """All statistics of ``codes [column, candidate]``: ``[statistic, candidate]``.

    Examples
    --------
    >>> statistics(np.full((9, 1), 0x3C00, np.uint16))[:, 0].tolist() == [6 * np.log(17.0), 18, 1]
    True
    """
    scores = np.empty((len(STATISTICS), codes.shape[1]))
    arguments = np.empty(codes.shape[1])
    _read(codes, VALUE, HALVED_VALUE, LOG, HALVED_LOG, _WEIGHTS, arguments, scores)
    with np.errstate(divide="ignore"):
        scores[S] += 6.0 * np.log(arguments)
    return scores


@njit(cache=True)
def _read(
    codes: Codes,
    value: Floats,
    halved_value: Floats,
    log: Floats,
    halved_log: Floats,
    weights: Floats,
    arguments: Floats,
    scores: Floats,
) -> None:
    """Fill S but for its last term, whose logarithm's arguments are given, and the others."""
    for i in range(codes.shape[1]):
        nc, ddc = codes[NC, i], codes[DDC, i]
        ep, ttc, lk = value[codes[EP, i]], value[codes[TTC, i]], value[codes[LK, i]]
        scores[S, i] = (
            0.1 * log[codes[TLC, i]]
            + 0.1 * halved_log[nc]
            + 0.9 * log[codes[DAC, i]]
            + 0.2 * halved_log[ddc]
        )
        arguments[i] = 7.0 * ttc + 7.0 * ep + 3.0 * lk
        # whole multiples of the smallest float16, well within 53 bits: exact in any order
        scores[LOSSW, i] = (
            weights[NC] * halved_value[nc]
            + weights[DAC] * value[codes[DAC, i]]
            + weights[DDC] * halved_value[ddc]
            + weights[TLC] * value[codes[TLC, i]]
            + weights[EP] * ep
            + weights[TTC] * ttc
            + weights[LK] * lk
        )
        scores[AGGREGATE, i] = value[codes[PDM, i]]


def rank(published: Codes, raw: Codes) -> Ranked:
    """Compare who is first in two files' ``codes [column, candidate]`` of one token."""
    scores = np.stack((statistics(published), statistics(raw)))
    best = scores.max(axis=2)
    first = scores == best[..., None]
    sizes = np.empty((len(STATISTICS), len(SETS)), np.int32)
    sizes[:, :BOTH] = np.count_nonzero(first, axis=2).T
    sizes[:, BOTH] = np.count_nonzero(first[PUBLISHED] & first[RAW], axis=1)
    gain = np.full(2, np.nan)
    if sizes[S].tolist() == [1, 1, 0]:
        ours, theirs = first[RAW, S].argmax(), first[PUBLISHED, S].argmax()
        gain = POINTS * (scores[:, AGGREGATE, ours] - scores[:, AGGREGATE, theirs])
    return Ranked(sizes, np.isneginf(best[:, S]), gain)
