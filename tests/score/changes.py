"""Changes to finished scenes under which labels must stay, or may move one way only."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import shapely

from navaudit.axes import (
    AY,
    HEADING,
    STEERING,
    STEPS,
    VY,
    YAW_ACCELERATION,
    X,
    Y,
)
from navaudit.numerics.polygons import Polygons
from navaudit.scene.scene import Traffic

GRAIN_M = 2.0**-16
"""Coordinates in whole grains can be moved by whole metres without rounding."""


def carried(scene, points, heading, across=1.0):
    """A scene whose map is moved.

    ``points`` takes ``[..., xy]``, ``heading`` headings; ``across`` is -1 where left becomes right.
    """

    def states(state):
        state = np.array(state)
        state[..., (X, Y)] = points(state[..., (X, Y)])
        state[..., HEADING] = wrapped(heading(state[..., HEADING]))
        state[..., (VY, AY)] *= across
        state[..., STEERING : YAW_ACCELERATION + 1] *= across
        return state

    ground, lights, traffic, line = scene.ground, scene.lights, scene.traffic, scene.centreline
    box = np.array(traffic.box)
    box[..., :2], box[..., 2] = points(box[..., :2]), wrapped(heading(box[..., 2]))
    nothing = points(np.zeros(2))
    human = scene.human if scene.human is None else scene.human * (1, across, across)
    return replace(
        scene,
        ego=states(scene.ego),
        ground=replace(ground, polygons=moved_polygons(ground.polygons, points)),
        lights=replace(lights, polygons=moved_polygons(lights.polygons, points)),
        traffic=replace(traffic, box=box, velocity_mps=points(traffic.velocity_mps) - nothing),
        centreline=np.concatenate([points(line[:, :2]), heading(line[:, 2:])], axis=1),
        past=replace(scene.past, state=states(scene.past.state)),
        reference=replace(scene.reference, state=states(scene.reference.state)),
        human=human,
    )


def wrapped(heading):
    """Headings within half a turn, untouched where they are already."""
    return np.where(np.abs(heading) <= np.pi, heading, (heading + np.pi) % (2 * np.pi) - np.pi)


def moved_polygons(polygons, points):
    """Polygons with moved vertices."""
    return Polygons(
        points(polygons.xy), polygons.ring_start, polygons.polygon_ring, polygons.ring_is_hole
    )


def ground_to_grains(scene):
    """Every coordinate rounded to a grain."""
    return carried(scene, lambda xy: np.round(xy / GRAIN_M) * GRAIN_M, lambda heading: heading)


def moved_by(scene, x_m, y_m):
    """The whole map moved."""
    return carried(scene, lambda xy: np.add(xy, (x_m, y_m)), lambda heading: heading)


def turned_left(scene):
    """The whole map turned by a quarter."""
    quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])
    return carried(scene, lambda xy: xy @ quarter, lambda heading: heading + np.pi / 2)


def mirrored(scene):
    """The whole map as in a mirror that lies along it."""
    return carried(scene, lambda xy: xy * (1, -1), lambda heading: -heading, across=-1.0)


def with_traffic(scene, agents):
    """These agents only, in this order, repeats left out."""
    traffic, keep = scene.traffic, np.asarray(agents, int)
    return replace(
        scene,
        traffic=Traffic(
            tuple(traffic.token[agent] for agent in keep),
            traffic.kind[keep],
            traffic.box[:, keep],
            traffic.present[:, keep],
            traffic.velocity_mps[keep],
        ),
    )


def with_stranger(scene, way_m):
    """One more vehicle, standing this far from the ego."""
    traffic = scene.traffic
    box = np.broadcast_to((*(scene.ego[:2] + way_m), 0.3, 4.0, 2.0), (STEPS, 1, 5))
    return replace(
        scene,
        traffic=Traffic(
            (*traffic.token, "stranger"),
            np.append(traffic.kind, 0),
            np.concatenate([traffic.box, box], axis=1),
            np.concatenate([traffic.present, np.ones((STEPS, 1), bool)], axis=1),
            np.concatenate([traffic.velocity_mps, np.zeros((1, 2))]),
        ),
    )


def without_red(scene, keep=False):
    """The same lights showing red never, or only where ``keep`` ``[step, light]``."""
    return replace(scene, lights=replace(scene.lights, red=scene.lights.red & keep))


def with_ground(scene, kind, shape, on_route=False):
    """One more polygon of ground, in the map frame."""
    ground = scene.ground
    return replace(
        scene,
        ground=replace(
            ground,
            id=(*ground.id, "another"),
            kind=np.append(ground.kind, kind),
            polygons=Polygons.of([*ground.polygons.shapes(), shape]),
            on_route=np.append(ground.on_route, on_route),
        ),
    )


def reordered(scene, rng):
    """The same scene, its agents, lights and polygons in another order, rings turned round."""
    agents = rng.permutation(len(scene.traffic))
    patches, lamps = rng.permutation(len(scene.ground)), rng.permutation(len(scene.lights))
    ground, lights = scene.ground, scene.lights
    scene = with_traffic(scene, agents)
    return replace(
        scene,
        ground=type(ground)(
            tuple(ground.id[patch] for patch in patches),
            ground.kind[patches],
            rewound(ground.polygons.take(patches)),
            ground.on_route[patches],
        ),
        lights=type(lights)(
            tuple(lights.connector[lamp] for lamp in lamps),
            rewound(lights.polygons.take(lamps)),
            lights.red[:, lamps],
        ),
    )


def rewound(polygons):
    """The same polygons with their rings the other way round, beginning elsewhere."""
    return Polygons.of([shapely.reverse(shape) for shape in polygons.shapes()])


def same(one, other):
    """Whether two sheets are the same to the bit."""
    return all(
        np.array_equal(getattr(one, each.name), getattr(other, each.name)) for each in fields(one)
    )
