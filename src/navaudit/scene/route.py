"""The route through a map as stock NAVSIM corrects it, and the centreline that it drives along."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.errors import BadInput


@dataclass(frozen=True, eq=False)
class Route:
    """The corrected route of one scene.

    A *row* is a row of ``Map.blocks`` or ``Map.ways``.
    """

    given: tuple[str, ...]
    """Block ids of the log's frame at t = 0, each once, in order; not corrected."""
    block: NDArray[np.int64]
    """``[block]`` rows of the corrected route, in order of driving; one may recur."""
    lane: tuple[str, ...]
    """Lane and connector ids of the corrected route, each once, in the stock order."""
    lane_way: NDArray[np.int64]
    """``[lane]`` rows of the ways that these ids stand for: where a lane and a connector share an
    id, the one met later."""
    start_way: int
    """Row of the way on which the ego starts."""
    speed_limit_mps: float
    """Of the start way; NaN where the map has none."""
    centreline_way: NDArray[np.int64]
    """``[leg]`` rows of the ways that the centreline follows, in order of driving."""
    centreline: NDArray[np.float64]
    """``[vertex, 3]``: x_m, y_m, heading_rad as on the map, in [-pi, pi], not unwrapped; vertices
    at joins recur."""

    def __post_init__(self) -> None:
        if len(self.lane) != len(self.lane_way):
            raise BadInput(f"{len(self.lane)} lane ids for {len(self.lane_way)} ways")
        for name in ("block", "lane_way", "centreline_way"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.int64, (None,)))
        object.__setattr__(self, "centreline", frozen(self.centreline, np.float64, (None, 3)))
