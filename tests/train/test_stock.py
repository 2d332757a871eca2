"""The stock loss, on the stock head's own logits: every term, the total, and the gradients."""

import numpy as np
import pytest

from agent.needs import torch
from agent.test_stock import GOLDEN, SHAPE
from navaudit.agent.heads import TrajectoryHead
from navaudit.axes import HEADS
from navaudit.train.loss import WEIGHTS, Asked, Whole, terms, total
from navaudit.train.targets import targets_of


@pytest.fixture(scope="module")
def stock():
    with np.load(GOLDEN / "trajectory_head.npz") as file:
        return {name: file[name] for name in file.files}


def loss_of(stock, logits, rows):
    """Terms and total of some scenes, as parts of the whole batch."""
    targets = [targets_of(one) for one in stock["labels"]]
    asked = torch.from_numpy(np.stack([one.asked for one in targets]))
    values = torch.from_numpy(np.stack([one.values for one in targets]))[:, :, stock["drawn"]]
    poses = torch.from_numpy(stock["state.vocab"][stock["drawn"]])
    part = Asked(values[rows], asked[rows], torch.from_numpy(stock["human"])[rows])
    found = terms(logits, part, poses, Whole.of(asked))
    return found, total(found)


@pytest.mark.parametrize("parts", [[[0, 1, 2]], [[0], [1, 2]], [[2], [0], [1]]])
def test_the_loss_is_that_of_the_stock_code(stock, parts):
    drawn = torch.from_numpy(stock["drawn_logits"])
    found, whole = dict.fromkeys(HEADS, 0.0), 0.0
    for rows in parts:
        logits = {name: drawn[rows, k] for k, name in enumerate(HEADS)}
        of_part, one = loss_of(stock, logits, rows)
        assert one.dtype == torch.float64
        whole += float(one)
        for name in HEADS:
            found[name] += WEIGHTS[name] * float(of_part[name])
    assert [found[name] for name in HEADS] == pytest.approx(stock["terms"].tolist(), rel=1e-6)
    assert whole == pytest.approx(float(stock["total"]), rel=1e-6)
    # halves are there to be mistaken
    assert (stock["labels"][:, [0, 2]] == 0.5).any(axis=(0, 2)).all()


def test_gradients_are_those_of_the_stock_code(stock):
    head = TrajectoryHead(SHAPE, torch.zeros(24, 40, 3))
    state = {name: one for name, one in stock.items() if name.startswith("state.")}
    head.load_state_dict(
        {name.removeprefix("state."): torch.from_numpy(one) for name, one in state.items()}
    )
    tokens, status = (torch.from_numpy(stock[name]) for name in ("tokens", "status"))
    _, loss = loss_of(
        stock, head(tokens, status, head.embed(torch.from_numpy(stock["drawn"]))), [0, 1, 2]
    )
    loss.backward()
    parameters = dict(head.named_parameters())
    wanted = {name: one for name, one in stock.items() if name.startswith("grad.")}
    assert len(wanted) == 14
    # what cancels in a softmax leaves the rounding of numbers as large as the largest
    noise = 1e-6 * max(float(np.linalg.norm(one)) for one in wanted.values())
    for name, one in wanted.items():
        found = parameters[name.removeprefix("grad.")].grad
        theirs = torch.from_numpy(one)
        assert float((found - theirs).norm()) <= 1e-5 * float(theirs.norm()) + noise, name
