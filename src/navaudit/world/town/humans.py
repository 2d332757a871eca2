"""What the human at the wheel is about to do: where he drives, and which rule he will not keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from navaudit.vehicle import HALF_WIDTH_M
from navaudit.world.town.actors import THINGS, draw_body
from navaudit.world.town.curves import Array
from navaudit.world.town.network import Network
from navaudit.world.town.paths import Swerve
from navaudit.world.town.signals import CYCLE_S, GREEN_S, YELLOW_S, offset_for

ROUTE_M: Final = 520.0
"""Length of a route: enough for a drive and for what its planner looks at beyond."""


@dataclass(frozen=True, eq=False)
class Thing:
    """Something put in the human's way."""

    kind: str
    size_m: tuple[float, float, float]
    xy_m: Array
    heading: Array


@dataclass(frozen=True, eq=False)
class Intent:
    """One drive before it happens."""

    kind: str
    route: tuple[int, ...]
    start_m: float
    """Distance along the first edge."""
    speed_mps: float
    offset_s: tuple[float, ...]
    """Of the lights at each junction; time 0 is when the drive begins to be simulated."""
    warmup_s: float = 3.0
    keenness: float = 0.95
    change_m: tuple[float, float] | None = None
    """Where on the first edge he changes into the lane beside it, the second of the route."""
    swerve: Swerve | None = None
    runs_red: int = -1
    """Junction whose red light he runs."""
    queue: int = 0
    """Cars that stand at the red light at the end of the first edge."""
    brakes_late: bool = False
    shut: tuple[int, ...] = ()
    """Edges that no other car drives on."""
    clear_m: float = 0.0
    """No car ahead of him up to this distance along the route."""
    things: tuple[Thing, ...] = ()


def wander(
    rng: np.random.Generator,
    network: Network,
    first: int,
    start_m: float,
    straight: bool = False,
) -> tuple[int, ...]:
    """Draw a route from a place on a lane; ``straight``: straight on first, if possible."""
    route, length = [first], network.edges[first].length_m - start_m
    while length < ROUTE_M:
        ways = network.edges[route[-1]].nexts
        on = [w for w in ways if (c := network.edges[w].connector) and c.turn == "straight"]
        ways = tuple(on) if straight and len(route) == 1 and on else ways
        way = ways[int(rng.integers(len(ways)))]
        route += [way, network.edges[way].nexts[0]]
        length += network.edges[way].length_m + network.edges[route[-1]].length_m
    return tuple(route)


def intend(rng: np.random.Generator, network: Network, kind: str) -> Intent:
    """Draw a drive of a kind."""
    return KINDS[kind](rng, network)


def _lights(
    rng: np.random.Generator, network: Network, lane: int, green_at_s: float
) -> tuple[float, ...]:
    """Offsets of all lights; the one at the end of ``lane`` turns green as told."""
    offsets = (rng.random(len(network.town.junctions)) * CYCLE_S).tolist()
    edge = network.edges[lane]
    phase = network.town.junctions[edge.junction].arms[edge.arm].phase
    offsets[edge.junction] = offset_for(phase, green_at_s)
    return tuple(offsets)


def _lane(
    rng: np.random.Generator, network: Network, at_least_m: float, fits: Callable[[int], bool]
) -> int:
    """Draw a lane long enough that fits."""
    long_enough = [e.index for e in network.edges[: network.lanes] if e.length_m >= at_least_m]
    fitting = [index for index in long_enough if fits(index)]
    return fitting[int(rng.integers(len(fitting)))]


def _width(network: Network, lane: int) -> float:
    group = network.town.groups
    fid = network.edges[lane].strip.group
    road = next(one.road for one in group if one.fid == fid)
    return network.town.streets.roads[road].profile.lane_width_m


def _single(network: Network, lane: int) -> bool:
    return network.beside[lane] == (-1, -1)


