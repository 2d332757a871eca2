"""Trigonometry with the same bits on every processor, from basic IEEE operations only.

The libraries behind `math.sin` and `numpy.sin` differ between machines in the last bit, and one
bit is enough to turn a label. These kernels add, multiply, divide and take square roots, nothing
else, and return the double nearest to the true value: no point of the tests, however hard, rounds
otherwise. The proof stops short of all doubles: a true value within about 2**-100 of itself of the
middle between two doubles could still go to the wrong one, an error of half an ulp and no more.

Every function works in two tempers. The quick one carries a few bits beyond a double and knows a
bound on its error; if both ends of the bound round alike, that is the answer. About one call in a
thousand is left to the exact one, which carries twofold numbers throughout.

Angles are radians. Kernels take and return floats and check nothing; NaN, infinities, signed zeros
and subnormals behave as C99, Annex F, asks. Whole arrays go through `navaudit.numerics.angles`.
"""

from __future__ import annotations

import math

import numpy as np

from navaudit.compiled import njit
from navaudit.numerics.circle import INVERSE_FACTORIALS, SINES, STEPS
from navaudit.numerics.polar import acos, atan2, hypot
from navaudit.numerics.reduction import QUICK_LIMIT_RAD, exact_step, quick_step
from navaudit.numerics.twofold import dd_add, dd_div, dd_mul, fast_two_sum, split, two_product

__all__ = [
    "acos",
    "atan2",
    "cos",
    "hypot",
    "sin",
    "sincos",
    "tan",
    "wrap_by_atan2",
    "wrap_to_pi",
]

_TINY_RAD = 2.0**-27  # below it sin and tan round to the angle itself and cos rounds to one
_QUARTER = STEPS // 4
_STEP_MASK = STEPS - 1

# Bounds on the error of the quick pair. The relative part is largest next to a zero, where the
# result is half a step, the breakpoint's sine s a whole one, and s (cos r - 1) 2**-14.7 of the
# result: ten roundings of such terms at 2**-53 and the tail left out of r**2 stay below
# 2**-63.8. The absolute part is that of the angle's reduction.
_RELATIVE = 2.0**-63.5
_ABSOLUTE = 2.0**-93
_TAN_RELATIVE = 2.0**-62
_TAN_FLOOR = 2.0**-28  # the absolute parts are then 2**-65 of sine and cosine, and add up to less

# Bounds on how far sine and cosine, once rounded, are known to turn their point; see wrap_by_atan2.
_TURN_RELATIVE = 2.0 * _RELATIVE + 2.0**-100
_TURN_ABSOLUTE = 2.0 * _ABSOLUTE
_NO_WRAP_RAD = 3.0


@njit(cache=True, error_model="numpy")
def _quick_pair(angle_rad: float) -> tuple[float, float, float, float]:
    """Return sine and cosine as sums of two doubles, for sizes in [_TINY_RAD, QUICK_LIMIT_RAD).

    With the breakpoint's sine s and cosine c and the rest r, sin = s + c r + s (cos r - 1) +
    c (sin r - r). The upper 26 bits of s, c and r make the leading product exact; the brackets are
    Taylor polynomials, cut where they fall below 2**-73.
    """
    step, rest, tail = quick_step(angle_rad)
    upper, lower = split(rest)
    lower += tail
    s1, s2 = SINES[step, 0], SINES[step, 1]
    across = (step + _QUARTER) & _STEP_MASK
    c1, c2 = SINES[across, 0], SINES[across, 1]
    square = rest * rest
    odd = rest * square * (-1.0 / 6.0 + square * (1.0 / 120.0 - square * (1.0 / 5040.0)))
    even = square * (-0.5 + square * (1.0 / 24.0 - square * (1.0 / 720.0)))
    s, c = s1 + s2, c1 + c2
    sine, error = fast_two_sum(s1, c1 * upper)
    sine_rest = error + (s2 + (c1 * lower + (c2 * rest + (s * even + c * odd))))
    cosine, error = fast_two_sum(c1, -s1 * upper)
    cosine_rest = error + (c2 - (s1 * lower + (s2 * rest + (s * odd - c * even))))
    sine, sine_rest = fast_two_sum(sine, sine_rest)
    cosine, cosine_rest = fast_two_sum(cosine, cosine_rest)
    return sine, sine_rest, cosine, cosine_rest


@njit(cache=True, error_model="numpy")
def _settle(hi: float, lo: float) -> tuple[float, bool]:
    """Round a quick sine or cosine; also return whether both ends of its bound round alike."""
    bound = abs(hi) * _RELATIVE + _ABSOLUTE
    nearest = hi + (lo + bound)
    return nearest, nearest == hi + (lo - bound)


