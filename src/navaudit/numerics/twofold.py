"""A number as the unevaluated sum of two doubles, from basic IEEE operations only.

The error-free transforms return the rounded result of one operation together with its rounding
error, so that ``result + error`` is the exact answer. They use no fused multiply-add: products are
split after Veltkamp and summed after Dekker, so every processor returns the same bits.

Range: transforms with a product need factors below 2**996 (the split overflows above it) and a
product above 2**-968 or exactly zero (its error must not underflow). Sums have no such limit short
of overflow. Nothing is checked; callers scale by powers of two where their inputs may leave it.

A twofold number ``(h, l)`` is normalized when ``h == h + l``. The ``dd_`` operations take and
return normalized twofolds and are right to about 2**-102 of the result, measured in the tests.
"""

from __future__ import annotations

import math

import numpy as np

from navaudit.compiled import njit

_SPLITTER = 134217729.0  # 2**27 + 1: leaves the upper 26 bits of a 53-bit significand


@njit(cache=True, error_model="numpy")
def bits_of(a: float) -> int:
    """Return the 64 bits of a double as a signed integer; one more is the next double up."""
    return int(np.float64(a).view(np.int64))


@njit(cache=True, error_model="numpy")
def double_of(bits: int) -> float:
    """Return the double with these 64 bits, the inverse of `bits_of`."""
    return float(np.int64(bits).view(np.float64))


@njit(cache=True, error_model="numpy")
def two_sum(a: float, b: float) -> tuple[float, float]:
    """Return ``(s, e)`` with ``s = fl(a + b)`` and ``s + e == a + b`` exactly.

    >>> two_sum(1.0, 1e-20)
    (1.0, 1e-20)
    """
    s = a + b
    virtual_b = s - a
    virtual_a = s - virtual_b
    return s, (a - virtual_a) + (b - virtual_b)


@njit(cache=True, error_model="numpy")
def fast_two_sum(a: float, b: float) -> tuple[float, float]:
    """Return `two_sum` in three operations, for ``a == 0`` or ``abs(a) >= abs(b)``."""
    s = a + b
    return s, b - (s - a)


@njit(cache=True, error_model="numpy")
def two_difference(a: float, b: float) -> tuple[float, float]:
    """Return ``(d, e)`` with ``d = fl(a - b)`` and ``d + e == a - b`` exactly."""
    d = a - b
    virtual_b = a - d
    virtual_a = d + virtual_b
    return d, (a - virtual_a) + (virtual_b - b)


@njit(cache=True, error_model="numpy")
def split(a: float) -> tuple[float, float]:
    """Return ``(upper, lower)`` of at most 26 bits each with ``upper + lower == a`` exactly.

    Products of such halves are exact.
    """
    stretched = _SPLITTER * a
    upper = stretched - (stretched - a)
    return upper, a - upper


@njit(cache=True, error_model="numpy")
def two_product(a: float, b: float) -> tuple[float, float]:
    """Return ``(p, e)`` with ``p = fl(a * b)`` and ``p + e == a * b`` exactly.

    >>> two_product(1.0 + 2.0**-52, 1.0 - 2.0**-52) == (1.0, -(2.0**-104))
    True
    """
    p = a * b
    a_upper, a_lower = split(a)
    b_upper, b_lower = split(b)
    rest = ((a_upper * b_upper - p) + a_upper * b_lower) + a_lower * b_upper
    return p, rest + a_lower * b_lower


@njit(cache=True, error_model="numpy")
def two_square(a: float) -> tuple[float, float]:
    """Return ``two_product(a, a)`` with one split instead of two."""
    p = a * a
    upper, lower = split(a)
    return p, ((upper * upper - p) + 2.0 * (upper * lower)) + lower * lower


@njit(cache=True, error_model="numpy")
def dd_add(ah: float, al: float, bh: float, bl: float) -> tuple[float, float]:
    """Return the twofold sum ``(ah + al) + (bh + bl)``, also right under cancellation."""
    sh, sl = two_sum(ah, bh)
    th, tl = two_sum(al, bl)
    sh, sl = fast_two_sum(sh, sl + th)
    return fast_two_sum(sh, tl + sl)


@njit(cache=True, error_model="numpy")
def dd_sub(ah: float, al: float, bh: float, bl: float) -> tuple[float, float]:
    """Return the twofold difference ``(ah + al) - (bh + bl)``, also right under cancellation."""
    return dd_add(ah, al, -bh, -bl)


@njit(cache=True, error_model="numpy")
def dd_mul(ah: float, al: float, bh: float, bl: float) -> tuple[float, float]:
    """Return the twofold product ``(ah + al) * (bh + bl)``."""
    p, e = two_product(ah, bh)
    return fast_two_sum(p, e + (ah * bl + al * bh))


@njit(cache=True, error_model="numpy")
def dd_div(ah: float, al: float, bh: float, bl: float) -> tuple[float, float]:
    """Return the twofold quotient ``(ah + al) / (bh + bl)``; ``bh`` must not be zero."""
    q = ah / bh
    p, e = two_product(q, bh)
    # ah - p is exact: q is the nearest quotient, so p lies within a rounding of ah
    return fast_two_sum(q, (((ah - p) - e) + (al - q * bl)) / bh)


@njit(cache=True, error_model="numpy")
def dd_sqrt(ah: float, al: float) -> tuple[float, float]:
    """Return the twofold square root of ``ah + al``; ``ah`` must be positive."""
    root = math.sqrt(ah)
    p, e = two_square(root)
    return fast_two_sum(root, (((ah - p) - e) + al) / (2.0 * root))
