"""Tallies of a column: how many values it holds, and how many candidates fail it.

A candidate fails a column where its label, as the loss reads it, is not 1.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.codes import HALF, LEVELS, ONE, Codes
from navaudit.audit.consumer import HALVED_MASK
from navaudit.compiled import njit

Counts = NDArray[np.int32]

READINGS: Final = (
    "values",
    "loss_values",
    "failing",
    "kinds",
    "largest",
    "second",
    "third",
)
"""What is counted of a column: distinct values as stored, and as the loss reads them; candidates
that fail; which of 0, 1/2, 1 and others occur (bits 0 to 3); sizes of the three largest groups of
candidates that the loss reads alike."""

VALUES, LOSS_VALUES, FAILING, KINDS, LARGEST, SECOND, THIRD = range(7)

ZERO_BIT, HALF_BIT, ONE_BIT, OTHER_BIT = 1, 2, 4, 8


def count_columns(codes: Codes) -> Counts:
    """Count every column of ``codes [token, column, candidate]``: ``[token, column, reading]``.

    Examples
    --------
    >>> codes = np.array([[[0, HALF, ONE, ONE]] * 9], np.uint16)
    >>> count_columns(codes)[0, :2].tolist()
    [[3, 2, 2, 7, 2, 2, 0], [3, 3, 2, 7, 2, 1, 1]]
    """
    counted = np.zeros((*codes.shape[:2], len(READINGS)), np.int32)
    _count_all(codes, HALVED_MASK, counted)
    return counted


@njit(cache=True)
def _count_all(codes: Codes, halved: NDArray[np.bool_], counted: Counts) -> None:
    room = np.zeros(LEVELS, np.int32)
    for token in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            _count(codes[token, column], halved[column], room, counted[token, column])


@njit(cache=True)
def _count(codes: Codes, halved: bool, room: Counts, counted: Counts) -> None:
    """Count one column; ``room [code]`` is all zero before and after."""
    seen = np.empty(min(codes.size, LEVELS) + 1, np.uint16)
    distinct = 0
    for code in codes:
        if room[code] == 0:
            seen[distinct] = code
            distinct += 1
        room[code] += 1
    counted[VALUES] = distinct
    for code in seen[:distinct]:
        counted[KINDS] |= _kind(code)
    if halved and room[HALF] > 0:
        if room[0] == 0:
            seen[distinct] = 0
            distinct += 1
        room[0] += room[HALF]
        room[HALF] = 0
    counted[FAILING] = codes.size - room[ONE]
    for code in seen[:distinct]:
        if room[code] > 0:
            counted[LOSS_VALUES] += 1
            _place(room[code], counted)
        room[code] = 0


@njit(cache=True)
def _kind(code: int) -> int:
    if code == 0:
        return ZERO_BIT
    if code == HALF:
        return HALF_BIT
    return ONE_BIT if code == ONE else OTHER_BIT


@njit(cache=True)
def _place(size: int, counted: Counts) -> None:
    """Put the size of a group among the three largest."""
    if size > counted[LARGEST]:
        counted[THIRD], counted[SECOND] = counted[SECOND], counted[LARGEST]
        counted[LARGEST] = size
    elif size > counted[SECOND]:
        counted[THIRD] = counted[SECOND]
        counted[SECOND] = size
    elif size > counted[THIRD]:
        counted[THIRD] = size
