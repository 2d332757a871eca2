"""The car as points and boxes, and what of the ground its points stand on."""

from dataclasses import dataclass

import numpy as np
import shapely

from navaudit.axes import CENTRE, HEADING, X, Y
from navaudit.scene.scene import (
    CARPARK_AREA,
    DRIVABLE_AREA,
    INTERSECTION,
    LANE,
    LANE_CONNECTOR,
    ROADBLOCK,
)
from navaudit.vehicle import HALF_LENGTH_M, HALF_WIDTH_M, REAR_AXLE_TO_CENTRE_M


def car_points(states):
    """Corners and centre ``[..., 5, xy]`` of states ``[..., 11]`` of the rear axle."""
    ahead = np.stack([np.cos(states[..., HEADING]), np.sin(states[..., HEADING])], axis=-1)
    centre = states[..., (X, Y)] + REAR_AXLE_TO_CENTRE_M * ahead
    corners = box_corners(centre, states[..., HEADING], HALF_LENGTH_M, HALF_WIDTH_M)
    return np.concatenate([corners, centre[..., None, :]], axis=-2)


def box_corners(centre, heading, half_length, half_width):
    """Front left, rear left, rear right, front right ``[..., 4, xy]`` of boxes."""
    lengthwise = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    side = heading + np.pi / 2
    crosswise = np.stack([np.cos(side), np.sin(side)], axis=-1)
    along = np.multiply.outer(half_length, [1.0, -1.0, -1.0, 1.0])[..., None]
    across = np.multiply.outer(half_width, [1.0, 1.0, -1.0, -1.0])[..., None]
    turned = across * crosswise[..., None, :] + along * lengthwise[..., None, :]
    return centre[..., None, :] + turned


def boxes(corners):
    """Polygons ``[...]`` of corners ``[..., 4, xy]``, prepared for many questions."""
    polygons = shapely.polygons(corners)
    shapely.prepare(polygons)
    return polygons


@dataclass(frozen=True)
class Areas:
    """Where the car is, each ``[candidate, step]``."""

    multiple_lanes: np.ndarray
    """More than one lane holds a corner, and none holds all four."""
    non_drivable: np.ndarray
    """Some corner is on no drivable polygon."""
    oncoming: np.ndarray
    """The centre is in no lane of the route."""
    centre_at_crossing: np.ndarray
    rear_axle_at_crossing: np.ndarray

    @property
    def off_lane(self):
        """Where the car may be blamed for what it touches with its flanks."""
        return self.multiple_lanes | self.non_drivable


def areas(ground, states, points):
    """Ask every polygon about every point; a point on a boundary is outside."""
    kind = ground.kind
    inside = contain(ground, points)
    corners, centre = inside[..., :CENTRE], inside[..., CENTRE]
    in_lane = corners[np.isin(kind, (LANE, LANE_CONNECTOR))].sum(axis=-1)
    road = np.isin(kind, (ROADBLOCK, INTERSECTION, CARPARK_AREA, DRIVABLE_AREA))
    route = np.isin(kind, (LANE, LANE_CONNECTOR)) & ground.on_route
    rear_axle = contain(ground, states[..., (X, Y)], kind == INTERSECTION)
    return Areas(
        multiple_lanes=((in_lane > 0).sum(axis=0) > 1) & ~(in_lane == 4).any(axis=0),
        non_drivable=~corners[road].any(axis=0).all(axis=-1),
        oncoming=~centre[route].any(axis=0),
        centre_at_crossing=centre[kind == INTERSECTION].any(axis=0),
        rear_axle_at_crossing=rear_axle.any(axis=0),
    )


def contain(ground, points, wanted=slice(None)):
    """Whether polygons hold points ``[..., xy]``: ``[polygon, ...]``."""
    polygons = np.array(ground.polygons.shapes(), dtype=object)[wanted]
    shapely.prepare(polygons)
    polygons = polygons.reshape(-1, *[1] * (points.ndim - 1))
    return shapely.contains_xy(polygons, points[..., 0], points[..., 1])
