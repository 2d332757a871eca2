"""What a measurement found: a name, a value, and the value as it is written.

Rooms return findings; the report gathers them into one flat table. A name that is also a number of
the paper means the same quantity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Final

NOT_DEFINED: Final = "---"
"""How a value is written that this data does not have, such as the median of nothing."""


@dataclass(frozen=True)
class Finding:
    """One named number."""

    name: str
    value: float | int | str | tuple[int, ...] | None
    """The number itself, unrounded; None where the data does not define a finite one."""
    text: str
    """The number as it is written in a table."""
    where: str = ""
    """File, beside the table of numbers, that shows it in context."""
    cases: tuple[str, ...] = field(default=(), repr=False)
    """Tokens behind it, where they are few."""


def count(name: str, value: int, where: str = "") -> Finding:
    """Write a whole number in groups of three.

    Examples
    --------
    >>> count("P1_count", 12576).text
    '12,576'
    """
    return Finding(name, int(value), f"{int(value):,}", where)


def counts(name: str, values: tuple[int, ...], where: str = "") -> Finding:
    """Write several whole numbers, one after the other.

    Examples
    --------
    >>> counts("ranks_LK", (306, 10484)).text
    '306, 10,484'
    """
    if not values:
        return Finding(name, None, NOT_DEFINED, where)
    return Finding(name, values, ", ".join(f"{one:,}" for one in values), where)


def number(
    name: str, value: float | None, places: int, where: str = "", *, signed: bool = False
) -> Finding:
    """Write a measured number rounded to the nearest at some places.

    Examples
    --------
    >>> number("probe_T_lk_auc", 0.65384, 4).text
    '0.6538'
    >>> number("rt_P0A0", 0.5, 3, signed=True).text
    '+0.500'
    """
    if value is None or math.isnan(value):
        return Finding(name, None, NOT_DEFINED, where)
    exact = Decimal(repr(float(value) + 0.0))
    kept = float(value) if math.isfinite(value) else None
    return Finding(name, kept, _placed(exact, places, signed), where)


def percent(name: str, part: int, whole: int, places: int, where: str = "") -> Finding:
    """Write a share of a whole in percent, the full quotient rounded once.

    Examples
    --------
    >>> percent("headline_percent", 11237, 103288, 4).text
    '10.8793'
    >>> percent("nothing", 0, 0, 2).text
    '---'
    """
    if whole == 0:
        return Finding(name, None, NOT_DEFINED, where)
    share = Fraction(100 * int(part), int(whole))
    # far more digits than are kept, so that the second rounding sees the true side of a half
    exact = Decimal(share.numerator) / Decimal(share.denominator)
    return Finding(name, float(share), _placed(exact, places, False), where)


def _placed(exact: Decimal, places: int, signed: bool) -> str:
    if not exact.is_finite():
        return f"{exact}"
    rounded = exact.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN)
    return f"{rounded:+f}" if signed else f"{rounded:f}"
