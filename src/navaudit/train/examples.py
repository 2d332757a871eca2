"""What training reads of a scene: pictures, status, targets, and where the human drove."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from navaudit.agent.features import Features, Recordings
from navaudit.agent.model import batch
from navaudit.errors import BadInput
from navaudit.labels.labelset import LabelSet
from navaudit.labels.mapping import Labels
from navaudit.scene.store import SceneSet
from navaudit.train.loss import Asked
from navaudit.train.targets import Targets, targets_of
from navaudit.world.images import FRONT, image_path
from navaudit.world.logs import Frame

_AHEAD: Final = 64
"""Scenes that are read before they are wanted, in whole batches."""
_KEPT: Final = 1 << 30
"""Bytes of examples that stay in memory."""
_SETTLING: Final = 16
"""Scenes that normalizations are measured on."""
_NAMED: Final = 3


@dataclass(frozen=True, eq=False)
class Example:
    """One scene, to be learnt from."""

    features: Features
    targets: Targets
    human: NDArray[np.float64]
    """``[8, 3]``"""

    @property
    def bytes(self) -> int:
        """Of memory, nearly."""
        return self.features.image.nbytes + self.targets.values.nbytes


class Examples:
    """The scenes of a label set, read when they are wanted.

    Order is that of the label set: log name, then time. Those read first stay in memory, up to a
    gibibyte. Many threads may ask at once.
    """

    def __init__(
        self, labels: LabelSet, policy: str, scenes: SceneSet, logs: Path, images: Path,
        image: tuple[int, int],
    ) -> None:  # fmt: skip
        self.tokens = labels.tokens
        missing = [token for token in labels.tokens if token not in scenes]
        if missing:
            raise BadInput(
                f"{len(missing)} of {len(labels)} labelled scenes are not in the scene set: "
                f"{', '.join(missing[:_NAMED])}",
                where=str(scenes.folder),
                expected="the scenes that the labels were made from",
            )
        self._labels = Labels(labels, policy)
        self._recordings = Recordings(logs, images, image)
        self._human = {token: _human_of(scenes, token) for token in self.tokens}
        self._frames = {
            token: self._frame(scenes.log_of(token), token) for token in self._by_log(scenes)
        }
        self._expect_pictures()
        self._kept: dict[int, Example] = {}
        self._room = _KEPT
        self._door = Lock()

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, row: int) -> Example:
        found = self._kept.get(row)
        if found is None:
            found = self._read(row)
            with self._door:
                if row not in self._kept and found.bytes <= self._room:
                    self._kept[row] = found
                    self._room -= found.bytes
        return found

    def _read(self, row: int) -> Example:
        token = self.tokens[row]
        targets = targets_of(self._labels.values_of(token), f"token {token}")
        features = self._recordings.look(self._frames[token])
        return Example(features, targets, self._human[token])

    def _by_log(self, scenes: SceneSet) -> list[str]:
        return sorted(self.tokens, key=lambda token: (scenes.log_of(token), token))

    def _frame(self, log: str, token: str) -> Frame:
        # a hundred thousand frames are held; what was seen around the car is not needed
        return replace(self._recordings.frame(log, token), boxes=None, lights=())

    def _expect_pictures(self) -> None:
        """Refuse scenes without pictures now, rather than at whatever step draws them."""
        images = self._recordings.images
        missing = [
            token
            for token, frame in self._frames.items()
            if not all(image_path(images, frame, camera).is_file() for camera in FRONT)
        ]
        if missing:
            raise BadInput(
                f"{len(missing)} of {len(self)} labelled scenes have no pictures: "
                f"{', '.join(missing[:_NAMED])}",
                where=str(images),
                expected=f"the pictures of {', '.join(FRONT)} of every scene",
                remedy="fetch them; or make and label scenes of a split alone: navaudit scenes "
                "--split",
            )


def _human_of(scenes: SceneSet, token: str) -> NDArray[np.float64]:
    human = scenes.scene(token).human
    if human is None:
        raise BadInput(
            "the scene has no human to imitate",
            where=f"token {token}",
            expected="original scenes; a token of 17 characters is synthetic",
            remedy="label and train on the original scenes alone",
        )
    return np.array(human)


def read_ahead(
    examples: Examples, wanted: Iterable[Sequence[int]], readers: int
) -> Iterator[list[Example]]:
    """Read batches of rows by threads, some of them before they are asked for, in order."""
    waiting: list[list[Future[Example]]] = []
    with ThreadPoolExecutor(readers) as pool:
        for rows in wanted:
            waiting.append([pool.submit(examples.__getitem__, row) for row in rows])
            if sum(map(len, waiting[1:])) >= _AHEAD:
                yield [one.result() for one in waiting.pop(0)]
        for batch_ahead in waiting:
            yield [one.result() for one in batch_ahead]


def spread(examples: Examples, device: str) -> Tensor:
    """Return the images of a few scenes, spread evenly over all: the same for every seed."""
    every = max(1, -(-len(examples) // _SETTLING))
    return batch([examples[row].features for row in range(0, len(examples), every)], device)[0]


def collate(
    some: Sequence[Example], candidates: Tensor | None, device: str
) -> tuple[Tensor, Tensor, Asked]:
    """Stack examples into image, status, and what is asked of these candidates."""
    image, status = batch([one.features for one in some], device)
    values = torch.from_numpy(np.stack([one.targets.values for one in some]))
    if candidates is not None:
        values = values[:, :, candidates]
    asked = torch.from_numpy(np.stack([one.targets.asked for one in some]))
    human = torch.from_numpy(np.stack([one.human for one in some]))
    return image, status, Asked(values.to(device), asked.to(device), human.to(device))
