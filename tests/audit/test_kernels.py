"""Tallies, distinct rows and first candidates at full size, against NumPy's plain way."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit import brute
from navaudit.audit.codes import HALF, ONE, codes_of
from navaudit.audit.consumer import loss_mapped, sampled
from navaudit.audit.distinct import count_rows
from navaudit.audit.firsts import BOTH, PUBLISHED, RAW, STATISTICS, S, rank, statistics
from navaudit.audit.measure import measure
from navaudit.audit.ranking import RELATIONS, relations
from navaudit.audit.tally import FAILING, KINDS, LARGEST, LOSS_VALUES, THIRD, VALUES, count_columns
from navaudit.axes import COLUMNS, DAC, DDC, EP, LK, LOSS_COLUMNS, NC, PDM, TLC, TTC
from navaudit.errors import BadInput

WIDE = 16_384


def wide(seed, spread):
    """Nine columns of 16,384 labels; ``spread`` values in progress and aggregate."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([0.0, 0.5, 1.0], (1, 9, WIDE), p=[0.2, 0.1, 0.7]).astype(np.float16)
    for column in (EP, PDM):
        labels[0, column] = rng.choice(np.linspace(0, 1, spread), WIDE)
    return labels


def every_code():
    """Every float16 from 0 to 1, and the largest ones once more."""
    bits = np.resize(np.arange(ONE + 1, dtype=np.uint16), WIDE)
    return np.stack([np.roll(bits, 977 * column) for column in range(9)])[None].view(np.float16)


CASES = {"few values": wide(0, 5), "many values": wide(1, 3000), "every value": every_code()}


@pytest.mark.parametrize("labels", CASES.values(), ids=CASES)
def test_tallies_are_those_of_numpy(labels):
    counted = count_columns(codes_of(labels))[0]
    read = loss_mapped(labels)[0]
    for column in range(len(COLUMNS)):
        values, groups = np.unique(read[column], return_counts=True)
        assert counted[column, VALUES] == len(np.unique(labels[0, column]))
        assert counted[column, LOSS_VALUES] == len(values)
        assert counted[column, FAILING] == np.count_nonzero(read[column] != 1)
        largest = sorted(groups, reverse=True)[:3]
        assert counted[column, LARGEST : THIRD + 1].tolist() == (largest + [0] * 3)[:3]
        kinds = [bool(np.isin(labels[0, column], one).any()) for one in (0, 0.5, 1)]
        kinds.append(not np.isin(labels[0, column], (0, 0.5, 1)).all())
        assert counted[column, KINDS] == sum(1 << bit for bit, there in enumerate(kinds) if there)


@pytest.mark.parametrize("labels", CASES.values(), ids=CASES)
def test_rows_are_those_of_numpy(labels):
    loss = list(LOSS_COLUMNS)
    forms = (labels[0], labels[0, loss], loss_mapped(labels)[0, loss])
    plain = [len(np.unique(np.ascontiguousarray(one.T), axis=0)) for one in forms]
    assert count_rows(codes_of(labels))[0].tolist() == plain


