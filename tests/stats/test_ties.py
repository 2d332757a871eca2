import itertools

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.stats.auc import average_precision, partial_area
from navaudit.stats.ties import tie_draws

SCORES = np.array([[3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0]])
LABELS = np.array([[False, True, False, False, True, True, False]])


def possible_readings():
    """Average precision and area of every order that sorts the scores, by exhaustion."""
    found = set()
    for middle in itertools.permutations([1, 2, 3, 4]):
        for end in itertools.permutations([5, 6]):
            order = np.array([[0, *middle, *end]])
            precision = average_precision(SCORES, LABELS, order=order)[0]
            found.add((precision, partial_area(SCORES, LABELS, order=order, max_fpr=0.6)[0]))
    return found


def test_draws_are_the_possible_readings_in_equal_shares():
    draws = 6000
    drawn = tie_draws(SCORES, LABELS, draws=draws, seed=3, max_fpr=0.6)
    pairs = list(zip(drawn.average_precision[:, 0], drawn.partial_area[:, 0], strict=True))
    assert set(pairs) == possible_readings()
    # twelve equally likely label patterns (six in the tie of four, two in the tie of two); the
    # first tie's are told apart by average precision
    patterns = {(precision, area): pairs.count((precision, area)) for precision, area in set(pairs)}
    assert len(patterns) == 12
    assert max(abs(count - draws / 12) for count in patterns.values()) < 5 * np.sqrt(draws / 12)


def test_a_draw_leaves_untied_scenes_alone():
    scores = np.array([[4.0, 3.0, 2.0, 1.0]])
    labels = np.array([[True, False, True, False]])
    drawn = tie_draws(scores, labels, draws=3, seed=0)
    assert drawn.average_precision[:, 0].tolist() == [average_precision(scores, labels)[0]] * 3


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**40), st.integers(1, 11))
def test_blocks_of_a_pass_draw_what_the_whole_pass_draws(seed, cut):
    random = np.random.default_rng(1)
    scores = random.integers(0, 4, (12, 30)).astype(np.float64)
    labels = random.random((12, 30)) < 0.4
    whole = tie_draws(scores, labels, draws=5, seed=seed)
    first = tie_draws(scores[:cut], labels[:cut], draws=5, seed=seed)
    rest = tie_draws(scores[cut:], labels[cut:], draws=5, seed=seed, first_scene=cut)
    joined = np.concatenate([first.average_precision, rest.average_precision], axis=1)
    np.testing.assert_array_equal(joined, whole.average_precision)
    joined = np.concatenate([first.partial_area, rest.partial_area], axis=1)
    np.testing.assert_array_equal(joined, whole.partial_area)


def test_threads_draw_the_same(thread_counts):
    random = np.random.default_rng(1)
    scores = random.integers(0, 4, (50, 30)).astype(np.float64)
    labels = random.random((50, 30)) < 0.4
    found = []
    for threads in thread_counts:
        numba.set_num_threads(threads)
        found.append(tie_draws(scores, labels, draws=4, seed=9).average_precision)
    np.testing.assert_array_equal(found[0], found[-1])
    other = tie_draws(scores, labels, draws=4, seed=10).average_precision
    assert (other != found[0]).any()


def test_constant_labels_have_no_reading():
    drawn = tie_draws(np.ones((2, 3)), np.array([[True] * 3, [False] * 3]), draws=2, seed=0)
    assert np.isnan(drawn.average_precision).all()
    assert np.isnan(drawn.partial_area).all()


@pytest.mark.parametrize("options", [{"draws": 0}, {"seed": -1}, {"first_scene": -1}])
def test_impossible_draws_are_refused(options):
    with pytest.raises(BadInput):
        tie_draws(SCORES, LABELS, **{"draws": 1, "seed": 0, **options})


def test_scores_that_cannot_be_ordered_are_refused():
    with pytest.raises(BadInput):
        tie_draws(SCORES * np.nan, LABELS, draws=1, seed=0)
