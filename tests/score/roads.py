"""Random roads: straight or bent, with lanes, crossings, car parks, islands, slivers and gaps."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import shapely


@dataclass(frozen=True)
class Road:
    """A road of constant bend; ``s`` runs along it and ``d`` to its left, both in metres."""

    bend: float

    def poses(self, s, d, turned=0.0):
        """Poses ``[..., 3]`` in the drawing of places on the road."""
        s, d, turned = np.broadcast_arrays(np.asarray(s, float), d, turned)
        if self.bend == 0.0:
            return np.stack([s, d, turned], axis=-1)
        angle, radius = s * self.bend, 1 / self.bend
        x, y = np.sin(angle) * (radius - d), radius - np.cos(angle) * (radius - d)
        return np.stack([x, y, angle + turned], axis=-1)

    def strip(self, s0, s1, d0, d1):
        """Polygon between two places and two sides; ends that meet meet in the same vertices."""
        s = np.linspace(s0, s1, 2 if self.bend == 0.0 else 2 + int(abs(s1 - s0) / 4))
        there, back = self.poses(s, d0), self.poses(s[::-1], d1)
        return shapely.Polygon(np.concatenate([there, back])[:, :2])


@dataclass(frozen=True)
class Layout:
    """What a road looks like from above."""

    road: Road
    breaks: tuple[float, ...]
    """Where along the road its sections begin and end."""
    crossing: int
    """Which section is a crossing, -1 if none."""
    edges: tuple[float, ...]
    """Sides of the lanes from right to left; the car's own lane is the first but ``right``."""
    right: int
    """Lanes to the right of the car's own."""
    opposite: int
    """Lanes of the other direction, the leftmost."""


def draw_layout(rng):
    """Draw a road: straight or bent, with its sections and lanes."""
    crossing = rng.random() < 0.5
    bend = rng.choice([0.0, 1 / rng.uniform(90, 300), 0.0 if crossing else 1 / rng.uniform(30, 80)])
    breaks = -40 + np.concatenate([[0], np.cumsum(rng.uniform(12, 45, 6))])
    right, left = rng.integers(0, 2), rng.integers(0, 3)
    width = rng.uniform(3.0, 4.2)
    opposite = int(rng.integers(0, 3))
    lanes = right + 1 + left + opposite
    edges = width * (np.arange(lanes + 1) - right - 0.5)
    section = int(rng.integers(1, 4)) if crossing else -1
    road = Road(float(bend) * rng.choice([-1, 1]))
    return Layout(road, tuple(breaks), section, tuple(edges), int(right), opposite)


class Names:
    """Ids: one of a kind, or every kind counting from one."""

    def __init__(self, rng):
        self.unique = rng.random() < 0.4
        self.count = {}

    def next(self, kind):
        """Return the next id of a kind."""
        counter = "all" if self.unique else kind
        self.count[counter] = self.count.get(counter, 0) + 1
        return str(self.count[counter])


def pave(rng, world, layout):
    """Pave every section of a road."""
    names = Names(rng)
    sliver = rng.choice([0.0, 0.02, 0.3], p=[0.8, 0.1, 0.1])
    lost = rng.random() < 0.1
    for number, (s0, s1) in enumerate(pairwise(layout.breaks)):
        if number == layout.crossing:
            world = pave_crossing(rng, world, layout, names, s0, s1)
        else:
            # a sliver between sections, as in real maps
            world = pave_block(
                rng, world, layout, names, s0, s1 - sliver, lost and rng.random() < 0.5
            )
    if rng.random() < 0.4:
        world = pave_car_park(rng, world, layout, names)
    if rng.random() < 0.05:
        world = world.with_patch("drivable_area", shapely.Point(20, 0).buffer(30), "1")
    return world


