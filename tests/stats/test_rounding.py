from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navaudit.stats.rounding import interval_text, nearest, outward

figures = st.floats(-1e6, 1e6)


@given(figures, figures, st.integers(0, 6))
def test_a_written_interval_holds_the_interval_and_is_no_wider_than_needed(one, other, places):
    low, high = sorted([one, other])
    left, right = (Decimal(end) for end in outward(low, high, places))
    step = Fraction(1, 10**places)
    shortest = Fraction(Decimal(repr(low))), Fraction(Decimal(repr(high)))
    assert 0 <= shortest[0] - Fraction(left) < step
    assert 0 <= Fraction(right) - shortest[1] < step


@given(figures, st.integers(0, 6))
def test_a_point_moves_at_most_half_a_step(value, places):
    gap = Fraction(Decimal(nearest(value, places))) - Fraction(Decimal(repr(value)))
    assert abs(gap) <= Fraction(1, 2 * 10**places)


@given(st.integers(-10_000_000, 10_000_000))
def test_a_figure_that_has_its_places_stays(thousandths):
    text = f"{Decimal(thousandths).scaleb(-3):+}"
    value = float(text)
    assert outward(value, value) == (nearest(value), nearest(value))
    assert Decimal(nearest(value)) == Decimal(text)


def test_the_sign_of_a_vanishing_figure_tells_its_side():
    assert outward(-0.0004, -0.0004) == ("-0.001", "-0.000")
    assert outward(0.0004, 0.0004) == ("+0.000", "+0.001")
    assert nearest(-0.0) == "+0.000"


def test_an_interval_is_written_as_in_the_tables():
    """tab:rt-contrasts, P-A, LK OFF, all tokens, seed 0."""
    assert interval_text(0.93, 0.6291, 1.25501) == "+0.930 [+0.629, +1.256]"
    assert interval_text(0.28496, 0.27702, 0.29214, places=4) == "+0.2850 [+0.2770, +0.2922]"


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_a_number_is_written_as_such(value):
    assert nearest(value).lower().strip("+-") in {"nan", "infinity"}
