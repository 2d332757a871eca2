import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.stats import bootstrap

FAST = settings(deadline=None, max_examples=60)


@st.composite
def series(draw):
    """Values [series, item] with repeats, and a seed."""
    shape = draw(st.tuples(st.integers(1, 4), st.integers(1, 30)))
    seed = draw(st.integers(0, 2**32))
    random = np.random.default_rng(seed)
    return np.round(random.normal(size=shape), draw(st.sampled_from([0, 8]))), seed


def draws_of(seed, resamples, items):
    return np.random.default_rng(seed).integers(0, items, size=(resamples, items))


@FAST
@given(series())
def test_medians_are_those_of_the_drawn_items(case):
    values, seed = case
    found = bootstrap.median_replicates(values, resamples=25, seed=seed)
    drawn = values[:, draws_of(seed, 25, values.shape[1])]
    np.testing.assert_array_equal(found, np.median(drawn, axis=2).T)


@FAST
@given(series())
def test_means_are_those_of_the_drawn_items(case):
    values, seed = case
    found = bootstrap.mean_replicates(values, resamples=25, seed=seed)
    drawn = values[:, draws_of(seed, 25, values.shape[1])]
    np.testing.assert_allclose(found, drawn.mean(axis=2).T, atol=1e-12)


@FAST
@given(series())
def test_both_sides_of_a_pair_are_drawn_together(case):
    values, seed = case
    other = np.random.default_rng(seed + 1).normal(size=values.shape)
    found = bootstrap.difference_of_medians(values, other, resamples=40, seed=seed)
    draws = draws_of(seed, 40, values.shape[1])
    spread = np.median(values[:, draws], axis=2) - np.median(other[:, draws], axis=2)
    low, high = np.percentile(spread, [2.5, 97.5], axis=1)
    np.testing.assert_array_equal(found.point, np.median(values, 1) - np.median(other, 1))
    np.testing.assert_array_equal(found.low, low)
    np.testing.assert_array_equal(found.high, high)


@FAST
@given(series())
def test_a_group_against_itself_differs_by_nothing(case):
    values, seed = case
    for contrast in (bootstrap.difference_of_medians, bootstrap.difference_of_means):
        found = contrast(values, values, resamples=20, seed=seed)
        assert not found.point.any()
        assert not found.low.any()
        assert not found.high.any()


def test_a_difference_of_medians_is_not_the_median_difference():
    treatment, control = [[0.0, 1.0, 5.0]], [[4.0, 0.0, 1.0]]
    found = bootstrap.difference_of_medians(treatment, control, resamples=5, seed=0)
    assert found.point.tolist() == [0.0]
    assert np.median(np.subtract(treatment, control)) == 1.0


def test_blocks_do_not_show_in_the_draws(monkeypatch):
    values = np.random.default_rng(0).normal(size=(2, 31))
    whole = bootstrap.median_replicates(values, resamples=50, seed=4)
    monkeypatch.setattr(bootstrap, "BLOCK", 31 * 7)
    np.testing.assert_array_equal(bootstrap.median_replicates(values, resamples=50, seed=4), whole)
    heights = [draws.shape[0] for _, draws in bootstrap.draw_blocks(31, 50, 4)]
    assert heights == [7] * 7 + [1]


def test_threads_do_not_show_in_the_results(thread_counts):
    values = np.random.default_rng(0).normal(size=(3, 101))
    found = []
    for threads in thread_counts:
        numba.set_num_threads(threads)
        found.append(bootstrap.mean_replicates(values, resamples=64, seed=1))
    np.testing.assert_array_equal(found[0], found[-1])


def test_an_interval_covers_the_median_about_as_often_as_it_says():
    random = np.random.default_rng(8)
    values = random.normal(size=(400, 81))
    found = bootstrap.medians(values, resamples=400, seed=2)
    covered = np.mean((found.low <= 0.0) & (found.high >= 0.0))
    assert 0.90 < covered < 0.99


def test_an_undefined_resample_is_left_out_and_counted():
    replicates = np.arange(12.0).reshape(4, 3)
    replicates[1, 0] = replicates[:, 2] = np.nan
    found = bootstrap.estimate([1.0, 2.0, np.nan], replicates)
    assert found.undefined.tolist() == [1, 0, 4]
    assert found.low[0] == np.percentile([0.0, 6.0, 9.0], 2.5)
    assert found.high[1] == np.percentile([1.0, 4.0, 7.0, 10.0], 97.5)
    assert np.isnan(found.low[2])
    with pytest.raises(ValueError, match="read-only"):
        found.low[0] = 0.0


@pytest.mark.parametrize("values", [[1.0], [[1.0, np.nan]], [[1.0, np.inf]], [[]]])
def test_values_that_cannot_be_resampled_are_refused(values):
    with pytest.raises(BadInput):
        bootstrap.medians(values, seed=0)


def test_groups_that_are_not_paired_are_refused():
    with pytest.raises(BadInput):
        bootstrap.difference_of_medians([[1.0, 2.0]], [[1.0]], seed=0)
