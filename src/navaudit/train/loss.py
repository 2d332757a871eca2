"""The loss of the released agents: seven weighted cross-entropies, and likeness to the human.

Every term is a mean over what it reads in the whole batch of an optimizer step, however many parts
the batch is computed in: parts add up to the batch. A head's term reads the scenes that ask it; it
is zero where none does, and its head then has a gradient of zero. The imitation term and the total
are float64, since the human's trajectory is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import torch
import torch.nn.functional as F  # noqa: N812 - as torch is read
from torch import Tensor

from navaudit.axes import HEADS
from navaudit.train.targets import METRICS

WEIGHTS: Final = {
    "no_at_fault_collisions": 3.0,
    "drivable_area_compliance": 3.0,
    "time_to_collision_within_bound": 4.0,
    "ego_progress": 2.0,
    "driving_direction_compliance": 1.0,
    "lane_keeping": 2.0,
    "traffic_light_compliance": 3.0,
    "imi": 1.0,
}
"""Of each term, as released."""

SPREAD: Final = 0.5
"""Divides squared differences to the human, metres and radians alike."""

HUMAN_EVERY: Final = 5
"""Poses of a candidate from one pose of the human to the next: 2 Hz in 10 Hz."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What is asked of a batch, or of a part of one."""

    values: Tensor
    """``[scene, head, candidate]`` float32."""
    asked: Tensor
    """``[scene, head]`` bool."""
    human: Tensor
    """``[scene, 8, 3]`` float64: x_m, y_m, heading_rad in the ego's frame."""


@dataclass(frozen=True)
class Whole:
    """How much the terms read in the whole batch that a part belongs to."""

    scenes: int
    asking: tuple[int, ...]
    """``[head]``: scenes that ask it."""

    @classmethod
    def of(cls, asked: Tensor) -> Whole:
        """Count the scenes of a batch: ``asked`` is bool ``[scene, head]``."""
        return cls(len(asked), tuple(int(one) for one in asked.sum(dim=0)))


def terms(
    logits: dict[str, Tensor], asked: Asked, poses: Tensor, whole: Whole
) -> dict[str, Tensor]:
    """Return the terms by head, without their weights.

    ``logits`` are ``[scene, candidate]`` by head, ``poses`` float32 ``[candidate, 40, 3]`` of the
    same candidates.
    """
    found = {
        name: _entropy(logits[name], asked.values[:, k], asked.asked[:, k], whole.asking[k])
        for k, name in enumerate(METRICS)
    }
    found[HEADS[-1]] = _imitation(logits[HEADS[-1]], poses, asked.human, whole.scenes)
    return found


def total(found: dict[str, Tensor]) -> Tensor:
    """Add the weighted terms up, in the order of the heads: float64, no axes."""
    parts = [WEIGHTS[name] * found[name].double() for name in HEADS]
    return torch.stack(parts).sum()


def _entropy(logits: Tensor, values: Tensor, asked: Tensor, asking: int) -> Tensor:
    """Mean cross-entropy over the entries of the scenes that ask, as this part's share of it."""
    if asking == 0:
        # no scene of the batch asks; the head takes part with nothing
        return (logits * 0.0).sum()
    every = F.binary_cross_entropy_with_logits(logits[asked], values[asked], reduction="sum")
    return every / (asking * logits.shape[1])


def _imitation(logits: Tensor, poses: Tensor, human: Tensor, scenes: int) -> Tensor:
    """Cross-entropy against a softmax of nearness to the human, as this part's share of it."""
    with torch.no_grad():
        sampled = poses[:, HUMAN_EVERY - 1 :: HUMAN_EVERY]
        # candidate by candidate, the squares summed over times and coordinates
        apart = ((sampled[None] - human[:, None]) ** 2).sum(dim=(2, 3))
        wanted = torch.softmax(-apart / SPREAD, dim=1)
    return -(wanted * torch.log_softmax(logits, dim=1)).sum() / scenes
