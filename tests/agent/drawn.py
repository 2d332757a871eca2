"""Small agents with drawn weights, and scenes that nobody drove."""

from dataclasses import replace

import numpy as np

from agent.needs import torch
from navaudit.agent.model import Agent
from navaudit.agent.shapes import NARROW, BackboneShape

TINY = replace(
    NARROW,
    name="tiny",
    backbone=BackboneShape((4, 4, 8), (4, 4, 8, 8), (8, 8, 16, 16), (1, 2, 1, 1), 2),
    image=(32, 128),
    candidates=24,
    width=16,
    hidden=12,
    queries=3,
)


def paths(count, seed=0):
    rng = np.random.default_rng(seed)
    return torch.from_numpy(rng.normal(0, 5, (count, 40, 3)).cumsum(1).astype(np.float32) / 10)


def agent_of(shape=TINY, seed=0):
    torch.manual_seed(seed)
    return Agent(shape, paths(shape.candidates, seed))


def scenes_of(shape=TINY, count=2, seed=0):
    rng = torch.Generator().manual_seed(seed)
    image = torch.rand(count, 3, *shape.image, generator=rng)
    return image, torch.randn(count, 8, generator=rng)
