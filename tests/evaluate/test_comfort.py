"""Extended comfort against a slow reference on SciPy's filters."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import savgol_filter

from navaudit.axes import AX, AY, HEADING, STATE, STEPS
from navaudit.errors import BadInput
from navaudit.evaluate.comfort import differences, extended_comfort

THRESHOLDS = (0.7, 0.5, 0.1, 0.1)


def slow(earlier, later, steps):
    """Root mean squares of the four differences, with SciPy's filters."""
    found = []
    for states in (later[:-steps], earlier[steps:]):
        acceleration = np.round(savgol_filter(np.hypot(states[:, AX], states[:, AY]), 8, 2), 8)
        jerk = np.round(savgol_filter(acceleration, 15, 2, deriv=1, delta=0.1), 8)
        heading = states[:, HEADING].copy()
        turns = np.round(np.diff(heading) / (2 * np.pi))
        heading[1:] -= 2 * np.pi * np.cumsum(turns)
        rate = np.round(savgol_filter(heading, 5, 2, deriv=1, delta=0.1), 8)
        change = np.round(savgol_filter(heading, 5, 2, deriv=2, delta=0.1), 8)
        found.append((acceleration, jerk, rate, change))
    return [np.sqrt(np.mean((one - other) ** 2)) for one, other in zip(*found, strict=True)]


def drive(random, wild):
    """States ``[step, 11]`` with smooth accelerations and headings near half a turn."""
    states = np.zeros((STEPS, len(STATE)))
    times = np.linspace(0.0, 4.0, STEPS)
    for column in (AX, AY):
        a, b, c = random.normal(size=3) * wild
        states[:, column] = a + b * np.sin(times + c)
    turn = np.pi - 0.3 + random.normal() * wild * np.cumsum(np.sin(times + random.normal())) * 0.02
    states[:, HEADING] = (turn + np.pi) % (2 * np.pi) - np.pi
    return states


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.sampled_from([0.05, 0.3, 2.0]))
def test_differences_are_those_of_scipy(seed, steps, wild):
    random = np.random.default_rng(seed)
    earlier, later = drive(random, wild), drive(random, wild)
    expected = slow(earlier, later, steps)
    # each signal is rounded to eight decimals, and may round to either side; jerk is of the rounded
    np.testing.assert_allclose(differences(earlier, later, steps), expected, rtol=0, atol=1e-7)
    near = np.abs(np.array(expected) - THRESHOLDS).min() < 1e-6
    comfortable = all(one <= most for one, most in zip(expected, THRESHOLDS, strict=True))
    assert near or extended_comfort(earlier, later, steps) == float(comfortable)


def test_both_answers_are_drawn():
    random = np.random.default_rng(0)
    answers = {
        extended_comfort(drive(random, wild), drive(random, wild), 5) for wild in (0.02, 2.0)
    }
    assert answers == {0.0, 1.0}


def test_a_plan_that_goes_on_as_planned_is_comfortable():
    states = drive(np.random.default_rng(1), 1.0)
    moved = np.concatenate([states[5:], states[-5:]])
    assert max(differences(states, moved, 5)) == 0.0
    assert extended_comfort(states, moved, 5) == 1.0


@pytest.mark.parametrize(("column", "most"), [(AX, 0.7)])
def test_a_threshold_itself_is_comfortable(column, most):
    """A constant difference passes the filters unchanged."""
    earlier, later = np.zeros((STEPS, len(STATE))), np.zeros((STEPS, len(STATE)))
    later[:, column] = most
    assert differences(earlier, later, 5).acceleration_mps2 == pytest.approx(most, abs=1e-12)
    later[:, column] = most + 1e-6
    assert extended_comfort(earlier, later, 5) == 0.0
    later[:, column] = most - 1e-6
    assert extended_comfort(earlier, later, 5) == 1.0


def turning(rate, change):
    """A drive that turns at a rate, and ever faster."""
    states = np.zeros((STEPS, len(STATE)))
    times = np.linspace(0.0, 4.0, STEPS)
    states[:, HEADING] = rate * times + 0.5 * change * times**2
    return states


@pytest.mark.parametrize(("rate", "change", "answer"), [
    (0.099, 0.0, 1.0), (0.101, 0.0, 0.0), (-0.05, 0.04, 1.0), (-0.2, 0.101, 0.0),
])  # fmt: skip
def test_turning_is_judged_by_rate_and_by_its_change(rate, change, answer):
    found = extended_comfort(turning(0.0, 0.0), turning(rate, change), 5)
    assert found == answer


def test_two_drives_turned_about_together_stay_as_comfortable():
    random = np.random.default_rng(3)
    earlier, later = drive(random, 0.3), drive(random, 0.3)
    before = differences(earlier, later, 5)
    for states in (earlier, later):
        states[:, HEADING] = (states[:, HEADING] + 1.0 + np.pi) % (2 * np.pi) - np.pi
    np.testing.assert_allclose(differences(earlier, later, 5), before, rtol=0, atol=1e-7)


@pytest.mark.parametrize("steps", [0, -1, 27])
def test_an_overlap_that_filters_do_not_fit_is_refused(steps):
    with pytest.raises(BadInput, match="cannot be compared"):
        extended_comfort(np.zeros((41, 11)), np.zeros((41, 11)), steps)
