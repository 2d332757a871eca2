"""From the map's metres to those of a picture: centred on the car, which may point up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike, NDArray

from navaudit.axes import HEADING, X, Y
from navaudit.scene.scene import Scene

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class View:
    """A shift and a turn of the map."""

    x_m: float
    y_m: float
    turn_rad: float
    """Counter-clockwise turn of the map; 0 leaves north up."""

    @classmethod
    def of(cls, scene: Scene, north_up: bool = False) -> View:
        """Centre on the car at t = 0, and let it point up unless north should."""
        turn = 0.0 if north_up else np.pi / 2 - float(scene.ego[HEADING])
        return cls(float(scene.ego[X]), float(scene.ego[Y]), turn)

    def place(self, points: ArrayLike) -> Floats:
        """Carry points ``[..., xy]`` of the map into the picture.

        >>> View(10.0, 0.0, np.pi / 2).place([12.0, 0.0]).round(9).tolist()
        [0.0, 2.0]
        """
        xy = np.asarray(points, np.float64)
        x, y = xy[..., 0] - self.x_m, xy[..., 1] - self.y_m
        cosine, sine = np.cos(self.turn_rad), np.sin(self.turn_rad)
        return np.stack([cosine * x - sine * y, sine * x + cosine * y], axis=-1)


def frame(ax: Axes, points: Floats, margin_m: float, least_m: float, most_m: float) -> None:
    """Show points ``[point, xy]`` of the picture with a margin, undistorted, filling the axes.

    What is shown is at least and at most so many metres wide along its shorter side.
    """
    low, high = points.min(axis=0) - margin_m, points.max(axis=0) + margin_m
    middle, size = (low + high) / 2, high - low
    box = ax.get_position()
    figure = ax.get_figure(root=True)
    wide, tall = (1.0, 1.0) if figure is None else figure.get_size_inches()
    shape = np.array([box.width * wide, box.height * tall])
    # metres per inch: as many as both directions and the least size need
    scale = np.clip((size / shape).max(), least_m / shape.min(), most_m / shape.min())
    half = shape * scale / 2
    ax.set_xlim(middle[0] - half[0], middle[0] + half[0])
    ax.set_ylim(middle[1] - half[1], middle[1] + half[1])
    ax.set_aspect("equal", adjustable="box")
