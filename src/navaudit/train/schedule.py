"""Which scenes and which candidates each step sees: a function of the seed, never of the arm.

An epoch is a permutation of the scenes, drawn from seed and epoch as a distributed sampler draws
it; its last batch may be short. Epochs are counted from the beginning of all training, so a
continued checkpoint goes on with the epoch after its own. At every step of the optimizer half of
the candidates are drawn, once for the whole batch, where the agent's training drops the others;
these draws begin with the run, since a checkpoint does not hold them. A digest over all draws so
far goes into the log: two runs with the same digests have seen the same.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import torch
from torch import Tensor

from navaudit.errors import BadInput


@dataclass(frozen=True, eq=False)
class Draw:
    """What one step sees."""

    step: int
    """From 0, of this run."""
    epoch: int
    """From 0, of all training."""
    batch: int
    """Steps of the epoch before this one."""
    last: bool
    """Whether the epoch ends with it."""
    rows: tuple[int, ...]
    """Scenes, by their place in the canonical order."""
    candidates: Tensor | None
    """int64 ``[candidate]``; None where all are seen."""


class Schedule:
    """Draws steps one after the other.

    ``state`` and ``digest`` are what it takes to go on elsewhere.
    """

    def __init__(
        self, scenes: int, batch: int, candidates: int | None, seed: int, epoch: int = 0
    ) -> None:
        """``candidates`` is None where none are dropped; ``epoch`` is the one to begin with."""
        if scenes < 1 or batch < 1:
            raise BadInput(
                f"{scenes} scenes in batches of {batch}", expected="at least one scene a batch"
            )
        self.scenes, self.batch, self.candidates, self.seed = scenes, batch, candidates, seed
        self.first = epoch
        self.step = 0
        self.digest = hashlib.sha256(b"").hexdigest()
        self._generator = torch.Generator().manual_seed(seed)
        self._order: tuple[int, tuple[int, ...]] = (-1, ())

    @property
    def steps_an_epoch(self) -> int:
        """Batches of an epoch, the short one counted."""
        return -(-self.scenes // self.batch)

    @property
    def state(self) -> Tensor:
        """State of the generator that draws candidates."""
        return self._generator.get_state()

    def go_on(self, step: int, state: Tensor, digest: str) -> None:
        """Take up the draws after ``step`` steps."""
        self.step, self.digest = step, digest
        self._generator.set_state(state)

    def draw(self) -> Draw:
        """Return what the next step sees."""
        epoch, batch = divmod(self.step, self.steps_an_epoch)
        epoch += self.first
        rows = self._epoch(epoch)[batch * self.batch : (batch + 1) * self.batch]
        kept = None
        if self.candidates is not None:
            drawn = torch.randperm(self.candidates, generator=self._generator)
            kept = drawn[: self.candidates // 2]
        made = Draw(self.step, epoch, batch, batch + 1 == self.steps_an_epoch, rows, kept)
        self._remember(made)
        self.step += 1
        return made

    def _epoch(self, epoch: int) -> tuple[int, ...]:
        if self._order[0] != epoch:
            # as a distributed sampler shuffles: by seed plus epoch
            generator = torch.Generator().manual_seed(self.seed + epoch)
            order = torch.randperm(self.scenes, generator=generator)
            self._order = (epoch, tuple(int(one) for one in order))
        return self._order[1]

    def _remember(self, made: Draw) -> None:
        sha = hashlib.sha256(bytes.fromhex(self.digest))
        sha.update(",".join(map(str, made.rows)).encode() + b";")
        if made.candidates is not None:
            sha.update(made.candidates.numpy().astype("<i8").tobytes())
        self.digest = sha.hexdigest()
