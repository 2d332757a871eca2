"""Seeded streams of chance: every part of the town draws from its own."""

from __future__ import annotations

import math
from typing import Final

import numpy as np

STREAMS: Final = ("streets", "scenery", "plan", "drive", "names", "vocabulary")
"""Who draws; a part's stream does not move when another part draws more or less."""


def stream(seed: int, part: str, *index: int) -> np.random.Generator:
    """Return the stream of one part of the town, or of its ``index``-th piece.

    Examples
    --------
    >>> one, same = stream(7, "drive", 3), stream(7, "drive", 3)
    >>> int(one.integers(1000)) == int(same.integers(1000))
    True
    """
    key = (STREAMS.index(part), *index)
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=key)))


def bell(rng: np.random.Generator, spread: float) -> float:
    """Draw from a bell of the given standard deviation, never beyond 3.5 of them.

    Four uniform draws are added: no logarithm of the platform's own enters.
    """
    return float(sum(rng.random(4).tolist(), -2.0) * math.sqrt(3.0) * spread)


def token(rng: np.random.Generator) -> str:
    """Draw sixteen hexadecimal digits."""
    return rng.bytes(8).hex()
