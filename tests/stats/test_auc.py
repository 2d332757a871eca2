import numba
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu
from sklearn.metrics import average_precision_score, roc_auc_score

from navaudit.errors import BadInput
from navaudit.stats import auc

DTYPES = [np.float16, np.float32, np.float64]
FAST = settings(deadline=None, max_examples=80)


@st.composite
def scenes(draw, max_candidates=40):
    """One to six scenes of scores with many ties, signed zeros and infinities, and labels."""
    shape = draw(st.tuples(st.integers(1, 6), st.integers(1, max_candidates)))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    steps = draw(st.sampled_from([1, 2, 5, 1000]))
    scores = random.integers(-steps, steps + 1, shape) / 8.0
    scores[random.random(shape) < 0.1] = -0.0
    scores[random.random(shape) < 0.05] = random.choice([-np.inf, np.inf])
    dtype = draw(st.sampled_from(DTYPES))
    return scores.astype(dtype), random.random(shape) < draw(st.sampled_from([0.05, 0.5, 0.95]))


def mixed(labels):
    return (labels.any(axis=1)) & ~(labels.all(axis=1))


def wins(scores, labels):
    """Share of positive-negative pairs in the right order, a tie one half."""
    there, here = scores[labels][:, None].astype(float), scores[~labels][None].astype(float)
    return np.mean((there > here) + 0.5 * (there == here))


def steps_of(labels_in_order):
    """The ROC curve's points when every candidate is a step of its own."""
    hits, misses = np.cumsum(labels_in_order), np.cumsum(~labels_in_order)
    return np.r_[0.0, misses / misses[-1]], np.r_[0.0, hits / hits[-1]]


def area_below(fpr, tpr, cut):
    """Trapezoids of the curve left of the cut, by exhaustive interpolation of each segment."""
    area = 0.0
    for left, right, low, high in zip(fpr[:-1], fpr[1:], tpr[:-1], tpr[1:], strict=True):
        if left >= cut or left == right:
            continue
        stop = min(right, cut)
        at_stop = low + (high - low) * (stop - left) / (right - left)
        area += (stop - left) * (low + at_stop) / 2.0
    return area


@FAST
@given(scenes())
def test_rank_auc_is_the_share_of_pairs_won(case):
    scores, labels = case
    found = auc.rank_auc(scores, labels)
    for s, is_mixed in enumerate(mixed(labels)):
        if is_mixed:
            assert found[s] == pytest.approx(wins(scores[s], labels[s]), abs=1e-12)
        else:
            assert np.isnan(found[s])


@FAST
@given(scenes())
def test_rank_auc_is_the_rank_sum_of_the_paper(case):
    scores, labels = case
    found = auc.rank_auc(scores, labels)
    for s in np.flatnonzero(mixed(labels)):
        there, here = scores[s][labels[s]].astype(float), scores[s][~labels[s]].astype(float)
        u = mannwhitneyu(there, here, method="asymptotic").statistic
        assert found[s] == u / (there.size * here.size)


@FAST
@given(scenes())
def test_the_trapezoid_rule_agrees(case):
    scores, labels = case
    rank, trapezoid = auc.rank_auc(scores, labels), auc.trapezoid_auc(scores, labels)
    np.testing.assert_allclose(trapezoid, rank, atol=1e-12)


@FAST
@given(scenes(), st.sampled_from([0.05, 0.1, 0.3, 0.999]))
def test_grouped_ties_are_those_of_scikit_learn(case, cut):
    scores, labels = case
    scores = np.nan_to_num(scores, posinf=500.0, neginf=-500.0)  # scikit-learn refuses infinities
    area = auc.rank_auc(scores, labels)
    precision = auc.average_precision(scores, labels, grouped=True)
    partial = auc.partial_auc(scores, labels, max_fpr=cut, grouped=True)
    for s in np.flatnonzero(mixed(labels)):
        assert area[s] == pytest.approx(roc_auc_score(labels[s], scores[s]), abs=1e-12)
        expected = average_precision_score(labels[s], scores[s])
        assert precision[s] == pytest.approx(expected, abs=1e-12)
        expected = roc_auc_score(labels[s], scores[s], max_fpr=cut)
        assert partial[s] == pytest.approx(expected, abs=1e-12)


@FAST
@given(scenes(), st.sampled_from([0.1, 0.25, 1.0]))
def test_ungrouped_ties_are_read_one_by_one_as_they_come(case, cut):
    scores, labels = case
    order = np.argsort(-scores.astype(float), axis=1, kind="stable")
    precision = auc.average_precision(scores, labels)
    area = auc.partial_area(scores, labels, max_fpr=cut)
    for s in np.flatnonzero(mixed(labels)):
        stood = labels[s][order[s]]
        at = np.flatnonzero(stood)
        assert precision[s] == pytest.approx(np.mean(np.cumsum(stood)[at] / (at + 1)), abs=1e-12)
        assert area[s] == pytest.approx(area_below(*steps_of(stood), cut), abs=1e-12)


@FAST
@given(scenes())
def test_without_ties_every_treatment_is_the_same(case):
    scores, labels = case
    width = scores.shape[1]
    scores = np.argsort(np.argsort(scores, axis=1), axis=1).astype(np.float32) - width / 2
    found = auc.readings(scores, labels)
    np.testing.assert_array_equal(found.average_precision, found.grouped_average_precision)
    np.testing.assert_allclose(found.partial_area, found.grouped_partial_area, atol=1e-15)


