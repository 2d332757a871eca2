"""One plan and one scene, against what the stock code computed for the same candidates."""

import numpy as np
import pytest

from evaluate.small import scene_at, straight_plan
from navaudit.agent.predictions import Plan
from navaudit.axes import DAC, DDC, EP, NC, PDM, TLC
from navaudit.errors import BadInput
from navaudit.evaluate.judge import EVALUATION, judge_plan
from navaudit.rollout.rollout import desire_human, simulate
from navaudit.score.score import Settings
from score import golden

SOME = range(0, 160, 23)
STATE_GAP = 1e-8
FEW = ("curve", "red_run", "collide_stopped", "ddc_half", "carpark", "history_15")


@pytest.mark.parametrize("name", FEW)
def test_components_are_the_stock_labels_and_progress_is_of_two_rows(name):
    """All but progress, which the label file normalises over all candidates, not over two."""
    case = golden.ours(name)
    labels = case.labels("v2.1", "batch")
    others = [column for column in range(PDM) if column != EP]
    product = labels[[NC, DAC, DDC, TLC]].astype(float).prod(axis=0)
    raw = case.arrays["progress_raw"]
    stored = case.human("v2.1", "batch")
    reference = raw[0] * reference_product(case, product)
    for candidate in SOME:
        judged = judge_plan(case.scene, Plan(case.poses[candidate], 0.1))
        assert np.array_equal(judged.components[others], labels[others, candidate].astype(float))
        best = max(raw[candidate + 1] * product[candidate], reference)
        share = min(raw[candidate + 1] / best, 1.0) if best > 5.0 else 1.0
        assert judged.components[EP] == pytest.approx(share, abs=1e-9)
        np.testing.assert_allclose(judged.human, stored[:PDM], rtol=0, atol=1e-12)


def reference_product(case, product):
    """Product of the reference's multiplied metrics, read back from the stock label shares."""
    raw = case.arrays["progress_raw"]
    masked = raw[1:] * product
    shares = case.labels("v2.1", "per-candidate")[EP]
    for guess in (1.0, 0.5, 0.25, 0.0):
        best = np.maximum(masked, guess * raw[0])
        far = best > 5.0
        share = np.divide(masked, best, out=np.ones_like(masked), where=far)
        if np.array_equal(share.astype(np.float16), shares):
            return guess
    raise AssertionError("no product of the reference explains the labels")


@pytest.mark.parametrize("name", ["curve", "straight_green"])
def test_a_plan_at_2_hz_drives_as_the_human_does(name):
    case = golden.ours(name)
    judged = judge_plan(case.scene, Plan(case.scene.human, 0.5))
    assert np.abs(judged.states - case.arrays["human_sim_states"]).max() < STATE_GAP
    assert np.array_equal(
        judged.states, simulate(case.scene.ego, desire_human(case.scene)).states[0]
    )
    assert judged.distance.tolist() == [0.0, 0.0, 0.0]


def test_driving_direction_of_both_bodies():
    case = golden.ours("ddc_half")
    for ddc in ("v2.0", "v2.1"):
        labels = case.labels(ddc, "batch")
        settings = Settings(ddc=ddc, progress_rule="batch")
        for candidate in range(0, 160, 40):
            judged = judge_plan(case.scene, Plan(case.poses[candidate], 0.1), settings)
            assert judged.components[DDC] == labels[DDC, candidate]


def test_a_synthetic_scene_has_no_human_to_look_at():
    case = golden.ours("synthetic_token")
    judged = judge_plan(case.scene, Plan(case.poses[0], 0.1))
    assert np.isnan(judged.human).all()
    assert np.isnan(judged.distance).all()
    assert not np.isnan(judged.components).any()


def test_evaluation_judges_as_navsim_does():
    assert (EVALUATION.ddc, EVALUATION.progress_rule, EVALUATION.solver) == (
        "v2.1",
        "batch",
        "closed",
    )


@pytest.mark.parametrize(("poses", "interval", "complaint"), [
    (np.zeros((16, 3)), 0.25, "16 poses, one every 0.25 s"),
    (np.zeros((40, 3)), 0.5, "40 poses, one every 0.5 s"),
    (np.full((8, 3), np.nan), 0.5, "pose 0 of the plan is"),
    (np.full((40, 3), 2e3), 0.1, "pose 0 of the plan is"),
])  # fmt: skip
def test_plans_that_cannot_be_driven_are_refused(poses, interval, complaint):
    with pytest.raises(BadInput, match=complaint):
        judge_plan(scene_at(1, "log", 1_600_000_000_000_000), Plan(poses, interval))


def test_a_straight_plan_on_an_empty_street_is_perfect():
    judged = judge_plan(scene_at(1, "log", 1_600_000_000_000_000), straight_plan())
    assert judged.components == pytest.approx(np.ones(PDM), abs=1e-6)
    assert judged.human.tolist() == [1.0] * PDM
    assert judged.distance.max() < 1e-6
