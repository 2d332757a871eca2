"""The stock agent's own numbers, on a narrow head with drawn weights."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.drawn import TINY
from agent.needs import torch
from navaudit.agent.heads import TrajectoryHead
from navaudit.agent.loops import Progress, loops_of
from navaudit.agent.planning import choose
from navaudit.axes import HEADS

GOLDEN = Path(__file__).parents[1] / "golden" / "agent"
SHAPE = replace(TINY, width=16, heads=2, hidden=32, layers=2, candidates=24)


@pytest.fixture(scope="module")
def stock():
    with np.load(GOLDEN / "trajectory_head.npz") as file:
        return {name: torch.from_numpy(file[name]) for name in file.files}


@pytest.fixture(scope="module")
def head(stock):
    state = {
        name.removeprefix("state."): one for name, one in stock.items() if "state." in name[:6]
    }
    made = TrajectoryHead(SHAPE, torch.zeros(24, 40, 3))
    made.load_state_dict(state)
    return made


def logits_of(head, stock, drawn=None):
    return head(stock["tokens"], stock["status"], head.embed(drawn))


def test_weights_of_the_stock_head_are_all_of_ours(stock, head):
    names = [name.removeprefix("state.") for name in stock if name.startswith("state.")]
    assert names == list(head.state_dict())


@pytest.mark.parametrize("drawn", [False, True], ids=["all", "drawn"])
def test_logits_are_those_of_the_stock_head(stock, head, drawn):
    """Of all candidates, and of those that it drew in training, in the order of its draw."""
    with torch.no_grad():
        found = logits_of(head, stock, stock["drawn"] if drawn else None)
    wanted = stock["drawn_logits" if drawn else "logits"]
    assert len(stock["drawn"]) == 12
    for k, name in enumerate(HEADS):
        torch.testing.assert_close(found[name], wanted[:, k], rtol=0, atol=2e-6)


def test_choices_are_those_of_the_stock_head(stock):
    logits = {name: stock["logits"][:, k] for k, name in enumerate(HEADS)}
    assert choose(logits).tolist() == stock["chosen"].tolist()
    assert len(set(stock["chosen"].tolist())) > 1


LOOPS = json.loads((GOLDEN / "loops.json").read_text())


def without(loops, *path):
    """The same loops without what validation left in them, since we do not validate."""
    for name in path[:-1]:
        loops = loops[name]
    del loops[path[-1]]


@pytest.mark.parametrize("epoch", [0, 1])
def test_loops_are_those_that_lightning_writes(epoch):
    step = 3 * (epoch + 1)
    theirs = json.loads(json.dumps(LOOPS[f"epoch {epoch}, step {step}"]))
    ours = json.loads(json.dumps(loops_of(Progress(epoch, step, 3, last=True))))
    for loops in (theirs, ours):
        without(loops, "fit_loop", "epoch_loop.val_loop.batch_progress")
    # a loop that never ran has one entry more in ours, which is read and not missed
    without(ours, "predict_loop", "batch_progress", "is_last_batch")
    assert ours == theirs
