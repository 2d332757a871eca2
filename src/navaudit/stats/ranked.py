"""One scene's candidates in descending order of score, one byte a candidate.

A byte holds two marks: the candidate is positive, and the candidate is the last of its tie. All
rank statistics of a scene are scans over these bytes, so a scene is sorted once.

The sort is a stable radix sort of the scores' bit patterns, 11 bits a pass: tied candidates keep
the order they came in.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import njit
from navaudit.stats.scored import Scored

POSITIVE: Final = 1
"""Mark of a candidate whose label is true."""

LAST: Final = 2
"""Mark of the last candidate among those of equal score."""

DIGIT: Final = 11
BUCKETS: Final = 1 << DIGIT


Marks = NDArray[np.uint8]
Patterns = NDArray[Any]
Room = tuple[Patterns, Marks, Patterns, Marks, NDArray[np.int64]]


@njit(cache=True)
def scratch(bits_of_scene: Patterns) -> Room:
    """Room to sort one scene in: keys and marks twice, and a histogram [pass, bucket]."""
    candidates = bits_of_scene.size
    passes = (bits_of_scene.itemsize * 8 + DIGIT - 1) // DIGIT
    return (
        np.empty_like(bits_of_scene),
        np.empty(candidates, np.uint8),
        np.empty_like(bits_of_scene),
        np.empty(candidates, np.uint8),
        np.empty((passes, BUCKETS), np.int64),
    )


@njit(cache=True)
def rank(scenes: Scored, scene: int, room: Room, ranked: Marks) -> bool:
    """Write the marks of one scene into ``ranked [candidate]``; false when a score is NaN."""
    keys, marks, other_keys, other_marks, histogram = room
    if not _descending_keys(scenes.bits[scene], scenes.sign, scenes.infinity, keys):
        return False
    marks[:] = scenes.labels[scene]
    _count_digits(keys, histogram)
    for place in range(histogram.shape[0]):
        if _starts(histogram[place], keys.size):
            _scatter((keys, marks), (other_keys, other_marks), histogram[place], DIGIT * place)
            keys, other_keys = other_keys, keys
            marks, other_marks = other_marks, marks
    last = keys.size - 1
    for i in range(last):
        ranked[i] = marks[i] if keys[i] == keys[i + 1] else marks[i] | LAST
    ranked[last] = marks[last] | LAST
    return True


@njit(cache=True)
def _descending_keys(bits: Patterns, sign: Any, infinity: Any, keys: Patterns) -> bool:
    """Unsigned keys that ascend where scores descend, -0.0 equal to 0.0; false at a NaN."""
    largest = sign - np.uint64(1)
    ordered = True
    for i in range(bits.size):
        pattern = bits[i]
        ordered &= (pattern & largest) <= infinity
        if pattern > sign:
            keys[i] = pattern
        elif pattern == sign:
            keys[i] = largest
        else:
            keys[i] = largest - pattern
    return ordered


@njit(cache=True)
def _count_digits(keys: Patterns, histogram: NDArray[np.int64]) -> None:
    histogram[:] = 0
    for i in range(keys.size):
        key = np.uint64(keys[i])
        for place in range(histogram.shape[0]):
            histogram[place, np.int64(key & np.uint64(BUCKETS - 1))] += 1
            key >>= np.uint64(DIGIT)


@njit(cache=True)
def _starts(counts: NDArray[np.int64], candidates: int) -> bool:
    """Turn counts into first positions; false when one bucket holds all, nothing to move."""
    start = 0
    spread = True
    for bucket in range(BUCKETS):
        count = counts[bucket]
        if count == candidates:
            spread = False
        counts[bucket] = start
        start += count
    return spread


@njit(cache=True)
def _scatter(
    source: tuple[Patterns, Marks],
    target: tuple[Patterns, Marks],
    starts: NDArray[np.int64],
    shift: int,
) -> None:
    keys, marks = source
    moved_keys, moved_marks = target
    for i in range(keys.size):
        key = keys[i]
        bucket = np.int64((np.uint64(key) >> np.uint64(shift)) & np.uint64(BUCKETS - 1))
        place = starts[bucket]
        starts[bucket] = place + 1
        moved_keys[place] = key
        moved_marks[place] = marks[i]
