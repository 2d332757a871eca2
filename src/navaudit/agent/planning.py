"""From logits to a plan: the inference rule of the released agents.

Everything is float32, in the order in which the stock code adds it up
(navsim/agents/gtrs_dense/hydra_model.py:264): the logarithm is taken of the sigmoid, so logits of
-89 and below give minus infinity, which loses against everything.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from navaudit.agent.logit_store import LogitStore
from navaudit.agent.logits import Job, Say, make_logits, vocabulary_of
from navaudit.agent.predictions import Prediction, write_predictions
from navaudit.axes import HEADS
from navaudit.errors import BadInput
from navaudit.provenance import digest_file
from navaudit.scene.logfile import Failure
from navaudit.scene.whole import put

WEIGHTS: Final = (
    ("imi", 0.03),
    ("traffic_light_compliance", 0.1),
    ("no_at_fault_collisions", 0.1),
    ("drivable_area_compliance", 0.9),
    ("driving_direction_compliance", 0.2),
)
"""Of the logarithms, in the order of their sum."""

MEAN: Final = (
    ("time_to_collision_within_bound", 7.0),
    ("ego_progress", 7.0),
    ("lane_keeping", 3.0),
)
"""Of the sigmoids within the last logarithm, in the order of their sum."""

MEAN_WEIGHT: Final = 6.0


def log_heads(logits: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Logarithms of what the heads say: of the sigmoid, and of the softmax of ``imi``.

    In and out ``[..., candidate]`` by head.
    """
    return {
        name: (one.softmax(-1) if name == "imi" else one.sigmoid()).log()
        for name, one in logits.items()
    }


def score(logits: Mapping[str, Tensor]) -> Tensor:
    """What the agent takes the greatest of: ``[..., candidate]`` by head to ``[..., candidate]``.

    Examples
    --------
    >>> flat = {name: torch.zeros(2) for name in HEADS}
    >>> bool(score(flat)[0] == score(flat)[1])
    True
    """
    logs = log_heads({name: logits[name] for name, _ in WEIGHTS})
    parts = [weight * logs[name] for name, weight in WEIGHTS]
    mean = [weight * logits[name].sigmoid() for name, weight in MEAN]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total + MEAN_WEIGHT * (mean[0] + mean[1] + mean[2]).log()


def choose(logits: Mapping[str, Tensor], where: str = "") -> NDArray[np.int64]:
    """Return the first of the best candidates: ``[..., candidate]`` by head to ``[...]``."""
    scores = score(logits).cpu().numpy()
    if np.isnan(scores).any():
        broken = [name for name in HEADS if bool(torch.isnan(logits[name]).any())]
        raise BadInput(
            f"the scores of candidates are not numbers; NaN in: {', '.join(broken) or 'none'}",
            where=where or None,
            expected="numbers from every head",
        )
    chosen: NDArray[np.int64] = scores.argmax(-1)
    return chosen


@dataclass(frozen=True)
class Planned:
    """What became of a set of scenes."""

    path: Path
    chosen: Mapping[str, int]
    """By token: which candidate."""
    failures: tuple[Failure, ...]
    digest: str
    """SHA-256 of the prediction file."""
    settings: Mapping[str, Any]
    """What the logits followed from."""

    def record(self) -> dict[str, Any]:
        """The same as plain data."""
        failures = [asdict(one) for one in self.failures]
        told = {"path": str(self.path), "tokens": len(self.chosen), "failures": failures}
        return {**told, "chosen": self.chosen, "sha256": self.digest, "settings": self.settings}


def make_plans(
    path: Path, job: Job, *, logits: Path | None = None, heads: bool = True, say: Say | None = None
) -> Planned:
    """Write the plans of a job's scenes to a prediction file, whole, and a record beside it.

    Logits are computed first, into a folder that a later run goes on with: ``logits``, or one
    beside the file that is removed in the end. The record, ``PATH.json``, says which candidate was
    chosen where, and what the plans follow from.
    """
    agent = job.agent()
    folder = logits or path.with_name(f".{path.name}.logits")
    store = make_logits(folder, job, agent=agent, say=say)
    poses = vocabulary_of(agent).poses
    chosen: dict[str, int] = {}

    def predictions() -> Iterator[Prediction]:
        for candidate, prediction in plans(store, poses, heads=heads):
            chosen[prediction.token] = candidate
            yield prediction

    write_predictions(path, predictions())
    made = Planned(path, chosen, store.failures, digest_file(path), store.settings)
    told = {**made.record(), "provenance": store.provenance}
    put(path.with_name(f"{path.name}.json"), (json.dumps(told, indent=1) + "\n").encode())
    if logits is None:
        shutil.rmtree(folder)
    return made


def plans(
    store: LogitStore, poses: NDArray[Any], *, heads: bool = True
) -> Iterator[tuple[int, Prediction]]:
    """Give the candidate and the plan of every token, with the heads' logarithms if wanted.

    ``poses [candidate, 40, 3]`` are those of the agent's vocabulary.
    """
    if len(poses) != store.candidates:
        raise BadInput(
            f"the vocabulary has {len(poses)} candidates",
            where=str(store.folder),
            expected=f"the {store.candidates} that the logits are of",
        )
    for token in store.tokens:
        values = torch.from_numpy(store.of(token).copy())
        logits = dict(zip(HEADS, values, strict=True))
        chosen = int(choose(logits, f"{store.folder}, token {token}"))
        told = {name: one.numpy() for name, one in log_heads(logits).items()} if heads else {}
        yield chosen, Prediction(token, poses[chosen], told)
