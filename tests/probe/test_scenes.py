"""Every scene's readings: the plain ones, scikit-learn's, and the same however they are read."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from navaudit.axes import DAC, DDC, HEADS, LK, TLC
from navaudit.errors import BadInput
from navaudit.probe import walk
from navaudit.probe.question import Question
from navaudit.probe.scenes import read_scenes, silent
from navaudit.probe.walk import Block, blocks, common_tokens
from probe import plain
from probe.drawn import draw, write, write_logits

LK_HEAD, DAC_HEAD = HEADS.index("lane_keeping"), HEADS.index("drivable_area_compliance")
FEW = Question(tie_draws=3, resamples=50)


def read(logits, labels, question=FEW):
    tokens = common_tokens(logits, labels, common=False)
    return read_scenes(blocks(logits, labels, tokens, question), question, len(tokens), silent)


def mixed(passes):
    return passes.any() and not passes.all()


def test_every_reading_is_the_plain_one(drawn_world):
    world, logits, labels = drawn_world
    scenes = read(logits, labels)
    passes, own = world.raw[:, LK] == 1, world.raw[:, DAC] == 1
    at = [k for k in range(len(passes)) if mixed(passes[k])]
    assert scenes.tokens == tuple(world.tokens[k] for k in at)
    assert len(at) < len(passes)
    for place, k in enumerate(at):
        head, control = world.logits[k, LK_HEAD], world.logits[k, DAC_HEAD]
        ordered = plain.as_sorted(head, passes[k])
        assert scenes.auc[place] == pytest.approx(plain.auc(head, passes[k]), abs=1e-12)
        assert scenes.control_auc[place] == pytest.approx(plain.auc(control, passes[k]), abs=1e-12)
        assert scenes.precision[place] == pytest.approx(plain.precision(ordered), abs=1e-12)
        assert scenes.area[place] == pytest.approx(plain.area(ordered, 0.1), abs=1e-12)
        assert scenes.failing[place] == (~passes[k]).sum()
        assert scenes.forgiven[place] == (world.human[k, LK] == 0)
        if mixed(own[k]):
            assert scenes.own_auc[place] == pytest.approx(plain.auc(control, own[k]), abs=1e-12)
        else:
            assert np.isnan(scenes.own_auc[place])


def test_readings_are_those_of_scikit_learn(drawn_world):
    world, logits, labels = drawn_world
    scenes = read(logits, labels)
    place = {token: k for k, token in enumerate(world.tokens)}
    for k, token in enumerate(scenes.tokens):
        truth, scores = world.raw[place[token], LK] == 1, world.logits[place[token], LK_HEAD]
        assert scenes.auc[k] == pytest.approx(roc_auc_score(truth, scores), abs=1e-12)
        assert scenes.grouped_precision[k] == pytest.approx(
            average_precision_score(truth, scores), abs=1e-12
        )
        assert plain.mcclish(scenes.grouped_area[k], 0.1) == pytest.approx(
            roc_auc_score(truth, scores, max_fpr=0.1), abs=1e-12
        )
    assert scenes.grouped_gap.max() < 1e-12


def test_the_cross_check_leaves_half_of_every_tie(tmp_path):
    # scene 0 has one passing candidate, here tied with one failing that comes before it
    world = draw(scenes=9, step=1e-9)
    world.logits[0, LK_HEAD, 1] = world.logits[0, LK_HEAD, 3]
    scenes = read(*write(tmp_path, world))
    assert scenes.gap[0] == pytest.approx(0.5 / 39, abs=1e-12)
    assert scenes.gap[1:].max() < 1e-12
    assert scenes.grouped_gap.max() < 1e-12


def test_scenes_with_one_passing_or_one_failing_candidate_are_read(drawn_world):
    world, logits, labels = drawn_world
    scenes = read(logits, labels)
    assert scenes.tokens[:4] == world.tokens[:4]
    assert scenes.failing[:4].tolist() == [39, 39, 1, 1]
    assert np.isfinite(scenes.auc[:4]).all()


def test_constant_columns_are_counted_and_left_out(drawn_world):
    world, logits, labels = drawn_world
    constant = [k for k in range(len(world.raw)) if not mixed(world.raw[k, LK] == 1)]
    assert {4, 5, 6, 7} <= set(constant)
    scenes = read(logits, labels)
    forgiven = sum(world.human[k, LK] == 0 for k in constant)
    assert scenes.constant == (forgiven, len(constant) - forgiven)
    assert not {world.tokens[k] for k in constant} & set(scenes.tokens)


def test_a_half_fails(drawn_world):
    world, logits, labels = drawn_world
    question = Question(head="driving_direction_compliance", column=DDC, tie_draws=0)
    scenes = read(logits, labels, question)
    place = {token: k for k, token in enumerate(world.tokens)}
    assert (world.raw[:, DDC] == 0.5).any()
    for k, token in enumerate(scenes.tokens):
        assert scenes.failing[k] == (world.raw[place[token], DDC] < 1).sum()


def test_any_head_is_read_against_any_column(drawn_world):
    world, logits, labels = drawn_world
    question = Question(head="imi", column=TLC, control="lane_keeping", control_column=DDC)
    scenes = read(logits, labels, dataclasses.replace(question, tie_draws=0))
    place = {token: k for k, token in enumerate(world.tokens)}
    for k, token in enumerate(scenes.tokens):
        passes = world.raw[place[token], TLC] == 1
        assert scenes.auc[k] == pytest.approx(plain.auc(world.logits[place[token], -1], passes))
        across = plain.auc(world.logits[place[token], LK_HEAD], passes)
        assert scenes.control_auc[k] == pytest.approx(across)


@pytest.mark.parametrize("size", [1, 20, 1000])
def test_the_size_of_blocks_changes_nothing(drawn_world, monkeypatch, size):
    _, logits, labels = drawn_world
    once = read(logits, labels)
    monkeypatch.setattr(walk, "BLOCK", size)
    again = read(logits, labels)
    for field in dataclasses.fields(once):
        one, other = getattr(once, field.name), getattr(again, field.name)
        assert np.array_equal(one, other, equal_nan=True) if hasattr(one, "shape") else one == other


def test_no_more_scenes_are_held_than_a_block_and_a_shard(drawn_world, monkeypatch):
    _, logits, labels = drawn_world
    monkeypatch.setattr(walk, "BLOCK", 20)
    sizes = [len(one.tokens) for one in blocks(logits, labels, logits.tokens, FEW)]
    assert sum(sizes) == len(logits)
    assert max(sizes) < 20 + 16


def test_progress_is_told(drawn_world):
    _, logits, labels = drawn_world
    told = []
    walked = blocks(logits, labels, logits.tokens, FEW)
    read_scenes(walked, FEW, len(logits), lambda what, done, total: told.append((done, total)))
    assert told[-1] == (len(logits), len(logits))


@st.composite
def small_blocks(draw_one):
    """One block of a few scenes and candidates; scores tie, and labels may be constant."""
    scenes, candidates = draw_one(st.integers(1, 5)), draw_one(st.integers(1, 9))
    random = np.random.default_rng(draw_one(st.integers(0, 2**32)))
    steps = draw_one(st.sampled_from([1, 3, 100]))
    shape = (scenes, candidates)
    logits = [random.integers(-steps, steps + 1, shape).astype(np.float32) for _ in range(2)]
    passes = [random.random(shape) < random.random((scenes, 1)) for _ in range(2)]
    tokens = tuple(map(str, range(scenes)))
    return Block(tokens, tuple(logits), tuple(passes), random.random((scenes, 2)) < 0.5)


@settings(deadline=None, max_examples=60)
@given(small_blocks(), st.sampled_from([0.05, 0.1, 0.5, 1.0]))
def test_small_scenes_are_read_as_by_hand(block, cut):
    question = Question(tie_draws=2, max_fpr=cut)
    scenes = read_scenes([block], question, len(block.tokens), silent)
    at = [k for k, passes in enumerate(block.passes[0]) if mixed(passes)]
    assert [int(token) for token in scenes.tokens] == at
    assert sum(scenes.constant) == len(block.tokens) - len(at)
    for place, k in enumerate(at):
        head, control = (each[k] for each in block.logits)
        passes, own = (each[k] for each in block.passes)
        ordered = plain.as_sorted(head, passes)
        assert scenes.auc[place] == pytest.approx(plain.auc(head, passes), abs=1e-12)
        assert scenes.control_auc[place] == pytest.approx(plain.auc(control, passes), abs=1e-12)
        assert scenes.partial[place] == pytest.approx(
            plain.mcclish(plain.area(ordered, cut), cut), abs=1e-9
        )
        assert np.isnan(scenes.own_auc[place]) == (not mixed(own))
    assert scenes.drawn_area.shape == (2, int(scenes.forgiven.sum()))


def test_tokens_of_only_one_are_refused_by_name_and_left_out_when_asked(drawn_world, tmp_path):
    world, _, labels = drawn_world
    fewer = write_logits(tmp_path / "fewer", (*world.tokens[5:20], "elsewhere"), world.logits[:16])
    with pytest.raises(BadInput) as refused:
        common_tokens(fewer, labels, common=False)
    assert "1 tokens with logits have no labels (elsewhere)" in refused.value.what
    assert "75 tokens with labels have no logits" in refused.value.what
    assert "(token-0000, token-0001, token-0002, ...)" in refused.value.what
    assert "--common" in refused.value.remedy
    assert common_tokens(fewer, labels, common=True) == world.tokens[5:20]


def test_nothing_in_common_is_refused(drawn_world, tmp_path):
    world, _, labels = drawn_world
    other = write_logits(tmp_path / "other", ("a", "b"), world.logits[:2])
    with pytest.raises(BadInput, match="no token in common"):
        common_tokens(other, labels, common=True)


def test_other_candidates_are_refused(drawn_world, tmp_path):
    world, _, labels = drawn_world
    narrow = write_logits(tmp_path / "narrow", world.tokens, world.logits[:, :, :10])
    with pytest.raises(BadInput, match="of 10 candidates") as refused:
        common_tokens(narrow, labels, common=False)
    assert "40 candidates" in refused.value.expected


def test_another_vocabulary_of_as_many_is_refused(drawn_world, tmp_path):
    from audit.labels import write_set

    world, _, _ = drawn_world
    logits = write_logits(tmp_path / "logits", world.tokens[:4], world.logits[:4], vocabulary="a")
    labels = write_set(tmp_path / "labels", world.raw[:4], world.human[:4], vocabulary="b")
    with pytest.raises(BadInput, match="digest a"):
        common_tokens(logits, labels, common=False)


def test_labels_that_know_no_human_are_refused(tmp_path):
    world = draw(scenes=9)
    logits, labels = write(tmp_path, dataclasses.replace(world, human=np.full((9, 9), np.nan)))
    with pytest.raises(BadInput, match="no human score is known"):
        common_tokens(logits, labels, common=False)


def test_a_logit_that_is_no_number_is_refused_by_token(tmp_path):
    world = draw(scenes=20)
    world.logits[17, DAC_HEAD, 2:4] = np.nan
    logits, labels = write(tmp_path, world)
    with pytest.raises(BadInput, match="2 logits of the head drivable_area_compliance") as refused:
        read(logits, labels)
    assert refused.value.where == "token token-0017"
