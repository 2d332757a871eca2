"""Whose sine, cosine and arctangent turn stored numbers into positions and headings.

The stock code takes the C library's, whose last bit depends on the library; the house's own are
the same on every processor. Read from the same file, the two differ by one unit in the last place
in about one number in a thousand, so a caller who wants the stock code's bits says ``LIBM`` and one
who wants the same bits on every machine says ``HOUSE``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from navaudit.compiled import njit
from navaudit.numerics.angles import atan2_of, cos_of, sin_of

Floats = npt.NDArray[np.float64]
Fill = Callable[..., None]
Function = Callable[..., float]


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
    asinh: Callable[[npt.ArrayLike], Floats]
    """Of sizes below 0.34."""


# These four kernels alone call the C library: compiled, they cost a tenth of a loop in Python.


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


@njit(cache=True)
def _fill_asinh(x: Floats, out: Floats) -> None:
    for i in range(x.size):
        out[i] = math.asinh(x[i])


_PROBE: Final = np.linspace(-7.0, 7.0, 1000)


@cache
def _is_the_library(fill: Fill, function: Function, operands: int) -> bool:
    """Return whether compiled code calls the same library as Python does.

    Numba swaps in Intel's vector library where that is installed, whose last bits differ.
    """
    probes = (_PROBE, _PROBE[::-1].copy())[:operands]
    out = np.empty(len(_PROBE))
    fill(*probes, out)
    return bool((out == _in_python(function, probes)).all())


def _in_python(function: Function, arrays: Sequence[Floats]) -> Floats:
    values = map(function, *(array.tolist() for array in arrays))
    return np.fromiter(values, np.float64, len(arrays[0]))


def _filled(fill: Fill, function: Function, *arrays: npt.ArrayLike) -> Floats:
    flat = [np.asarray(array, dtype=np.float64).reshape(-1) for array in arrays]
    if _is_the_library(fill, function, len(flat)):
        out = np.empty(len(flat[0]))
        fill(*flat, out)
    else:
        out = _in_python(function, flat)
    return out.reshape(np.shape(arrays[0]))


def _sin(angle_rad: npt.ArrayLike) -> Floats:
    return _filled(_fill_sin, math.sin, angle_rad)


def _cos(angle_rad: npt.ArrayLike) -> Floats:
    return _filled(_fill_cos, math.cos, angle_rad)


def _atan2(y: npt.ArrayLike, x: npt.ArrayLike) -> Floats:
    return _filled(_fill_atan2, math.atan2, y, x)


def _asinh(x: npt.ArrayLike) -> Floats:
    return _filled(_fill_asinh, math.asinh, x)


_LOG1P: Final = tuple(
    float.fromhex(digits)
    for digits in (
        "0x1.5555555555593p-1", "0x1.999999997fa04p-2", "0x1.2492494229359p-2",
        "0x1.c71c51d8e78afp-3", "0x1.7466496cb03dep-3", "0x1.39a09d078c69fp-3",
        "0x1.2f112df3e5244p-3",
    )
)  # fmt: skip
"""Minimax coefficients of the logarithm of (1 + s) / (1 - s), as C libraries have had them since
the first public one of Sun Microsystems."""


def _asinh_of(x: npt.ArrayLike) -> Floats:
    """Inverse hyperbolic sine of sizes below 0.34, as log1p(x + x*x / (1 + sqrt(1 + x*x)))."""
    x = np.asarray(x, dtype=np.float64)
    size, square = np.abs(x), x * x
    grown = size + square / (1.0 + np.sqrt(1.0 + square))
    half = 0.5 * grown * grown
    s = grown / (2.0 + grown)
    z = s * s
    z2 = z * z
    l1, l2, l3, l4, l5, l6, l7 = _LOG1P
    rest = z * l1 + z2 * (l2 + z * l3) + z2 * z2 * (l4 + z * l5) + z2 * z2 * z2 * (l6 + z * l7)
    value = grown - (half - s * (half + rest))
    # the C library leaves the tiniest alone
    return np.copysign(np.where(size < 2.0**-28, size, value), x)


def _pow(value: float) -> float:
    # a NumPy scalar squares itself with the library's pow, which is not always the rounded product
    return math.pow(value, 2.0)


def _product(value: float) -> float:
    return value * value


LIBM: Final = Trig("libm", _sin, _cos, _atan2, _pow, _asinh)
"""The C library of this machine, as the stock code uses it."""

HOUSE: Final = Trig("house", sin_of, cos_of, atan2_of, _product, _asinh_of)
"""`navaudit.numerics.trig`: the same bits everywhere."""