@FAST
@given(scenes(), st.integers(0, 2**32))
def test_a_given_order_decides_its_ties(case, seed):
    scores, labels = case
    shuffle = np.argsort(np.random.default_rng(seed).random(scores.shape), axis=1)
    mixed_up = np.take_along_axis(scores.astype(float), shuffle, axis=1)
    within = np.argsort(-mixed_up, axis=1, kind="stable")
    order = np.take_along_axis(shuffle, within, axis=1)
    taken = [np.take_along_axis(array, order, axis=1) for array in (scores, labels)]
    assert_same = np.testing.assert_array_equal
    assert_same(auc.average_precision(scores, labels, order=order), auc.average_precision(*taken))
    assert_same(auc.partial_area(scores, labels, order=order), auc.partial_area(*taken))
    assert_same(auc.rank_auc(scores, labels), auc.rank_auc(*taken))


@FAST
@given(scenes())
def test_one_pass_gives_what_each_door_gives(case):
    found = auc.readings(*case)
    assert_same = np.testing.assert_array_equal
    assert_same(found.rank_auc, auc.rank_auc(*case))
    assert_same(found.trapezoid_auc, auc.trapezoid_auc(*case))
    assert_same(found.average_precision, auc.average_precision(*case))
    assert_same(found.grouped_average_precision, auc.average_precision(*case, grouped=True))
    assert_same(found.partial_area, auc.partial_area(*case))
    assert_same(found.grouped_partial_area, auc.partial_area(*case, grouped=True))


@FAST
@given(scenes())
def test_reversing_the_scores_turns_the_auc_over(case):
    scores, labels = case
    there, back = auc.rank_auc(scores, labels), auc.rank_auc(-scores, labels)
    np.testing.assert_allclose(there + back, np.where(mixed(labels), 1.0, np.nan), atol=1e-12)


@FAST
@given(scenes())
def test_order_within_a_double_is_kept_where_a_float_would_tie(case):
    scores, labels = case
    assume(scores.shape[1] > 1)
    near = 1.0 + np.arange(scores.shape[1]) * 2.0**-52
    wide = np.broadcast_to(near, scores.shape)
    found = auc.rank_auc(wide, labels)
    for s in np.flatnonzero(mixed(labels)):
        assert found[s] == pytest.approx(wins(wide[s], labels[s]), abs=1e-12)
    np.testing.assert_array_equal(
        auc.rank_auc(wide.astype(np.float32), labels), np.where(mixed(labels), 0.5, np.nan)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_full_vocabulary_agrees_with_scikit_learn(dtype):
    random = np.random.default_rng(5)
    scores = random.normal(size=(6, 16_384)).astype(dtype)
    scores[3:] = np.round(scores[3:], 1)
    labels = random.random(scores.shape) < 1 / (1 + np.exp(2 - scores))
    labels[0] = False
    labels[0, 77] = True
    found = auc.readings(scores, labels)
    for s in range(6):
        assert found.rank_auc[s] == pytest.approx(roc_auc_score(labels[s], scores[s]), abs=1e-12)
        assert abs(found.trapezoid_auc[s] - found.rank_auc[s]) < 1e-11
        expected = average_precision_score(labels[s], scores[s])
        assert found.grouped_average_precision[s] == pytest.approx(expected, abs=1e-12)
        expected = roc_auc_score(labels[s], scores[s], max_fpr=0.1)
        assert auc.mcclish(found.grouped_partial_area)[s] == pytest.approx(expected, abs=1e-12)


def test_results_do_not_depend_on_the_number_of_threads(thread_counts):
    random = np.random.default_rng(2)
    scores = random.integers(0, 50, (70, 300)).astype(np.float32)
    labels = random.random(scores.shape) < 0.2
    found = []
    for threads in thread_counts:
        numba.set_num_threads(threads)
        found.append(auc.readings(scores, labels))
    for name in auc.Readings.__dataclass_fields__:
        np.testing.assert_array_equal(getattr(found[0], name), getattr(found[-1], name))


def test_the_mcclish_floor_is_that_of_the_paper():
    """A partial AUC of zero maps to 0.474 (section "What the released weights recover")."""
    scores = np.arange(20.0)[None]
    labels = scores < 3
    area = auc.partial_area(scores, labels)
    assert area.tolist() == [0.0]
    assert auc.partial_auc(scores, labels).round(3).tolist() == [0.474]
    assert auc.partial_auc(-scores, labels).tolist() == [1.0]


def test_the_cut_falls_exactly_between_two_negatives():
    # ten of a hundred negatives lie before the only positive: no area below 0.1
    labels = np.zeros((2, 101), bool)
    labels[0, 10] = labels[1, 9] = True
    scores = -np.arange(101.0) * np.ones((2, 1))
    assert auc.partial_area(scores, labels).tolist() == [0.0, pytest.approx(0.01)]


def test_zero_areas_are_counted_among_the_defined():
    assert auc.zero_share([0.0, 0.02, np.nan, 0.0]) == pytest.approx(2 / 3)
    assert np.isnan(auc.zero_share([np.nan]))


@pytest.mark.parametrize(
    ("scores", "labels", "options"),
    [
        ([[1.0, np.nan]], [[True, False]], {}),
        ([1.0, 2.0], [True, False], {}),
        ([[1.0, 2.0]], [[True]], {}),
        ([[1.0, 2.0]], [[1, 0]], {}),
        ([[1, 2]], [[True, False]], {}),
        ([[1.0, 2.0]], [[True, False]], {"max_fpr": 0.0}),
        ([[1.0, 2.0]], [[True, False]], {"order": [[0, 1]]}),
        ([[1.0, 2.0]], [[True, False]], {"order": [[1, 1]]}),
        ([[1.0, 2.0]], [[True, False]], {"order": [[1, -2]]}),
        ([[1.0, 2.0]], [[True, False]], {"order": [[1.0, 0.0]]}),
    ],
)
def test_bad_scores_are_refused(scores, labels, options):
    with pytest.raises(BadInput):
        auc.readings(scores, labels, **options)
