import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.stats.clusters import cluster_means

FAST = settings(deadline=None, max_examples=60)


@st.composite
def corpora(draw):
    """Values [token, column] with gaps, logs, two masks and a seed."""
    tokens, columns = draw(st.integers(1, 40)), draw(st.integers(1, 3))
    seed = draw(st.integers(0, 2**32))
    random = np.random.default_rng(seed)
    values = random.normal(size=(tokens, columns))
    values[random.random(values.shape) < draw(st.sampled_from([0.0, 0.3, 0.9]))] = np.nan
    logs = np.array([f"log-{k}" for k in random.integers(0, 5, tokens)])
    forgiven = random.random(tokens) < 0.3
    return values, logs, {"all": np.ones(tokens, bool), "F": forgiven, "R": ~forgiven}, seed


def mean_of_finite(values):
    kept = values[np.isfinite(values)]
    return kept.mean() if kept.size else np.nan


def by_hand(values, logs, mask, seed, resamples):
    """Gather the tokens of the drawn logs, with repeats, and average what is finite."""
    names = np.unique(logs)
    draws = np.random.default_rng(seed).integers(0, names.size, size=(resamples, names.size))
    tokens_of = [np.flatnonzero((logs == name) & mask) for name in names]
    rows = [np.concatenate([tokens_of[log] for log in draw]) for draw in draws]
    columns = range(values.shape[1])
    return np.array([[mean_of_finite(values[row, c]) for c in columns] for row in rows])


@FAST
@given(corpora())
def test_replicates_are_the_means_of_the_drawn_logs_tokens(case):
    values, logs, subsets, seed = case
    found = cluster_means(values, logs, subsets, resamples=12, seed=seed)
    for k, mask in enumerate(subsets.values()):
        expected = by_hand(values, logs, mask, seed, 12)
        np.testing.assert_allclose(found.replicates[:, k], expected, atol=1e-12)
        for c in range(values.shape[1]):
            np.testing.assert_allclose(
                found.mean[k, c], mean_of_finite(values[mask, c]), atol=1e-12
            )
            assert found.tokens[k, c] == np.isfinite(values[mask, c]).sum()


@FAST
@given(corpora())
def test_subsets_weigh_up_to_the_whole_in_every_resample(case):
    values, logs, subsets, seed = case
    values = np.nan_to_num(values)
    found = cluster_means(values, logs, subsets, resamples=12, seed=seed)
    tokens = found.tokens[:, 0]
    f, r = (np.nan_to_num(found.mean[k]) * tokens[k] for k in (1, 2))
    np.testing.assert_allclose((f + r) / tokens[0], found.mean[0], atol=1e-12)


@FAST
@given(corpora())
def test_columns_may_come_in_several_calls(case):
    values, logs, subsets, seed = case
    whole = cluster_means(values, logs, subsets, resamples=9, seed=seed)
    for c in range(values.shape[1]):
        part = cluster_means(values[:, [c]], logs, {"F": subsets["F"]}, resamples=9, seed=seed)
        np.testing.assert_array_equal(part.replicates[:, 0, 0], whole.replicates[:, 1, c])


@FAST
@given(corpora())
def test_an_interaction_shares_its_draws(case):
    values, logs, subsets, seed = case
    found = cluster_means(values, logs, subsets, resamples=30, seed=seed).between("F", "R")
    expected = [by_hand(values, logs, subsets[name], seed, 30) for name in ("F", "R")]
    spread = expected[0] - expected[1]
    np.testing.assert_array_equal(found.undefined, np.isnan(spread).sum(axis=0))
    for c in range(values.shape[1]):
        defined = spread[~np.isnan(spread[:, c]), c]
        if defined.size:
            low, high = np.percentile(defined, [2.5, 97.5])
            assert found.low[c] == pytest.approx(low, abs=1e-12)
            assert found.high[c] == pytest.approx(high, abs=1e-12)
        else:
            assert np.isnan(found.low[c])
            assert np.isnan(found.high[c])


def test_tokens_weigh_alike_whatever_their_log():
    values = [[0.0], [0.0], [0.0], [4.0]]
    found = cluster_means(values, ["a", "a", "a", "b"], {"all": [True] * 4}, resamples=50, seed=1)
    assert found.over("all").point.tolist() == [1.0]
    assert set(np.unique(found.replicates)) == {0.0, 1.0, 4.0}


def test_a_log_drawn_whole_widens_the_interval():
    random = np.random.default_rng(3)
    logs = np.repeat(np.arange(40), 25)
    values = random.normal(size=40)[logs][:, None] + 0.1 * random.normal(size=(1000, 1))
    every = {"all": np.ones(1000, bool)}
    by_log = cluster_means(values, logs, every, resamples=2000, seed=0).over("all")
    by_token = cluster_means(values, np.arange(1000), every, resamples=2000, seed=0).over("all")
    assert (by_log.high - by_log.low) > 3 * (by_token.high - by_token.low)


def test_threads_do_not_show_in_the_results(thread_counts):
    random = np.random.default_rng(0)
    values, logs = random.normal(size=(500, 7)), random.integers(0, 30, 500)
    found = []
    for threads in thread_counts:
        numba.set_num_threads(threads)
        means = cluster_means(values, logs, {"all": np.ones(500, bool)}, resamples=99, seed=1)
        found.append(means.replicates)
    np.testing.assert_array_equal(found[0], found[-1])


@pytest.mark.parametrize(
    ("values", "logs", "subsets"),
    [
        ([1.0, 2.0], ["a", "b"], {"all": [True, True]}),
        ([[1.0], [2.0]], ["a"], {"all": [True, True]}),
        ([[1.0], [2.0]], ["a", "b"], {"all": [True]}),
        ([[1.0], [2.0]], ["a", "b"], {"all": [1, 1]}),
        ([[1.0], [2.0]], ["a", "b"], {}),
    ],
)
def test_bad_corpora_are_refused(values, logs, subsets):
    with pytest.raises(BadInput):
        cluster_means(values, logs, subsets, seed=0)


def test_an_unknown_subset_is_refused():
    found = cluster_means([[1.0]], ["a"], {"all": [True]}, resamples=2, seed=0)
    with pytest.raises(BadInput, match="no subset 'F'"):
        found.over("F")
