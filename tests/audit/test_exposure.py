"""Probabilities that a distinction survives dropout, against fractions and many digits."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import comb

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navaudit.audit.exposure import Exposure, lost, survives

WIDE = 16_384


def exactly(groups, candidates, kept):
    return 1 - sum((Fraction(comb(n, kept), comb(candidates, kept)) for n in groups), Fraction(0))


@given(st.lists(st.integers(1, 40), min_size=2, max_size=5), st.data())
def test_small_vocabularies_are_exact(groups, data):
    candidates = sum(groups)
    kept = data.draw(st.integers(1, candidates))
    exact = exactly(groups, candidates, kept)
    assert survives(groups, candidates, kept) == float(exact)
    alone, samples = lost(groups, candidates, kept)
    assert 1 - Fraction(alone, samples) == exact


@given(st.integers(2, 12), st.data())
def test_it_is_the_share_of_samples_with_two_values(candidates, data):
    values = data.draw(st.lists(st.integers(0, 2), min_size=candidates, max_size=candidates))
    kept = candidates // 2
    ways = [
        {values[i] for i in range(candidates) if chosen >> i & 1}
        for chosen in range(1 << candidates)
        if chosen.bit_count() == kept
    ]
    share = Fraction(sum(len(one) >= 2 for one in ways), len(ways))
    groups = [values.count(value) for value in set(values)]
    assert survives(groups, candidates) == float(share)


@pytest.mark.parametrize("k", [1, 2, 3, 20, 53, 54, 306, 4096, 8191, 8192, 8193, 14_391, 16_383])
def test_the_full_vocabulary_agrees_with_many_digits(k):
    s = WIDE // 2
    with mpmath.workdps(60):
        total = mpmath.binomial(WIDE, s)
        alone = sum(mpmath.binomial(n, s) if n >= s else mpmath.mpf(0) for n in (k, WIDE - k))
        p = float(1 - alone / total)
    assert survives((k, WIDE - k), WIDE) == p


def test_it_rises_from_a_half_to_one_and_is_symmetric():
    p = [survives((k, WIDE - k), WIDE) for k in range(1, 200)]
    assert p[0] == 0.5
    assert p[1] == 1 - (8192 * 8191) / (16384 * 16383)
    assert all(later >= earlier for earlier, later in pairwise(p))
    assert p[-1] == 1.0
    assert [survives((WIDE - k, k), WIDE) for k in range(1, 200)] == p


def test_certainty_begins_where_what_is_lost_rounds_away():
    """p is one from the first k whose q is at most half a unit in the last place below one."""
    first = next(k for k in range(1, 100) if survives((k, WIDE - k), WIDE) == 1.0)
    before, at = (Fraction(*lost((k, WIDE - k), WIDE)) for k in (first - 1, first))
    assert at <= Fraction(1, 2**54) < before


def pool(*columns):
    counted = {}
    for groups in columns:
        counted[groups] = counted.get(groups, 0) + 1
    return Exposure(WIDE, counted)


def test_the_mean_is_rounded_once():
    one = pool((16_383,), (16_383,), (16_000,), (8192, 8192), ())
    exact = sum(exactly(groups, WIDE, 8192) * n for groups, n in one.columns.items()) / 5
    assert one.mean() == float(exact)
    assert one.population == 5
    assert one.certain() == 3
    assert one.least() == 0.5


def test_a_pool_of_nothing_has_no_mean():
    one = pool()
    assert (one.population, one.mean(), one.certain(), one.least()) == (0, None, 0, None)
    assert [finding.text for finding in one.findings()] == ["0", "---", "0", "---"]


def test_the_table_holds_every_column_once():
    rng = np.random.default_rng(0)
    columns = [(int(k),) for k in rng.integers(8192, WIDE, 500)] + [(16_383,), (16_380,)]
    table = pool(*columns).table()
    assert sum(row[1] for row in table.rows) == 502
