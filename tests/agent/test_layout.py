"""Names, shapes and order of the parameters: those of the released checkpoints, exactly."""

import hashlib
import json
from pathlib import Path

import pytest

from agent.needs import torch
from navaudit.agent.model import Agent
from navaudit.agent.shapes import GTRS_DENSE, HYDRA_MDP, NARROW
from navaudit.agent.slots import PREFIX, slots

SPEC = Path(__file__).parents[3] / "shared" / "spec" / "gtrs_dense_keys.json"
RELEASED = [GTRS_DENSE, HYDRA_MDP]

KEYS_SHA256 = "64edf0c7465a6fb7953beeb2ddaed8bec36c6a4cf0c4e140b0ae8cba1e706313"
ORDER_SHA256 = "71ccd64cd372c150aa3ea1462ce09582e1b69165183e5229269b29fec6039564"
"""Of the lines that `digest` makes of the released checkpoint's keys, and of its Adam order."""

UNUSED = ("_query_embedding", "_tf_decoder", "_agent_head", "_trajectory_head.vocab")


def bare(shape):
    """An agent without numbers: names and shapes alone."""
    with torch.device("meta"):
        return Agent(shape, torch.empty(shape.candidates, 40, 3))


@pytest.fixture(scope="module", params=RELEASED, ids=lambda shape: shape.name)
def released(request):
    return bare(request.param)


def keys_of(agent):
    parameters = dict(agent.named_parameters())
    return [
        {
            "key": PREFIX + name,
            "shape": list(value.shape),
            "dtype": str(value.dtype).removeprefix("torch."),
            "kind": "parameter" if name in parameters else "buffer",
            "requires_grad": name in parameters and parameters[name].requires_grad,
        }
        for name, value in agent.state_dict().items()
    ]


def order_of(agent):
    return [PREFIX + name for name in slots(agent)]


def digest(lines):
    return hashlib.sha256("\n".join(map(str, lines)).encode()).hexdigest()


def test_keys_are_the_released_ones(released):
    keys = keys_of(released)
    assert len(keys) == 797
    assert digest(list(one.values()) for one in keys) == KEYS_SHA256


def test_adam_counts_the_parameters_in_the_released_order(released):
    assert len(order_of(released)) == 500
    assert digest(order_of(released)) == ORDER_SHA256


@pytest.mark.skipif(not SPEC.is_file(), reason="the list of released keys is not at hand")
def test_digests_are_of_the_list_of_released_keys(released):
    spec = json.loads(SPEC.read_text())
    assert keys_of(released) == spec["keys"]
    assert order_of(released) == spec["adam_param_order"]
    assert digest(list(one.values()) for one in spec["keys"]) == KEYS_SHA256
    assert digest(spec["adam_param_order"]) == ORDER_SHA256


def test_counts_of_parameters(released):
    total = sum(one.numel() for one in released.parameters())
    learnt = sum(one.numel() for one in released.parameters() if one.requires_grad)
    encoder = sum(one.numel() for one in released.encoder.parameters())
    assert (total, learnt, encoder) == (82_951_502, 80_985_422, 69_523_520)


@pytest.mark.parametrize("shape", [GTRS_DENSE, NARROW], ids=lambda shape: shape.name)
def test_unused_parameters_and_the_vocabulary_alone_get_no_gradient(shape):
    agent = bare(shape)
    rows, columns = shape.image
    empty = torch.empty(1, 3, rows, columns, device="meta"), torch.empty(1, 8, device="meta")
    sum(one.sum() for one in agent(*empty).values()).backward()
    without = [name for name, one in agent.named_parameters() if one.grad is None]
    assert without == [name for name, _ in agent.named_parameters() if name.startswith(UNUSED)]
    assert len(without) == 62
    if shape is GTRS_DENSE:
        assert len(slots(agent)) - len(without) == 438
        assert [k for k, name in enumerate(slots(agent)) if name in without] == [1, *range(6, 67)]
