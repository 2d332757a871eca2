"""Breakpoints of the circle and of the arctangent, from exact integer arithmetic at import.

Every constant is an integer fraction ``n / 2**BITS`` summed from a Taylor series and then cut into
doubles, each the nearest to what the ones before it leave over. Nothing is measured, fitted or
copied: the series are those of sin and arctan, and Machin's formula for pi. The last hundred bits
of the fractions are guard bits; the tests compare the tables with an independent library.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

STEPS: Final = 512
"""Breakpoints in one turn; the angle left over is at most pi / 512."""

RATIO_STEPS: Final = 64
"""Breakpoints of arctan between the ratios 0 and 1; the ratio left over is at most 1 / 128."""

LIMB_BITS: Final = 30
"""Bits in one digit of `STEPS_PER_RADIAN_LIMBS`; products of two digits stay below 2**60."""

PADDING_LIMBS: Final = 4
"""Zero digits before the first of `STEPS_PER_RADIAN_LIMBS`, for angles much below one."""

_BITS: Final = 320
_LIMBS: Final = 45  # the largest double has 32 digits before its fraction, which takes 9 more


def _scaled_arctan(numerator: int, denominator: int, bits: int) -> int:
    """Return ``arctan(numerator / denominator) * 2**bits`` for a ratio well below one."""
    power = (numerator << bits) // denominator
    total, n = 0, 1
    while power:
        total += power // n if n % 4 == 1 else -(power // n)
        power = power * numerator**2 // denominator**2
        n += 2
    return total


def _scaled_pi(bits: int) -> int:
    guarded = bits + 32
    return (16 * _scaled_arctan(1, 5, guarded) - 4 * _scaled_arctan(1, 239, guarded)) >> 32


def _scaled_sine(angle: int, bits: int) -> int:
    """Return ``sin(angle / 2**bits) * 2**bits`` for an angle in the first quadrant."""
    square = angle * angle >> bits
    total, term, n = 0, angle, 1
    while term:
        total += term
        size = (abs(term) * square >> bits) // ((n + 1) * (n + 2))
        term = -size if term > 0 else size
        n += 2
    return total


def cut(scaled: int, bits: int, widths: Iterable[int]) -> list[float]:
    """Cut ``scaled / 2**bits`` into doubles of the given significant bits, largest first.

    >>> cut(0b1011, 0, (2, 53))  # eleven is twelve, the nearest with two bits, less one
    [12.0, -1.0]
    """
    pieces = []
    for width in widths:
        drop = max(abs(scaled).bit_length() - width, 0)
        rounded = (scaled + (1 << drop >> 1)) >> drop
        pieces.append(math.ldexp(rounded, drop - bits))
        scaled -= rounded << drop
    return pieces


def _frozen(rows: object) -> npt.NDArray[np.float64]:
    array = np.array(rows, dtype=np.float64)
    array.setflags(write=False)
    return array


def _sines() -> npt.NDArray[np.float64]:
    quarter = [_scaled_sine(2 * _PI // STEPS * k, _BITS) for k in range(STEPS // 4)]
    half = [*quarter, 1 << _BITS, *quarter[:0:-1]]
    turn = [*half, *(-sine for sine in half)]
    return _frozen([cut(sine, _BITS, (26, 53, 53)) for sine in turn])


def _octant_arctangents() -> list[int]:
    """Sum arctan((i+1)/n) - arctan(i/n) = arctan(n / (n*n + i*(i+1))), a small ratio each."""
    n, angles = RATIO_STEPS, [0]
    for i in range(n):
        angles.append(angles[-1] + _scaled_arctan(n, n * n + i * (i + 1), _BITS))
    return angles


def _arctangents() -> npt.NDArray[np.float64]:
    octant = _octant_arctangents()
    octants = [
        octant,
        [_PI // 2 - angle for angle in octant],
        [_PI - angle for angle in octant],
        [_PI // 2 + angle for angle in octant],
    ]
    return _frozen([[cut(angle, _BITS, (53, 53)) for angle in angles] for angles in octants])


def _steps_per_radian_limbs() -> npt.NDArray[np.int64]:
    bits = LIMB_BITS * _LIMBS
    scaled = ((STEPS // 2) << (2 * bits + 64)) // _scaled_pi(bits + 64)
    mask = (1 << LIMB_BITS) - 1
    digits = [scaled >> (bits - LIMB_BITS * i) & mask for i in range(_LIMBS)]
    limbs = np.array([0] * PADDING_LIMBS + digits, dtype=np.int64)
    limbs.setflags(write=False)
    return limbs


_PI = _scaled_pi(_BITS)

SINES: Final = _sines()
"""``[step, piece]``: sin(2 pi step / STEPS) as 26 + 53 + 53 bits; the cosine is a quarter on."""

ARCTANGENTS: Final = _arctangents()
"""``[octant, ratio step, half]``, twofold radians: a, pi/2 - a, pi - a, pi/2 + a for
a = arctan(ratio step / RATIO_STEPS)."""

STEPS_PER_RADIAN_LIMBS: Final = _steps_per_radian_limbs()
"""``[digit]``: STEPS / (2 pi) in base 2**LIMB_BITS after the padding, the integer part first."""

INVERSE_FACTORIALS: Final = _frozen(
    [cut((1 << _BITS) // math.factorial(n), _BITS, (53, 53)) for n in range(20)]
)
"""``[n, half]``: 1 / n! as twofolds."""

INVERSE_ODDS: Final = _frozen(
    [cut((1 << _BITS) // (2 * n + 1), _BITS, (53, 53)) for n in range(10)]
)
"""``[n, half]``: 1 / (2 n + 1) as twofolds."""

RADIANS_PER_STEP: Final[tuple[float, ...]] = tuple(cut(2 * _PI // STEPS, _BITS, (29, 29, 53)))
"""2 pi / STEPS in pieces whose products with a step count below 2**24 are exact, but the last."""

RADIANS_PER_STEP_TWOFOLD: Final[tuple[float, ...]] = tuple(cut(2 * _PI // STEPS, _BITS, (53, 53)))

STEPS_PER_RADIAN: Final = float(STEPS / 2.0 / math.pi)
PI_TWOFOLD: Final[tuple[float, ...]] = tuple(cut(_PI, _BITS, (53, 53)))
