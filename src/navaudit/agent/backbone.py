"""The image encoder: a V2 network with effective squeeze-and-excitation in every block.

Modules bear the names of the released checkpoints, which are also those of DD3D.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from navaudit.agent.shapes import BackboneShape


class SettledNorm(nn.BatchNorm2d):
    """Normalizes by its stored statistics, in training too; its scale and shift do learn."""

    def __init__(self, channels: int) -> None:
        super().__init__(channels)
        self.training = False

    def train(self, mode: bool = True) -> SettledNorm:
        """Stay as in evaluation."""
        super().train(False)
        return self


class Excitation(nn.Module):
    """Weighs channels by a hard sigmoid of a linear function of their means."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.fc = nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        """``[batch, channel, row, column]`` to the same."""
        gate: Tensor = self.fc(x.mean((2, 3), keepdim=True))
        return x * (functional.relu6(gate + 3.0) / 6.0)


def _add_unit(
    into: nn.Sequential, name: str, channels: tuple[int, int], kernel: int, stride: int = 1
) -> None:
    """Append a convolution, its normalization and a rectifier."""
    into.add_module(
        f"{name}/conv",
        nn.Conv2d(*channels, kernel, stride=stride, padding=kernel // 2, bias=False),
    )
    into.add_module(f"{name}/norm", SettledNorm(channels[1]))
    into.add_module(f"{name}/relu", nn.ReLU(inplace=True))


def _unit(name: str, channels: tuple[int, int], kernel: int) -> nn.Sequential:
    unit = nn.Sequential()
    _add_unit(unit, name, channels, kernel)
    return unit


class Block(nn.Module):
    """One-shot aggregation: all layers' outputs are joined once, at the end."""

    def __init__(self, name: str, channels: tuple[int, int, int], layers: int, first: bool) -> None:
        super().__init__()
        into, inner, outer = channels
        self.first = first
        widths = [into] + [inner] * layers
        self.layers = nn.ModuleList(
            _unit(f"{name}_{k}", (widths[k], inner), 3) for k in range(layers)
        )
        self.concat = _unit(f"{name}_concat", (sum(widths), outer), 1)
        self.ese = Excitation(outer)

    def forward(self, x: Tensor) -> Tensor:
        """``[batch, channel, row, column]`` to ``outer`` channels of the same rows and columns."""
        outputs = [x]
        for layer in self.layers:
            outputs.append(layer(outputs[-1]))
        joined: Tensor = self.ese(self.concat(torch.cat(outputs, 1)))
        return joined if self.first else joined + x


class VoVNet(nn.Module):
    """The encoder: RGB images in [0, 1], without any further normalization, to feature maps."""

    def __init__(self, shape: BackboneShape) -> None:
        super().__init__()
        self.recompute = False
        """Whether training computes blocks again instead of keeping what is in them."""
        self.stem = nn.Sequential()
        widths = (3, *shape.stem)
        for k, stride in enumerate((2, 1, 2)):
            _add_unit(self.stem, f"stem_{k + 1}", (widths[k], widths[k + 1]), 3, stride)
        into = shape.stem[-1]
        for stage, (inner, outer, blocks) in enumerate(
            zip(shape.inner, shape.outer, shape.blocks, strict=True), start=2
        ):
            self.add_module(
                f"stage{stage}", _stage(stage, (into, inner, outer), blocks, shape.layers)
            )
            into = outer
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight)

    def forward(self, images: Tensor) -> Tensor:
        """``[batch, RGB, row, column]`` to the last stage's ``[batch, channel, row, column]``."""
        *_, last = self.stages(images)
        return last

    def stages(self, images: Tensor) -> Iterator[Tensor]:
        """Give the output of each stage, at a quarter, 1/8, 1/16 and 1/32 of the size."""
        # its first weights came from a network that saw blue first
        x: Tensor = self.stem(images[:, [2, 1, 0]])
        for stage in list(self.children())[1:]:
            for part in stage.children():
                if self.recompute and self.training and isinstance(part, Block):
                    x = checkpoint(part, x, use_reentrant=False)
                else:
                    x = part(x)
            yield x


def _stage(stage: int, channels: tuple[int, int, int], blocks: int, layers: int) -> nn.Sequential:
    into, inner, outer = channels
    parts = nn.Sequential()
    if stage > 2:
        parts.add_module("Pooling", nn.MaxPool2d(3, stride=2, ceil_mode=True))
    for k in range(blocks):
        name = f"OSA{stage}_{k + 1}"
        widths = (into if k == 0 else outer, inner, outer)
        parts.add_module(name, Block(name, widths, layers, first=k == 0))
    return parts


@torch.no_grad()
def settle(encoder: VoVNet, images: Tensor) -> None:
    """Set every normalization's statistics to those of some images, once, layer after layer.

    For an encoder that starts from drawn weights: its statistics never move in training, and the
    initial zeros and ones would leave its layers far from any scale.
    """
    norms = [one for one in encoder.modules() if isinstance(one, SettledNorm)]
    momenta = [one.momentum for one in norms]
    for one in norms:
        one.training, one.momentum = True, 1.0
    try:
        encoder(images)
    finally:
        for one, momentum in zip(norms, momenta, strict=True):
            one.training, one.momentum = False, momentum
