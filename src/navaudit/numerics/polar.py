"""Distance and direction of a point, from basic IEEE operations only.

The tempers, the accuracy and the conventions are those of `navaudit.numerics.trig`.
"""

from __future__ import annotations

import math

from navaudit.compiled import njit
from navaudit.numerics.circle import ARCTANGENTS, INVERSE_ODDS, PI_TWOFOLD, RATIO_STEPS
from navaudit.numerics.twofold import (
    bits_of,
    dd_add,
    dd_div,
    dd_mul,
    dd_sqrt,
    dd_sub,
    double_of,
    fast_two_sum,
    split,
    two_difference,
    two_product,
    two_square,
    two_sum,
)

# Between these sizes no product of two coordinates, nor its error, leaves the range of doubles.
_SMALL = 2.0**-300
_LARGE = 2.0**300

_PI = PI_TWOFOLD[0]
_RATIO_STEP = 1.0 / RATIO_STEPS
_TINY_RATIO = 2.0**-53  # the quotient's distance from a rounding boundary exceeds what arctan takes
# The quick direction rounds terms of at most 2**-15.6 of the result eight times at 2**-53.
_DIRECTION_RELATIVE = 2.0**-64.5
_ROOT_RELATIVE = 2.0**-100
_NEGLIGIBLE = 2.0**-27  # a side this much shorter adds less than 2**-54 of the longer one
_Terms = tuple[float, float, float, float, float, float, float, float]
_LAST_ODD = 8  # terms of the arctangent series; the next is below 2**-115


@njit(cache=True, error_model="numpy")
def _exact_direction(
    yh: float, yl: float, xh: float, xl: float, leftward: bool
) -> tuple[float, float]:
    """Return the angle of ``(-x if leftward else x, y)`` from twofold sizes, as a twofold.

    With u / v the smaller over the larger size and k the breakpoint next to it, the angle within
    the octant is arctan(k) + arctan((u - k v) / (v + k u)). Cancellation in u - k v is harmless:
    arctan(k) is then larger by as much.
    """
    steep = yh > xh
    uh, ul, vh, vl = yh, yl, xh, xl
    if steep:
        uh, ul, vh, vl = xh, xl, yh, yl
    step = int(uh / vh * RATIO_STEPS + 0.5)
    k = step * _RATIO_STEP
    nh, nl = dd_mul(k, 0.0, vh, vl)
    nh, nl = dd_sub(uh, ul, nh, nl)
    dh, dl = dd_mul(k, 0.0, uh, ul)
    dh, dl = dd_add(vh, vl, dh, dl)
    th, tl = dd_div(nh, nl, dh, dl)

    zh, zl = dd_mul(th, tl, th, tl)
    hi, lo = INVERSE_ODDS[_LAST_ODD, 0], INVERSE_ODDS[_LAST_ODD, 1]
    for n in range(_LAST_ODD - 1, -1, -1):
        hi, lo = dd_mul(hi, lo, -zh, -zl)
        hi, lo = dd_add(INVERSE_ODDS[n, 0], INVERSE_ODDS[n, 1], hi, lo)
    hi, lo = dd_mul(hi, lo, th, tl)
    if steep != leftward:
        hi, lo = -hi, -lo
    octant = int(steep) + 2 * int(leftward)
    return dd_add(ARCTANGENTS[octant, step, 0], ARCTANGENTS[octant, step, 1], hi, lo)


