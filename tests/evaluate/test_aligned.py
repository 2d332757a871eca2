"""Runs side by side: any order of rows, and nothing silently intersected."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.small import random_comfort, random_components, scored, token
from navaudit.errors import BadInput
from navaudit.evaluate.aligned import align

COUNT = 12
TOKENS = [token(row) for row in range(COUNT)]
LOGS = ["one"] * 5 + ["other"] * 7


def a_run(name, seed=0, **more):
    random = np.random.default_rng(seed)
    components = random_components(random, COUNT)
    return scored(name, TOKENS, LOGS, components, random_comfort(random, COUNT), **more)


def test_rows_are_brought_into_the_first_ones_order():
    one, other = a_run("one"), a_run("other", 1)
    shuffled = other.rows(np.random.default_rng(2).permutation(COUNT))
    found = align([one, shuffled])
    assert found.tokens == tuple(TOKENS)
    for mode in ("off", "on"):
        assert np.array_equal(found.runs["other"].scores[mode], other.scores[mode], equal_nan=True)


def test_tokens_that_differ_are_named():
    short = a_run("short").rows(np.arange(1, COUNT))
    with pytest.raises(BadInput, match="one and short differ in their tokens") as refused:
        align([a_run("one"), short])
    assert f"1 are only in one, first {TOKENS[0]}" in refused.value.what


def test_settings_that_differ_are_named():
    other = a_run("other", settings={"ddc": "v2.0"})
    with pytest.raises(BadInput, match=r"ddc is v2\.1 there and v2\.0 here"):
        align([a_run("one"), other])
    # files say nothing of settings
    align([a_run("one"), a_run("file", settings=None)])


def test_extended_comfort_of_another_frame_is_compared_with_its_like_alone():
    old, older = (replace(a_run(name), earlier=True) for name in ("old", "older"))
    with pytest.raises(BadInput, match=r"old is of NAVSIM v2\.0, and one is not") as refused:
        align([a_run("one"), old])
    assert "the earlier of two frames" in refused.value.expected
    assert set(align([old, older]).runs) == {"old", "older"}


def test_failed_tokens_are_refused_or_left_out_of_all():
    broken = a_run("broken")
    valid = np.ones(COUNT, bool)
    valid[3] = False
    broken = replace(broken, valid=valid)
    with pytest.raises(BadInput, match=f"1 of 12 tokens were not scored, first {TOKENS[3]}"):
        align([a_run("one"), broken])
    found = align([a_run("one"), broken], leave_out_failed=True)
    assert found.left_out == (TOKENS[3],)
    assert len(found.tokens) == len(found.runs["one"].tokens) == COUNT - 1


def test_logs_come_from_runs_or_from_an_index():
    index = dict(zip(TOKENS, LOGS, strict=True))
    file = replace(a_run("file"), logs=None, human=None)
    assert align([file, a_run("one")]).logs == tuple(LOGS)
    assert align([file], index).logs == tuple(LOGS)
    with pytest.raises(BadInput, match="no run says which log"):
        align([file])
    with pytest.raises(BadInput, match="the index lacks 1 of 12 tokens"):
        align([file], {one: index[one] for one in TOKENS[1:]})
    with pytest.raises(BadInput, match="is from log 'one' by one, and from 'third'"):
        align([a_run("one")], {**index, TOKENS[0]: "third"})


def test_humans_that_differ_are_named():
    human = np.ones((COUNT, 8))
    human[4, 6] = 0.0
    with pytest.raises(BadInput, match="differ in 1 humans") as refused:
        align([a_run("one"), a_run("other", human=human)])
    assert refused.value.where == f"token {TOKENS[4]}"
