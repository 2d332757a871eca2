"""The aggregate and the three switches, against plain Python and the stock evaluation."""

import csv
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.small import HERE, random_comfort, random_components, random_human
from navaudit.axes import EP, HC
from navaudit.errors import BadInput
from navaudit.evaluate.epdms import (
    BLIND,
    COMPONENTS,
    EC,
    EPDMS,
    METRICS,
    SWITCHES,
    aggregate,
    forgiven,
    score_under,
)

STOCK = HERE / "evaluation"

seeds = st.integers(0, 2**32 - 1)


def drawn(seed, count=40):
    random = np.random.default_rng(seed)
    return (
        random_components(random, count),
        random_human(random, count),
        random_comfort(random, count),
    )


def plain(row, comfort):
    """The formula of one row in exact arithmetic."""
    nc, dac, ddc, tlc, ep, ttc, lk, hc = map(Fraction, row)
    weighted, total = 5 * ep + 5 * ttc + 2 * lk + 2 * hc, 14
    if not np.isnan(comfort):
        weighted, total = weighted + 2 * Fraction(comfort), 16
    return float(nc * dac * ddc * tlc * weighted / total)


@given(seeds)
def test_the_aggregate_is_the_formula(seed):
    components, _, comfort = drawn(seed)
    exact = [plain(*row) for row in zip(components, comfort, strict=True)]
    np.testing.assert_allclose(aggregate(components, comfort), exact, rtol=0, atol=4e-16)


@given(seeds)
def test_switches_agree_wherever_the_human_passes(seed):
    components, human, comfort = drawn(seed)
    passes = (human != 0.0).all(axis=1)
    off, on, before = (score_under(one, components, human, comfort) for one in SWITCHES)
    for other in (on, before):
        assert np.array_equal(off[passes], other[passes], equal_nan=True)


@given(seeds)
def test_forgiveness_lifts_and_reaches_no_comfort(seed):
    components, human, comfort = drawn(seed)
    off, on, before = (score_under(one, components, human, comfort) for one in SWITCHES)
    finite = ~np.isnan(off)
    assert np.array_equal(finite, ~np.isnan(on))
    assert (on[finite] >= off[finite]).all()
    assert np.array_equal(off[:, EC], on[:, EC], equal_nan=True)
    assert np.array_equal(before[:, :EPDMS], on[:, :EPDMS], equal_nan=True)
    assert np.array_equal(before[:, EPDMS], off[:, EPDMS])
    assert (on[:, :EC][human == 0.0] == 1.0).all()
    assert np.array_equal(on[:, :EC][human != 0.0], components[human != 0.0])


def test_a_half_of_the_human_is_not_forgiven():
    assert forgiven(np.array([[0.0]]), np.array([[0.5]])).item() == 0.0


def test_a_failed_token_stays_failed_under_every_switch():
    nothing = np.full((1, len(COMPONENTS)), np.nan)
    for switch in SWITCHES:
        row = score_under(switch, nothing, np.zeros_like(nothing), np.array([1.0]))
        assert np.isnan(row).all()


def test_a_switch_that_does_not_exist_is_refused():
    with pytest.raises(BadInput, match="prefix"):
        score_under("prefix", np.ones((1, 8)), np.ones((1, 8)), np.ones(1))


def stock(name):
    with (STOCK / f"{name}.csv").open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    return np.array([[float(row[one] or "nan") for one in METRICS] for row in rows])


@pytest.mark.parametrize("plan", ["a", "b"])
def test_stock_scores_are_aggregates_of_their_own_rows_to_the_bit(plan):
    for switch in ("off", "on"):
        score = stock(f"{plan}_{switch}")
        assert score.shape == (18, len(METRICS))
        assert np.array_equal(aggregate(score[:, :EC], score[:, EC]), score[:, EPDMS])


@pytest.mark.parametrize("plan", ["a", "b"])
def test_the_pre_fix_variant_is_made_of_the_stock_files(plan):
    """Before the fix: forgiven components of the file with, scores of the file without."""
    off, on = stock(f"{plan}_off"), stock(f"{plan}_on")
    # whatever forgiveness turned into 1 stands for a human zero; what was 1 anyway needs none
    human = np.where(off[:, :EC] == on[:, :EC], 1.0, 0.0)
    assert (human == 0.0).any()
    found = score_under("pre-fix", off[:, :EC], human, off[:, EC])
    assert np.array_equal(found[:, :EPDMS], on[:, :EPDMS], equal_nan=True)
    assert np.array_equal(found[:, EPDMS], off[:, EPDMS])
    after = score_under("on", off[:, :EC], human, off[:, EC])
    assert np.array_equal(after, on, equal_nan=True)


def test_nobody_is_forgiven_what_no_human_fails():
    assert BLIND == (EP, HC)