@njit(cache=True, error_model="numpy")
def _alternating_series(zh: float, zl: float, first: int) -> tuple[float, float]:
    """Return 1/first! - z/(first+2)! + z**2/(first+4)! - ... for z below 2**-12."""
    hi, lo = INVERSE_FACTORIALS[first + 12, 0], INVERSE_FACTORIALS[first + 12, 1]
    for n in range(first + 10, first - 2, -2):
        hi, lo = dd_mul(hi, lo, -zh, -zl)
        hi, lo = dd_add(INVERSE_FACTORIALS[n, 0], INVERSE_FACTORIALS[n, 1], hi, lo)
    return hi, lo


@njit(cache=True, error_model="numpy")
def _sine_of_step(step: int) -> tuple[float, float]:
    hi, lo = fast_two_sum(SINES[step, 0], SINES[step, 1])
    return fast_two_sum(hi, lo + SINES[step, 2])


@njit(cache=True, error_model="numpy")
def _exact_pair(angle_rad: float) -> tuple[float, float, float, float]:
    """Return sine and cosine as twofolds right to 2**-102, for any size from _TINY_RAD up."""
    if not abs(angle_rad) < math.inf:
        return math.nan, math.nan, math.nan, math.nan
    step, rest, tail = exact_step(angle_rad)
    zh, zl = dd_mul(rest, tail, rest, tail)
    hi, lo = _alternating_series(zh, zl, 1)
    oh, ol = dd_mul(rest, tail, hi, lo)  # sin r
    hi, lo = _alternating_series(zh, zl, 2)
    eh, el = dd_mul(-zh, -zl, hi, lo)  # cos r - 1
    sh, sl = _sine_of_step(step)
    ch, cl = _sine_of_step((step + _QUARTER) & _STEP_MASK)

    ah, al = dd_mul(ch, cl, oh, ol)
    bh, bl = dd_mul(sh, sl, eh, el)
    ah, al = dd_add(ah, al, bh, bl)
    sine_h, sine_l = dd_add(sh, sl, ah, al)
    ah, al = dd_mul(-sh, -sl, oh, ol)
    bh, bl = dd_mul(ch, cl, eh, el)
    ah, al = dd_add(ah, al, bh, bl)
    cosine_h, cosine_l = dd_add(ch, cl, ah, al)
    return sine_h, sine_l, cosine_h, cosine_l


@njit(cache=True, error_model="numpy")
def sin(angle_rad: float) -> float:
    """Return the double nearest to the sine; NaN for infinities.

    >>> sin(-0.0), sin(1.0)
    (-0.0, 0.8414709848078965)
    """
    size = abs(angle_rad)
    if size < _TINY_RAD:
        return angle_rad
    if size < QUICK_LIMIT_RAD:
        hi, lo, _, _ = _quick_pair(angle_rad)
        sine, settled = _settle(hi, lo)
        if settled:
            return sine
    return _exact_pair(angle_rad)[0]


@njit(cache=True, error_model="numpy")
def cos(angle_rad: float) -> float:
    """Return the double nearest to the cosine; NaN for infinities.

    >>> cos(0.0), cos(1.0)
    (1.0, 0.5403023058681398)
    """
    size = abs(angle_rad)
    if size < _TINY_RAD:
        return 1.0
    if size < QUICK_LIMIT_RAD:
        _, _, hi, lo = _quick_pair(angle_rad)
        cosine, settled = _settle(hi, lo)
        if settled:
            return cosine
    return _exact_pair(angle_rad)[2]


@njit(cache=True, error_model="numpy")
def sincos(angle_rad: float) -> tuple[float, float]:
    """Return ``(sin(angle_rad), cos(angle_rad))``, the same bits, faster than the two calls."""
    size = abs(angle_rad)
    if size < _TINY_RAD:
        return angle_rad, 1.0
    if size < QUICK_LIMIT_RAD:
        sh, sl, ch, cl = _quick_pair(angle_rad)
        sine, sine_settled = _settle(sh, sl)
        cosine, cosine_settled = _settle(ch, cl)
        if sine_settled and cosine_settled:
            return sine, cosine
    sh, _, ch, _ = _exact_pair(angle_rad)
    return sh, ch


