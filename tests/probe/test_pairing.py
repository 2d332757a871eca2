"""Matching: as looking at everyone in turn would have it, in the caliper, once, scarcest first."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.probe.pairing import Pairing
from probe import plain
from probe.readings import scenes_of

COUNTS = st.lists(st.integers(0, 60), min_size=1, max_size=25)


def paired(treated, controls, caliper):
    forgiven = np.r_[np.ones(len(treated), bool), np.zeros(len(controls), bool)]
    scenes = scenes_of(forgiven, failing=np.r_[treated, controls].astype(np.int64))
    return Pairing.of(scenes, caliper), scenes


@settings(deadline=None, max_examples=150)
@given(COUNTS, COUNTS, st.integers(0, 20))
def test_pairs_are_those_of_everyone_choosing_in_turn(treated, controls, caliper):
    found, _ = paired(treated, controls, caliper)
    partner = plain.matching(treated, controls, caliper)
    wanted = [(k, other + len(treated)) for k, other in enumerate(partner) if other is not None]
    assert list(zip(found.treatment, found.control, strict=True)) == wanted
    assert found.unmatched.tolist() == [k for k, one in enumerate(partner) if one is None]


@settings(deadline=None, max_examples=100)
@given(COUNTS, COUNTS, st.integers(0, 20))
def test_the_caliper_is_honoured_and_nobody_serves_twice(treated, controls, caliper):
    found, scenes = paired(treated, controls, caliper)
    gaps = np.abs(scenes.failing[found.treatment] - scenes.failing[found.control])
    assert (gaps <= caliper).all()
    assert len(set(found.control.tolist())) == found.control.size
    both = np.r_[found.treatment, found.unmatched]
    assert sorted(both.tolist()) == np.flatnonzero(scenes.forgiven).tolist()
    left = np.setdiff1d(found.unforgiven, found.control)
    for lonely in found.unmatched:
        assert (np.abs(scenes.failing[left] - scenes.failing[lonely]) > caliper).all()


def test_the_scarcest_chooses_first():
    # the first could take either control, the second only the one at 10
    found, scenes = paired([5, 20], [0, 10], 10)
    assert found.supply.tolist() == [2, 1]
    assert scenes.failing[found.control].tolist() == [0, 10]


def test_balance_is_the_standardized_difference_before_and_after():
    treated, controls = [10, 20, 30, 50], [11, 19, 33, 300, 400]
    found, _ = paired(treated, controls, 5)

    def difference(one, other):
        spread = np.sqrt((np.var(one, ddof=1) + np.var(other, ddof=1)) / 2)
        return abs(np.mean(one) - np.mean(other)) / spread

    assert found.before == pytest.approx(difference(treated, controls))
    assert found.after == pytest.approx(difference(treated[:3], controls[:3]))


def test_balance_of_a_single_pair_is_not_defined():
    found, _ = paired([10], [10, 500], 5)
    assert (found.before, found.after) == (None, None)


@pytest.mark.parametrize("forgiven", [True, False])
def test_one_kind_alone_makes_no_pairs(forgiven):
    scenes = scenes_of(np.full(4, forgiven), failing=np.arange(4))
    found = Pairing.of(scenes, 250)
    assert found.treatment.size == found.control.size == 0
    assert found.unmatched.size == (4 if forgiven else 0)
