"""The order in which the optimizer of the released agents counts parameters.

A checkpoint keeps Adam's moments by number alone, so the numbers must mean the same everywhere:
first everything but the image encoder, then the image encoder, each in the order of the modules.
"""

from __future__ import annotations

from typing import Final

from torch import nn
from torch.optim import Adam

PREFIX: Final = "agent.model."
"""What the names of parameters begin with in a checkpoint."""

ENCODER: Final = "_backbone.image_encoder"


def groups(agent: nn.Module) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the parameters of Adam's two groups, the frozen vocabulary among the first."""
    names = [name for name, _ in agent.named_parameters()]
    return (
        tuple(name for name in names if ENCODER not in name),
        tuple(name for name in names if ENCODER in name),
    )


def slots(agent: nn.Module) -> tuple[str, ...]:
    """Names of the parameters by Adam's number."""
    first, second = groups(agent)
    return first + second


def make_adam(agent: nn.Module, rate: float) -> Adam:
    """Adam as the released agents were trained with, over two groups of one rate.

    Betas are 0.9 and 0.999, epsilon 1e-8, and nothing decays. Parameters that get no gradient keep
    their number and no moments.
    """
    named = dict(agent.named_parameters())
    return Adam(
        [
            {"params": [named[name] for name in group], "lr": rate, "weight_decay": 0.0}
            for group in groups(agent)
        ],
        lr=rate,
        betas=(0.9, 0.999),
        eps=1e-8,
    )
