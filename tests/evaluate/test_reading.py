"""What a file's numbers say: that components are forgiven and scores are not, and only that."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.small import random_comfort, random_components, random_human, token
from navaudit.evaluate.epdms import EC, EPDMS, score_under
from navaudit.evaluate.reading import explained, read_story
from navaudit.evaluate.results import Results

seeds = st.integers(0, 2**32 - 1)


def results(score):
    tokens = tuple(token(row) for row in range(len(score)))
    return Results(tokens, ~np.isnan(score[:, EPDMS]), score, None, None)


def drawn(seed, count=60):
    random = np.random.default_rng(seed)
    components, human = random_components(random, count), random_human(random, count)
    return components, human, random_comfort(random, count)


@settings(deadline=None, max_examples=30)
@given(seeds)
def test_files_before_the_fix_are_known_and_rebuilt(seed):
    components, human, comfort = drawn(seed)
    reading = read_story(results(score_under("pre-fix", components, human, comfort)))
    on = score_under("on", components, human, comfort)
    differ = np.abs(on[:, EPDMS] - score_under("off", components, human, comfort)[:, EPDMS]) > 1e-9
    assert np.array_equal(reading.apart, differ)
    assert reading.story == ("off of on" if differ.any() else "own")
    assert np.array_equal(reading.rebuilt, on[:, EPDMS])


@settings(deadline=None, max_examples=30)
@given(seeds, st.sampled_from(["off", "on"]))
def test_files_of_one_switch_tell_their_own_story(seed, switch):
    reading = read_story(results(score_under(switch, *drawn(seed))))
    assert reading.story == "own"
    assert not reading.apart.any()


@settings(deadline=None, max_examples=30)
@given(seeds, st.floats(0.01, 0.4))
def test_another_formula_is_not_taken_for_forgiveness(seed, factor):
    score = score_under("off", *drawn(seed)).copy()
    score[:, EPDMS] *= 1.0 - factor
    assert read_story(results(score)).story == "unexplained"


def test_a_failed_row_says_nothing():
    score = score_under("off", *drawn(3)).copy()
    score[5] = np.nan
    reading = read_story(results(score))
    assert reading.story == "own"
    assert "60 scores" in reading.sentence


@pytest.mark.parametrize(("column", "before"), [(0, 0.5), (2, 0.5), (6, 0.0), (5, 0.0)])
def test_each_forgivable_component_explains_a_score(column, before):
    components, comfort = np.ones((1, 8)), np.ones(1)
    was = components.copy()
    was[0, column] = before
    stored = score_under("off", was, np.ones((1, 8)), comfort)[:, EPDMS]
    assert explained(components, comfort, stored).all()
    # what was not 1 cannot have been forgiven
    components[0, column] = 0.9
    assert not explained(components, comfort, stored).any()


def test_progress_is_never_forgiven():
    components, comfort = np.ones((1, 8)), np.ones(1)
    lower = components.copy()
    lower[0, 4] = 0.0
    stored = score_under("off", lower, np.ones((1, 8)), comfort)[:, EPDMS]
    # 11/16: neither lane keeping nor time to collision, alone or together, takes five sixteenths
    lower[0, 5] = 0.0
    twin = score_under("off", lower, np.ones((1, 8)), comfort)[:, EPDMS]
    assert explained(components, comfort, stored).all()
    assert not explained(components, comfort, twin).any()


def test_the_story_counts_the_scores_that_tell_most():
    components, comfort = np.ones((3, 8)), np.full(3, np.nan)
    human = np.ones((3, 8))
    components[0, 6] = human[0, 6] = 0.0
    components[1, 0] = human[1, 0] = 0.0
    reading = read_story(results(score_under("pre-fix", components, human, comfort)))
    assert (reading.telling, int(reading.apart.sum())) == (1, 2)
    assert reading.sentence.startswith("2 of 3 scores are not the aggregate")
    assert EC == 8