@njit(cache=True, error_model="numpy")
def tan(angle_rad: float) -> float:
    """Return the double nearest to the tangent; finite for every finite angle, NaN for infinities.

    >>> tan(0.25)
    0.25534192122103627
    """
    size = abs(angle_rad)
    if size < _TINY_RAD:
        return angle_rad
    if size < QUICK_LIMIT_RAD:
        sh, sl, ch, cl = _quick_pair(angle_rad)
        if abs(sh) > _TAN_FLOOR and abs(ch) > _TAN_FLOOR:
            hi, lo = dd_div(sh, sl, ch, cl)
            bound = abs(hi) * _TAN_RELATIVE
            tangent = hi + (lo + bound)
            if tangent == hi + (lo - bound):
                return tangent
    sh, sl, ch, cl = _exact_pair(angle_rad)
    return dd_div(sh, sl, ch, cl)[0]


_TURN_RAD = 2.0 * math.pi  # the double, as the stock code has it
_EXACT_COUNT = 2.0**52


@njit(cache=True, error_model="numpy")
def _modulo_turn_below_limit(size_rad: float) -> float:
    """Return fmod for sizes below 2**52 turns: both subtractions are exact."""
    turns = np.floor(size_rad / _TURN_RAD)
    p, e = two_product(turns, _TURN_RAD)
    rest = (size_rad - p) - e
    if rest < 0.0:
        return rest + _TURN_RAD  # the quotient had rounded up to the next whole number
    return rest


@njit(cache=True, error_model="numpy")
def _modulo_turn(angle_rad: float) -> float:
    """Return C's ``fmod(angle_rad, 2 * pi)``, which is exact, so there is one answer only."""
    size = abs(angle_rad)
    if size < _TURN_RAD:
        return angle_rad
    if not size < math.inf:
        return math.nan
    while size >= _EXACT_COUNT:
        # (m 2**j) mod t == ((m mod t) 2**j) mod t; each round takes 49 bits off
        scale = 1.0
        while size * scale >= _EXACT_COUNT:
            scale *= 0.5
        size = _modulo_turn_below_limit(size * scale) / scale
    return math.copysign(_modulo_turn_below_limit(size), angle_rad)


@njit(cache=True, error_model="numpy")
def wrap_to_pi(angle_rad: float) -> float:
    """Return ``(angle_rad + pi) % (2 * pi) - pi``, bit for bit as NumPy and Python do it.

    Mostly in [-pi, pi), and pi itself where the remainder of a tiny negative number rounds up to a
    whole turn. NaN for infinities, which the stock code refuses. The heading of the bicycle model
    and of interpolated trajectories is wrapped this way: nuPlan's principal_value,
    nuplan/common/geometry/compute.py:92-106, called from navsim's batch_kinematic_bicycle.py:142
    and from AngularInterpolator, compute.py:169.

    >>> wrap_to_pi(4.0) == (4.0 + math.pi) % (2.0 * math.pi) - math.pi
    True
    """
    rest = _modulo_turn(angle_rad + math.pi)
    if rest < 0.0:
        rest += _TURN_RAD
    return rest - math.pi


@njit(cache=True, error_model="numpy")
def wrap_by_atan2(angle_rad: float) -> float:
    """Return ``atan2(sin(angle_rad), cos(angle_rad))``, in [-pi, pi].

    Rounds even angles that need no wrapping. The tracker's heading errors and displacements, the
    centreline's headings and boxes turned between frames are wrapped this way: navsim's
    normalize_angle, pdm_planner/utils/pdm_geometry_utils.py:12-18, called from batch_lqr.py:216 and
    :449, batch_lqr_utils.py:54, pdm_path.py:81 and navsim_scenario_utils.py:119 and :143.

    Where nothing wraps, the angle need not be looked for: rounding the true sine s and cosine c to
    s + t and c + u turns their point by c t - s u, which the quick pair knows to a thousandth of
    what matters. Both ends of the bound mostly round alike, and then atan2 does too.

    >>> wrap_by_atan2(4.0)
    -2.2831853071795867
    """
    size = abs(angle_rad)
    if size < _TINY_RAD:
        return angle_rad
    if size < _NO_WRAP_RAD:
        sh, sl, ch, cl = _quick_pair(angle_rad)
        sine, sine_settled = _settle(sh, sl)
        cosine, cosine_settled = _settle(ch, cl)
        if sine_settled and cosine_settled:
            turned = cosine * ((sine - sh) - sl) - sine * ((cosine - ch) - cl)
            bound = abs(sine * cosine) * _TURN_RELATIVE + _TURN_ABSOLUTE
            angle = angle_rad + (turned + bound)
            if angle == angle_rad + (turned - bound):
                return angle
    sine, cosine = sincos(angle_rad)
    return atan2(sine, cosine)
