"""Figures of training: ``python -m bench.train [--json] [--only NAME]``.

A step of the small agents over drawn scenes, one thread, and what share of it pictures would be if
they were read from the disk each time instead of being kept in memory. A step of the released
agents is counted, not run: its operations and what is held between forward and backward, from
shapes alone.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final
from unittest import mock

import numpy as np
import torch
from bench.figures import Figure, best, run
from PIL import Image
from torch.autograd.graph import saved_tensors_hooks
from torch.utils.flop_counter import FlopCounterMode

from navaudit.agent.features import Features, see
from navaudit.agent.model import Agent
from navaudit.agent.shapes import GTRS_DENSE, NARROW, SLIM, AgentShape
from navaudit.agent.slots import make_adam
from navaudit.train.examples import Example, collate
from navaudit.train.loss import Whole, terms, total
from navaudit.train.targets import METRICS, Targets

BATCH: Final = 16
PICTURE: Final = (270, 480)
"""Rows and columns of a camera of a quarter of its size."""
RELEASED_BATCH: Final = 432
RELEASED_PART: Final = 18
"""Of the experiments that continue the released agent."""
ATTENTION: Final = "torch.nn.functional.scaled_dot_product_attention"
GIB: Final = 1 << 30


def _drawn(shape: AgentShape) -> list[Example]:
    rng = np.random.default_rng(0)
    return [
        Example(
            Features("drawn", rng.integers(0, 256, (*shape.image, 3), np.uint8), np.ones(8, "f4")),
            Targets(
                rng.integers(0, 2, (len(METRICS), shape.candidates)).astype(np.float32),
                np.ones(len(METRICS), bool),
            ),
            rng.normal(0.0, 5.0, (8, 3)),
        )
        for _ in range(BATCH)
    ]


def _step_s(shape: AgentShape) -> float:
    """Seconds of a step of the optimizer, as the trainer takes it."""
    rng = np.random.default_rng(0)
    poses = rng.normal(0.0, 0.5, (shape.candidates, 40, 3)).cumsum(1).astype(np.float32)
    torch.manual_seed(0)
    agent, some = Agent(shape, torch.from_numpy(poses)).train(), _drawn(shape)
    adam = make_adam(agent, 1e-4)

    def step() -> None:
        adam.zero_grad(set_to_none=True)
        kept = torch.randperm(shape.candidates)[: shape.candidates // 2]
        image, status, asked = collate(some, kept, "cpu")
        logits = agent(image, status, kept)
        total(terms(logits, asked, agent.vocabulary[kept], Whole.of(asked.asked))).backward()
        adam.step()

    return best(step, 3)


def _pictures_s(shape: AgentShape) -> float:
    """Seconds in which the pictures of a batch are read, stitched and halved."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{k}.jpg" for k in range(3)]
        for path in paths:
            coarse = rng.integers(0, 256, (PICTURE[0] // 30, PICTURE[1] // 30, 3), np.uint8)
            Image.fromarray(np.kron(coarse, np.ones((30, 30, 1), np.uint8))).save(path)

        def read() -> None:
            for _ in range(BATCH):
                left, front, right = (np.array(Image.open(path)) for path in paths)
                see((left, front, right), shape.image)

        return best(read, 3)


def small_step() -> Figure:
    """Processor seconds of a training step of the small agents, and of reading its pictures."""
    torch.set_num_threads(1)
    rows: list[dict[str, Any]] = []
    for shape in (SLIM, NARROW):
        step, pictures = _step_s(shape), _pictures_s(shape)
        rows.append({
            "shape": shape.name, "seconds a step": step, "seconds a scene": step / BATCH,
            "reading pictures, s": pictures, "share of it": pictures / (step + pictures),
        })  # fmt: skip
    return Figure(
        "small_step",
        "seconds a training step of the slim agent takes",
        rows[0]["seconds a step"],
        f"batch {BATCH}, half of {SLIM.candidates:,} candidates, one thread",
        tuple(rows),
    )


def released_step() -> Figure:
    """Operations and memory of a step of GTRS-Dense, counted from shapes; nothing is computed."""
    rows = tuple(
        _counted(part, recompute) for part in (1, RELEASED_PART) for recompute in (False, True)
    )
    a_step = RELEASED_BATCH // RELEASED_PART * rows[-1]["TFLOP"]
    return Figure(
        "released_step",
        "TFLOP of a step of the optimizer",
        a_step,
        f"{RELEASED_BATCH} scenes in parts of {RELEASED_PART}, half of 16,384 candidates, "
        "the image encoder computed twice",
        rows,
    )


def _counted(part: int, recompute: bool) -> dict[str, Any]:
    """Forward and backward of some scenes at once, on tensors without numbers."""
    held: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        held[storage._cdata] = storage.nbytes()
        return tensor

    with torch.device("meta"):
        agent = Agent(GTRS_DENSE, torch.empty(GTRS_DENSE.candidates, 40, 3)).train()
        agent.encoder.recompute = recompute
        seen = torch.empty(part, 3, *GTRS_DENSE.image), torch.empty(part, 8)
        kept = torch.zeros(GTRS_DENSE.candidates // 2, dtype=torch.long)
        with mock.patch(ATTENTION, _attention_of_a_gpu), FlopCounterMode(display=False) as counter:
            with saved_tensors_hooks(keep, lambda tensor: tensor):
                logits = agent(*seen, kept)
            for one in agent.parameters():
                held.pop(one.untyped_storage()._cdata, None)
            torch.stack(list(logits.values())).sum().backward()
    own = sum(one.nbytes for one in agent.parameters())
    return {
        "scenes at once": part,
        "recompute": recompute,
        "TFLOP": counter.get_total_flops() / 1e12,
        "held GiB": sum(held.values()) / GIB,
        "weights, gradients, moments GiB": 4 * own / GIB,
    }


def _attention_of_a_gpu(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor
) -> torch.Tensor:
    """The kernel that CUDA takes in float32, which without a device would not be chosen."""
    kernel = torch.ops.aten._scaled_dot_product_efficient_attention
    seen: torch.Tensor = kernel(query, key, value, None, True)[0]
    return seen


FIGURES: Final = (small_step, released_step)


if __name__ == "__main__":
    run(__doc__, FIGURES)
