"""The three front cameras: where they sit, how they look, and what they project where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from navaudit.errors import BadInput
from navaudit.world.town.angles import sincos
from navaudit.world.town.curves import Array

WIDTH_PX: Final = 1920
HEIGHT_PX: Final = 1080
FOCAL_PX: Final = 1545.0
CENTRE_PX: Final = (960.0, 560.0)
QUARTERS: Final = 4
"""Images come in quarters of the full size: the crop margins of 28 and 416 pixels stay whole."""

MOUNTS: Final = {
    "CAM_F0": (0.0, (1.66, 0.0, 1.54)),
    "CAM_L0": (55.0, (1.52, 0.44, 1.54)),
    "CAM_R0": (-55.0, (1.52, -0.44, 1.54)),
}
"""Name to bearing in degrees to the left, and place before, left of and above the rear axle."""

ALL_CAMERAS: Final = (
    "CAM_F0", "CAM_L0", "CAM_L1", "CAM_L2", "CAM_R0", "CAM_R1", "CAM_R2", "CAM_B0",
)  # fmt: skip
"""Names in the logs; only the mounted ones have entries."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A pinhole."""

    name: str
    size_px: tuple[int, int]
    """Width and height."""
    intrinsic: Array
    """``[3, 3]``"""
    rotation: Array
    """``[3, 3]``: its columns are the image's right and down, and the view, in the ego frame."""
    place_m: Array
    """``[3]`` in the ego frame, from the rear axle on the ground."""

    def seen_from(self, points_m: Array) -> Array:
        """Ego-frame points ``[point, 3]`` in the camera's frame: right, down and depth."""
        gap = points_m - self.place_m
        return np.stack(
            [gap[:, 0] * r[0] + gap[:, 1] * r[1] + gap[:, 2] * r[2] for r in self.rotation.T],
            axis=1,
        )

    def project(self, seen_m: Array) -> Array:
        """Camera-frame points ``[point, 3]``, all before the camera, to pixels ``[point, 2]``."""
        k = self.intrinsic
        depth = seen_m[:, 2]
        return np.stack(
            [k[0, 0] * seen_m[:, 0] / depth + k[0, 2], k[1, 1] * seen_m[:, 1] / depth + k[1, 2]], 1
        )


def mount(scale: float) -> tuple[Camera, ...]:
    """The cameras, with images of ``scale`` times 1920 by 1080 pixels."""
    quarters = scale * QUARTERS
    if not (0.0 < scale <= 1.0 and quarters == round(quarters)):
        raise BadInput(
            f"camera scale is {scale}",
            where="--camera-scale",
            expected="1, 0.75, 0.5 or 0.25, so that crop margins stay whole pixels",
        )
    size = (round(WIDTH_PX * scale), round(HEIGHT_PX * scale))
    intrinsic = np.array(
        [[FOCAL_PX, 0.0, CENTRE_PX[0]], [0.0, FOCAL_PX, CENTRE_PX[1]], [0.0, 0.0, 1.0 / scale]]
    )
    return tuple(
        Camera(name, size, intrinsic * scale, _axes(bearing), np.array(place))
        for name, (bearing, place) in MOUNTS.items()
    )


def _axes(bearing_deg: float) -> Array:
    sine, cosine = (np.round(float(x), 12) for x in sincos(bearing_deg * np.pi / 180.0))
    return np.array([[sine, 0.0, cosine], [-cosine, 0.0, sine], [0.0, -1.0, 0.0]])
