"""The agent: GTRS-Dense and Hydra-MDP, or anything narrower of the same build.

::

    agent = Agent(shape, poses)
    logits = agent(image, status)                all candidates
    logits = agent(image, status, candidates)    a subset of them, as vocabulary dropout draws it

``shape`` is an `AgentShape`, ``poses`` the float32 vocabulary ``[candidate, 40, 3]``, ``image``
float32 ``[batch, RGB, row, column]`` in [0, 1], and ``status`` float32 ``[batch, 8]``; `batch`
makes the last two from features. ``candidates`` is int64 ``[candidate]``, rows of the vocabulary,
one set for the whole batch. ``logits`` is a dictionary by head, in the order of ``axes.HEADS``:
seven metrics before their sigmoid and ``imi`` before its softmax, each float32
``[batch, candidate]``, with columns in the order of ``candidates``.

What a candidate scores depends on which others are there. What no image enters is computed once for
the batch; `Agent.embed` gives it, to be handed to many calls while the weights stay the same::

    with torch.no_grad():
        embedded = agent.embed()
        for image, status in batches:
            logits = agent(image, status, embedded=embedded)

That changes no bit. Nothing here draws random numbers after construction, and ``train()`` and
``eval()`` compute the same: drawing candidates is the trainer's, normalizations never move, and
there is no dropout. Keys of ``state_dict()`` are those of a checkpoint without ``agent.model.``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from navaudit.agent.backbone import VoVNet
from navaudit.agent.decoder import Decoder
from navaudit.agent.features import Features
from navaudit.agent.heads import TrajectoryHead
from navaudit.agent.shapes import STATUS, AgentShape
from navaudit.axes import POSES
from navaudit.errors import BadInput

BOX_STATES = 5


class _AgentHead(nn.Module):
    """Boxes of other cars: in every checkpoint, and never computed."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self._mlp_states = nn.Sequential(
            nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, BOX_STATES)
        )
        self._mlp_label = nn.Sequential(nn.Linear(width, 1))


class Agent(nn.Module):
    """Looks at a scene and scores every candidate."""

    def __init__(self, shape: AgentShape, poses: Tensor) -> None:
        super().__init__()
        if poses.dtype != torch.float32 or tuple(poses.shape) != (shape.candidates, POSES, 3):
            raise BadInput(
                f"the vocabulary is {poses.dtype} of shape {tuple(poses.shape)}",
                expected=f"float32 of shape {(shape.candidates, POSES, 3)}",
                remedy="give the agent the vocabulary that its shape counts",
            )
        self.shape = shape
        width = shape.width
        self._backbone = nn.ModuleDict({"image_encoder": VoVNet(shape.backbone)})
        self._keyval_embedding = nn.Embedding(shape.image_tokens, width)
        self._query_embedding = nn.Embedding(shape.queries, width)
        self.downscale_layer = nn.Conv2d(shape.backbone.outer[-1], width, 1)
        self._status_encoding = nn.Linear(STATUS, width)
        self._tf_decoder = Decoder(width, shape.heads, shape.hidden, shape.layers)
        self._agent_head = _AgentHead(width, shape.hidden)
        self._trajectory_head = TrajectoryHead(shape, poses)

    @property
    def encoder(self) -> VoVNet:
        """What looks at the image."""
        encoder = self._backbone["image_encoder"]
        assert isinstance(encoder, VoVNet)
        return encoder

    @property
    def vocabulary(self) -> Tensor:
        """``[candidate, 40, 3]``: the candidates' poses."""
        return self._trajectory_head.vocab

    def embed(self, candidates: Tensor | None = None) -> Tensor:
        """Everything about these candidates that no image enters: ``[1, candidate, width]``."""
        return self._trajectory_head.embed(candidates)

    def forward(
        self,
        image: Tensor,
        status: Tensor,
        candidates: Tensor | None = None,
        embedded: Tensor | None = None,
    ) -> dict[str, Tensor]:
        """Logits ``[batch, candidate]`` by head; see the module's own words."""
        if embedded is None:
            embedded = self.embed(candidates)
        logits: dict[str, Tensor] = self._trajectory_head(
            self._look(image), self._status_encoding(status), embedded
        )
        return logits

    def _look(self, image: Tensor) -> Tensor:
        """Image tokens ``[batch, token, width]``, row by row, each with where it is."""
        if tuple(image.shape[1:]) != (3, *self.shape.image):
            raise BadInput(
                f"the images have shape {tuple(image.shape)}",
                expected=f"(batch, 3, {self.shape.image[0]}, {self.shape.image[1]})",
            )
        seen: Tensor = self.downscale_layer(self.encoder(image))
        return seen.flatten(2).transpose(1, 2) + self._keyval_embedding.weight


def batch(
    features: Sequence[Features], device: torch.device | str = "cpu"
) -> tuple[Tensor, Tensor]:
    """Stack features into ``image [batch, RGB, row, column]`` and ``status [batch, 8]``."""
    pixels = torch.from_numpy(np.stack([one.image for one in features])).to(device)
    status = torch.from_numpy(np.stack([one.status for one in features])).to(device)
    return pixels.permute(0, 3, 1, 2).contiguous().to(torch.float32).div(255.0), status
