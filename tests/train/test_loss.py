"""The loss, term by term, against float64 arithmetic that shares nothing with it."""

import numpy as np
import pytest

from agent.drawn import TINY, agent_of, scenes_of
from agent.needs import torch
from navaudit.axes import COLUMNS, HEADS, TLC
from navaudit.errors import BadInput
from navaudit.labels.policies import apply
from navaudit.train.loss import Asked, Whole, terms, total
from navaudit.train.targets import ARMS, targets_of
from train.small import CANDIDATES, labels_of

WEIGHTS = (3, 3, 4, 2, 1, 2, 3, 1)
"""As the released code has them, by head."""

SUBSET = np.array([3, 17, 0, 9, 22, 5, 11, 14, 2, 8, 20, 1])


def expected(labels, arm, logits, poses, human, subset):
    """The eight terms in float64, from the labels on disk and the formulas of the release."""
    values, speaks = labels_of(labels, arm)
    found = {}
    for head in HEADS[:-1]:
        column = COLUMNS.index(head)
        z, y = logits[head].astype(np.float64), values[:, column][:, subset]
        entropy = np.logaddexp(0.0, z) - z * y
        kept = entropy[speaks[:, column]]
        found[head] = kept.mean() if kept.size else 0.0
    far = np.zeros((len(human), len(subset)))
    for k in range(8):
        gap = poses[subset, 5 * k + 4].astype(np.float64)[None] - human[:, k][:, None]
        far += (gap**2).sum(axis=2)
    wanted = np.exp(-(far - far.min(axis=1, keepdims=True)) / 0.5)
    wanted /= wanted.sum(axis=1, keepdims=True)
    z = logits["imi"].astype(np.float64)
    logs = z - z.max(axis=1, keepdims=True)
    logs -= np.log(np.exp(logs).sum(axis=1, keepdims=True))
    found["imi"] = -(wanted * logs).sum(axis=1).mean()
    return found


@pytest.fixture(scope="module")
def drawn(small):
    """Logits, poses and humans for every scene of the small set."""
    rng = np.random.default_rng(4)
    count = len(small.labels)
    logits = {head: rng.normal(0, 4, (count, len(SUBSET))).astype(np.float32) for head in HEADS}
    poses = rng.normal(0, 1, (CANDIDATES, 40, 3)).astype(np.float32)
    return logits, poses, rng.normal(0, 1, (count, 8, 3))


def asked_of(labels, arm, human, rows=slice(None), subset=SUBSET):
    """What the trainer asks of some scenes of a label set."""
    made = []
    for token in labels.tokens[rows]:
        row = labels.index(token)
        along = labels.path_lane_keeping(token) if arm == "path" else None
        made.append(targets_of(apply(arm, labels.raw(token), labels.human[row], along), token))
    return Asked(
        torch.from_numpy(np.stack([one.values for one in made])[:, :, subset]),
        torch.from_numpy(np.stack([one.asked for one in made])),
        torch.from_numpy(human[rows]),
    )


def leaves(logits, rows=slice(None)):
    return {head: torch.from_numpy(one[rows]).requires_grad_() for head, one in logits.items()}


@pytest.mark.parametrize("arm", ARMS)
def test_every_term_is_the_formula_in_float64(small, drawn, arm):
    logits, poses, human = drawn
    asked = asked_of(small.labels, arm, human)
    found = terms(leaves(logits), asked, torch.from_numpy(poses[SUBSET]), Whole.of(asked.asked))
    want = expected(small.labels, arm, logits, poses, human, SUBSET)
    assert list(found) == list(HEADS)
    for head in HEADS:
        np.testing.assert_allclose(found[head].item(), want[head], rtol=2e-6, err_msg=head)
    summed = total(found)
    assert (summed.dtype, summed.shape) == (torch.float64, ())
    exact = sum(weight * want[head] for weight, head in zip(WEIGHTS, HEADS, strict=True))
    np.testing.assert_allclose(summed.item(), exact, rtol=2e-6)


