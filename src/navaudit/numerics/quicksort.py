"""One step of the quicksort that NumPy 1.23 sorts with where it has no vector instructions.

It is unstable, so which of several equal values comes first is up to the algorithm; the stock code
has such ties decide.
"""

from __future__ import annotations

from typing import Final

SMALL: Final = 15
"""Parts of up to one more than this are sorted by insertion, which is stable."""


def partition(order: list[int], value: list[float], low: int, high: int) -> int:
    """Partition ``order[low : high + 1]`` about the median of three; return where it ends up."""
    middle = low + (high - low >> 1)
    for a, b in ((middle, low), (high, middle), (middle, low)):
        if value[order[a]] < value[order[b]]:
            order[a], order[b] = order[b], order[a]
    pivot = value[order[middle]]
    i, j = low, high - 1
    order[middle], order[j] = order[j], order[middle]
    while True:
        i += 1
        while value[order[i]] < pivot:
            i += 1
        j -= 1
        while pivot < value[order[j]]:
            j -= 1
        if i >= j:
            break
        order[i], order[j] = order[j], order[i]
    order[i], order[high - 1] = order[high - 1], order[i]
    return i
