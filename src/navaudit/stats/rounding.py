"""How a figure is written: points to the nearest, interval ends outward.

A double is read as the shortest decimal that names it, so an end that already has the places stays
where it is. A figure that rounds to zero keeps its sign: ``-0.000`` says below zero.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import Final

PLACES: Final = 3

_EXACT: Final = Context(prec=400)
"""Digits enough for any double at any number of places; the process's own context is left alone."""


def nearest(value: float, places: int = PLACES) -> str:
    """Write a signed point rounded to the nearest.

    Examples
    --------
    >>> nearest(0.93049), nearest(-0.0004)
    ('+0.930', '-0.000')
    """
    return _written(value, places, ROUND_HALF_EVEN)


def outward(low: float, high: float, places: int = PLACES) -> tuple[str, str]:
    """Write the signed ends of an interval so that what is written holds the interval.

    Examples
    --------
    >>> outward(0.6291, 1.2551)
    ('+0.629', '+1.256')
    >>> outward(-0.042, 0.0)
    ('-0.042', '+0.000')
    """
    return _written(low, places, ROUND_FLOOR), _written(high, places, ROUND_CEILING)


def interval_text(point: float, low: float, high: float, places: int = PLACES) -> str:
    """Write a point and its interval as the paper's tables do.

    Examples
    --------
    >>> interval_text(0.9301, 0.6291, 1.2551)
    '+0.930 [+0.629, +1.256]'
    """
    left, right = outward(low, high, places)
    return f"{nearest(point, places)} [{left}, {right}]"


def _written(value: float, places: int, rounding: str) -> str:
    # adding 0.0 turns an exact -0.0 into 0.0, while -0.0004 still rounds to -0.000
    exact = Decimal(repr(float(value) + 0.0))
    if not exact.is_finite():
        return f"{exact:+}"
    return f"{exact.quantize(Decimal(1).scaleb(-places), rounding=rounding, context=_EXACT):+}"