@njit(cache=True, error_model="numpy")
def _quick_direction(y: float, x: float, leftward: bool) -> tuple[float, float]:
    """Return what `_exact_direction` does, within _DIRECTION_RELATIVE of itself.

    The breakpoint has seven bits, so that its product with the upper half of a size is exact. The
    series stops where t**11 / 11 is below 2**-73 of t.
    """
    steep = y > x
    u, v = y, x
    if steep:
        u, v = x, y
    step = int(u / v * RATIO_STEPS + 0.5)
    k = step * _RATIO_STEP
    upper, lower = split(v)
    kv = k * v
    kv_error = (k * upper - kv) + k * lower
    n, n_error = two_difference(u, kv)
    upper, lower = split(u)
    ku = k * u
    ku_error = (k * upper - ku) + k * lower
    d, d_error = fast_two_sum(v, ku)
    d_error += ku_error
    t = n / d
    p, p_error = two_product(t, d)
    t_error = (((n - p) - p_error) + ((n_error - kv_error) - t * d_error)) / d
    z = t * t
    t_error += t * z * (-1.0 / 3.0 + z * (1.0 / 5.0 - z * (1.0 / 7.0 - z * (1.0 / 9.0))))
    if steep != leftward:
        t, t_error = -t, -t_error

    octant = int(steep) + 2 * int(leftward)
    hi, lo = fast_two_sum(ARCTANGENTS[octant, step, 0], t)
    return fast_two_sum(hi, lo + (ARCTANGENTS[octant, step, 1] + t_error))


@njit(cache=True, error_model="numpy")
def _direction(y: float, x: float, leftward: bool) -> float:
    """Return the angle of ``(-x if leftward else x, y)`` for sizes between _SMALL and _LARGE."""
    if y < _TINY_RATIO * x and not leftward:
        return y / x
    hi, lo = _quick_direction(y, x, leftward)
    bound = hi * _DIRECTION_RELATIVE
    angle = hi + (lo + bound)
    if angle == hi + (lo - bound):
        return angle
    return _exact_direction(y, 0.0, x, 0.0, leftward)[0]


@njit(cache=True, error_model="numpy")
def _scale_to_one(size: float) -> float:
    """Return the power of two that brings a finite size into [1, 4), and subnormals below one."""
    exponent = max(bits_of(size) >> 52, 1) - 1023
    return double_of((max(-exponent, -1022) + 1023) << 52)


@njit(cache=True, error_model="numpy")
def _direction_at_the_edges(y: float, x: float, leftward: bool) -> float:
    """Return what `_direction` does for zeros, infinities, NaN and sizes it does not reach."""
    if math.isnan(x) or math.isnan(y):
        return math.nan
    if max(x, y) == math.inf:
        x, y = 1.0 * (x == math.inf), 1.0 * (y == math.inf)
    if y == 0.0:
        return _PI if leftward else 0.0
    if x == 0.0:
        return 0.5 * _PI
    scale = _scale_to_one(max(x, y))
    if min(x, y) * scale > _SMALL:
        return _direction(y * scale, x * scale, leftward)
    if y > x:
        return 0.5 * _PI
    return _PI if leftward else y / x


@njit(cache=True, error_model="numpy")
def atan2(y: float, x: float) -> float:
    """Return the double nearest to the angle of the point (x, y), in [-pi, pi], signed as y.

    Zeros count their signs: ``atan2(-0.0, -1.0)`` is -pi. A subnormal angle may be the neighbour of
    the nearest one where y / x is a tie.

    >>> atan2(1.0, -1.0), atan2(-0.0, 1.0)
    (2.356194490192345, -0.0)
    """
    rise, run = abs(y), abs(x)
    leftward = math.copysign(1.0, x) < 0.0
    if _SMALL < rise < _LARGE and _SMALL < run < _LARGE:
        angle = _direction(rise, run, leftward)
    else:
        angle = _direction_at_the_edges(rise, run, leftward)
    return math.copysign(angle, y)


@njit(cache=True, error_model="numpy")
def acos(cosine: float) -> float:
    """Return the double nearest to the angle in [0, pi] with this cosine; NaN beyond one.

    >>> acos(-1.0), acos(1.0000000000000002)
    (3.141592653589793, nan)
    """
    size = abs(cosine)
    leftward = cosine < 0.0
    if not size < 1.0:
        if size == 1.0:
            return _PI if leftward else 0.0
        return math.nan
    ah, al = two_difference(1.0, size)
    bh, bl = two_sum(1.0, size)
    hi, lo = dd_mul(ah, al, bh, bl)
    hi, lo = dd_sqrt(hi, lo)
    return _exact_direction(hi, lo, size, 0.0, leftward)[0]


