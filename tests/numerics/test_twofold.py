"""Twofold arithmetic against exact fractions."""

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.numerics import twofold
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

exact = settings(deadline=None, max_examples=300)


def doubles(exponent):
    """Draw zero and doubles of both signs between 2**-exponent and 2**exponent."""
    size = st.floats(2.0**-exponent, 2.0**exponent)
    return st.one_of(st.just(0.0), size, size.map(lambda a: -a))


def twofolds(exponent):
    parts = st.tuples(doubles(exponent), st.floats(-(2.0**-53), 2.0**-53))
    return parts.map(lambda part: two_sum(part[0], part[0] * part[1]))


def value(twofold_number):
    return Fraction(twofold_number[0]) + Fraction(twofold_number[1])


@exact
@given(doubles(900), doubles(900))
def test_sums_and_differences_keep_their_error(a, b):
    assert value(two_sum(a, b)) == Fraction(a) + Fraction(b)
    assert value(two_difference(a, b)) == Fraction(a) - Fraction(b)
    assert two_sum(a, b)[0] == a + b
    assert two_difference(a, b)[0] == a - b
    large, small = max(a, b, key=abs), min(a, b, key=abs)
    assert fast_two_sum(large, small) == two_sum(large, small)


@exact
@given(doubles(450), doubles(450))
def test_products_keep_their_error(a, b):
    assert value(two_product(a, b)) == Fraction(a) * Fraction(b)
    assert two_product(a, b)[0] == a * b
    assert two_square(a) == two_product(a, a)


@exact
@given(doubles(900))
def test_split_halves_have_26_bits(a):
    upper, lower = split(a)
    assert upper + lower == a
    for half in (upper, lower):
        significand = Fraction(half).numerator
        assert (significand // (significand & -significand or 1)).bit_length() <= 26


@exact
@given(st.floats(allow_nan=False))
def test_bits_come_and_go(a):
    assert double_of(bits_of(a)) == a
    if 0.0 < a < math.inf:
        assert double_of(bits_of(a) + 1) == math.nextafter(a, math.inf)


OPERATIONS = {
    "add": (dd_add, lambda a, b: a + b),
    "sub": (dd_sub, lambda a, b: a - b),
    "mul": (dd_mul, lambda a, b: a * b),
    "div": (dd_div, lambda a, b: a / b),
}


@pytest.mark.parametrize("name", OPERATIONS)
@exact
@given(a=twofolds(200), b=twofolds(200))
def test_twofold_operations_are_right_to_102_bits(name, a, b):
    operate, truth = OPERATIONS[name]
    if name == "div" and b[0] == 0.0:
        return
    high, low = operate(*a, *b)
    expected = truth(value(a), value(b))
    assert abs(value((high, low)) - expected) <= abs(expected) / 2**102
    assert high + low == high


@exact
@given(twofolds(200))
def test_twofold_differences_survive_cancellation(a):
    near = (math.nextafter(a[0], math.inf), -a[1])
    expected = value(a) - value(near)
    assert abs(value(dd_sub(*a, *near)) - expected) <= abs(expected) / 2**102


@exact
@given(twofolds(200).filter(lambda a: a[0] > 0.0))
def test_twofold_square_root(a):
    root = value(dd_sqrt(*a))
    # (r (1 + d))**2 = a means a relative error of 2 d in the square
    assert abs(root * root - value(a)) <= value(a) / 2**101


def test_every_kernel_is_covered():
    kernels = {name for name, thing in vars(twofold).items() if hasattr(thing, "py_func")}
    assert kernels <= set(globals())
