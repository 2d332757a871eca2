"""The trajectory head: candidates become embeddings, look at the image, and are scored."""

from __future__ import annotations

from torch import Tensor, nn

from navaudit.agent.decoder import Decoder, VocabularyEncoder
from navaudit.agent.shapes import AgentShape
from navaudit.axes import HEADS, POSES

IMITATION = HEADS[-1]


class TrajectoryHead(nn.Module):
    """Scores every candidate by eight heads: seven metrics, and likeness to the human."""

    def __init__(self, shape: AgentShape, poses: Tensor) -> None:
        super().__init__()
        width, hidden = shape.width, shape.hidden
        self.vocab = nn.Parameter(poses, requires_grad=False)
        self.transformer = Decoder(width, shape.heads, hidden, shape.layers)
        self.heads = nn.ModuleDict({name: _head(name, width, hidden) for name in HEADS})
        self.encoder = VocabularyEncoder(width, shape.heads)
        self.pos_embed = nn.Sequential(
            nn.Linear(POSES * 3, hidden), nn.ReLU(), nn.Linear(hidden, width)
        )

    def embed(self, candidates: Tensor | None = None) -> Tensor:
        """Everything about these candidates that no image enters: ``[1, candidate, width]``."""
        poses = self.vocab if candidates is None else self.vocab[candidates]
        embedded: Tensor = self.encoder(self.pos_embed(poses.flatten(1))[None])
        return self.transformer.begin(embedded)

    def forward(self, tokens: Tensor, status: Tensor, embedded: Tensor) -> dict[str, Tensor]:
        """Logits ``[batch, candidate]`` by head.

        ``tokens [batch, token, width]`` of the image, ``status [batch, width]`` encoded, and
        ``embedded`` as `embed` gives it.
        """
        begun = embedded.expand(len(tokens), -1, -1)
        seen = self.transformer.finish(begun, tokens) + status[:, None]
        return {name: head(seen).squeeze(-1) for name, head in self.heads.items()}


def _head(name: str, width: int, hidden: int) -> nn.Sequential:
    inner = [nn.Linear(hidden, hidden), nn.ReLU()] if name == IMITATION else []
    return nn.Sequential(nn.Linear(width, hidden), nn.ReLU(), *inner, nn.Linear(hidden, 1))