def ordinary(rng: np.random.Generator, network: Network) -> Intent:
    """Drive as one does: with the traffic, to a green light or a red one, round corners."""
    lane = _lane(rng, network, 60.0, lambda _: True)
    edge = network.edges[lane]
    start = float(rng.uniform(3.0, 0.7 * edge.length_m))
    keenness = float(rng.uniform(0.82, 1.0))
    speed = keenness * edge.cap_at(start)
    arrival = (edge.length_m - start) / max(speed, 5.0)
    green = rng.random() < 0.62
    turns_green = arrival + (rng.uniform(-9.0, -5.0) if green else rng.uniform(3.0, 12.0))
    lights = _lights(rng, network, lane, float(turns_green))
    warmup = float(rng.uniform(3.0, 7.0))
    return Intent(
        "ordinary", wander(rng, network, lane, start), start, speed, lights, warmup, keenness
    )


def _along(rng: np.random.Generator, network: Network, lane: int, speed_mps: float) -> Intent:
    """Drive along one road at about the given speed, with a green light at its end."""
    edge = network.edges[lane]
    start = float(rng.uniform(3.0, 8.0))
    arrival = (edge.length_m - start) / speed_mps
    lights = _lights(rng, network, lane, arrival - float(rng.uniform(5.0, 8.0)))
    keenness = min(1.0, speed_mps / min(edge.cap_mps))
    route = wander(rng, network, lane, start)
    return Intent(
        "along", route, start, min(speed_mps, edge.cap_at(start)), lights, 2.5, keenness,
        clear_m=edge.length_m,
    )  # fmt: skip


def off_centre(rng: np.random.Generator, network: Network) -> Intent:
    """Keep well left of the middle for some seconds, past cones, a parked car, or out of habit."""
    lane = _lane(rng, network, 150.0, lambda _: True)
    speed = float(rng.uniform(7.5, 9.5))
    plan = _along(rng, network, lane, speed)
    total = min(network.edges[lane].length_m, 190.0)
    held, ramp = speed * float(rng.uniform(2.8, 4.0)), speed * float(rng.uniform(1.8, 2.3))
    last = total - 8.0 - ramp
    swerve = Swerve(
        (last - held - ramp, last - held), (last, last + ramp), float(rng.uniform(0.8, 1.15))
    )
    reason = int(rng.integers(3))
    things = _beside(rng, network, lane, reason, (last - held, last))
    left = network.beside[lane][0]
    shut = (left if left >= 0 else network.mate[lane],)
    return replace(plan, kind="off_centre", swerve=swerve, things=things, shut=shut)


def _beside(
    rng: np.random.Generator, network: Network, lane: int, reason: int, span_m: tuple[float, float]
) -> tuple[Thing, ...]:
    """Cones along the lane's right edge, or a car parked over it, or nothing."""
    edge, half = network.edges[lane], _width(network, lane) / 2
    if reason == 0 or not _rightmost(network, lane):
        return ()
    if reason == 1:
        places = np.arange(span_m[0] + 4.0, span_m[1] - 4.0, 4.0)
        xy, heading = edge.place(places, -half + 0.15)
        size = THINGS["traffic_cone"]
        return tuple(Thing("traffic_cone", size, xy[k], heading[k]) for k in range(len(places)))
    size = draw_body(rng)
    xy, heading = edge.place((span_m[0] + span_m[1]) / 2, -half - size[1] / 2 + 0.25)
    return (Thing("vehicle", size, xy, heading),)


def _rightmost(network: Network, lane: int) -> bool:
    return network.beside[lane][1] == -1


def overtake(rng: np.random.Generator, network: Network) -> Intent:
    """Pass a car that blocks the only lane, on the oncoming one."""
    lane = _lane(rng, network, 150.0, lambda index: _single(network, index))
    edge, speed = network.edges[lane], float(rng.uniform(8.0, 9.0))
    plan = _along(rng, network, lane, speed)
    total, ramp, size = min(edge.length_m, 190.0), 24.0, draw_body(rng)
    where = total - 58.0 - float(rng.uniform(0.0, 8.0))
    aside = float(rng.uniform(2.9, 3.2))
    swerve = Swerve((where - 12.0 - ramp, where - 12.0), (where + 12.0, where + 12.0 + ramp), aside)
    xy, heading = edge.place(where, -0.75)
    shut = (lane, network.mate[lane])
    things = (Thing("vehicle", size, xy, heading),)
    return replace(plan, kind="overtake", swerve=swerve, things=things, shut=shut)


