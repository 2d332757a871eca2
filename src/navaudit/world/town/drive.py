"""One drive through the town: twenty seconds of a human at the wheel, and all that moves around."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from navaudit.vehicle import FRONT_LENGTH_M, LENGTH_M, REAR_LENGTH_M, WIDTH_M
from navaudit.world.town.actors import Actor, draw_body, standing
from navaudit.world.town.bystanders import (
    Surroundings,
    cross_streets,
    lay_works,
    park_cars,
    ride_bicycles,
    walk_pavements,
)
from navaudit.world.town.chance import bell, token
from navaudit.world.town.curves import Array, unit
from navaudit.world.town.drivers import Car, Temper
from navaudit.world.town.humans import Intent, wander
from navaudit.world.town.network import Network
from navaudit.world.town.paths import KNOT_M, Path, Weave, join, join_changing
from navaudit.world.town.signals import Signals
from navaudit.world.town.traffic import DT_S, STOP_SHORT_M, Traffic

STEPS: Final = 204
"""Steps of a drive, a tenth of a second apart: a little more than the 20 s of its log."""

REACH_M: Final = 110.0
"""Cars are set within this distance of the human's path."""

CLOSE_M: Final = 0.6
"""Room that one who brakes late leaves."""


@dataclass(frozen=True, eq=False)
class Drive:
    """What happened; every array has a step a tenth of a second long as its first axis."""

    network: Network
    intent: Intent
    signals: Signals
    clock_s: Array
    """``[step]``: time on the lights' clock."""
    path: Path
    weave: Weave
    u_m: Array
    """``[step]``: distance along the path."""
    speed_mps: Array
    acceleration_mps2: Array
    xy_m: Array
    """``[step, 2]``: rear axle in the town's frame."""
    heading: Array
    """``[step, 2]``: unit direction."""
    actors: tuple[Actor, ...]
    wall_m: float
    """Distance along the path of the bumper that he brakes late for; infinite without one."""


def drive(rng: np.random.Generator, network: Network, intent: Intent) -> Drive:
    """Let an intended drive happen."""
    path = _path(network, intent)
    weave = _weave(rng, intent, path)
    signals = Signals(intent.offset_s)
    clock = np.asarray(intent.warmup_s + np.arange(STEPS) * DT_S)
    spots = path.place(np.arange(0.0, 330.0, 10.0))[0]
    around = Surroundings(network.town, spots, clock)
    people, crossings = cross_streets(rng, around, signals, intent.runs_red)
    human = _human(intent, path)
    queue = _queue(rng, network, intent)
    wall = queue[-1].u_m - queue[-1].rear_m if intent.brakes_late else math.inf
    human.stops_at_m = wall - CLOSE_M
    cars = [human, *queue, *_populate(rng, network, intent, spots)]
    _run(Traffic(network, signals, cars, crossings), intent.warmup_s)
    beside = [
        *people,
        *walk_pavements(rng, around, float(rng.random())),
        *ride_bicycles(rng, around, 0.35),
        *park_cars(rng, around, float(rng.uniform(0.2, 0.7))),
        *lay_works(rng, around, 0.12),
    ]
    things = [
        standing(token(rng), (one.kind, one.size_m), one.xy_m, one.heading, STEPS)
        for one in intent.things
    ]
    u, speed, acceleration = np.array(human.history).T
    xy, heading = weave.place(path, u)
    actors = (*(_as_actor(car) for car in cars[1:]), *beside, *things)
    return Drive(
        network, intent, signals, clock, path, weave, u, speed, acceleration, xy, heading, actors,
        wall,
    )  # fmt: skip


def _path(network: Network, intent: Intent) -> Path:
    if intent.change_m is None:
        return join(network, list(intent.route))
    return join_changing(network, intent.route[0], list(intent.route[1:]), intent.change_m)


