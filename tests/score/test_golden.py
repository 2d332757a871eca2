"""The engine gives the labels of the stock generator, entry by entry."""

import itertools

import numpy as np
import pytest

from navaudit.axes import EP, NC, TTC
from navaudit.rollout.rollout import (
    desire_candidates,
    desire_human,
    desire_reference,
    simulate,
)
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.forgive import forgive
from navaudit.score.score import Settings, score_human, score_scene
from score import golden

VARIANTS = tuple(itertools.product(golden.DDC_BODIES, golden.RULES))
STATE_GAP = 1e-8
"""Metres, radians and their rates by which driven states may part from the stock ones."""

needs_shared = pytest.mark.skipif(bool(golden.missing()), reason=golden.missing() or "there")


def test_golden_scenes_are_there():
    assert len(golden.OURS) == 16
    labels = [golden.ours(name).labels("v2.0", "per-candidate") for name in golden.OURS]
    both = np.concatenate(labels, axis=1)
    assert ((both == 0).mean(axis=1) > 0.03).all()
    assert ((both == 1).mean(axis=1) > 0.2)[:-1].all()


def hold_to_stock(case):
    """Every label and the human's values, under both direction bodies and both rules."""
    vocabulary = Vocabulary(case.poses)
    for ddc, rule in VARIANTS:
        settings = Settings(ddc=ddc, progress_rule=rule)
        sheet = score_scene(case.scene, vocabulary, settings)
        assert np.array_equal(sheet.labels(), case.labels(ddc, rule))
        human = None if case.scene.human is None else score_human(case.scene, settings).columns
        stored = case.human(ddc, rule)
        if human is not None and stored is not None:
            np.testing.assert_allclose(human[:, 0], stored, rtol=0, atol=1e-12)
        published = case.labels(ddc, rule, forgiven=True)
        if published is not None:
            filtered = sheet.labels() if human is None else forgive(sheet.labels(), human[:, 0])
            assert np.array_equal(filtered, published)


@pytest.mark.parametrize("name", golden.OURS)
def test_labels_are_the_stock_ones(name):
    hold_to_stock(golden.ours(name))


@needs_shared
@pytest.mark.parametrize("name", golden.shared_names())
def test_labels_of_the_released_vocabulary_are_the_stock_ones(name):
    hold_to_stock(golden.shared(name))


def hold_states(case):
    """Driven states of the reference, of the first candidates and of the human."""
    stock, scene = case.arrays["sim_states"], case.scene
    desired = desire_candidates(scene, Vocabulary(case.poses[: len(stock) - 1]))
    desired = np.concatenate([desire_reference(scene), desired])
    assert np.abs(simulate(scene.ego, desired).states - stock).max() < STATE_GAP
    if scene.human is not None:
        driven = simulate(scene.ego, desire_human(scene)).states[0]
        assert np.abs(driven - case.arrays["human_sim_states"]).max() < STATE_GAP


@pytest.mark.parametrize("name", golden.OURS)
def test_states_are_the_stock_ones(name):
    hold_states(golden.ours(name))


@needs_shared
@pytest.mark.parametrize("name", golden.shared_names())
def test_states_of_the_released_vocabulary_are_the_stock_ones(name):
    hold_states(golden.shared(name))


def steps(stock):
    """First steps as the stock scorer keeps them, as the sheet has them: -1 where none."""
    return np.where(np.isinf(stock), -1, stock)[1:]


@pytest.mark.parametrize("name", golden.OURS)
def test_progress_and_first_faults_are_the_stock_ones(name):
    case = golden.ours(name)
    sheet = score_scene(case.scene, Vocabulary(case.poses))
    np.testing.assert_allclose(sheet.progress_m, case.arrays["progress_raw"][1:], atol=1e-8)
    assert np.array_equal(sheet.first_step[TTC], steps(case.arrays["ttc_idx"]))
    assert np.array_equal(sheet.first_step[NC], steps(case.arrays["collision_idx"]))


def test_a_changed_label_would_be_seen():
    case = golden.ours("curve")
    labels = case.labels("v2.0", "per-candidate").copy()
    labels[EP, 7] = np.nextafter(labels[EP, 7], np.float16(2))
    arrays = {**case.arrays, "labels_off_gen_gt_v20ddc": labels}
    with pytest.raises(AssertionError):
        hold_to_stock(golden.Golden(case.scene, case.poses, arrays))
