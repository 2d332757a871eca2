import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.stats.matching import imbalance, match

FAST = settings(deadline=None, max_examples=200)
counts = st.lists(st.integers(0, 60), max_size=30)


def match_slowly(treatment, control, caliper):
    """The rule of the module's docstring, word for word, over a set of free controls."""
    supply = [sum(abs(c - t) <= caliper for c in control) for t in treatment]
    free = set(range(len(control)))
    partner = [-1] * len(treatment)
    for t in sorted(range(len(treatment)), key=lambda t: (supply[t], t)):
        count = treatment[t]
        offers = [(abs(control[c] - count), control[c], c) for c in free]
        offers = [offer for offer in offers if offer[0] <= caliper]
        if offers:
            partner[t] = min(offers)[2]
            free.remove(partner[t])
    return partner, supply


@FAST
@given(counts, counts, st.integers(0, 12))
def test_the_pairs_are_those_of_the_rule(treatment, control, caliper):
    found = match(treatment, control, caliper=caliper)
    partner, supply = match_slowly(treatment, control, caliper)
    assert found.supply.tolist() == supply
    assert found.treatment.tolist() == [t for t, c in enumerate(partner) if c >= 0]
    assert found.control.tolist() == [c for c in partner if c >= 0]
    assert found.unmatched.tolist() == [t for t, c in enumerate(partner) if c < 0]


@FAST
@given(counts, counts, st.integers(0, 12))
def test_no_control_serves_twice_and_no_pair_leaves_the_caliper(treatment, control, caliper):
    found = match(treatment, control, caliper=caliper)
    assert len(set(found.control.tolist())) == found.control.size
    assert found.treatment.size + found.unmatched.size == len(treatment)
    gaps = np.array(treatment, int)[found.treatment] - np.array(control, int)[found.control]
    assert (np.abs(gaps) <= caliper).all()


def test_the_scarcest_chooses_first():
    # the second treatment has one admissible control, which the first would have taken
    found = match([10, 14], [12, 8], caliper=2)
    assert dict(zip(found.treatment.tolist(), found.control.tolist(), strict=True)) == {0: 1, 1: 0}


def test_ties_fall_as_stated():
    assert match([10], [12, 8], caliper=5).control.tolist() == [1]  # the smaller count
    assert match([10], [9, 9], caliper=5).control.tolist() == [0]  # the one given first
    assert match([10, 10], [10], caliper=5).unmatched.tolist() == [1]  # the treatment given first


def test_a_corpus_is_matched_in_a_moment():
    random = np.random.default_rng(0)
    treatment = random.integers(306, 16_384, 10_000)
    control = (16_384 * random.beta(1.0, 2.0, 100_000)).astype(int)
    match(treatment[:2], control[:2])  # compiled
    start = time.perf_counter()
    found = match(treatment, control)
    assert time.perf_counter() - start < 2.0
    assert imbalance(treatment[found.treatment], control[found.control]) < 0.1


@FAST
@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20),
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20),
)
def test_imbalance_is_symmetric_and_knows_no_unit(first, second):
    there = imbalance(first, second)
    assert imbalance(second, first) == there
    scaled = imbalance(np.array(first) * 4.0, np.array(second) * 4.0)
    assert scaled == pytest.approx(there, rel=1e-9) or there == scaled


def test_imbalance_of_constant_groups():
    assert imbalance([3, 3], [3, 3]) == 0.0
    assert imbalance([3, 3], [4, 4]) == float("inf")


def test_what_is_not_a_count_is_refused():
    with pytest.raises(BadInput):
        match([1.5], [1])
    with pytest.raises(BadInput):
        match([1], [1], caliper=-1)
    with pytest.raises(BadInput):
        imbalance([1], [1, 2])
