"""Policies: each against a plain way of saying it, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from navaudit.axes import COLUMNS, LK
from navaudit.errors import BadInput
from navaudit.labels.policies import POLICIES, apply, needs_human

SCORES = st.sampled_from([0.0, 0.5, 1.0, 1e-300, -0.0])
HALVES = st.sampled_from([0.0, 0.5, 1.0, 0.9995, 0.33])
RAW = arrays(np.float16, (len(COLUMNS), 5), elements=HALVES)
HUMAN = arrays(np.float64, len(COLUMNS), elements=SCORES)
PATH = arrays(np.float16, 5, elements=st.sampled_from([0.0, 1.0]))


def plainly(policy, raw, human, path):
    """The policies once more, entry by entry."""
    given = np.empty_like(raw)
    for column in range(len(COLUMNS)):
        for candidate in range(raw.shape[1]):
            value = raw[column, candidate]
            fired = human[column] == 0
            if policy == "masked" and fired:
                value = np.nan
            elif policy in ("published", "pass-lk", "path") and fired:
                value = 1.0
            if policy == "pass-lk" and column == LK:
                value = 1.0
            if policy == "path" and column == LK and fired:
                value = path[candidate]
            given[column, candidate] = value
    return given


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=40, deadline=None)
@given(raw=RAW, human=HUMAN, path=PATH)
def test_a_policy_does_what_it_says(policy, raw, human, path):
    kept = raw.copy()
    found = apply(policy, raw, human, path)
    assert found.dtype == np.float16
    assert found.tobytes() == plainly(policy, raw, human, path).tobytes()
    assert not found.flags.writeable
    assert raw.flags.writeable
    assert raw.tobytes() == kept.tobytes()


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=40, deadline=None)
@given(raw=RAW, human=HUMAN, path=PATH)
def test_applying_a_policy_twice_changes_nothing_more(policy, raw, human, path):
    once = apply(policy, raw, human, path)
    assert apply(policy, once, human, path).tobytes() == once.tobytes()


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=40, deadline=None)
@given(raw=RAW, human=HUMAN, path=PATH, order=st.permutations(range(5)), count=st.integers(1, 5))
def test_a_policy_looks_at_each_candidate_alone(policy, raw, human, path, order, count):
    some = list(order)[:count]
    whole = apply(policy, raw, human, path)
    part = apply(policy, np.ascontiguousarray(raw[:, some]), human, path[some])
    assert part.tobytes() == np.ascontiguousarray(whole[:, some]).tobytes()


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=40, deadline=None)
@given(
    raw=arrays(np.float16, (3, len(COLUMNS), 5), elements=HALVES),
    human=arrays(np.float64, (3, len(COLUMNS)), elements=SCORES),
    path=arrays(np.float16, (3, 5), elements=st.sampled_from([0.0, 1.0])),
)
def test_a_policy_takes_many_tokens_as_one_by_one(policy, raw, human, path):
    path[human[:, LK] != 0] = np.nan
    together = apply(policy, raw, human, path)
    for one in range(3):
        alone = apply(policy, raw[one], human[one], path[one])
        assert together[one].tobytes() == alone.tobytes()


@settings(max_examples=40, deadline=None)
@given(raw=RAW, human=HUMAN)
def test_masked_and_published_part_exactly_where_the_rule_fires(raw, human):
    fired = np.isnan(apply("masked", raw, human))
    published = apply("published", raw, human)
    assert (fired == (human == 0)[:, None]).all()
    assert (published[fired] == 1).all()
    assert (published[~fired] == raw[~fired]).all()


@settings(max_examples=40, deadline=None)
@given(raw=RAW, path=PATH)
def test_a_column_judged_against_the_path_keeps_an_ordering(raw, path):
    human = np.ones(len(COLUMNS))
    human[LK] = 0
    assert (apply("published", raw, human)[LK] == 1).all()
    assert (apply("path", raw, human, path)[LK] == path).all()
    human[LK] = 1
    assert (apply("path", raw, human)[LK] == raw[LK]).all()


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_that_need_the_human_say_so(policy):
    raw, human = np.ones((len(COLUMNS), 2), np.float16), np.full(len(COLUMNS), np.nan)
    if not needs_human(policy):
        assert policy == "raw"
        assert (apply(policy, raw, human) == raw).all()
        return
    with pytest.raises(
        BadInput, match=f"policy {policy} follows from the human's scores"
    ) as caught:
        apply(policy, raw, human)
    assert "policy raw" in str(caught.value.remedy)


def test_a_path_that_is_not_known_is_missed_where_it_matters():
    raw, human = np.ones((len(COLUMNS), 2), np.float16), np.zeros(len(COLUMNS))
    for path in (None, np.array([1, np.nan], np.float16)):
        with pytest.raises(BadInput, match="against the human's path is not known"):
            apply("path", raw, human, path)
        assert (apply("published", raw, human, path) == 1).all()


def test_no_other_policy_exists():
    with pytest.raises(BadInput, match="no policy 'all'") as caught:
        apply("all", np.ones((9, 1), np.float16), np.ones(9))
    assert caught.value.expected == " | ".join(POLICIES)
