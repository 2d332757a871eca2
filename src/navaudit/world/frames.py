"""What an OpenScene log holds of one moment: a frozen `Frame` of boxes, lights and cameras."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from navaudit.errors import BadInput

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

BOX: Final = ("x_m", "y_m", "z_m", "length_m", "width_m", "height_m", "heading_rad")
"""Columns of a box, in the ego's frame at the rear axle."""


@dataclass(frozen=True, eq=False)
class Camera:
    """Where a camera's picture of a frame lies, and how the camera was mounted."""

    path: str
    """Relative to the folder of the split's sensor blobs."""
    rotation: Array | None
    """``[3, 3]`` from the sensor to the lidar."""
    translation_m: Array | None
    """``[3]`` of the sensor in the lidar's frame."""
    intrinsic: Array | None
    """``[3, 3]``"""
    distortion: Array | None


@dataclass(frozen=True, eq=False)
class Boxes:
    """Annotated objects of a frame."""

    box: Array
    """``[object, 7]``, columns as ``BOX``, float32 or float64 as in the file."""
    velocity_mps: Array
    """``[object, xyz]`` in the ego's frame, as in the file."""
    name: tuple[str, ...]
    """Kind of each, such as ``vehicle``."""
    track: tuple[str, ...]
    """Token of the track each belongs to."""
    instance: tuple[str, ...]
    """Token of each annotation; empty text where the file has none."""

    def __len__(self) -> int:
        return len(self.track)


@dataclass(frozen=True, eq=False)
class Frame:
    """What was recorded at one moment."""

    token: str
    log: str
    """Name of the drive, as the frame has it."""
    location: str
    """Map name, such as ``us-ma-boston``."""
    time_us: int
    translation_m: Floats
    """``[xyz]`` of the rear axle on the map."""
    rotation: Floats
    """``[w, x, y, z]``: the ego's attitude on the map as a quaternion, as in the file."""
    heading_rad: float
    """Of the ego on the map, in [-pi, pi]."""
    motion: Floats
    """``[vx, vy, ax, ay]`` of the rear axle in the ego's frame, m/s and m/s2."""
    command: Array
    """``[4]``: one-hot driving command, as in the file."""
    roadblock: tuple[str, ...]
    """Ids of the roadblocks and roadblock connectors of the route, in order; they may recur."""
    lights: tuple[tuple[str, bool], ...]
    """(id of a lane connector, whether it shows red), in the order of the file."""
    boxes: Boxes | None
    """None where the file has no annotations."""
    cameras: Mapping[str, Camera]
    """By lower-case name, such as ``cam_f0``; those without a file are left out."""


@dataclass(frozen=True, eq=False)
class Unread:
    """A frame that cannot be read beyond these: scenes that need it cannot be made."""

    token: str
    time_us: int
    error: BadInput
    """What is wrong with it, and where."""
