"""What an agent sees of a scene: three cameras in one image, and the ego's status.

Pictures are decoded by Pillow, cropped, set side by side and halved by an exact box mean, as the
stock code does with pictures of 1920 by 1080 pixels (navsim/agents/gtrs_dense/hydra_features.py:110
there). Pictures of another size with the same proportions are cropped by the same share of their
sides. Where the agent's image is smaller still, the halving is repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.agent.shapes import STATUS
from navaudit.arrays import frozen
from navaudit.errors import BadInput
from navaudit.provenance import digest_arrays
from navaudit.world.images import FRONT, read_image
from navaudit.world.logs import Frame, Log, read_log

Pixels = NDArray[np.uint8]

CAMERA: Final = (1080, 1920)
"""Rows and columns of a full camera picture."""
ROWS_OFF: Final = 28
"""Of a full picture, above and below."""
COLUMNS_OFF: Final = 416
"""Of a full side picture, left and right."""


@dataclass(frozen=True, eq=False)
class Features:
    """What enters an agent for one scene."""

    token: str
    image: Pixels
    """``[row, column, RGB]``"""
    status: NDArray[np.float32]
    """``[8]``: driving command (4), vx_mps, vy_mps, ax_mps2, ay_mps2."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "image", frozen(self.image, np.uint8, (None, None, 3)))
        object.__setattr__(self, "status", frozen(self.status, np.float32, (STATUS,)))

    @property
    def digest(self) -> str:
        """SHA-256 over image and status."""
        return digest_arrays([self.image, self.status])


class Recordings:
    """Logs and camera pictures on disk, from which features are made, log after log."""

    def __init__(self, logs: Path, images: Path, image: tuple[int, int]) -> None:
        self.logs = logs
        """Folder of the log files of one data split."""
        self.images = images
        """Folder of the split's sensor blobs."""
        self.image = image
        """Rows and columns of the agent's image."""
        self._log: Log | None = None

    def features(self, log: str, token: str) -> Features:
        """Make the features of the frame that a scene is about; ``log`` names its log's file.

        Scenes are best asked for log by log: the last log read is kept.
        """
        return self.look(self.frame(log, token))

    def frame(self, log: str, token: str) -> Frame:
        """Return the frame that a scene is about."""
        if self._log is None or self._log.name != log:
            path = self.logs / f"{log}.pkl"
            if not path.is_file():
                raise BadInput(
                    f"the log of scene {token} is not there",
                    where=str(path),
                    remedy="give the folder of the logs that the scenes were made from",
                )
            self._log = read_log(path)
        row = self._log.find(token)
        if row is None:
            raise BadInput(
                f"the log has no frame {token}",
                where=str(self.logs / f"{log}.pkl"),
                expected="the logs that the scenes were made from",
            )
        return self._log.frame(row)

    def look(self, frame: Frame) -> Features:
        """Make the features of a frame; many threads may do this at once."""
        left, front, right = (read_image(self.images, frame, camera) for camera in FRONT)
        where = f"log {frame.log}, frame {frame.token}"
        return Features(frame.token, see((left, front, right), self.image, where), status_of(frame))


def status_of(frame: Frame) -> NDArray[np.float32]:
    """Driving command and motion of a frame: float32 ``[8]``, as the log has them."""
    parts = (frame.command.astype(np.float32), frame.motion.astype(np.float32))
    return frozen(np.concatenate(parts), np.float32, (STATUS,))


def see(pictures: tuple[Pixels, Pixels, Pixels], image: tuple[int, int], where: str = "") -> Pixels:
    """Crop the left, front and right pictures, set them side by side and halve to ``image``.

    Each picture is uint8 ``[row, column, RGB]``; so is what is returned, of ``image`` rows and
    columns.
    """
    _expect_pictures(pictures, where)
    stitched = stitch(pictures)
    seen = box_mean(stitched)
    while seen.shape[0] > image[0] and not any(side % 2 for side in seen.shape[:2]):
        seen = box_mean(seen)
    if seen.shape[:2] != tuple(image):
        rows, columns = pictures[0].shape[:2]
        raise BadInput(
            f"pictures of {columns} by {rows} pixels do not halve to the agent's image",
            where=where or None,
            expected=f"an image of {image[1]} by {image[0]} pixels",
            remedy="give pictures of another size, or an agent of another image",
        )
    return seen


def stitch(pictures: tuple[Pixels, Pixels, Pixels]) -> Pixels:
    """Crop and set side by side: full pictures give 1024 rows and 4096 columns."""
    left, front, right = pictures
    rows, columns = front.shape[:2]
    above, aside = ROWS_OFF * rows // CAMERA[0], COLUMNS_OFF * columns // CAMERA[1]
    kept, middle = slice(above, rows - above), slice(aside, columns - aside)
    return np.concatenate((left[kept, middle], front[kept], right[kept, middle]), axis=1)


def box_mean(pixels: Pixels) -> Pixels:
    """Halve both sides: each pixel the mean of four, halves rounded up.

    Examples
    --------
    >>> four = np.array([[[1], [2]], [[2], [1]]], np.uint8)
    >>> int(box_mean(four)[0, 0, 0])
    2
    """
    wide = pixels.astype(np.uint16)
    total = wide[0::2, 0::2] + wide[0::2, 1::2] + wide[1::2, 0::2] + wide[1::2, 1::2]
    return ((total + 2) >> 2).astype(np.uint8)


def _expect_pictures(pictures: tuple[Pixels, Pixels, Pixels], where: str) -> None:
    sizes = [one.shape[:2] for one in pictures]
    rows, columns = sizes[0]
    # both margins are whole pixels exactly where the rows are quarters of the full ones
    whole = rows > 0 and rows % (CAMERA[0] // 4) == 0 and rows * CAMERA[1] == columns * CAMERA[0]
    if len(set(sizes)) != 1 or not whole:
        told = ", ".join(f"{size[1]} by {size[0]}" for size in sizes)
        raise BadInput(
            f"the pictures are {told} pixels",
            where=where or None,
            expected="all alike, and 1, 3/4, 1/2 or 1/4 of 1920 by 1080",
        )
    if not pictures[0].any():
        # stock takes it for a camera that is missing
        raise BadInput(
            f"the picture of {FRONT[0]} is black",
            where=where or None,
            remedy="fetch the file again, or leave the scene out",
        )
