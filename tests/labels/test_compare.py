"""What counts as equal, as a storage tie and as different, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.axes import COLUMNS, EP, LK, PDM
from navaudit.labels.compare import first_entries, join, tally, units_apart

halves = st.integers(0, 0xFFFF).map(lambda bits: np.uint16(bits).view(np.float16))


def one_token(**columns):
    """Ones, with some entries of some columns set: ``name={candidate: value}``."""
    values = np.ones((1, len(COLUMNS), 6), np.float16)
    for name, entries in columns.items():
        for candidate, value in entries.items():
            values[0, COLUMNS.index(name), candidate] = value
    return values


def neighbours(a, b):
    """Whether one is the next number after the other, as NumPy has it."""
    finite = np.isfinite(a) and np.isfinite(b)
    towards = np.nextafter(np.float16(a), np.float16(b))
    return bool(finite and a != b and towards == b)


@settings(max_examples=300, deadline=None)
@given(halves, halves)
def test_units_are_steps_to_the_next_number(a, b):
    apart = int(units_apart(np.atleast_1d(a), np.atleast_1d(b))[0])
    assert (apart == 1) == neighbours(a, b)
    assert (apart == -1) == (not (np.isfinite(a) and np.isfinite(b)))
    if np.isfinite(a) and np.isfinite(b):
        assert (apart == 0) == (a == b)


def test_every_neighbour_is_found():
    every = np.sort(np.arange(1 << 16, dtype=np.uint16).view(np.float16))
    every = np.unique(every[np.isfinite(every)])
    assert (units_apart(every[1:], every[:-1]) == 1).all()
    assert (units_apart(every[2:], every[:-2]) == 2).all()


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5), halves), max_size=6),
    st.lists(st.tuples(st.integers(0, 8), st.integers(0, 5), halves), max_size=6),
)
def test_a_tally_is_what_a_loop_counts(mine, theirs):
    a, b = np.ones((1, 9, 6), np.float16), np.ones((1, 9, 6), np.float16)
    for values, changes in ((a, mine), (b, theirs)):
        for column, candidate, value in changes:
            values[0, column, candidate] = value
    found = tally(a, b)
    entries, near, largest = np.zeros((3, 9))
    for column in range(9):
        for x, y in zip(a[0, column], b[0, column], strict=True):
            if x.tobytes() != y.tobytes():
                entries[column] += 1
                near[column] += neighbours(x, y)
                with np.errstate(invalid="ignore"):
                    largest[column] = max(largest[column], abs(float(x) - float(y)))
    assert found.entries[0].tolist() == entries.tolist()
    assert found.one_unit[0].tolist() == near.tolist()
    known = np.where(np.isnan(found.largest[0]), 0.0, found.largest[0])
    assert known.tolist() == largest.tolist()
    assert found.equal[0] == (a.tobytes() == b.tobytes())
    assert found.tie[0] == (entries.any() and (entries == near).all() and not entries[PDM])


def test_nan_equals_nan_and_zero_does_not_equal_its_negative():
    same = tally(one_token(lane_keeping={0: np.nan}), one_token(lane_keeping={0: np.nan}))
    assert same.equal.all()
    zeros = tally(one_token(lane_keeping={0: 0.0}), one_token(lane_keeping={0: -0.0}))
    assert zeros.entries[0, LK] == 1
    assert not (zeros.equal | zeros.tie).any()
    assert np.isnan(zeros.largest[0, LK])


@pytest.mark.parametrize(
    ("mine", "theirs", "kind"),
    [
        ({}, {}, "equal"),
        ({}, {"ego_progress": {0: 0.9995}}, "tie"),
        ({}, {"ego_progress": {0: 1.001, 3: 0.9995}, "lane_keeping": {1: 0.9995}}, "tie"),
        ({"ego_progress": {0: 6e-8}}, {"ego_progress": {0: -6e-8}}, "different"),
        ({"ego_progress": {0: 6e-8}}, {"ego_progress": {0: 0.0}}, "tie"),
        ({}, {"ego_progress": {0: 0.999}}, "different"),
        ({}, {"ego_progress": {0: 0.9995, 1: 0.999}}, "different"),
        ({}, {"pdm_score": {0: 0.9995}}, "different"),
        ({}, {"ego_progress": {0: 0.9995}, "pdm_score": {0: 0.9995}}, "different"),
        ({}, {"ego_progress": {0: np.nan}}, "different"),
        ({"ego_progress": {0: 65504}}, {"ego_progress": {0: np.inf}}, "different"),
    ],
)
def test_classes(mine, theirs, kind):
    found = tally(one_token(**mine), one_token(**theirs))
    backwards = tally(one_token(**theirs), one_token(**mine))
    for one in (found, backwards):
        assert (one.equal[0], one.tie[0]) == (kind == "equal", kind == "tie")


def test_first_entries_are_the_first():
    a = one_token(ego_progress={1: 0.5, 4: 0.25})[0]
    b = one_token(lane_keeping={2: 0.0})[0]
    entries = [(one.column, one.candidate, one.a, one.b) for one in first_entries(a, b, 9)]
    assert entries == [(EP, 1, 0.5, 1.0), (EP, 4, 0.25, 1.0), (LK, 2, 1.0, 0.0)]
    assert [one.candidate for one in first_entries(a, b, 1)] == [1, 2]


def test_tallies_are_joined_in_order():
    a, b = one_token(), one_token(ego_progress={0: 0.5})
    both = join([tally(a, a), tally(a, b)])
    assert both.equal.tolist() == [True, False]
    assert join([]).equal.shape == (0,)
