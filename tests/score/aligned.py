"""Worlds on a lattice: borders, corners and centres that lie exactly on one another.

Here the question is not on which side of a border a point lies but whether the border counts. The
car drives along the x axis, where both implementations compute its sides without rounding.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import shapely
import shapely.ops

from navaudit.axes import STEPS, VX
from navaudit.scene.scene import GROUND_KINDS
from navaudit.scene.vocabulary import Vocabulary
from navaudit.vehicle import HALF_WIDTH_M, REAR_AXLE_TO_CENTRE_M
from score.drives import draw_candidates
from score.wild import Case
from score.worlds import World

SIDES = (-HALF_WIDTH_M, 0.0, HALF_WIDTH_M, 0.5, -0.5)
"""Where the flanks and the centre drive, and half a metre away."""


def aligned_case(seed, count):
    """Draw a scene and candidates for it, half of which drive along the axis."""
    rng = np.random.default_rng(seed)
    speed = rng.choice([0.0, rng.uniform(0, 15)])
    world = World().driving(float(speed))
    for piece in road(rng):
        world = world.with_patch("roadblock", piece)
    for kind in rng.choice(GROUND_KINDS, 14, p=(0.3, 0.25, 0.1, 0.2, 0.1, 0.05)):
        world = world.with_patch(kind, shape(rng), route=bool(rng.random() < 0.6))
    for _ in range(rng.integers(0, 8)):
        world = with_neighbour(rng, world)
    for number in range(rng.integers(0, 3)):
        red = np.arange(STEPS) >= rng.integers(-20, 40)
        world = replace(world, lights=(*world.lights, (str(number), shape(rng), red)))
    x = np.cumsum(rng.integers(0, 9, 12)) * 0.5 - 5
    y = rng.choice([0.0, 0.5, -0.5, 1.0]) + rng.choice([0.0, 0.5], 12) * rng.integers(0, 2)
    world = replace(world, centreline=np.stack([x, y + 0 * x], axis=1))
    poses = draw_candidates(rng, count, world.state[VX])
    poses[::2, :, 1:] = 0.0
    case = Case((world.scene(), Vocabulary(poses)))
    case.seed = seed
    return case


def road(rng):
    """Most of the ground in one piece, or in two with a seam along which nothing is inside."""
    whole = shapely.box(-30, -rng.integers(3, 20) * 0.5, 90, rng.integers(3, 20) * 0.5)
    seam = height(rng)
    pieces = shapely.ops.split(whole, shapely.LineString([(-50, seam), (99, seam)]))
    return {0: [whole], 1: pieces.geoms, 2: []}[rng.choice(3, p=[0.5, 0.3, 0.2])]


def height(rng):
    """A height on the lattice, or one at which a part of the car drives."""
    return rng.choice([rng.integers(-20, 21) * 0.5, *SIDES])


def shape(rng):
    """A polygon on the lattice: a box, a corner, a frame, two boxes that touch, or a triangle."""
    x0, y0 = rng.integers(-40, 80) * 0.5, height(rng)
    box = shapely.box(x0, y0, x0 + rng.integers(1, 60) * 0.5, y0 + rng.integers(1, 30) * 0.5)
    low_x, low_y, high_x, high_y = box.bounds
    kind = rng.integers(0, 5)
    if kind == 1:
        return shapely.Polygon([(low_x, low_y), (high_x, low_y), (high_x, high_y)])
    if kind == 2 and high_x - low_x > 2 and high_y - low_y > 2:
        return box.difference(shapely.box(low_x + 0.5, low_y + 0.5, high_x - 0.5, high_y - 0.5))
    if kind == 3:
        twin = shapely.box(high_x, high_y, high_x + 4, high_y + 4)
        return shapely.MultiPolygon([box, twin])
    if kind == 4:
        # several vertices on one straight side
        return shapely.segmentize(box, 0.5)
    return box


def with_neighbour(rng, world):
    """Add a box that lies along the car's flank, at its bumper, or anywhere on the lattice."""
    size = rng.choice([0.0, 0.5, 1.0, 2.0, 4.0], 2)
    x, y = rng.integers(-10, 60) * 0.5, rng.integers(-6, 7) * 0.5
    if rng.random() < 0.6:
        y = rng.choice([-1, 1]) * (HALF_WIDTH_M + size[1] / 2)
    kind = rng.choice(["vehicle", "pedestrian", "traffic_cone"])
    speed = rng.choice([0.0, 0.05, 0.1, 5.0])
    poses = np.zeros((STEPS, 3))
    poses[:, :2] = x + REAR_AXLE_TO_CENTRE_M, y
    poses[:, 0] += speed * 0.1 * np.arange(STEPS)
    return world.with_agent(kind, poses, size, velocity_mps=(speed, 0.0))
