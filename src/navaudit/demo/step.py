"""What a demonstration is made of: its size, its steps, and what a step is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from navaudit.labels.labelset import LabelSet
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import Vocabulary, read_vocabulary

Facts = dict[str, Any]
Say = Callable[[str, int, int], None]
"""Told what is being done, how much is done, and how much there will be."""

NARROW: Final = 1_024
"""Candidates of the agent's own vocabulary."""


@dataclass(frozen=True)
class Settings:
    """How large a demonstration is."""

    scenes: int = 96
    seed: int = 7
    vocabulary: int = 16_384
    again: tuple[int, int] = (8, 512)
    """Scenes and candidates whose labels are made again under other kernels."""
    kernels: tuple[str, ...] = ("default", "haswell", "skylakex")
    """The reference first."""
    repeats: int = 1
    """Further runs under every kernel."""
    browsed: int = 10
    """Scenes that the page lets a person look at."""
    resamples: int = 10_000
    """Of the logs, for intervals."""
    base_steps: int = 400
    """Of the agent that every arm continues."""
    arm_steps: int = 200
    batch: int = 16
    rate: float = 2e-3
    seeds: tuple[int, ...] = (0, 1)

    @classmethod
    def quick(cls, scenes: int, seed: int) -> Settings:
        """A demonstration that shows how everything goes together, and nothing about agents."""
        return cls(
            scenes=scenes,
            seed=seed,
            vocabulary=2_048,
            again=(1, 64),
            kernels=("default", "haswell"),
            repeats=0,
            browsed=3,
            resamples=500,
            base_steps=3,
            arm_steps=2,
            batch=4,
        )


@dataclass(frozen=True)
class Demo:
    """What a step is given."""

    folder: Path
    settings: Settings
    workers: int
    """Processes; they decide no number."""
    say: Say

    def at(self, name: str) -> Path:
        """Return the place of a thing in the folder."""
        return self.folder / name

    @property
    def vocabulary_file(self) -> Path:
        """The town's own vocabulary."""
        return self.folder / "town" / f"vocabulary_{self.settings.vocabulary}.npy"

    def vocabulary(self) -> Vocabulary:
        """Read the town's own vocabulary."""
        return read_vocabulary(self.vocabulary_file)

    def scenes(self) -> SceneSet:
        """Open the scenes."""
        return SceneSet.open(self.folder / "scenes")

    def labels(self) -> LabelSet:
        """Open the labels of the town's own vocabulary."""
        return LabelSet.open(self.folder / "labels")


@dataclass(frozen=True)
class Step:
    """One step of the demonstration."""

    name: str
    tells: str
    """What it does, as a person reads it while waiting."""
    work: Callable[[Demo], Facts]
    cost_s: Callable[[Settings], float]
    """Roughly how long it takes on two cores."""
    leaves: tuple[str, ...] = ()
    """What it leaves in the folder; the first is where to look."""
    learns: bool = False
    """Whether it takes torch."""
