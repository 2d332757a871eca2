"""Whose sine, cosine and arctangent turn stored numbers into positions and headings.

The stock code takes the C library's, whose last bit depends on the library; the house's own are
the same on every processor. Read from the same file, the two differ by one unit in the last place
in about one number in a thousand, so a caller who wants the stock code's bits says ``LIBM`` and one
who wants the same bits on every machine says ``HOUSE``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.numerics.angles import atan2_of, cos_of, sin_of

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Trig:
    """Four functions of whole arrays, elementwise."""

    name: str
    """What a provenance record calls it."""
    sin: Callable[[Floats], Floats]
    cos: Callable[[Floats], Floats]
    atan2: Callable[[Floats, Floats], Floats]
    square: Callable[[Floats], Floats]


def _each(function: Callable[..., float], *arrays: Floats) -> Floats:
    values = map(function, *(array.ravel().tolist() for array in arrays))
    return np.fromiter(values, np.float64, arrays[0].size).reshape(arrays[0].shape)


def _sin(angle_rad: Floats) -> Floats:
    return _each(math.sin, angle_rad)


def _cos(angle_rad: Floats) -> Floats:
    return _each(math.cos, angle_rad)


def _atan2(y: Floats, x: Floats) -> Floats:
    return _each(math.atan2, y, x)


def _pow(values: Floats) -> Floats:
    # a NumPy scalar squares itself with the library's pow, which is not always the rounded product
    return _each(lambda value: math.pow(value, 2.0), values)


def _product(values: Floats) -> Floats:
    return values * values


LIBM: Final = Trig("libm", _sin, _cos, _atan2, _pow)
"""The C library of this machine, as the stock code uses it."""

HOUSE: Final = Trig("house", sin_of, cos_of, atan2_of, _product)
"""`navaudit.numerics.trig`: the same bits everywhere."""
