"""An angle as a step of the circle and the angle left over, of at most half a step.

Two ways: a quick one for the angles of a drive, after Cody and Waite, and an exact one for every
finite double, after Payne and Hanek. Both follow the textbook idea; constants come from `circle`.
"""

from __future__ import annotations

import numpy as np

from navaudit.compiled import njit
from navaudit.numerics.circle import (
    LIMB_BITS,
    PADDING_LIMBS,
    RADIANS_PER_STEP,
    RADIANS_PER_STEP_TWOFOLD,
    STEPS,
    STEPS_PER_RADIAN,
    STEPS_PER_RADIAN_LIMBS,
)
from navaudit.numerics.twofold import bits_of, dd_mul, fast_two_sum, two_difference, two_sum

QUICK_LIMIT_RAD = 2.0**17
"""Below this `quick_step` holds: a step count has 24 bits, and 24 + 29 bits fit a double."""

_FIRST, _SECOND, _THIRD = RADIANS_PER_STEP
_STEP_H, _STEP_L = RADIANS_PER_STEP_TWOFOLD
_LIMB_MASK = (1 << LIMB_BITS) - 1
_LIMB = 2.0**-LIMB_BITS
_FRACTION_LIMBS = 8  # 240 bits, of which no double can cancel more than about 70
_SIGNIFICAND_MASK = (1 << 52) - 1


@njit(cache=True, error_model="numpy")
def quick_step(angle_rad: float) -> tuple[int, float, float]:
    """Return ``(step, rest, tail)`` for ``abs(angle_rad) < QUICK_LIMIT_RAD``.

    ``rest + tail`` is ``angle_rad - 2 pi step / STEPS`` to within 2**-94 rad: the first two
    subtractions are exact, the third and the sum at the end lose at most 2**-95 each.
    """
    count = np.floor(angle_rad * STEPS_PER_RADIAN + 0.5)
    rest, tail = two_difference(angle_rad - count * _FIRST, count * _SECOND)
    rest, tail = fast_two_sum(rest, tail - count * _THIRD)
    return int(count) & (STEPS - 1), rest, tail


@njit(cache=True, error_model="numpy")
def _digits(bits: int) -> tuple[int, int, int, int]:
    """Return ``(low, middle, high, first)``: three digits of a significand, and their place.

    The significand of a finite double, shifted to a multiple of the digit size; its last digit
    counts `first` digits of 2**-LIMB_BITS from the binary point.
    """
    exponent = (bits >> 52) - 1075
    significand = (bits & _SIGNIFICAND_MASK) | (1 << 52)
    first = exponent // LIMB_BITS
    shift = exponent - LIMB_BITS * first
    low = (significand & _LIMB_MASK) << shift
    middle = ((significand >> LIMB_BITS) << shift) + (low >> LIMB_BITS)
    return low & _LIMB_MASK, middle & _LIMB_MASK, middle >> LIMB_BITS, first


@njit(cache=True, error_model="numpy")
def _steps_of(bits: int) -> tuple[int, int, int, int, int]:
    """Return the steps in an angle in fixed point: whole steps, then four pairs of digits.

    Digits of STEPS / (2 pi) that could only add whole turns are never touched, those below
    2**-240 of a step are left out.
    """
    low, middle, high, first = _digits(bits)
    a = b = c = d = 0
    pair, carry = 0, 0
    for place in range(_FRACTION_LIMBS, -1, -1):
        i = first + PADDING_LIMBS + place
        digit = (
            carry
            + low * STEPS_PER_RADIAN_LIMBS[i]
            + middle * STEPS_PER_RADIAN_LIMBS[i + 1]
            + high * STEPS_PER_RADIAN_LIMBS[i + 2]
        )
        carry = digit >> LIMB_BITS
        digit &= _LIMB_MASK
        if place & 1:
            a, b, c, d = digit << LIMB_BITS | pair, a, b, c
        pair = digit
    return pair, a, b, c, d


@njit(cache=True, error_model="numpy")
def exact_step(angle_rad: float) -> tuple[int, float, float]:
    """Return ``(step, rest, tail)``, a twofold rest right to 2**-102 of itself.

    For finite angles of at least 2**-27 rad in size.
    """
    step, a, b, c, d = _steps_of(bits_of(abs(angle_rad)))
    rounds_up = a >> (2 * LIMB_BITS - 1)
    step += rounds_up
    rest, tail = 0.0, 0.0
    weight = 1.0
    for pair in (a, b, c, d):
        for digit in (pair >> LIMB_BITS, pair & _LIMB_MASK):
            weight *= _LIMB
            # with one minus the fraction, but for 2**-240, where it is more than a half
            rest, error = two_sum(rest, (digit ^ (_LIMB_MASK * rounds_up)) * weight)
            tail += error
    rest, tail = fast_two_sum(rest, tail)
    rest, tail = dd_mul(rest, tail, _STEP_H, _STEP_L)
    if rounds_up == 1:
        rest, tail = -rest, -tail
    if angle_rad < 0.0:
        step, rest, tail = -step, -rest, -tail
    return step & (STEPS - 1), rest, tail
