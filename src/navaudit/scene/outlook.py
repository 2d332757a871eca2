"""What a planner sees at t = 0, and nothing of what comes after."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import STATE
from navaudit.errors import BadInput
from navaudit.numerics.polygons import Polygons
from navaudit.scene.route import Route
from navaudit.scene.scene import Ground


@dataclass(frozen=True, eq=False)
class Sighting:
    """Objects annotated at t = 0, in the stock order: by kind, then as in the log."""

    token: tuple[str, ...]
    """Track token of each object."""
    kind: NDArray[np.int8]
    """``[object]``, index into ``AGENT_KINDS``."""
    box: NDArray[np.float64]
    """``[object, 5]``: centre x_m, y_m, heading_rad, length_m, width_m in the map frame."""
    velocity_mps: NDArray[np.float64]
    """``[object, xy]`` in the map frame; 0 for statics."""

    def __post_init__(self) -> None:
        count = len(self.token)
        object.__setattr__(self, "kind", frozen(self.kind, np.int8, (count,)))
        object.__setattr__(self, "box", frozen(self.box, np.float64, (count, 5)))
        object.__setattr__(self, "velocity_mps", frozen(self.velocity_mps, np.float64, (count, 2)))

    def __len__(self) -> int:
        return len(self.token)


@dataclass(frozen=True, eq=False)
class Outlook:
    """The planner's view of one scene at t = 0."""

    token: str
    """Token of the frame at t = 0."""
    time_us: int
    """Time stamp at t = 0."""
    ego: NDArray[np.float64]
    """``[11]`` state at t = 0, rear axle, columns as ``axes.STATE``."""
    route: Route
    ground: Ground
    """Drivable map round the ego, on-route flags by the corrected route."""
    objects: Sighting
    """All annotated objects, however far; the ego is not among them."""
    red: tuple[str, ...]
    """Lane ids of the *corrected* route that a light at t = 0 shows red on, each once."""
    red_polygons: Polygons
    """Whole polygon of each, of the way the id stands for in ``route.lane_way``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ego", frozen(self.ego, np.float64, (len(STATE),)))
        if len(self.red) != len(self.red_polygons):
            raise BadInput(f"{len(self.red)} red lights for {len(self.red_polygons)} polygons")
