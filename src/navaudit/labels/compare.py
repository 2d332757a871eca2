"""Two label arrays, entry by entry: how many differ, by how much, and whether storage explains it.

Entries are compared as the bytes they are stored in: NaN equals NaN of the same bits, and 0.0
differs from -0.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import COLUMNS, PDM

Halves = NDArray[np.float16]
Counts = NDArray[np.int32]

_SIGN: Final = 0x8000
_MAGNITUDE: Final = 0x7FFF
_INFINITE: Final = 0x7C00


@dataclass(frozen=True, eq=False)
class Tally:
    """What was found in every column of some tokens."""

    entries: Counts
    """``[token, column]``: entries whose bytes differ."""
    one_unit: Counts
    """``[token, column]``: those of them that are neighbours among the float16 numbers."""
    largest: NDArray[np.float64]
    """``[token, column]``: largest absolute difference; NaN where no two numbers differ."""

    def __post_init__(self) -> None:
        axes = (len(self.entries), len(COLUMNS))
        object.__setattr__(self, "entries", frozen(self.entries, np.int32, axes))
        object.__setattr__(self, "one_unit", frozen(self.one_unit, np.int32, axes))
        object.__setattr__(self, "largest", frozen(self.largest, np.float64, axes))

    @property
    def equal(self) -> NDArray[np.bool_]:
        """``[token]``: all columns are the same."""
        same: NDArray[np.bool_] = (self.entries == 0).all(axis=1)
        return same

    @property
    def tie(self) -> NDArray[np.bool_]:
        """``[token]``: a storage tie.

        ``pdm_score`` is the same, something differs, and whatever does is one unit in the last
        place apart.
        """
        near: NDArray[np.bool_] = (self.entries == self.one_unit).all(axis=1)
        return near & (self.entries[:, PDM] == 0) & ~self.equal


@dataclass(frozen=True)
class Entry:
    """One entry in which two labels differ."""

    column: int
    candidate: int
    a: float
    b: float


def units_apart(a: Halves, b: Halves) -> Counts:
    """How many steps of the float16 numbers lie between two, -1 where one of them is not finite.

    Examples
    --------
    >>> one = np.float16([1.0, 1.0, 0.0, np.nan])
    >>> units_apart(one, np.float16([1.001, 0.9995, -0.0, np.nan])).tolist()
    [1, 1, 0, -1]
    """
    steps = np.abs(_rung(a) - _rung(b))
    return np.where(np.isfinite(a) & np.isfinite(b), steps, -1).astype(np.int32)


def _rung(values: Halves) -> Counts:
    """Number the float16 values in their order, both zeros the same."""
    bits = _bits(values).astype(np.int32)
    return np.where(bits & _SIGN, -(bits & _MAGNITUDE), bits)


def _bits(values: Halves) -> NDArray[np.uint16]:
    return np.ascontiguousarray(values, np.float16).view(np.uint16)


def tally(a: Halves, b: Halves) -> Tally:
    """Compare labels ``[token, column, candidate]`` of the same tokens.

    Examples
    --------
    >>> ours = np.ones((1, 9, 2), np.float16)
    >>> theirs = ours.copy(); theirs[0, 4, 1] = 0.9995
    >>> found = tally(ours, theirs)
    >>> found.entries[0].tolist(), found.tie.tolist()
    ([0, 0, 0, 0, 1, 0, 0, 0, 0], [True])
    """
    other = _bits(a) != _bits(b)
    if not other.any():
        none = np.zeros(other.shape[:-1])
        return Tally(none, none, none + np.nan)
    entries = np.count_nonzero(other, axis=-1)
    one_unit = np.zeros_like(entries)
    largest = np.full(entries.shape, np.nan)
    for place in zip(*np.nonzero(entries), strict=True):
        mine, theirs = a[place][other[place]], b[place][other[place]]
        one_unit[place] = np.count_nonzero(units_apart(mine, theirs) == 1)
        largest[place] = _largest(mine, theirs)
    return Tally(entries, one_unit, largest)


def join(parts: Sequence[Tally]) -> Tally:
    """Put what was found in some tokens behind what was found in those before them."""
    none = np.empty((0, len(COLUMNS)))
    return Tally(
        np.concatenate([none.astype(np.int32), *(one.entries for one in parts)]),
        np.concatenate([none.astype(np.int32), *(one.one_unit for one in parts)]),
        np.concatenate([none, *(one.largest for one in parts)]),
    )


def _largest(a: Halves, b: Halves) -> float:
    """Largest absolute difference of those that are defined, NaN where none is."""
    defined = ~(np.isnan(a) | np.isnan(b) | (a == b))
    if not defined.any():
        return float("nan")
    return float(np.abs(a[defined].astype(np.float64) - b[defined].astype(np.float64)).max())


def first_entries(a: Halves, b: Halves, most: int) -> tuple[Entry, ...]:
    """Name the first entries of each column of one token, ``[column, candidate]``, that differ."""
    other = _bits(a) != _bits(b)
    return tuple(
        Entry(column, int(i), float(a[column, i]), float(b[column, i]))
        for column in range(len(COLUMNS))
        for i in np.flatnonzero(other[column])[:most]
    )
