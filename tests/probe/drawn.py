"""Logits and labels drawn by chance, on disk in the house's own stores."""

from dataclasses import dataclass

import numpy as np

from audit.labels import write_set
from navaudit.agent.logit_draft import writing
from navaudit.agent.logit_store import LogitStore
from navaudit.axes import DAC, DDC, HEAD_COLUMNS, HEADS, LK


@dataclass(frozen=True)
class World:
    """``raw [token, column, candidate]``, ``human [token, column]``, ``logits`` by head."""

    raw: np.ndarray
    human: np.ndarray
    logits: np.ndarray

    @property
    def tokens(self):
        return tuple(f"token-{place:04d}" for place in range(len(self.raw)))


def draw(seed=0, scenes=90, candidates=40, kept=0.4, pull=2.0, step=0.5):
    """Heads know their columns by ``pull``, and by ``kept`` times as much where they were forgiven.

    Logits are multiples of ``step``, so that they tie. Scene 0 to 3 hold a single candidate that
    passes, and a single one that fails lane keeping; 4 to 7 constant columns; 8 constant drivable
    area; driving direction has halves.
    """
    random = np.random.default_rng(seed)
    shares = random.beta(1.5, 1.5, (scenes, 9, 1))
    raw = (random.random((scenes, 9, candidates)) < shares).astype(np.float16)
    halves = random.random((scenes, candidates)) < 0.2
    raw[:, DDC][halves] = 0.5
    human = np.where(random.random((scenes, 9)) < 0.35, 0.0, 1.0)
    human[:, DAC] = 1.0
    raw[0:8, LK] = 0.0
    raw[0:2, LK, 3] = 1.0
    raw[2:4, LK] = 1.0
    raw[2:4, LK, 5] = 0.0
    raw[4:6, LK] = 1.0
    human[0:8, LK] = np.tile([0.0, 1.0], 4)
    raw[8, DAC] = 1.0
    human[8, LK] = 0.0
    logits = random.normal(size=(scenes, len(HEADS), candidates))
    for head, column in enumerate(HEAD_COLUMNS):
        knows = np.where(human[:, column] == 0.0, kept * pull, pull)
        logits[:, head] += knows[:, None] * raw[:, column]
    return World(raw, human, (np.round(logits / step) * step).astype(np.float32))


def write_logits(folder, tokens, logits, **settings):
    scenes = [(token, "log") for token in tokens]
    with writing(folder, settings, {}, scenes, logits.shape[2]) as draft:
        for shard in draft.left():
            rows = draft.rows(shard)
            draft.add(shard, [logits[row] for row in rows], [""] * len(rows), [])
        draft.close()
    return LogitStore.open(folder)


def write(folder, world):
    """The world's logits and labels, in the folders ``logits`` and ``labels``."""
    labels = write_set(folder / "labels", world.raw, world.human)
    return write_logits(folder / "logits", world.tokens, world.logits), labels
