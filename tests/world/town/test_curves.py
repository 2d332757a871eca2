"""Lines in the plane: what bends, joins and shifts must keep."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.world.town.angles import directions, heading_of
from navaudit.world.town.curves import (
    corner,
    cross,
    dot,
    left_of,
    lengths,
    resample,
    ring,
    shift,
    size,
    snap,
    tangents,
)
from navaudit.world.town.paths import Swerve, Weave, smooth

angles = st.floats(-3.1, 3.1)
places = st.tuples(st.floats(-50, 50), st.floats(-50, 50)).map(np.array)


@given(angles)
def test_a_direction_has_the_angle_it_was_made_from(angle):
    assert heading_of(directions([angle]))[0] == pytest.approx(angle, abs=1e-15)


@given(angles, angles)
def test_left_is_where_the_cross_product_is_positive(one, turn):
    heading = directions(one)
    assert cross(heading, left_of(heading)) == pytest.approx(1.0)
    assert dot(heading, left_of(heading)) == pytest.approx(0.0, abs=1e-15)


@settings(deadline=None)
@given(
    places, angles, st.floats(8.0, 30.0), st.floats(8.0, 30.0), st.floats(0.7, 1.9), st.booleans()
)
def test_a_corner_joins_two_directed_points_smoothly(start, way, into, out, turn, left):
    heading = directions(way)
    leaving = directions(way + (turn if left else -turn))
    end = start + heading * into + leaving * out
    line = corner(start, heading, end, leaving)
    assert (line[0] == start).all()
    assert (line[-1] == end).all()
    step = size(np.diff(line, axis=0))
    assert 0.6 < step.min() <= step.max() < 1.4
    along = tangents(line)
    # the first chord of the tightest of these corners is 14 degrees off
    assert dot(along[0], heading) > 0.969
    assert dot(along[-1], leaving) > 0.969
    turning = [cross(a, b) for a, b in pairwise(along)]
    assert (np.array(turning) * (1 if left else -1) > -1e-6).all()


@given(st.floats(3.0, 200.0), st.floats(0.5, 4.0))
def test_resampling_evens_out_and_keeps_ends_and_length(total, spacing):
    line = np.stack([np.array([0.0, 0.1, 0.5, 0.6, 1.0]) * total, np.zeros(5)], axis=1)
    even = resample(line, spacing)
    step = size(np.diff(even, axis=0))
    assert (even[[0, -1]] == line[[0, -1]]).all()
    assert lengths(even)[-1] == pytest.approx(total)
    assert step.max() - step.min() < 1e-9 * total
    assert step.max() <= 1.5 * spacing or len(even) == 2


def test_a_ring_is_closed_and_holds_joints_once():
    a, b = np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    assert ring(a, b).tolist() == [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]
    assert ring(a, b[:2]).tolist() == [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]


def test_shifting_left_and_back_is_no_move():
    line = np.stack([np.linspace(0, 60, 61), np.linspace(0, 60, 61) ** 2 / 200], axis=1)
    there = shift(line, tangents(line), 3.5)
    assert size(there - line) == pytest.approx(3.5)
    assert shift(there, tangents(line), -3.5) == pytest.approx(line)


def test_snapping_leaves_no_negative_zero_and_six_digits():
    line = snap(np.array([[-1e-9, 0.12345678]]))
    assert not np.signbit(line[0, 0])
    assert line[0, 1] == 0.123457


def test_the_smooth_step_is_flat_at_both_ends():
    x = np.array([-1.0, 0.0, 1e-4, 0.5, 1 - 1e-4, 1.0, 2.0])
    y = smooth(x)
    assert y[[0, 1, 3, 5, 6]].tolist() == [0.0, 0.0, 0.5, 1.0, 1.0]
    assert y[2] < 1e-10
    assert 1 - y[4] < 1e-10


def test_a_swerve_goes_aside_and_comes_back():
    weave = Weave(np.zeros(20), Swerve((50.0, 70.0), (100.0, 120.0), 1.1))
    assert weave.aside(np.array([40.0, 60.0, 85.0, 110.0, 130.0])) == pytest.approx(
        [0.0, 0.55, 1.1, 0.55, 0.0]
    )
