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
import numpy.typing as npt
from numba import config as numba_config

from navaudit.compiled import njit
from navaudit.numerics.angles import atan2_of, cos_of, sin_of

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Trig:
    """Functions of whole arrays, elementwise."""

    name: str
    """What a provenance record calls it."""
    sin: Callable[[npt.ArrayLike], Floats]
    cos: Callable[[npt.ArrayLike], Floats]
    atan2: Callable[[npt.ArrayLike, npt.ArrayLike], Floats]
    square: Callable[[float], float]
    """Of one number."""


# These three kernels alone call the C library: compiled, they cost a tenth of a loop in Python.


@njit(cache=True)
def _fill_sin(angle_rad: Floats, out: Floats) -> None:
    for i in range(angle_rad.size):
        out[i] = math.sin(angle_rad[i])


@njit(cache=True)
def _fill_cos(angle_rad: Floats, out: Floats) -> None:
    for i in range(angle_rad.size):
        out[i] = math.cos(angle_rad[i])


@njit(cache=True)
def _fill_atan2(y: Floats, x: Floats, out: Floats) -> None:
    for i in range(x.size):
        out[i] = math.atan2(y[i], x[i])


def _filled(
    fill: Callable[..., None], function: Callable[..., float], *arrays: npt.ArrayLike
) -> Floats:
    flat = [np.asarray(array, dtype=np.float64).reshape(-1) for array in arrays]
    shape = np.shape(arrays[0])
    if getattr(numba_config, "USING_SVML", False):
        # numba would replace the C library by Intel's vector one, whose last bits differ
        values = map(function, *(array.tolist() for array in flat))
        return np.fromiter(values, np.float64, len(flat[0])).reshape(shape)
    out = np.empty(len(flat[0]))
    fill(*flat, out)
    return out.reshape(shape)


def _sin(angle_rad: npt.ArrayLike) -> Floats:
    return _filled(_fill_sin, math.sin, angle_rad)


def _cos(angle_rad: npt.ArrayLike) -> Floats:
    return _filled(_fill_cos, math.cos, angle_rad)


def _atan2(y: npt.ArrayLike, x: npt.ArrayLike) -> Floats:
    return _filled(_fill_atan2, math.atan2, y, x)


def _pow(value: float) -> float:
    # a NumPy scalar squares itself with the library's pow, which is not always the rounded product
    return math.pow(value, 2.0)


def _product(value: float) -> float:
    return value * value


LIBM: Final = Trig("libm", _sin, _cos, _atan2, _pow)
"""The C library of this machine, as the stock code uses it."""

HOUSE: Final = Trig("house", sin_of, cos_of, atan2_of, _product)
"""`navaudit.numerics.trig`: the same bits everywhere."""
