"""Camera pictures: where a frame's files lie under the sensor blobs, and their pixels."""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from navaudit.errors import BadInput, Refused
from navaudit.world.logs import Frame

FRONT: Final = ("cam_l0", "cam_f0", "cam_r0")
"""The cameras that the planners look through, from left to right."""

_REMEDY: Final = "download the split's sensor blobs, or give the folder that holds them"


def image_path(blobs: Path, frame: Frame, camera: str) -> Path:
    """Return the file of a frame's camera under the folder of a split's sensor blobs.

    Whether it exists is not looked at.
    """
    if camera not in frame.cameras:
        have = ", ".join(sorted(frame.cameras)) or "none"
        raise BadInput(
            f"frame {frame.token} has no picture of {camera}",
            where=frame.log,
            expected=f"one of: {have}",
        )
    relative = PurePosixPath(frame.cameras[camera].path)
    if relative.is_absolute() or ".." in relative.parts:
        raise Refused(
            f"the log points at {relative}, outside of the sensor blobs",
            where=f"{frame.log}, frame {frame.token}, {camera}",
            expected="a path below the folder of the sensor blobs",
        )
    return blobs / relative


def read_image(blobs: Path, frame: Frame, camera: str) -> NDArray[np.uint8]:
    """Return the pixels of a frame's camera: uint8 ``[row, column, RGB]``, read-only."""
    path = image_path(blobs, frame, camera)
    where = f"{path} ({frame.log}, frame {frame.token}, {camera})"
    if not path.is_file():
        raise BadInput("there is no such picture", where=where, remedy=_REMEDY)
    try:
        with Image.open(path) as image:
            mode = image.mode
            pixels = np.array(image)
    except (OSError, UnidentifiedImageError, SyntaxError, Image.DecompressionBombError) as error:
        raise BadInput(
            f"the picture cannot be read: {error}",
            where=where,
            expected="a whole JPEG or PNG",
            remedy="fetch the file again",
        ) from error
    if mode != "RGB":
        raise BadInput(f"the picture has mode {mode}", where=where, expected="RGB")
    pixels.flags.writeable = False
    return pixels
