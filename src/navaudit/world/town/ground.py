"""A whole town on one map: streets, junctions, walkways and car parks, with their map ids."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from navaudit.world.town.chance import stream
from navaudit.world.town.curves import Array, box, left_of, ring, snap
from navaudit.world.town.junctions import Junction, lay_junctions
from navaudit.world.town.lanes import Boundary, LaneGroup, lay_lanes
from navaudit.world.town.roads import Streets, draw_streets

WALKWAY_M: Final = 2.6
PARK_M: Final = (32.0, 16.5)
"""Length along the street and depth of a car park."""
PARKS: Final = 5
"""Car parks in a town, at most."""


@dataclass(frozen=True)
class Place:
    """A city whose name, map version and map projection the town borrows."""

    location: str
    version: str
    zone: int
    """UTM zone, north; nuPlan's maps are in EPSG 32600 plus this."""
    origin_m: tuple[int, int]
    """Easting and northing of the town's own origin."""


PLACES: Final = (
    Place("us-ma-boston", "9.12.1817", 19, (330000, 4690000)),
    Place("us-nv-las-vegas-strip", "9.15.1915", 11, (664000, 3998000)),
    Place("us-pa-pittsburgh-hazelwood", "9.17.1937", 17, (587000, 4475000)),
    Place("sg-one-north", "9.17.1964", 48, (365000, 143000)),
)
"""The four cities of nuPlan; the stock map reader wants a map of each."""


@dataclass(frozen=True, eq=False)
class CarPark:
    """A paved yard beside a street, with a driveway."""

    fid: int
    ring_m: Array
    driveway_fid: int
    driveway_ring_m: Array
    bays_m: Array
    """``[bay, 2]`` centres of the parking bays."""
    facing: Array
    """Unit direction of a parked car."""


@dataclass(frozen=True, eq=False)
class Town:
    """One town; all lines in metres from its own origin, rounded to a micrometre."""

    place: Place
    streets: Streets
    groups: tuple[LaneGroup, ...]
    junctions: tuple[Junction, ...]
    walkways: tuple[tuple[int, Array], ...]
    """Id and ring of each pavement."""
    carparks: tuple[CarPark, ...]
    segments: tuple[tuple[int, Array], ...]
    """Id and ring of the paved surface of each road, kerb to kerb."""

    def boundaries(self) -> list[Boundary]:
        """Every boundary once, by id."""
        lanes = [lane for group in self.groups for lane in group.lanes]
        connectors = [one for junction in self.junctions for one in junction.connectors]
        found: dict[int, Boundary] = {}
        for strip in [*lanes, *connectors]:
            for edge in (strip.left, strip.right):
                found.setdefault(edge.fid, edge)
        return [found[fid] for fid in sorted(found)]


def draw_town(seed: int, index: int) -> Town:
    """Draw the town at place ``index``."""
    rng = stream(seed, "streets", index)
    streets = draw_streets(rng)
    fids = itertools.count(int(rng.integers(40000, 60000)), int(rng.integers(1, 8)))
    groups = lay_lanes(streets.roads, fids)
    junctions = lay_junctions(streets, groups, fids)
    walkways, segments = [], []
    for road in streets.roads:
        kerb = road.profile.half_kerb_m
        segments.append((next(fids), ring(road.side(-kerb), road.side(kerb)[::-1])))
        for near, far in ((kerb, kerb + WALKWAY_M), (-kerb - WALKWAY_M, -kerb)):
            walkways.append((next(fids), ring(road.side(near), road.side(far)[::-1])))
    carparks = tuple(_lay_parks(rng, streets, fids))
    return Town(
        PLACES[index], streets, groups, junctions, tuple(walkways), carparks, tuple(segments)
    )


def _lay_parks(rng: np.random.Generator, streets: Streets, fids: Iterator[int]) -> list[CarPark]:
    long_enough = [road for road in streets.roads if len(road.axis_m) > 110]
    parks = []
    for index in rng.permutation(len(long_enough)).tolist()[:PARKS]:
        road = long_enough[index]
        station = len(road.axis_m) // 2 + int(rng.integers(-15, 16))
        side = 1.0 if rng.random() < 0.5 else -1.0
        along = road.heading[station]
        # the yard stands clear of the kerb even where the street bows towards it
        near = road.profile.half_kerb_m + WALKWAY_M + 3.0
        away = left_of(along) * side
        centre = road.axis_m[station] + away * (near + PARK_M[1] / 2)
        drive = road.axis_m[station] + away * (road.profile.half_kerb_m + near) / 2
        width = near - road.profile.half_kerb_m
        rows = [(x, y) for y in (-5.4, 5.4) for x in np.arange(-13.5, 14.0, 2.7).tolist()]
        bays = np.stack([centre + along * x + away * y for x, y in rows])
        parks.append(
            CarPark(
                next(fids), snap(box(centre, along, *PARK_M)),
                next(fids), snap(box(drive, along, 6.0, width)), bays, away,
            )
        )  # fmt: skip
    return parks
