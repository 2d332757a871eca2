"""Who and what is beside the traffic: parked cars, people on foot and on bicycles, road works."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from navaudit.world.town.actors import THINGS, Actor, draw_body, moving_along, standing
from navaudit.world.town.chance import bell, token
from navaudit.world.town.curves import Array, cross, dot, left_of
from navaudit.world.town.ground import Town
from navaudit.world.town.junctions import CROSSWALK_M
from navaudit.world.town.roads import Road
from navaudit.world.town.signals import CYCLE_S, GREEN_S, YELLOW_S, Signals

WIDE_SHOULDER_M = 2.0
"""Cars park on shoulders wider than this; bicycles ride on the narrower ones."""

Crossings = dict[tuple[int, int], list[tuple[float, float]]]


@dataclass(frozen=True, eq=False)
class Surroundings:
    """A stretch of town around a path, and the clock of a drive through it."""

    town: Town
    spots_m: Array
    """``[spot, 2]`` points along the path."""
    times_s: Array
    """``[step]`` of the drive."""

    @property
    def dt_s(self) -> float:
        """Seconds from step to step."""
        return float(self.times_s[1] - self.times_s[0])

    def near(self, xy_m: Array, reach_m: float) -> bool:
        """Whether a point is within reach of the path."""
        gap = self.spots_m - xy_m
        return bool(((gap * gap).sum(axis=1) < reach_m * reach_m).any())

    def roads(self, reach_m: float) -> list[Road]:
        """Roads that come within reach of the path."""
        return [
            road
            for road in self.town.streets.roads
            if any(self.near(xy, reach_m) for xy in road.axis_m[::20])
        ]


def park_cars(rng: np.random.Generator, around: Surroundings, density: float) -> list[Actor]:
    """Cars at the kerb of wide shoulders and in the bays of car parks."""
    found = []
    steps = len(around.times_s)
    for road in around.roads(70.0):
        if road.profile.shoulder_m < WIDE_SHOULDER_M:
            continue
        for side in (1.0, -1.0):
            # on the left of the centreline cars face against it
            line, way = road.side(side * (road.profile.half_lanes_m + 1.28)), -side
            for station in range(14, len(line) - 14, 7):
                kept, size = rng.random() < density, draw_body(rng)
                spot = line[station] + road.heading[station] * bell(rng, 0.3)
                kept &= size[1] < 2.0 and _may_park(around.town, road, station, spot)
                if kept and around.near(spot, 70.0):
                    heading = road.heading[station] * way
                    found.append(standing(token(rng), ("vehicle", size), spot, heading, steps))
    for park in around.town.carparks:
        for bay in park.bays_m:
            kept, size = rng.random() < 0.6, draw_body(rng)
            if kept and size[0] < 5.2 and around.near(bay, 70.0):
                found.append(standing(token(rng), ("vehicle", size), bay, park.facing, steps))
    return found


def _may_park(town: Town, road: Road, station: int, spot_m: Array) -> bool:
    """Not in a bend, nor before a driveway."""
    bend = abs(cross(road.heading[station - 7], road.heading[station + 7]))
    gaps = [park.driveway_ring_m[:4].mean(axis=0) - spot_m for park in town.carparks]
    return bend < 0.12 and all(dot(gap, gap) > 64.0 for gap in gaps)


def ride_bicycles(rng: np.random.Generator, around: Surroundings, share: float) -> list[Actor]:
    """Bicycles on narrow shoulders, with the traffic beside them."""
    found = []
    for road in around.roads(60.0):
        for side in (1.0, -1.0):
            ridden, start, speed = rng.random() < share, rng.random(), rng.uniform(3.2, 5.5)
            name = token(rng)
            if not ridden or road.profile.shoulder_m >= WIDE_SHOULDER_M:
                continue
            line = road.side(side * (road.profile.half_lanes_m + 0.75))
            line = (line if side < 0.0 else line[::-1])[2:-3]
            s = start * 0.6 * len(line) + speed * around.times_s
            found.append(moving_along(name, "bicycle", line, s, around.dt_s))
    return found


def walk_pavements(rng: np.random.Generator, around: Surroundings, each: float) -> list[Actor]:
    """People on the pavements: strolling either way, some standing."""
    found = []
    for road in around.roads(60.0):
        for side in (1.0, -1.0):
            for _ in range(int(rng.integers(0, 1 + round(each * len(road.axis_m) / 40)))):
                line = road.side(side * (road.profile.half_kerb_m + rng.uniform(0.6, 2.0)))
                start, speed = rng.random() * len(line), max(0.0, 1.2 + bell(rng, 0.5))
                forth, name = rng.random() < 0.5, token(rng)
                s = start + speed * around.times_s
                actor = moving_along(
                    name, "pedestrian", line if forth else line[::-1], s, around.dt_s
                )
                if around.near(actor.xy_m[0], 60.0):
                    found.append(actor)
    return found


def cross_streets(
    rng: np.random.Generator, around: Surroundings, signals: Signals, shut: int
) -> tuple[list[Actor], Crossings]:
    """People who cross where the cars have red; none at junction ``shut``.

    Returns the people, and when each crosswalk is walked on.
    """
    found: list[Actor] = []
    crossings: Crossings = {}
    for junction, one in enumerate(around.town.junctions):
        for index, arm in enumerate(one.arms):
            wanted, wait, forth = int(rng.integers(0, 3)), rng.random(2), rng.random(2) < 0.5
            speed, name = 1.25 + 0.35 * rng.random(2), [token(rng), token(rng)]
            if junction == shut or not around.near(arm.port_m, 60.0):
                continue
            for k in range(wanted):
                half, deep = arm.profile.half_kerb_m + 1.2, sum(CROSSWALK_M) / 2 + (k - 0.5)
                line = np.stack([arm.across(half, deep), arm.across(-half, deep)])
                line = line if forth[k] else line[::-1]
                took = 2 * half / float(speed[k])
                for red in _reds(signals, junction, arm.phase, around.times_s):
                    begin = red + 2.5 + 3.0 * float(wait[k])
                    if begin + took + 1.5 < red + CYCLE_S - GREEN_S - YELLOW_S:
                        crossings.setdefault((junction, index), []).append((begin, begin + took))
                        s = float(speed[k]) * np.maximum(0.0, around.times_s - begin)
                        found.append(moving_along(name[k], "pedestrian", line, s, around.dt_s))
                        break
    return found, crossings


def _reds(signals: Signals, junction: int, phase: int, times_s: Array) -> Iterator[float]:
    """When a phase turns red during the drive."""
    first = float(times_s[0])
    red = first - signals.since_green(junction, phase, first) + GREEN_S + YELLOW_S
    while red < float(times_s[-1]):
        if red >= first - 2.0:
            yield red
        red += CYCLE_S


def lay_works(rng: np.random.Generator, around: Surroundings, share: float) -> list[Actor]:
    """Small road works on shoulders: cones, a barrier, a sign; bins on pavements."""
    found: list[Actor] = []
    steps = len(around.times_s)
    for road in around.roads(55.0):
        for side in (1.0, -1.0):
            here, station = rng.random() < share, int(rng.integers(25, len(road.axis_m) - 40))
            names = [token(rng) for _ in range(8)]
            if here:
                found += _works(road, side, station, names, steps)
            elif rng.random() < share:
                spot = road.side(side * (road.profile.half_kerb_m + 0.5))[station]
                thing = ("generic_object", THINGS["generic_object"])
                found.append(standing(names[0], thing, spot, road.heading[station], steps))
    return found


def _works(road: Road, side: float, station: int, names: list[str], steps: int) -> Iterator[Actor]:
    edge = road.profile.half_lanes_m
    kinds = ["czone_sign", *["traffic_cone"] * 5, "barrier", "barrier"]
    for k, (kind, name) in enumerate(zip(kinds, names, strict=True)):
        at = min(len(road.axis_m) - 2, station + 3 * k)
        out = edge + (0.9 if kind == "barrier" else 0.45)
        spot = road.axis_m[at] + left_of(road.heading[at]) * side * out
        yield standing(name, (kind, THINGS[kind]), spot, road.heading[at], steps)