@njit(cache=True, error_model="numpy")
def _distil(t: _Terms) -> _Terms:
    """Pass a two-sum over the terms, which moves what they have in common to the last."""
    b, a = two_sum(t[1], t[0])
    c, b = two_sum(t[2], b)
    d, c = two_sum(t[3], c)
    e, d = two_sum(t[4], d)
    f, e = two_sum(t[5], e)
    g, f = two_sum(t[6], f)
    h, g = two_sum(t[7], g)
    return a, b, c, d, e, f, g, h


@njit(cache=True, error_model="numpy")
def _side_of_midpoint(x: float, y: float, root: float, half: float) -> float:
    """Return a number signed as x**2 + y**2 - (root + half)**2, zero where they are equal.

    Four passes of two-sums over the eight exact terms are as good as adding them with fivefold
    precision. The sides are whole multiples of 2**-160 of themselves, so nothing is left to doubt.
    """
    xh, xl = two_square(x)
    yh, yl = two_square(y)
    rh, rl = two_square(root)
    terms = (xh, xl, yh, yl, -rh, -rl, -2.0 * root * half, -half * half)
    for _ in range(4):
        terms = _distil(terms)
    side = 0.0
    for term in terms:
        side += term
    return side


@njit(cache=True, error_model="numpy")
def _exact_root(x: float, y: float, hi: float, lo: float, subnormal: bool) -> float:
    """Return the double nearest to sqrt(x**2 + y**2), ties to even, from its twofold ``hi + lo``.

    Subnormal results are evenly spaced: 2**-52 after the scaling that brings 2**-1022 to one.
    """
    toward = 1 if lo > 0.0 else -1
    half = 0.5 * (double_of(bits_of(hi) + toward) - hi)
    if subnormal:
        nearest = (hi + 1.0) - 1.0
        half = math.copysign(2.0**-53, (hi - nearest) + lo)
        hi = nearest
    side = _side_of_midpoint(x, y, hi, half)
    if side == 0.0:
        is_even = int(hi / abs(2.0 * half)) & 1 == 0
        return hi if is_even else hi + 2.0 * half
    return hi + 2.0 * half if (side > 0.0) == (half > 0.0) else hi


@njit(cache=True, error_model="numpy")
def _root_of_squares(long: float, short: float, may_be_subnormal: bool) -> float:
    """Return the double nearest to sqrt(long**2 + short**2), where long is below 2**27 short."""
    ah, al = two_square(long)
    bh, bl = two_square(short)
    hi, lo = fast_two_sum(ah, bh)
    hi, lo = fast_two_sum(hi, lo + (al + bl))
    hi, lo = dd_sqrt(hi, lo)
    bound = hi * _ROOT_RELATIVE
    root = hi + (lo + bound)
    subnormal = may_be_subnormal and hi < 1.0
    if root == hi + (lo - bound) and not subnormal:
        return root
    return _exact_root(long, short, hi, lo, subnormal)


@njit(cache=True, error_model="numpy")
def _root_at_the_edges(long: float, short: float) -> float:
    """Return what `_root_of_squares` does for infinities and for squares out of range."""
    if long == math.inf:
        return long
    scale = _scale_to_one(long)
    root = _root_of_squares(long * scale, short * scale, scale >= 2.0**1022)
    return root / scale


@njit(cache=True, error_model="numpy")
def hypot(x: float, y: float) -> float:
    """Return the double nearest to sqrt(x**2 + y**2), ties to even; infinite beside an infinity.

    >>> hypot(3.0, -4.0), hypot(math.inf, math.nan)
    (5.0, inf)
    """
    long, short = abs(x), abs(y)
    if math.isnan(long + short):
        return math.inf if math.inf in (long, short) else math.nan
    if long < short:
        long, short = short, long
    if short <= long * _NEGLIGIBLE:
        return long
    if short > _SMALL and long < _LARGE:
        return _root_of_squares(long, short, False)
    return _root_at_the_edges(long, short)
