"""Identities hold on every set, and a count that is off by one breaks one of them, loudly."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from audit.sets import SMALL, draw
from navaudit.audit.distinct import NINE_RAW, SEVEN_LOSS
from navaudit.audit.identities import Counted, identities
from navaudit.audit.measure import measure
from navaudit.audit.tally import FAILING, KINDS, LOSS_VALUES, ONE_BIT
from navaudit.axes import LK
from navaudit.errors import Unhealthy


def sheet_of(seed=3, **how):
    knobs = {"fires": 0.15, "only": range(9), "levels": 20, "passes": 0.2, "residuals": False}
    small = draw(np.random.default_rng(seed), 60, 16, known=True, **(knobs | how))
    return measure(small.raw, small.human, small.published)


@given(SMALL)
@settings(max_examples=60, deadline=None)
def test_both_sides_are_equal(small):
    sheet = measure(small.raw, small.human, small.published)
    found = list(identities(sheet, Counted.of(sheet)))
    assert [one for one in found if one[1] != one[2]] == []
    assert len({what for what, _, _ in found}) > 40


def with_one(sheet, name, at, value):
    array = getattr(sheet, name).copy()
    array[at] = value
    return replace(sheet, **{name: array})


def forgiven_mixed(sheet, column=LK):
    """A token on which this column alone is forgiven, in which some pass and some fail."""
    failing = sheet.before[:, column, FAILING]
    mixed = sheet.forgiven[:, column] & (failing > 0) & (failing < sheet.candidates)
    return int(np.flatnonzero(mixed & (sheet.forgiven.sum(axis=1) == 1))[0])


def miscount_failing(sheet):
    at = (forgiven_mixed(sheet), LK, FAILING)
    return with_one(sheet, "before", at, sheet.before[at] + 1), "are those that failed"


def miss_a_change(sheet):
    at = (forgiven_mixed(sheet), LK)
    return with_one(sheet, "changed", at, sheet.changed[at] - 1), "are those that failed"


def call_mixed_constant(sheet):
    at = (forgiven_mixed(sheet), LK, LOSS_VALUES)
    return with_one(sheet, "before", at, 1), "the classes of lane_keeping"


def call_failing_passing(sheet):
    at = (forgiven_mixed(sheet), LK, KINDS)
    return with_one(sheet, "before", at, ONE_BIT), "P[123]"


def make_a_row(sheet):
    token = forgiven_mixed(sheet)
    more = sheet.rows_before[token, NINE_RAW] + 1
    return with_one(sheet, "rows_after", (token, NINE_RAW), more), "makes no row distinct"


def lose_a_row(sheet):
    token = int(np.flatnonzero(~sheet.differs)[0])
    fewer = sheet.rows_after[token, SEVEN_LOSS] - 1
    return with_one(sheet, "rows_after", (token, SEVEN_LOSS), fewer), "(merge|equal rows)"


def forget_a_forgiven_column(sheet):
    return with_one(sheet, "forgiven", (forgiven_mixed(sheet), LK), False), ""


BREAKS = (
    miscount_failing, miss_a_change, call_mixed_constant, call_failing_passing, make_a_row,
    lose_a_row,
)  # fmt: skip


@pytest.mark.parametrize("break_one", BREAKS, ids=lambda one: one.__name__)
def test_a_wrong_count_is_an_error_that_says_which(break_one):
    sheet = sheet_of()
    Counted.of(sheet)
    wrong, what = break_one(sheet)
    with pytest.raises(Unhealthy, match="an identity fails: ") as caught:
        Counted.of(wrong)
    assert re.search(what, caught.value.what)
    left, right = re.fullmatch(r"(-?\d+) = (-?\d+)", caught.value.expected).groups()
    assert left != right


def test_a_column_that_is_forgiven_unsaid_becomes_a_residual():
    """Without its flag the overwritten column is a difference that the rule does not explain."""
    sheet = sheet_of()
    wrong, _ = forget_a_forgiven_column(sheet)
    before, after = Counted.of(sheet), Counted.of(wrong)
    assert len(after.differences.residuals) == len(before.differences.residuals) + 1
    assert after.ranking.tokens == before.ranking.tokens - 1


def test_p1_is_p2_unless_a_forgiven_column_was_all_ones():
    sheet = sheet_of(passes=0.0, only=(LK,), fires=0.9)
    ones = sheet.forgiven[:, LK] & (sheet.before[:, LK, FAILING] == 0)
    kept = Counted.of(sheet.where(~ones))
    assert kept.predicates.p1 == kept.predicates.p2 > 0
    all_ones = Counted.of(sheet_of(passes=1.0, only=(LK,), fires=0.9))
    assert all_ones.predicates.p1 > all_ones.predicates.p2 == 0