def test_rows_that_differ_in_one_bit_anywhere_are_different():
    codes = np.zeros((1, 9, 9 * 14 + 1), np.uint16)
    for bit in range(9 * 14):
        codes[0, bit // 14, bit] = 1 << bit % 14
    assert count_rows(codes)[0, 0] == 9 * 14 + 1


def plain_statistics(labels):
    t = loss_mapped(labels.astype(np.float64))
    with np.errstate(divide="ignore"):
        agent = (
            0.1 * np.log(t[TLC])
            + 0.1 * np.log(t[NC])
            + 0.9 * np.log(t[DAC])
            + 0.2 * np.log(t[DDC])
            + 6.0 * np.log(7.0 * t[TTC] + 7.0 * t[EP] + 3.0 * t[LK])
        )
    weights = {NC: 3, DAC: 3, TTC: 4, EP: 2, DDC: 1, LK: 2, TLC: 3}
    return np.stack((agent, sum(w * t[column] for column, w in weights.items()), t[PDM]))


@pytest.mark.parametrize("labels", CASES.values(), ids=CASES)
def test_statistics_are_the_plain_evaluation_bit_for_bit(labels):
    plain = plain_statistics(labels[0])
    np.testing.assert_array_equal(statistics(codes_of(labels)[0]), plain)


@pytest.mark.parametrize("labels", CASES.values(), ids=CASES)
def test_first_candidates_are_those_of_the_plain_evaluation(labels):
    published = labels[0].copy()
    published[LK] = published[DAC] = 1
    ranked = rank(codes_of(published[None])[0], codes_of(labels)[0])
    for s in range(len(STATISTICS)):
        first = [
            set(np.flatnonzero(one == one.max()))
            for one in (plain_statistics(published)[s], plain_statistics(labels[0])[s])
        ]
        sizes = [len(first[PUBLISHED]), len(first[RAW]), len(first[0] & first[1])]
        assert ranked.sizes[s].tolist() == sizes


def pairs(seed, candidates, levels):
    """Two files' labels of a token that need have nothing to do with each other."""
    rng = np.random.default_rng(seed)
    labels = rng.choice([0.5, 1.0], (2, 9, candidates), p=[0.1, 0.9])
    labels[rng.random(labels.shape) < 0.05] = 0
    labels[:, EP] = rng.choice(np.linspace(0, 1, levels), (2, candidates))
    labels[:, PDM] = rng.random((2, candidates))
    return labels.astype(np.float16)


def test_every_relation_of_two_files_is_met_and_named():
    met = set()

    @given(st.integers(0, 2**32 - 1), st.sampled_from((1, 2, 3, 6)), st.sampled_from((1, 2, 3, 50)))
    @settings(max_examples=150, deadline=None, derandomize=True, database=None)
    def hold(seed, candidates, levels):
        published, raw = pairs(seed, candidates, levels)
        ranked = rank(codes_of(published[None])[0], codes_of(raw[None])[0])
        named = [dict(zip(brute.NAMES, one.tolist(), strict=True)) for one in (published, raw)]
        for s, rule in enumerate(brute.RULES.values()):
            (a, best_a), (r, best_r) = (brute.maximisers(one, rule) for one in named)
            relation = RELATIONS[relations(ranked.sizes[s])]
            assert relation == brute.relation(a, r)
            assert ranked.sizes[s].tolist() == [len(a), len(r), len(a & r)]
            met.add(relation)
            if s == S:
                assert ranked.nothing.tolist() == [np.isneginf(best_a), np.isneginf(best_r)]
                _hold_gain(ranked, a, r, named)

    hold()
    assert met == set(RELATIONS)


def _hold_gain(ranked, a, r, named):
    if len(a) == len(r) == 1 and a != r:
        (i,), (j,) = a, r
        points = [100 * (one["PDM"][j] - one["PDM"][i]) for one in named]
        assert ranked.gain.tolist() == points
    else:
        assert np.isnan(ranked.gain).all()


def test_a_file_that_excludes_everyone_puts_everyone_first_and_ranks_nothing():
    raw = np.ones((9, 5), np.float16)
    raw[DAC] = 0
    published = raw.copy()
    published[DAC] = 1
    published[EP] = [0.1, 0.2, 0.9, 0.9, 0.3]
    ranked = rank(codes_of(published[None])[0], codes_of(raw[None])[0])
    assert ranked.sizes[S].tolist() == [2, 5, 2]
    assert ranked.nothing.tolist() == [False, True]
    assert RELATIONS[relations(ranked.sizes[S])] == "published_within_raw"


@pytest.mark.parametrize("candidates", [1, 2, 3, 10, WIDE])
def test_dropout_keeps_the_lower_half(candidates):
    assert sampled(candidates) == candidates // 2


def test_codes_order_as_values_do_and_zero_has_one_sign():
    labels = np.array([0.0, -0.0, 2.0**-24, 0.25, 0.5, 0.75, 1.0], np.float16)
    codes = codes_of(np.tile(labels, (1, 9, 1)))[0, 0].astype(int)
    assert codes[0] == codes[1] == 0
    assert (np.diff(codes[1:]) > 0).all()
    assert (codes[4], codes[6]) == (HALF, ONE)


@pytest.mark.parametrize("value", [np.nan, -0.25, 1.001, np.inf, -np.inf])
def test_what_is_no_score_is_refused_by_name(value):
    labels = np.ones((2, 9, 4), np.float16)
    labels[1, TTC, 3] = value
    with pytest.raises(BadInput, match="a label is") as caught:
        measure(labels, np.ones((2, 9)), tokens=("first", "second"))
    assert caught.value.where == "token second, time_to_collision_within_bound, candidate 3"
    good = np.ones((2, 9, 4), np.float16)
    with pytest.raises(BadInput, match="a label is"):
        measure(good, np.ones((2, 9)), labels)


def test_labels_of_another_kind_are_refused():
    with pytest.raises(BadInput, match="float64"):
        codes_of(np.ones((1, 9, 4)))
    with pytest.raises(BadInput, match=r"\(1, 8, 4\)"):
        codes_of(np.ones((1, 8, 4), np.float16))
    with pytest.raises(BadInput, match="no candidates"):
        codes_of(np.ones((1, 9, 0), np.float16))


def test_published_labels_of_another_vocabulary_are_refused():
    with pytest.raises(BadInput, match=r"\(1, 9, 5\)"):
        measure(np.ones((1, 9, 4), np.float16), None, np.ones((1, 9, 5), np.float16))


def test_labels_without_human_or_published_are_refused():
    with pytest.raises(BadInput, match="neither human values nor published labels"):
        measure(np.ones((1, 9, 4), np.float16), None)


def test_only_columns_the_loss_halves_lose_their_halves():
    mapped = loss_mapped(np.full((2, 9, 3), 0.5, np.float16))
    assert mapped.dtype == np.float16
    assert [bool((mapped[:, column] == 0).all()) for column in range(9)] == [
        column in (NC, DDC) for column in range(9)
    ]


def test_shared_sets_are_counted():
    ranked = rank(codes_of(np.ones((1, 9, 3), np.float16))[0], np.full((9, 3), ONE, np.uint16))
    assert ranked.sizes[:, BOTH].tolist() == [3, 3, 3]
