"""The ego's states and the human's drive, against exact fractions and the stock code's bits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.axes import HEADING, STATE, X, Y
from navaudit.scene.ego import fused, human_of
from navaudit.world.trigonometry import HOUSE, LIBM, Trig
from scene.golden import HUMANS

often = settings(deadline=None, max_examples=300)

number = st.floats(1e-6, 1e6) | st.floats(-1e6, -1e-6) | st.just(0.0)
nudge = st.integers(-4, 4).map(lambda k: 1.0 + k * 2.0**-52)


def exactly(a, b, c):
    return float(Fraction(a) * Fraction(b) + Fraction(c))


@often
@given(number, number, number)
def test_fused_rounds_once(a, b, c):
    assert fused(a, b, c) == exactly(a, b, c)


@often
@given(number, number, nudge, st.integers(-60, 60))
def test_fused_rounds_once_where_terms_cancel_or_tie(a, b, factor, exponent):
    for c in (-a * b * factor, -a * b * 2.0**exponent, a * b * 2.0**exponent):
        assert fused(a, b, c) == exactly(a, b, c)


@pytest.mark.parametrize("one", HUMANS, ids=[one["token"] for one in HUMANS])
def test_the_human_is_stocks_to_the_bit_given_its_sines(one):
    x, y, cosine, sine = np.array([[float.fromhex(v) for v in row] for row in one["pose"]]).T
    states = np.zeros((len(x), len(STATE)))
    states[:, X], states[:, Y] = x, y
    given_ = Trig("given", lambda _: sine, lambda _: cosine, HOUSE.atan2, HOUSE.square, HOUSE.asinh)
    expected = [[float.fromhex(v) for v in row] for row in one["human"]]
    np.testing.assert_array_equal(human_of(states, trig=given_)[:, :2], np.array(expected)[:, :2])
    np.testing.assert_allclose(human_of(states, trig=given_), expected, rtol=0, atol=1e-15)


def poses(*rows):
    states = np.zeros((len(rows), len(STATE)))
    states[:, [X, Y, HEADING]] = rows
    return states


@often
@given(st.floats(-3.1, 3.1), st.floats(-60, 60), st.floats(-60, 60), st.floats(-3.1, 3.1))
def test_the_human_drives_where_he_drives(heading, dx, dy, turn):
    east, north = 6.6e5, 4.4e6
    human = human_of(poses((east, north, heading), (east + dx, north + dy, heading + turn)))
    c, s = np.cos(heading), np.sin(heading)
    dx, dy = (east + dx) - east, (north + dy) - north
    np.testing.assert_allclose(human[0, :2], [c * dx + s * dy, c * dy - s * dx], atol=1e-8)
    assert np.cos(human[0, 2]) == pytest.approx(np.cos(turn), abs=1e-12)
    assert np.sin(human[0, 2]) == pytest.approx(np.sin(turn), abs=1e-12)


@pytest.mark.parametrize("trig", [LIBM, HOUSE], ids=lambda trig: trig.name)
def test_who_stands_still_goes_nowhere(trig):
    human = human_of(poses(*[(0.0, 0.0, 0.0)] * 9), trig=trig)
    assert human.shape == (8, 3)
    assert (human == 0.0).all()
    assert not np.signbit(human).any()