def change_lane(rng: np.random.Generator, network: Network) -> Intent:
    """Move over into the lane beside."""
    lane = _lane(rng, network, 150.0, lambda index: not _single(network, index))
    plan = _along(rng, network, lane, float(rng.uniform(8.0, 10.0)))
    left, right = network.beside[lane]
    other = left if left >= 0 else right
    begin = float(rng.uniform(0.36, 0.48)) * min(network.edges[lane].length_m, 190.0)
    span = plan.speed_mps * float(rng.uniform(4.0, 5.0))
    route = (lane, *wander(rng, network, other, 0.0))
    change = (begin, begin + span)
    return replace(plan, kind="change_lane", route=route, change_m=change, shut=(other,))


def run_red(rng: np.random.Generator, network: Network) -> Intent:
    """Enter a junction within a second and a half of the light's turning red."""
    lane = _lane(rng, network, 100.0, lambda index: _goes_straight(network, index))
    edge = network.edges[lane]
    start = edge.length_m - float(rng.uniform(80.0, 95.0))
    speed = 0.9 * edge.cap_at(edge.length_m)
    arrival = (edge.length_m - start) / speed
    red = arrival - float(rng.uniform(-0.3, 1.2))
    lights = _lights(rng, network, lane, red - GREEN_S - YELLOW_S)
    route = wander(rng, network, lane, start, straight=True)
    beyond = ROUTE_M / 2
    return Intent(
        "run_red", route, start, min(speed, edge.cap_at(start)), lights, 1.5, 0.9,
        runs_red=edge.junction, clear_m=beyond,
    )  # fmt: skip


def _goes_straight(network: Network, lane: int) -> bool:
    ways = [network.edges[way].connector for way in network.edges[lane].nexts]
    return any(one is not None and one.turn == "straight" for one in ways)


def tailgate(rng: np.random.Generator, network: Network) -> Intent:
    """Brake late and stop very close behind the last of a queue."""
    lane = _lane(rng, network, 110.0, lambda _: True)
    edge, queue = network.edges[lane], int(rng.integers(1, 4))
    start = max(3.0, edge.length_m - float(rng.uniform(95.0, 110.0)))
    speed = float(rng.uniform(7.5, 9.0))
    arrival = (edge.length_m - start) / speed
    lights = _lights(rng, network, lane, arrival + float(rng.uniform(8.0, 11.0)))
    return Intent(
        "tailgate", wander(rng, network, lane, start), start, speed, lights, 1.5,
        min(1.0, speed / min(edge.cap_mps)), queue=queue, brakes_late=True, clear_m=edge.length_m,
    )  # fmt: skip


def touch(rng: np.random.Generator, network: Network) -> Intent:
    """Pass a parked car so close that the boxes touch."""
    lane = _lane(rng, network, 150.0, lambda index: _rightmost(network, index))
    plan = _along(rng, network, lane, float(rng.uniform(7.0, 8.5)))
    size, edge = draw_body(rng), network.edges[lane]
    where = min(edge.length_m, 190.0) * float(rng.uniform(0.55, 0.7))
    xy, heading = edge.place(where, -(HALF_WIDTH_M - 0.25) - size[1] / 2)
    return replace(plan, kind="touch", things=(Thing("vehicle", size, xy, heading),), shut=(lane,))


KINDS: Final[dict[str, Callable[[np.random.Generator, Network], Intent]]] = {
    "ordinary": ordinary,
    "off_centre": off_centre,
    "change_lane": change_lane,
    "overtake": overtake,
    "run_red": run_red,
    "tailgate": tailgate,
    "touch": touch,
}
