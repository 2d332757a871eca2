"""One scene, ready to score: everything the simulator and the scorer read, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import HUMAN_POSES, STATE, STEPS
from navaudit.errors import BadInput
from navaudit.numerics.polygons import Polygons

AGENT_KINDS: Final = (
    "vehicle",
    "pedestrian",
    "bicycle",
    "traffic_cone",
    "barrier",
    "czone_sign",
    "generic_object",
)
"""Kinds of tracked objects; the first three are agents, the others static objects."""

VEHICLE, PEDESTRIAN, BICYCLE, TRAFFIC_CONE, BARRIER, CZONE_SIGN, GENERIC_OBJECT = range(7)

GROUND_KINDS: Final = (
    "roadblock",
    "lane",
    "lane_connector",
    "intersection",
    "carpark_area",
    "drivable_area",
)
"""Kinds of ground polygons, in the order in which the stock drivable map lists them."""

ROADBLOCK, LANE, LANE_CONNECTOR, INTERSECTION, CARPARK_AREA, DRIVABLE_AREA = range(6)


@dataclass(frozen=True, eq=False)
class Traffic:
    """Tracked objects over the horizon, in the order of their first sighting."""

    token: tuple[str, ...]
    """Track token of each object."""
    kind: NDArray[np.int8]
    """``[agent]``, index into ``AGENT_KINDS``."""
    box: NDArray[np.float64]
    """``[step, agent, 5]``: centre x_m, y_m, heading_rad, length_m, width_m; NaN if absent."""
    present: NDArray[np.bool_]
    """``[step, agent]``: whether the object is there at that step."""
    velocity_mps: NDArray[np.float64]
    """``[agent, xy]`` in the map frame, at the first step the object is present; 0 for statics."""

    def __post_init__(self) -> None:
        count = len(self.token)
        _set(self, "kind", frozen(self.kind, np.int8, (count,)))
        _set(self, "box", frozen(self.box, np.float64, (STEPS, count, 5)))
        _set(self, "present", frozen(self.present, np.bool_, (STEPS, count)))
        _set(self, "velocity_mps", frozen(self.velocity_mps, np.float64, (count, 2)))

    def __len__(self) -> int:
        return len(self.token)


@dataclass(frozen=True, eq=False)
class Lights:
    """Lane connectors that show red at some step, each once."""

    connector: tuple[str, ...]
    """Map id of each connector."""
    polygons: Polygons
    """Whole lane-connector polygon of each."""
    red: NDArray[np.bool_]
    """``[step, light]``: whether it shows red."""

    def __post_init__(self) -> None:
        _same_count("lights", len(self.connector), len(self.polygons))
        _set(self, "red", frozen(self.red, np.bool_, (STEPS, len(self.connector))))

    def __len__(self) -> int:
        return len(self.connector)


@dataclass(frozen=True, eq=False)
class Ground:
    """Polygons of the drivable map round the ego, in the stock map's order."""

    id: tuple[str, ...]
    """Map id of each polygon; ids may recur across kinds."""
    kind: NDArray[np.int8]
    """``[polygon]``, index into ``GROUND_KINDS``."""
    polygons: Polygons
    """The polygons themselves."""
    on_route: NDArray[np.bool_]
    """``[polygon]``: a lane or connector whose id is among the corrected route's lane ids."""

    def __post_init__(self) -> None:
        count = len(self.id)
        _same_count("ground polygons", count, len(self.polygons))
        _set(self, "kind", frozen(self.kind, np.int8, (count,)))
        _set(self, "on_route", frozen(self.on_route, np.bool_, (count,)))

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True, eq=False)
class Track:
    """Poses or states stamped with their times, strictly increasing."""

    time_us: NDArray[np.int64]
    """``[knot]``"""
    state: NDArray[np.float64]
    """``[knot, 11]``, columns as ``axes.STATE``."""

    def __post_init__(self) -> None:
        _set(self, "time_us", frozen(self.time_us, np.int64, (None,)))
        _set(self, "state", frozen(self.state, np.float64, (len(self.time_us), len(STATE))))

    def __len__(self) -> int:
        return len(self.time_us)


@dataclass(frozen=True, eq=False)
class Scene:
    """What one token's scoring reads; built by ``scene.build`` or ``scene.stock``."""

    token: str
    """Token of the scene's frame at t = 0; 17 characters mean a synthetic scene."""
    log: str
    """Name of the drive."""
    location: str
    """Map name, such as ``us-ma-boston``."""
    time_us: int
    """Time stamp at t = 0."""
    ego: NDArray[np.float64]
    """``[11]`` state at t = 0, rear axle, columns as ``axes.STATE``."""
    traffic: Traffic
    lights: Lights
    ground: Ground
    route_lane: tuple[str, ...]
    """Lane and connector ids of the corrected route, in the stock order."""
    centreline: NDArray[np.float64]
    """``[vertex, 3]``: x_m, y_m, heading_rad; vertices at joins recur, as in the stock path."""
    human: NDArray[np.float64] | None
    """``[8, 3]``: x_m, y_m, heading_rad in the ego's frame at 0.5 s steps; None if synthetic."""
    past: Track
    """Logged ego states up to and including t = 0."""
    reference: Track
    """The PDM-Closed trajectory: 51 poses over 5 s; only x, y and heading are read."""

    def __post_init__(self) -> None:
        _set(self, "ego", frozen(self.ego, np.float64, (len(STATE),)))
        _set(self, "centreline", frozen(self.centreline, np.float64, (None, 3)))
        if self.human is not None:
            _set(self, "human", frozen(self.human, np.float64, (HUMAN_POSES, 3)))


def _set(target: object, name: str, value: object) -> None:
    object.__setattr__(target, name, value)


def _same_count(what: str, have: int, want: int) -> None:
    if have != want:
        raise BadInput(f"{what}: {have} names for {want} shapes", expected="one name per shape")
