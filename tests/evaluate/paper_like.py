"""Runs with the paper's arms and seeds, drawn at random."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evaluate.small import random_components, random_human, scored, token
from navaudit.evaluate.pairs import Pairs, Source

COUNT, LOGS, RESAMPLES = 60, 7, 50
TOKENS = [token(row) for row in range(COUNT)]
RUNS = ("A0", "A1", "A2", "M0", "M1", "M2", "P0", "P1", "P2", "L0", "released")
ARMS = {
    "A": {0: "A0", 1: "A1", 2: "A2"},
    "M": {0: "M0", 1: "M1", 2: "M2"},
    "P": {0: "P0", 1: "P1", 2: "P2"},
    "L": {0: "L0"},
}
PAIRS = (("P", "A"), ("M", "A"), ("L", "A"), ("A0", "released"))


def paper_like(seed, names=RUNS):
    """Runs with the paper's arms, drawn at random, on the same humans and logs."""
    random = np.random.default_rng(seed)
    logs = [f"log{log}" for log in np.sort(random.integers(0, LOGS, COUNT))]
    human = random_human(random, COUNT)
    has_comfort = random.random(COUNT) < 0.8
    runs = []
    for name in names:
        comfort = np.where(has_comfort, (random.random(COUNT) < 0.6) * 1.0, np.nan)
        components, distance = random_components(random, COUNT), random.random((COUNT, 3))
        runs.append(scored(name, TOKENS, logs, components, comfort, human, distance))
    return runs


def pairs_of(names=RUNS, pairs=PAIRS, arms=ARMS, **more):
    sources = tuple(Source(name, Path(name)) for name in names)
    return Pairs(sources, pairs, arms, resamples=RESAMPLES, seed=5, prefix="rt", **more)
