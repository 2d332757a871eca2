"""The quick tempers keep the bounds on which the rounding of every result rests."""

import math

import numpy as np
import pytest
from numba import njit

from navaudit.numerics import polar, trig
from navaudit.numerics.circle import RATIO_STEPS, STEPS


@njit
def quick_and_exact_pair(angle_rad):
    """Return the largest relative error of the quick pair, after its absolute part, and a share.

    The share is that of the sines which the bound leaves to the exact pair.
    """
    worst, left = 0.0, 0
    for angle in angle_rad:
        sh, sl, ch, cl = trig._quick_pair(angle)
        s, s_low, c, c_low = trig._exact_pair(angle)
        sine = abs((sh - s) + (sl - s_low)) - trig._ABSOLUTE
        cosine = abs((ch - c) + (cl - c_low)) - trig._ABSOLUTE
        worst = max(worst, sine / abs(s), cosine / abs(c))
        bound = abs(sh) * trig._RELATIVE + trig._ABSOLUTE
        left += sh + (sl + bound) != sh + (sl - bound)
    return worst, left / angle_rad.size


@njit
def quick_and_exact_turn(angle_rad):
    """Return the largest error of the turn that rounding brings, in parts of its bound."""
    worst = 0.0
    for angle in angle_rad:
        sine, cosine = trig.sincos(angle)
        sh, sl, ch, cl = trig._quick_pair(angle)
        s, s_low, c, c_low = trig._exact_pair(angle)
        quick = cosine * ((sine - sh) - sl) - sine * ((cosine - ch) - cl)
        exact = c * ((sine - s) - s_low) - s * ((cosine - c) - c_low)
        bound = abs(sine * cosine) * trig._TURN_RELATIVE + trig._TURN_ABSOLUTE
        worst = max(worst, abs(quick - exact) / bound)
    return worst


@njit
def quick_and_exact_direction(y, x):
    """Return the largest relative error of the quick direction and the share left to the exact."""
    worst, left = 0.0, 0
    for i in range(y.size):
        rise, run, leftward = abs(y[i]), abs(x[i]), x[i] < 0.0
        hi, lo = polar._quick_direction(rise, run, leftward)
        true, true_low = polar._exact_direction(rise, 0.0, run, 0.0, leftward)
        worst = max(worst, abs((hi - true) + (lo - true_low)) / true)
        bound = hi * polar._DIRECTION_RELATIVE
        left += hi + (lo + bound) != hi + (lo - bound)
    return worst, left / y.size


def tell(name, worst, left):
    print(f"{name}: largest relative error 2**{math.log2(worst):.2f}, {left:.3%} left to exact")


@pytest.mark.parametrize("limit_rad", [7.0, 1e3, 131_072.0])
def test_the_quick_pair_keeps_its_bound(limit_rad):
    rng = np.random.default_rng(1)
    worst, left = quick_and_exact_pair(rng.uniform(-limit_rad, limit_rad, 300_000))
    tell(f"pair to {limit_rad:g} rad", worst, left)
    assert worst < trig._RELATIVE
    assert left < 0.005


def test_the_quick_pair_keeps_its_bound_where_it_is_weakest():
    rng = np.random.default_rng(2)
    sizes = 2.0 ** rng.uniform(-26.9, 16.9, 100_000)
    # half a step from a quarter, where the sine or cosine is smallest beside its breakpoint's
    half_steps = (np.arange(200_000) * (STEPS // 4) + 0.5) * (2.0 * math.pi / STEPS)
    half_steps = half_steps[half_steps < 131_000.0] + rng.uniform(-1e-9, 1e-3)
    worst, left = quick_and_exact_pair(np.concatenate([sizes, half_steps]))
    tell("pair at its weakest", worst, left)
    assert worst < trig._RELATIVE


def test_the_turn_of_rounded_points_keeps_its_bound():
    rng = np.random.default_rng(5)
    plain = rng.uniform(-3.0, 3.0, 300_000)
    quarters = rng.choice([-1.0, 1.0], 100_000) * math.pi / 2.0
    quarters += 2.0 ** rng.uniform(-50.0, 0.0, quarters.size)
    small = 2.0 ** rng.uniform(-27.0, 0.0, 100_000)
    worst = quick_and_exact_turn(np.concatenate([plain, quarters, small]))
    print(f"turn: largest error {worst:.3f} of its bound")
    assert 0.01 < worst < 1.0


@pytest.mark.parametrize("scale", [1.0, 1e7])
def test_the_quick_direction_keeps_its_bound(scale):
    rng = np.random.default_rng(3)
    worst, left = quick_and_exact_direction(*rng.uniform(-scale, scale, (2, 300_000)))
    tell(f"direction to {scale:g}", worst, left)
    assert worst < polar._DIRECTION_RELATIVE
    assert left < 0.002


def test_the_quick_direction_keeps_its_bound_where_it_is_weakest():
    rng = np.random.default_rng(4)
    x = rng.uniform(1.0, 2.0, 300_000)
    middles = (rng.integers(0, RATIO_STEPS, x.size) + 0.5) / RATIO_STEPS
    flat = 2.0 ** rng.uniform(-50.0, -6.0, x.size)
    for ratio in (middles, flat):
        worst, left = quick_and_exact_direction(ratio * x, x)
        tell("direction at its weakest", worst, left)
        assert worst < polar._DIRECTION_RELATIVE
