"""What a town looks like apart from what moves: paint on the ground, houses, trees, light posts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from navaudit.world.town.chance import stream
from navaudit.world.town.curves import Array, box, dot, left_of, shift, size
from navaudit.world.town.ground import WALKWAY_M, Town
from navaudit.world.town.junctions import CROSSWALK_M, Arm
from navaudit.world.town.roads import Road
from navaudit.world.town.solids import Colour, Face, Solid, block, oblong, panel, shade

ASPHALT: Final[Colour] = (92, 93, 97)
PAVEMENT: Final[Colour] = (164, 159, 150)
KERB: Final[Colour] = (196, 194, 188)
WHITE: Final[Colour] = (228, 228, 224)
YELLOW: Final[Colour] = (222, 178, 54)
PLASTER: Final[tuple[Colour, ...]] = (
    (176, 148, 124), (150, 92, 74), (190, 184, 170), (124, 128, 134), (206, 190, 160), (98, 84, 76),
)  # fmt: skip
LEAVES: Final[tuple[Colour, ...]] = ((58, 98, 46), (74, 112, 52), (92, 118, 58))

PIECE: Final = 8
"""Stations of a road painted as one polygon."""


@dataclass(frozen=True, eq=False)
class Paint:
    """A polygon on the ground, ``[vertex, 2]``; later ones cover earlier ones."""

    ring_m: Array
    colour: Colour


@dataclass(frozen=True, eq=False)
class Scenery:
    """Everything of a town that stands still, ready for the cameras."""

    paints: tuple[Paint, ...]
    centre_m: Array
    """``[paint, 2]``"""
    reach_m: Array
    """``[paint]``: from the centre to the farthest vertex."""
    solids: tuple[Solid, ...]
    solid_xy_m: Array
    """``[solid, 2]``"""


def dress(seed: int, index: int, town: Town) -> Scenery:
    """Paint the ground of a town and build its houses, trees and posts."""
    rng = stream(seed, "scenery", index)
    paints = [*_surfaces(town), *_markings(town)]
    solids = [*_houses(rng, town), *_trees(rng, town)]
    centre = np.stack([one.ring_m.mean(axis=0) for one in paints])
    gaps = [one.ring_m - mid for one, mid in zip(paints, centre, strict=True)]
    reach = np.array([np.sqrt((gap * gap).sum(axis=1).max()) for gap in gaps])
    where = np.stack([one.xy_m for one in solids])
    return Scenery(tuple(paints), centre, reach, tuple(solids), where)


def _strips(road: Road, right_m: float, left_m: float, colour: Colour) -> Iterator[Paint]:
    """A band along a road, in pieces."""
    near, far = road.side(right_m), road.side(left_m)
    for k in range(0, len(near) - 1, PIECE):
        piece = slice(k, k + PIECE + 1)
        yield Paint(np.concatenate([near[piece], far[piece][::-1]]), colour)


def _surfaces(town: Town) -> Iterator[Paint]:
    rims = []
    for junction in town.junctions:
        middle = junction.ring_m.mean(axis=0)
        yield Paint(middle + (junction.ring_m - middle) * 1.22, PAVEMENT)
        rims.append(Paint(middle + (junction.ring_m - middle) * 1.014, KERB))
    for road in town.streets.roads:
        kerb = road.profile.half_kerb_m
        yield from _strips(road, -kerb - WALKWAY_M, kerb + WALKWAY_M, PAVEMENT)
    for park in town.carparks:
        yield Paint(park.ring_m[:-1], shade(ASPHALT, 0.9))
        yield Paint(park.driveway_ring_m[:-1], shade(ASPHALT, 0.95))
        for bay in park.bays_m:
            line = bay + left_of(park.facing) * 1.35
            yield Paint(box(line, park.facing, 4.8, 0.12)[:-1], WHITE)
    yield from rims
    for road in town.streets.roads:
        kerb = road.profile.half_kerb_m
        for side in (kerb, -kerb):
            yield from _strips(road, side - 0.18, side + 0.18, KERB)
        yield from _strips(road, -kerb + 0.02, kerb - 0.02, ASPHALT)
    for junction in town.junctions:
        yield Paint(junction.ring_m, shade(ASPHALT, 0.97))


def _markings(town: Town) -> Iterator[Paint]:
    for road in town.streets.roads:
        profile = road.profile
        for side in (-0.16, 0.16):
            yield from _strips(road, side - 0.07, side + 0.07, YELLOW)
        for side in (profile.half_lanes_m, -profile.half_lanes_m):
            yield from _strips(road, side - 0.08, side + 0.08, WHITE)
        for lane in range(1, profile.lanes):
            for side in (1.0, -1.0):
                yield from _dashes(road, side * lane * profile.lane_width_m)
    for junction in town.junctions:
        for arm in junction.arms:
            yield from _before_junction(arm)


def _dashes(road: Road, left_m: float) -> Iterator[Paint]:
    near, far = road.side(left_m - 0.08), road.side(left_m + 0.08)
    for k in range(4, len(near) - 4, 9):
        yield Paint(np.concatenate([near[k : k + 4], far[k : k + 4][::-1]]), WHITE)


def _before_junction(arm: Arm) -> Iterator[Paint]:
    """Stop line and crosswalk stripes."""
    half = arm.profile.half_lanes_m
    line = [(0.2, -0.15), (half, -0.15), (half, -0.65), (0.2, -0.65)]
    yield Paint(np.stack([arm.across(*place) for place in line]), WHITE)
    wide = arm.profile.half_kerb_m
    for left in np.arange(-wide + 0.3, wide - 0.5, 1.1).tolist():
        stripe = [(left, CROSSWALK_M[0]), (left + 0.55, CROSSWALK_M[0])]
        stripe += [(left + 0.55, CROSSWALK_M[1]), (left, CROSSWALK_M[1])]
        yield Paint(np.stack([arm.across(*place) for place in stripe]), WHITE)


def _houses(rng: np.random.Generator, town: Town) -> Iterator[Solid]:
    for road in town.streets.roads:
        for side in (1.0, -1.0):
            station = 12 + int(rng.integers(0, 8))
            while station < len(road.axis_m) - 14:
                front, deep = float(rng.uniform(11.0, 22.0)), float(rng.uniform(9.0, 14.0))
                high, colour = (
                    float(rng.uniform(5.0, 19.0)),
                    PLASTER[int(rng.integers(len(PLASTER)))],
                )
                back, gap = float(rng.uniform(1.5, 5.0)), int(rng.integers(2, 12))
                middle = min(len(road.axis_m) - 1, station + int(front / 2))
                away = road.profile.half_kerb_m + WALKWAY_M + back + deep / 2
                heading = road.heading[middle]
                centre = road.axis_m[middle] + left_of(heading) * side * away
                if _free(town, road, centre, front / 2 + 12.0):
                    yield _house(centre, heading, (front, deep, high), colour, -side)
                station += int(front) + gap


def _free(town: Town, own: Road, centre_m: Array, reach_m: float) -> bool:
    """Whether nothing else of the town is within reach."""
    for road in town.streets.roads:
        gap = road.axis_m[::6] - centre_m
        reach = reach_m + road.profile.half_kerb_m - (9.0 if road is not own else 99.0)
        if reach > 0.0 and ((gap * gap).sum(axis=1) < reach * reach).any():
            return False
    spots = [park.ring_m.mean(axis=0) for park in town.carparks]
    spots += [arm.port_m for junction in town.junctions for arm in junction.arms]
    return all(float(size(one - centre_m)) > reach_m + 6.0 for one in spots)


def _house(
    centre_m: Array,
    heading: Array,
    size_m: tuple[float, float, float],
    colour: Colour,
    street: float,
) -> Solid:
    front, deep, high = size_m
    base = oblong(centre_m, heading, front, deep)
    faces = block(base, 0.0, high, colour, shade(colour, 0.7))
    facing = left_of(heading) * street
    wall = centre_m + facing * (deep / 2 + 0.02)
    floors = max(1, int(high / 3.2))
    for floor in range(floors):
        for k in range(max(1, int(front / 3.4))):
            spot = wall + heading * ((k + 0.5) * 3.4 - int(front / 3.4) * 1.7)
            faces.append(panel(spot, facing, (1.7, 1.5), 1.9 + 3.2 * floor, (58, 70, 84)))
    for end in (1.0, -1.0):
        side = centre_m + heading * (end * (front / 2 + 0.02))
        for floor in range(floors):
            faces.append(
                panel(side, heading * end, (deep * 0.7, 1.3), 1.9 + 3.2 * floor, (70, 80, 92))
            )
    return Solid(centre_m, tuple(faces))


def _trees(rng: np.random.Generator, town: Town) -> Iterator[Solid]:
    for road in town.streets.roads:
        for side in (1.0, -1.0):
            for station in range(9, len(road.axis_m) - 9, 13):
                kept, tall = rng.random() < 0.62, float(rng.uniform(4.0, 7.5))
                leaf, turn = LEAVES[int(rng.integers(len(LEAVES)))], float(rng.uniform(-1.0, 1.0))
                if kept:
                    spot = shift(road.axis_m[station], road.heading[station],
                                 side * (road.profile.half_kerb_m + 0.7))  # fmt: skip
                    yield _tree(spot, road.heading[station], tall, leaf, turn)


def _tree(spot_m: Array, heading: Array, tall_m: float, leaf: Colour, turn: float) -> Solid:
    way = heading + left_of(heading) * turn
    way = way / np.sqrt(dot(way, way))
    faces: list[Face] = block(oblong(spot_m, way, 0.28, 0.28), 0.0, tall_m * 0.45, (84, 66, 50))
    for low, high, wide, tint in (
        (0.4, 0.6, 0.42, 0.8),
        (0.52, 0.85, 0.52, 1.0),
        (0.8, 1.0, 0.34, 1.12),
    ):
        crown = oblong(spot_m, way, tall_m * wide, tall_m * wide)
        cut = [c + (d - c) * share for c, d in zip(crown, np.roll(crown, -1, 0), strict=True)
               for share in (0.25, 0.75)]  # fmt: skip
        faces += block(np.stack(cut), tall_m * low, tall_m * high, shade(leaf, tint))
    return Solid(spot_m, tuple(faces))