def _weave(rng: np.random.Generator, intent: Intent, path: Path) -> Weave:
    count = int(path.s_m[-1] / KNOT_M) + 3
    spread = 0.0 if intent.kind == "touch" else 0.09
    return Weave(np.array([bell(rng, spread) for _ in range(count)]), intent.swerve)


def _human(intent: Intent, path: Path) -> Car:
    temper = Temper(intent.keenness, 1.4, 2.4, 1.3, 1.7)
    size = (LENGTH_M, WIDTH_M, 1.8)
    car = Car(
        "", path, temper, size, FRONT_LENGTH_M, REAR_LENGTH_M, intent.start_m, intent.speed_mps
    )
    car.runs_red = intent.runs_red
    return car


def _queue(rng: np.random.Generator, network: Network, intent: Intent) -> list[Car]:
    """Cars that stand at the end of the first edge."""
    edge = network.edges[intent.route[0]]
    front, cars = edge.length_m - STOP_SHORT_M, []
    for _ in range(intent.queue):
        size = draw_body(rng)
        path = join(network, list(wander(rng, network, edge.index, edge.length_m)))
        cars.append(_car(rng, size, path, front - size[0] / 2, 0.0))
        front -= size[0] + 2.0 + float(rng.random())
    return cars


def _car(
    rng: np.random.Generator,
    size_m: tuple[float, float, float],
    path: Path,
    u_m: float,
    speed_mps: float,
) -> Car:
    keenness = float(rng.uniform(0.75, 1.0))
    temper = Temper(keenness, 1.2 + 0.6 * float(rng.random()), 2.0 + float(rng.random()), 1.4, 2.0)
    half = size_m[0] / 2
    return Car(token(rng), path, temper, size_m, half, half, u_m, speed_mps)


def _populate(
    rng: np.random.Generator, network: Network, intent: Intent, spots_m: Array
) -> list[Car]:
    """Set cars on the lanes near the human's path, none too close to him."""
    density, cars = float(rng.uniform(0.12, 0.7)), []
    for edge in network.edges[: network.lanes]:
        gap = edge.strip.baseline_m[::12, None] - spots_m
        if (gap * gap).sum(axis=2).min() > REACH_M * REACH_M:
            continue
        s = float(rng.uniform(2.0, 30.0))
        while s < edge.length_m - 6.0:
            size, speed = draw_body(rng), 0.85 * edge.cap_at(s)
            route = wander(rng, network, edge.index, s)
            if _welcome(network, intent, route, s):
                cars.append(_car(rng, size, join(network, list(route)), s, speed))
            u = float(rng.random())
            s += 14.0 + size[0] + 110.0 * u * u / density
    return cars


def _welcome(network: Network, intent: Intent, route: tuple[int, ...], s_m: float) -> bool:
    """Whether another car may start here without disturbing what the human intends."""
    if any(edge in intent.shut for edge in route):
        return False
    first = intent.route[0]
    if intent.change_m is not None and route[0] == intent.route[1]:
        return False
    if route[0] == first:
        ahead = s_m - intent.start_m
        return max(18.0, intent.clear_m - intent.start_m) < ahead or ahead < -18.0
    origin = network.edges[first].length_m
    for edge in intent.route[1:]:
        if edge == route[0] and origin + s_m < intent.clear_m:
            return False
        origin += network.edges[edge].length_m
    return True


def _run(traffic: Traffic, warmup_s: float) -> None:
    """Simulate, and let every car remember the steps of the drive."""
    for _ in range(round(warmup_s / DT_S)):
        traffic.step()
    for step in range(STEPS):
        for car in traffic.cars:
            car.history.append((car.u_m, car.speed_mps, car.acceleration_mps2))
        if step + 1 < STEPS:
            traffic.step()


def _as_actor(car: Car) -> Actor:
    u, speed, acceleration = np.array(car.history).T
    xy, heading = car.path.place(u)
    return Actor(
        car.token, "vehicle", car.size_m, xy, unit(heading), heading * speed[:, None],
        np.maximum(0.0, -acceleration),
    )  # fmt: skip
