"""What the car has to do with others: collisions at fault, and time to collision."""

from dataclasses import dataclass

import numpy as np
import shapely

from navaudit.axes import CENTRE, FRONT_LEFT, FRONT_RIGHT, HEADING, STEPS, VX, VY, X, Y
from navaudit.scene.scene import BICYCLE
from reference.shapes import box_corners, boxes, car_points


@dataclass(frozen=True)
class Replay:
    """The tracked objects as they were, less those that the ego stands in at t = 0."""

    token: tuple
    shape: np.ndarray
    """``[step, agent]`` polygons, None where the object is not there."""
    living: np.ndarray
    """``[agent]``: vehicles, pedestrians and bicycles; the others are things."""
    stopped: np.ndarray
    """``[agent]``: things, and whoever was at most 0.05 m/s fast when first seen."""


def replay(scene, leave_out=True):
    """Replay the logged objects of a scene; with ``leave_out`` less those the ego stands in."""
    traffic = scene.traffic
    x, y, heading, length, width = np.moveaxis(traffic.box, -1, 0)
    centre = np.stack([x, y], axis=-1)
    shape = np.full(traffic.present.shape, None)
    there = traffic.present
    corners = box_corners(centre[there], heading[there], length[there] / 2, width[there] / 2)
    shape[there] = shapely.polygons(corners)
    if leave_out:
        ego = boxes(car_points(scene.ego)[:CENTRE])
        shape[:, [plainly_touch(ego, one) for one in shape[0]]] = None
    living = traffic.kind <= BICYCLE
    speed = np.hypot(*traffic.velocity_mps.T)
    return Replay(traffic.token, shape, living, ~living | (speed <= 0.05))


def plainly_touch(one, other):
    """Whether two shapes meet when neither is prepared, as GEOS 3.11 has it.

    A ring of less than four vertices, repeated ones left out, is nowhere; beside a rectangle along
    the axes it is what it seems.
    """
    if other is None or not shapely.intersects(one, other):
        return False
    if np.diff(other.exterior.coords, axis=0).any(axis=1).sum() >= 3:
        return True
    return one.geom_type == "Polygon" and shapely.equals(one, shapely.envelope(one))


def meetings(cars, objects):
    """Pairs (candidate, object) of boxes ``[candidate]`` and ``[object]`` that share a point."""
    return np.argwhere(shapely.intersects(cars[:, None], objects[None, :]))


def speeds(states):
    """Speeds ``[candidate, step]``: never negative, also when reversing."""
    return np.hypot(states[..., VX], states[..., VY])


def bearing(state, shape):
    """Angle between the car's heading and the way from its rear axle to a shape's centroid.

    Rounding may take the cosine above one: the angle is then NaN, neither ahead nor behind.
    """
    way = np.array([shape.centroid.x - state[X], shape.centroid.y - state[Y]])
    with np.errstate(invalid="ignore"):
        heading = np.array([np.cos(state[HEADING]), np.sin(state[HEADING])])
        return np.arccos(np.dot(heading, way / np.linalg.norm(way)))


def no_at_fault_collisions(objects, states, points, areas):
    """1; 0.5 where the car is to blame for touching a thing; 0 for touching a living being."""
    column = np.ones(len(states))
    cars = boxes(points[..., :CENTRE, :])
    ignored = [set() for _ in states]
    for step in range(STEPS):
        for candidate, one in meetings(cars[:, step], objects.shape[step]):
            if objects.token[one] in ignored[candidate]:
                continue
            here = candidate, step
            if at_fault(objects, one, step, states[here], points[here], areas.off_lane[here]):
                column[candidate] = min(column[candidate], 0.0 if objects.living[one] else 0.5)
            else:
                ignored[candidate].add(objects.token[one])
    return column


def at_fault(objects, one, step, state, points, off_lane):
    """Whether the car is to blame for a contact, by what kind of contact it is."""
    shape = objects.shape[step, one]
    front = shapely.LineString([points[FRONT_LEFT], points[FRONT_RIGHT]])
    if speeds(state) <= 0.05:
        return False
    if objects.stopped[one]:
        return True
    if bearing(state, shape) > np.deg2rad(150):
        return False
    if plainly_touch(front, shape):
        return True
    return off_lane


def time_to_collision(objects, states, points, areas, anchors=STEPS - 9):
    """0 where, at constant speed and heading, the car would hit somebody within 0.9 s."""
    column = np.ones(len(states))
    ignored = [set() for _ in states]
    speed = speeds(states)
    heading = states[..., HEADING]
    way = speed[..., None] * np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    for step in range(anchors):
        for later in [one for one in (0, 3, 6, 9) if step + one < STEPS]:
            moved = points[:, step, :CENTRE] + way[:, step, None] * (later * 0.1)
            for candidate, one in meetings(boxes(moved), objects.shape[step + later]):
                token = objects.token[one]
                if token in ignored[candidate] or speed[candidate, step] < 0.005:
                    continue
                shape = objects.shape[step + later, one]
                if in_the_way(shape, states[candidate, step], areas, (candidate, step)):
                    column[candidate] = 0.0
                else:
                    ignored[candidate].add(token)
    return column


def in_the_way(shape, state, areas, here):
    """Whether a shape is ahead; or beside a car that is off its lane or at a crossing."""
    angle = bearing(state, shape)
    exposed = areas.off_lane[here] or areas.rear_axle_at_crossing[here]
    return angle < np.deg2rad(30) or (exposed and not angle > np.deg2rad(150))