def pave_block(rng, world, layout, names, s0, s1, off_route):
    """Pave the lanes of a section and the block under them; one for each direction."""
    edges, first_opposite = layout.edges, len(layout.edges) - 1 - layout.opposite
    block = untidy(rng, layout, s0, s1, edges[0], edges[first_opposite])
    if rng.random() < 0.96:
        world = world.with_patch("roadblock", block, names.next("roadblock"))
    if layout.opposite:
        other = layout.road.strip(s0, s1, edges[first_opposite], edges[-1])
        world = world.with_patch("roadblock", other, names.next("roadblock"))
    for lane in range(len(edges) - 1):
        shape = layout.road.strip(s0, s1, edges[lane], edges[lane + 1])
        route = lane < first_opposite and not off_route
        route = route and (lane == layout.right or rng.random() < 0.4)
        world = world.with_patch("lane", shape, names.next("lane"), route)
    return world


def untidy(rng, layout, s0, s1, d0, d1):
    """Polygon of a block: whole, with an island, or in two pieces."""
    whole = layout.road.strip(s0, s1, d0, d1)
    kind = rng.choice(["whole", "island", "pieces", "notched"], p=[0.8, 0.06, 0.08, 0.06])
    middle, across = (s0 + s1) / 2, rng.uniform(d0, d1)
    if kind == "island":
        return whole.difference(
            layout.road.strip(middle - 2, middle + 2, across - 0.4, across + 0.4)
        )
    if kind == "pieces":
        gap = rng.choice([0.0, 0.5])
        halves = [
            layout.road.strip(s0, middle - gap, d0, d1),
            layout.road.strip(middle, s1, d0, d1),
        ]
        return shapely.MultiPolygon(halves)
    if kind == "notched":
        return whole.difference(layout.road.strip(middle, middle + 3, d0 - 1, d0 + 0.6))
    return whole


def pave_crossing(rng, world, layout, names, s0, s1):
    """Pave an intersection, connectors that overlap in it, and the arms of the street across."""
    edges, road = layout.edges, layout.road
    low, high = edges[0] - rng.uniform(0, 8), edges[-1] + rng.uniform(0, 8)
    square = road.strip(s0, s1, low, high)
    if rng.random() < 0.3:
        island = shapely.Point(road.poses((s0 + s1) / 2, high - 2)[:2]).buffer(1.0)
        square = square.difference(island)
    world = world.with_patch("intersection", square, names.next("intersection"))
    if rng.random() < 0.2:
        inner = road.strip(s0 + 1, s1 - 1, low / 2, high / 2)
        world = world.with_patch("intersection", inner, names.next("intersection"))
    for lane in range(len(edges) - 1):
        wide = rng.uniform(-0.3, 0.3)
        shape = road.strip(s0, s1, edges[lane] - wide, edges[lane + 1] + wide)
        route = lane == layout.right or rng.random() < 0.2
        world = world.with_patch("lane_connector", shape, names.next("lane_connector"), route)
    for begin, end in ((high, high + 30), (low - 30, low)):
        arm = road.strip(s0 + 1, s1 - 1, begin, end)
        world = world.with_patch("roadblock", arm, names.next("roadblock"))
        for half in ((s0 + 1, (s0 + s1) / 2), ((s0 + s1) / 2, s1 - 1)):
            world = world.with_patch("lane", road.strip(*half, begin, end), names.next("lane"))
    return world


def pave_car_park(rng, world, layout, names):
    """Pave a car park on the right, its border that of the road, with pillars as holes."""
    s0 = rng.uniform(-10, 40)
    s1, edge = s0 + rng.uniform(6, 30), layout.edges[0]
    park = layout.road.strip(s0, s1, edge - rng.uniform(4, 14), edge)
    for _ in range(rng.integers(0, 3)):
        where = layout.road.poses(rng.uniform(s0, s1), edge - rng.uniform(1, 4))[:2]
        park = park.difference(shapely.Point(where).buffer(0.5))
    return world.with_patch("carpark_area", park, names.next("carpark_area"))