def test_the_arms_differ_where_the_rule_fired_and_nowhere_else(small, drawn):
    logits, poses, human = drawn
    values = {}
    for arm in ARMS:
        asked = asked_of(small.labels, arm, human)
        values[arm] = terms(
            leaves(logits), asked, torch.from_numpy(poses[SUBSET]), Whole.of(asked.asked)
        )
    lights = {arm: one["traffic_light_compliance"].item() for arm, one in values.items()}
    assert lights["published"] == lights["pass-lk"] == lights["path"] != lights["raw"]
    assert lights["masked"] == 0.0
    lanes = {one["lane_keeping"].item() for one in values.values()}
    assert len(lanes) == len(ARMS)
    assert len({one["imi"].item() for one in values.values()}) == 1


@pytest.mark.parametrize("arm", ARMS)
@pytest.mark.parametrize("size", [1, 3, 7])
def test_parts_add_up_to_the_batch(small, drawn, arm, size):
    logits, poses, human = drawn
    poses = torch.from_numpy(poses[SUBSET])
    asked = asked_of(small.labels, arm, human)
    whole = Whole.of(asked.asked)
    at_once = leaves(logits)
    one = total(terms(at_once, asked, poses, whole))
    one.backward()
    summed, gradients = 0.0, {head: [] for head in HEADS}
    for start in range(0, len(small.labels), size):
        rows = slice(start, start + size)
        part = leaves(logits, rows)
        share = total(terms(part, asked_of(small.labels, arm, human, rows), poses, whole))
        share.backward()
        summed += share.item()
        for head in HEADS:
            gradients[head].append(part[head].grad)
    np.testing.assert_allclose(summed, one.item(), rtol=1e-6)
    for head in HEADS:
        np.testing.assert_allclose(
            torch.cat(gradients[head]), at_once[head].grad, rtol=1e-6, atol=1e-9, err_msg=head
        )


def test_a_head_that_no_scene_asks_has_no_loss_and_no_gradient(small):
    labels, agent = small.labels, agent_of()
    human = np.zeros((len(labels), 8, 3))
    everything = np.arange(CANDIDATES)
    asked = asked_of(labels, "masked", human, subset=everything)
    assert (labels.human[:, TLC] == 0.0).all()
    found = terms(
        agent(*scenes_of(count=len(labels))), asked, agent.vocabulary, Whole.of(asked.asked)
    )
    assert found["traffic_light_compliance"].item() == 0.0
    total(found).backward()
    heads = agent.get_submodule("_trajectory_head.heads")
    for name, head in heads.items():
        largest = max(float(one.grad.abs().max()) for one in head.parameters())
        assert (largest == 0.0) == (name == "traffic_light_compliance"), name


def test_the_gradient_of_a_masked_scene_is_zero(small, drawn):
    logits, poses, human = drawn
    asked = asked_of(small.labels, "masked", human)
    leaf = leaves(logits)
    total(terms(leaf, asked, torch.from_numpy(poses[SUBSET]), Whole.of(asked.asked))).backward()
    _, speaks = labels_of(small.labels, "masked")
    for head in HEADS[:-1]:
        moved = leaf[head].grad.abs().sum(dim=1).numpy() > 0
        np.testing.assert_array_equal(moved, speaks[:, COLUMNS.index(head)], err_msg=head)


def test_the_vocabulary_does_not_learn():
    agent = agent_of()
    assert not agent.vocabulary.requires_grad
    assert agent.vocabulary.shape == (TINY.candidates, 40, 3)


def test_half_a_point_counts_as_none_in_two_columns_alone():
    halves = np.full((len(COLUMNS), 4), 0.5, np.float16)
    values = targets_of(halves).values
    for k, head in enumerate(HEADS[:-1]):
        zero = head in ("no_at_fault_collisions", "driving_direction_compliance")
        assert (values[k] == (0.0 if zero else 0.5)).all(), head


@pytest.mark.parametrize(
    ("value", "said"),
    [(1.5, "lane_keeping reaches 1.5"), (-0.25, "lane_keeping reaches -0.25"),
     (np.nan, "lane_keeping abstains for 1 of 4")],
)  # fmt: skip
def test_targets_that_cannot_be_learnt_are_refused(value, said):
    given = np.ones((len(COLUMNS), 4), np.float16)
    given[COLUMNS.index("lane_keeping"), 2] = value
    with pytest.raises(BadInput, match=said) as caught:
        targets_of(given, "token abc")
    assert caught.value.where == "token abc"
