"""What the car has to do with the road: its bounds, direction, lights and centreline."""

import numpy as np
import shapely

from navaudit.axes import CENTRE, STEPS
from reference.shapes import boxes


def drivable_area(areas):
    """0 where a corner leaves the road at any step."""
    return np.where(areas.non_drivable.any(axis=1), 0.0, 1.0)


def driving_direction(points, areas, ddc):
    """By metres against the traffic within a second: 1 below 2 m, 0.5 below 6 m, else 0.

    A centre off the route's lanes counts as against it; with the body of v2.1, not at crossings.
    """
    against = areas.oncoming & ~areas.centre_at_crossing if ddc == "v2.1" else areas.oncoming
    way = np.zeros(against.shape)
    way[:, 1:] = np.linalg.norm(np.diff(points[:, :, CENTRE], axis=1), axis=-1)
    way[~against] = 0.0
    windows = [way[:, max(0, step - 10) : step + 1].sum(axis=1) for step in range(STEPS)]
    most = np.max(windows, axis=0)
    return np.select([most < 2.0, most < 6.0], [1.0, 0.5], 0.0)


def traffic_light(lights, points):
    """0 where the car touches a connector while it shows red, at any step."""
    column = np.ones(len(points))
    cars = boxes(points[..., :CENTRE, :])
    for light, shape in enumerate(lights.polygons.shapes()):
        touched = shapely.intersects(cars[:, lights.red[:, light]], shape)
        column[touched.any(axis=1)] = 0.0
    return column


def progress_m(centreline, points):
    """Metres along the centreline from the first centre to the last, at least 0."""
    line = shapely.linestrings(centreline[:, :2])
    along = shapely.line_locate_point(line, shapely.points(points[:, :, CENTRE]))
    return np.maximum(along[:, -1] - along[:, 0], 0.0)


def lane_keeping(centreline, points, areas):
    """0 where the centre is over 0.5 m off the centreline for 20 steps on end.

    Steps at a crossing are left out: they neither count nor end a series.
    """
    line = shapely.linestrings(centreline[:, :2])
    astray = shapely.distance(line, shapely.points(points[:, :, CENTRE])) > 0.5
    return np.array([
        0.0 if longest_run(off[~crossing]) >= 20 else 1.0
        for off, crossing in zip(astray, areas.centre_at_crossing, strict=True)
    ])  # fmt: skip


def longest_run(flags):
    """Length of the longest unbroken run of truths."""
    longest = run = 0
    for flag in flags:
        run = run + 1 if flag else 0
        longest = max(longest, run)
    return longest
