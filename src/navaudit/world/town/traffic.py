"""Traffic: cars on their paths, one step at a time, heeding each other, lights and crosswalks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from navaudit.world.town.drivers import Car, brake_late, ease, follow
from navaudit.world.town.network import Edge, Network
from navaudit.world.town.signals import RED, YELLOW, Signals

DT_S: Final = 0.1
STOP_SHORT_M: Final = 1.4
"""Drivers stop this far before the end of the lane."""
SHARED_M: Final = 13.0
"""Over this length connectors out of one lane still lie on top of each other."""

Standing = tuple[float, Car]


@dataclass(eq=False)
class Traffic:
    """Everything that drives, and what it must heed."""

    network: Network
    signals: Signals
    cars: list[Car]
    crossings: dict[tuple[int, int], list[tuple[float, float]]]
    """When somebody walks over the crosswalk of a junction's arm, from and to in seconds."""
    time_s: float = 0.0
    _on: dict[int, list[Standing]] = field(default_factory=dict)

    def step(self) -> None:
        """Let a tenth of a second pass."""
        self._on = {}
        for car in self.cars:
            self._on.setdefault(car.edge, []).append((car.u_m - car.origin_m, car))
        for standing in self._on.values():
            standing.sort(key=lambda one: one[0])
        chosen = [self._choose(car) for car in self.cars]
        for car, acceleration in zip(self.cars, chosen, strict=True):
            car.move(acceleration, DT_S)
            if car.speed_mps < 0.05:
                car.stops_at_m = math.inf
        self.time_s += DT_S

    def _choose(self, car: Car) -> float:
        wanted, gap, speed, wall = self._look_ahead(car)
        if car.stops_at_m < math.inf:
            late = min(follow(car, wanted, math.inf, 0.0), brake_late(car))
            return ease(car, late, DT_S)
        best = follow(car, wanted, gap, car.speed_mps - speed)
        if wall < math.inf:
            # the gap it leaves to a car would be far too much before a line
            short = wall - STOP_SHORT_M + car.temper.gap_m
            best = min(best, follow(car, wanted, short, car.speed_mps))
        return ease(car, best, DT_S)

    def _look_ahead(self, car: Car) -> tuple[float, float, float, float]:
        """Speed to drive, room to the next car and its speed, room to the line to stop at."""
        look = 25.0 + 4.0 * car.speed_mps
        edges, u, wall, gap, speed = self.network.edges, car.u_m, math.inf, math.inf, 0.0
        wanted = edges[car.edge].cap_at(u - car.origin_m)
        legs = car.path.legs
        for k in range(car.leg, len(legs)):
            start = legs[k].origin_m - u
            if start > look:
                break
            edge = edges[legs[k].edge]
            if start > 0.0:
                cap = edge.cap_mps[0]
                wanted = min(wanted, math.sqrt(cap * cap + 2.6 * start))
            if gap == math.inf:
                gap, speed = self._leader(car, edge, start)
            if edge.index >= self.network.lanes and wall == math.inf and k > car.committed:
                wall = self._stop_line(car, edge, k, start - car.front_m)
        return wanted * car.temper.keenness, max(gap, 0.05), speed, wall

    def _leader(self, car: Car, edge: Edge, start_m: float) -> tuple[float, float]:
        """Room to the next car on an edge, or on one that shares its ground, and its speed."""
        best, speed = math.inf, 0.0
        near = self._on.get(edge.index, ())
        if edge.index >= self.network.lanes and start_m <= 30.0:
            near = [*near, *self._sharing(edge)]
        for s, other in near:
            if other is not car and start_m + s > 0.0:
                room = start_m + s - other.rear_m - car.front_m
                if room < best:
                    best, speed = room, other.speed_mps
        return best, speed

    def _sharing(self, edge: Edge) -> Iterator[Standing]:
        """Cars on connectors that part from this one late or join it, as if they were on it."""
        for sibling in self.network.siblings(edge.index):
            yield from (one for one in self._on.get(sibling, ()) if one[0] < SHARED_M)
        for rival in self.network.rivals(edge.index):
            behind = self.network.edges[rival].length_m - edge.length_m
            for s, other in self._on.get(rival, ()):
                if s - behind > edge.length_m - SHARED_M:
                    yield s - behind, other

    def _stop_line(self, car: Car, edge: Edge, leg: int, room_m: float) -> float:
        """Distance from the bumper to the line it must stop at; infinite if it may go."""
        if room_m < 0.0:
            car.committed = leg
            return math.inf
        needed = car.speed_mps * car.speed_mps / (2.0 * max(room_m, 0.1))
        return math.inf if self._may_enter(car, edge, needed) else room_m

    def _may_enter(self, car: Car, edge: Edge, needed_mps2: float) -> bool:
        connector = edge.connector
        assert connector is not None
        arms = self.network.town.junctions[edge.junction].arms
        phase = arms[edge.arm].phase
        colour = self.signals.colour(edge.junction, phase, self.time_s)
        if car.runs_red == edge.junction:
            return True
        if colour == RED or (colour == YELLOW and needed_mps2 < 2.6):
            return needed_mps2 > 5.0
        if needed_mps2 > 4.0:
            return True
        return not (
            self._cross_traffic(edge, phase)
            or (connector.turn == "left" and self._oncoming(edge, phase))
            or (connector.turn != "straight" and self._walkers(edge.junction, connector.arms[1]))
            or self._no_room(edge, car)
        )

    def _inside(self, junction: int) -> Iterator[tuple[Edge, Standing]]:
        for index in self.network.inside(junction):
            for standing in self._on.get(index, ()):
                yield self.network.edges[index], standing

    def _cross_traffic(self, edge: Edge, phase: int) -> bool:
        arms = self.network.town.junctions[edge.junction].arms
        return any(
            arms[other.arm].phase != phase and s < 0.7 * other.length_m + car.rear_m
            for other, (s, car) in self._inside(edge.junction)
        )

    def _oncoming(self, edge: Edge, phase: int) -> bool:
        """Whether somebody from the opposite arm would be cut off by a left turn."""
        arms = self.network.town.junctions[edge.junction].arms
        for other, (s, car) in self._inside(edge.junction):
            facing = other.arm != edge.arm and arms[other.arm].phase == phase
            assert other.connector is not None
            if facing and other.connector.turn != "left" and s < other.length_m - car.rear_m:
                return True
        for k, arm in enumerate(arms):
            if k != edge.arm and arm.phase == phase and self._approached(arm.inward.lanes):
                return True
        return False

    def _approached(self, lanes: tuple[object, ...]) -> bool:
        for lane in lanes:
            index = self.network.lane_of(lane)  # type: ignore[arg-type]
            for s, car in self._on.get(index, ()):
                away = self.network.edges[index].length_m - s - car.front_m
                if away / max(car.speed_mps, 3.0) < 5.0 and not self._turns_left(car):
                    return True
        return False

    def _turns_left(self, car: Car) -> bool:
        legs = car.path.legs
        if car.leg + 1 >= len(legs):
            return False
        connector = self.network.edges[legs[car.leg + 1].edge].connector
        return connector is not None and connector.turn == "left"

    def _walkers(self, junction: int, arm: int) -> bool:
        now = self.time_s
        return any(
            begin < now + 7.0 and end > now + 0.5
            for begin, end in self.crossings.get((junction, arm), ())
        )

    def _no_room(self, edge: Edge, car: Car) -> bool:
        for s, other in self._on.get(edge.nexts[0], ()):
            return other.speed_mps < 2.0 and s - other.rear_m < car.size_m[0] + 4.0
        return False
