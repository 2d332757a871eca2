"""Distinct rows: a candidate's labels side by side, and how many different ones a token has."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.codes import HALF, Codes
from navaudit.axes import DAC, DDC, EP, HC, LK, NC, PDM, TLC, TTC
from navaudit.compiled import njit

Counts = NDArray[np.int32]
Words = NDArray[np.uint64]

REPRESENTATIONS: Final = ("nine_raw", "seven_raw", "seven_loss")
"""All stored columns; the seven of the loss as stored; those seven as the loss reads them."""

NINE_RAW, SEVEN_RAW, SEVEN_LOSS = range(3)

# A code takes 14 bits, a row of nine 126: two words. What the seven columns leave out lies on top.
_WIDTH: Final = 14
_LOW: Final = (NC, DDC, DAC, TLC)
_HIGH: Final = (EP, TTC, LK, HC)
_TOP: Final = 4 * _WIDTH
_CUT: Final = 64 - _TOP
"""How many bits of the aggregate the low word has room for."""
_LOW_OF_SEVEN: Final = (1 << _TOP) - 1
_HIGH_OF_SEVEN: Final = (1 << 3 * _WIDTH) - 1
_CODE: Final = (1 << _WIDTH) - 1


def count_rows(codes: Codes) -> Counts:
    """Count distinct rows of ``codes [token, column, candidate]``: ``[token, representation]``.

    Examples
    --------
    >>> codes = np.zeros((1, 9, 3), np.uint16)
    >>> codes[0, HC, 1] = codes[0, NC, 2] = HALF
    >>> count_rows(codes).tolist()
    [[3, 2, 1]]
    """
    counted = np.zeros((len(codes), len(REPRESENTATIONS)), np.int32)
    _count_all(codes, counted)
    return counted


@njit(cache=True)
def _count_all(codes: Codes, counted: Counts) -> None:
    candidates = codes.shape[2]
    low, high = np.empty(candidates, np.uint64), np.empty(candidates, np.uint64)
    size = 4
    while size < 2 * candidates:
        size *= 2
    table = np.empty(size, np.int32)
    for token in range(codes.shape[0]):
        _pack(codes[token], low, high)
        # rows that are alike in more columns are alike in fewer: each step starts from the last
        distinct = _keep_distinct(low, high, candidates, table)
        counted[token, NINE_RAW] = distinct
        _leave_seven(low, high, distinct)
        distinct = _keep_distinct(low, high, distinct, table)
        counted[token, SEVEN_RAW] = distinct
        _read_as_loss(low, distinct)
        counted[token, SEVEN_LOSS] = _keep_distinct(low, high, distinct, table)


@njit(cache=True)
def _pack(codes: Codes, low: Words, high: Words) -> None:
    for i in range(low.size):
        rest = np.uint64(codes[PDM, i])
        low[i] = rest << np.uint64(_TOP)
        high[i] = (rest >> np.uint64(_CUT)) << np.uint64(_TOP)
    for place in range(4):
        shift = np.uint64(place * _WIDTH)
        of_low, of_high = codes[_LOW[place]], codes[_HIGH[place]]
        for i in range(low.size):
            low[i] |= np.uint64(of_low[i]) << shift
            high[i] |= np.uint64(of_high[i]) << shift


@njit(cache=True)
def _leave_seven(low: Words, high: Words, count: int) -> None:
    for i in range(count):
        low[i] &= np.uint64(_LOW_OF_SEVEN)
        high[i] &= np.uint64(_HIGH_OF_SEVEN)


@njit(cache=True)
def _read_as_loss(low: Words, count: int) -> None:
    for i in range(count):
        for place in range(2):
            shift = np.uint64(place * _WIDTH)
            if (low[i] >> shift) & np.uint64(_CODE) == np.uint64(HALF):
                low[i] &= ~(np.uint64(_CODE) << shift)


@njit(cache=True)
def _keep_distinct(low: Words, high: Words, count: int, table: Counts) -> int:
    """Bring the distinct of the first ``count`` pairs to the front, and return how many."""
    size = 4
    while size < 2 * count:
        size *= 2
    table[:size] = -1
    last = np.uint64(size - 1)
    distinct = 0
    for i in range(count):
        slot = _slot(low[i], high[i]) & last
        while table[slot] >= 0 and (low[table[slot]] != low[i] or high[table[slot]] != high[i]):
            slot = (slot + np.uint64(1)) & last
        if table[slot] < 0:
            table[slot] = distinct
            low[distinct], high[distinct] = low[i], high[i]
            distinct += 1
    return distinct


@njit(cache=True)
def _slot(low: np.uint64, high: np.uint64) -> np.uint64:
    """Scatter a pair over all 64 bits; the low ones are the best mixed."""
    mixed = (low ^ (high * np.uint64(0x9E3779B97F4A7C15))) * np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    return mixed ^ (mixed >> np.uint64(32))
