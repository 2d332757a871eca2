"""The inference rule: the stated sum, the first of the best, and minus infinity loses."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.needs import torch
from navaudit.agent.planning import choose, log_heads, score
from navaudit.axes import HEADS
from navaudit.errors import BadInput

NC, DAC, TTC, EP, DDC, LK, TLC, IMI = HEADS


def drawn(count=12, scenes=3, seed=0, scale=3.0):
    rng = torch.Generator().manual_seed(seed)
    return {name: scale * torch.randn(scenes, count, generator=rng) for name in HEADS}


def plainly(logits, scene, candidate):
    """The rule in float64, term by term."""

    def sigmoid(name):
        return 1.0 / (1.0 + math.exp(-float(logits[name][scene, candidate])))

    imi = logits[IMI][scene].double()
    softmax = math.exp(imi[candidate] - imi.max()) / float((imi - imi.max()).exp().sum())
    mean = 7.0 * sigmoid(TTC) + 7.0 * sigmoid(EP) + 3.0 * sigmoid(LK)
    return (
        0.03 * math.log(softmax)
        + 0.1 * math.log(sigmoid(TLC))
        + 0.1 * math.log(sigmoid(NC))
        + 0.9 * math.log(sigmoid(DAC))
        + 0.2 * math.log(sigmoid(DDC))
        + 6.0 * math.log(mean)
    )


@given(st.integers(0, 999), st.floats(0.1, 6.0))
@settings(max_examples=25, deadline=None)
def test_scores_follow_the_stated_rule(seed, scale):
    logits = drawn(seed=seed, scale=scale)
    scores = score(logits)
    assert scores.dtype == torch.float32
    for scene in range(3):
        for candidate in range(12):
            assert float(scores[scene, candidate]) == pytest.approx(
                plainly(logits, scene, candidate), rel=2e-6, abs=2e-5
            )


def test_the_first_of_the_best_is_chosen():
    logits = {name: torch.zeros(2, 9) for name in HEADS}
    assert choose(logits).tolist() == [0, 0]
    for candidate in (7, 4, 5):
        logits[DAC][1, candidate] = 2.0
    assert choose(logits).tolist() == [0, 4]


def test_a_certain_failure_loses_against_everything():
    logits = {name: torch.zeros(1, 4) for name in HEADS}
    logits[DAC][0, :3] = -120.0
    logits[EP][0, :3] = 20.0
    assert score(logits)[0, :3].tolist() == [-math.inf] * 3
    assert choose(logits).tolist() == [3]
    # where all fail for certain, the first is as good as any
    logits[DAC][0, 3] = -120.0
    assert choose(logits).tolist() == [0]


def test_logarithms_are_taken_of_float32():
    logits = {name: torch.tensor([[-89.5, -80.0, 0.0, 30.0]]) for name in HEADS}
    logs = log_heads(logits)
    assert logs[NC][0, 0] == -math.inf
    assert logs[NC][0, 1] == pytest.approx(-80.0, rel=1e-6)
    assert logs[NC][0, 3] == 0.0
    assert logs[IMI][0].exp().sum() == pytest.approx(1.0)


def test_one_scene_is_chosen_for_like_many():
    logits = drawn()
    assert choose({name: one[1] for name, one in logits.items()}) == choose(logits)[1]


def test_nan_is_refused_and_its_head_named():
    logits = drawn()
    logits[LK][2, 3] = np.nan
    with pytest.raises(BadInput, match="NaN in: lane_keeping") as caught:
        choose(logits, "token t")
    assert caught.value.where == "token t"
