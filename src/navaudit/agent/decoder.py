"""Attention over candidates and image tokens, by modules that bear the names of the checkpoints.

Attention is PyTorch's scaled dot product. On a processor it never holds the scores of all pairs:
16,384 candidates look at each other in a few hundred megabytes.
"""

from __future__ import annotations

from torch import Tensor, empty, nn
from torch.nn import functional


def attend(query: Tensor, key: Tensor, value: Tensor, heads: int) -> Tensor:
    """Let each of ``[batch, asking, width]`` look at all of ``[batch, looked_at, width]``.

    Scores are scaled by one over the root of a head's width, and nothing is masked.
    """

    def split(x: Tensor) -> Tensor:
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)

    seen = functional.scaled_dot_product_attention(split(query), split(key), split(value))
    return seen.transpose(1, 2).flatten(2)


class Attention(nn.Module):
    """Multi-head attention whose three projections share one weight, as in ``torch.nn``."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(empty(3 * width, width))
        self.in_proj_bias = nn.Parameter(empty(3 * width))
        self.out_proj = nn.Linear(width, width)
        nn.init.xavier_uniform_(self.in_proj_weight)
        nn.init.zeros_(self.in_proj_bias)
        nn.init.zeros_(self.out_proj.bias)

    def forward(self, asking: Tensor, looked_at: Tensor) -> Tensor:
        """``[batch, asking, width]`` and ``[batch, looked_at, width]`` to the first's shape."""
        width = asking.shape[-1]
        weights = self.in_proj_weight.split((width, 2 * width))
        biases = self.in_proj_bias.split((width, 2 * width))
        query = functional.linear(asking, weights[0], biases[0])
        key, value = functional.linear(looked_at, weights[1], biases[1]).chunk(2, dim=-1)
        seen: Tensor = self.out_proj(attend(query, key, value, self.heads))
        return seen


class DecoderLayer(nn.Module):
    """Candidates look at each other, then at the image, then each at itself; no dropout."""

    def __init__(self, width: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.self_attn = Attention(width, heads)
        self.multihead_attn = Attention(width, heads)
        self.linear1 = nn.Linear(width, hidden)
        self.linear2 = nn.Linear(hidden, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm2 = nn.LayerNorm(width)
        self.norm3 = nn.LayerNorm(width)

    def among_themselves(self, x: Tensor) -> Tensor:
        """``[batch, candidate, width]`` to the same: the part that no image enters."""
        mixed: Tensor = self.norm1(x + self.self_attn(x, x))
        return mixed

    def before(self, x: Tensor, memory: Tensor) -> Tensor:
        """The rest: ``x`` as `among_themselves` gives it, ``memory`` ``[batch, token, width]``."""
        x = self.norm2(x + self.multihead_attn(x, memory))
        out: Tensor = self.norm3(x + self.linear2(functional.relu(self.linear1(x))))
        return out


class Decoder(nn.Module):
    """Layers one after the other, without a last normalization."""

    def __init__(self, width: int, heads: int, hidden: int, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(DecoderLayer(width, heads, hidden) for _ in range(layers))

    def begin(self, x: Tensor) -> Tensor:
        """The first layer's part that no image enters."""
        first = self.layers[0]
        assert isinstance(first, DecoderLayer)
        return first.among_themselves(x)

    def finish(self, begun: Tensor, memory: Tensor) -> Tensor:
        """Everything after `begin`; both have the same batch."""
        x = begun
        for k, layer in enumerate(self.layers):
            assert isinstance(layer, DecoderLayer)
            x = layer.before(x if k == 0 else layer.among_themselves(x), memory)
        return x

    def forward(self, x: Tensor, memory: Tensor) -> Tensor:
        """``[batch, candidate, width]`` and ``[batch, token, width]`` to the first's shape."""
        return self.finish(self.begin(x), memory)


class PlainAttention(nn.Module):
    """Self-attention of four projections without biases."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(width, width, bias=False)
        self.to_k = nn.Linear(width, width, bias=False)
        self.to_v = nn.Linear(width, width, bias=False)
        self.to_out = nn.Linear(width, width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """``[batch, candidate, width]`` to the same."""
        seen: Tensor = self.to_out(attend(self.to_q(x), self.to_k(x), self.to_v(x), self.heads))
        return seen


class VocabularyEncoder(nn.Module):
    """One layer in which the candidates look at each other before any image is seen.

    What a candidate becomes depends on which others are there.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.self_attn = PlainAttention(width, heads)
        self.linear1 = nn.Linear(width, 4 * width)
        self.linear2 = nn.Linear(4 * width, width)
        self.norm1 = nn.LayerNorm(width)
        self.norm3 = nn.LayerNorm(width)

    def forward(self, x: Tensor) -> Tensor:
        """``[batch, candidate, width]`` to the same."""
        x = self.norm1(x + self.self_attn(x))
        out: Tensor = self.norm3(x + self.linear2(functional.relu(self.linear1(x))))
        return out
