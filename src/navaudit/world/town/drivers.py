"""How a driver chooses an acceleration: the intelligent driver model, eased."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

from navaudit.world.town.paths import Path

HARDEST_MPS2: Final = 6.0
JERK_MPS3: Final = (2.2, 1.6)
"""How fast drivers let the acceleration fall and rise when nothing presses."""


@dataclass(frozen=True)
class Temper:
    """What one driver wants."""

    keenness: float
    """Share of the allowed speed that he drives."""
    headway_s: float
    gap_m: float
    """Room left to what stands ahead."""
    accelerate_mps2: float
    brake_mps2: float


@dataclass(eq=False)
class Car:
    """A vehicle on its path; the state moves on as time does."""

    token: str
    path: Path
    temper: Temper
    size_m: tuple[float, float, float]
    """Length, width and height of its box."""
    front_m: float
    """From the point that follows the path to the front bumper."""
    rear_m: float
    u_m: float
    """Distance along the path."""
    speed_mps: float
    acceleration_mps2: float = 0.0
    leg: int = 0
    committed: int = -1
    """Leg of the junction it will not stop for any more."""
    runs_red: int = -1
    """Junction whose red light it does not heed."""
    stops_at_m: float = math.inf
    """Distance along the path of something it brakes for late and hard."""
    history: list[tuple[float, float, float]] = field(default_factory=list)
    """Distance, speed and acceleration at each recorded step."""

    edge: int = field(init=False)
    """The edge it is on."""
    origin_m: float = field(init=False)
    """Distance along the path at which that edge begins."""

    def __post_init__(self) -> None:
        self._enter(0)
        self._advance()

    def _enter(self, leg: int) -> None:
        self.leg = leg
        self.edge, self.origin_m = self.path.legs[leg].edge, self.path.legs[leg].origin_m

    def _advance(self) -> None:
        legs = self.path.legs
        while self.leg + 1 < len(legs) and self.u_m >= legs[self.leg].until_m:
            self._enter(self.leg + 1)

    def move(self, acceleration_mps2: float, dt_s: float) -> None:
        """Let a step pass."""
        a = max(-HARDEST_MPS2, acceleration_mps2)
        speed = max(0.0, self.speed_mps + a * dt_s)
        self.acceleration_mps2 = (speed - self.speed_mps) / dt_s
        self.u_m += (self.speed_mps + speed) / 2 * dt_s
        self.speed_mps = speed
        if self.u_m >= self.path.legs[self.leg].until_m:
            self._advance()


def follow(car: Car, wanted_mps: float, gap_m: float, closing_mps: float) -> float:
    """Acceleration behind something ``gap_m`` ahead, approached at ``closing_mps``."""
    temper, v = car.temper, car.speed_mps
    ratio = v / max(wanted_mps, 0.5)
    free = temper.accelerate_mps2 * (1.0 - ratio * ratio * ratio * ratio)
    free = max(free, -1.5)
    if gap_m > 120.0:
        return free
    comfort = 2.0 * math.sqrt(temper.accelerate_mps2 * temper.brake_mps2)
    wish = temper.gap_m + max(0.0, v * temper.headway_s + v * closing_mps / comfort)
    share = wish / max(gap_m, 0.1)
    return min(free, temper.accelerate_mps2 * (1.0 - share * share))


def brake_late(car: Car) -> float:
    """No braking until it takes 3.8 m/s2 to stop, then exactly what it takes."""
    left = car.stops_at_m - car.u_m - car.front_m
    if left <= 0.05:
        return -HARDEST_MPS2
    needed = car.speed_mps * car.speed_mps / (2.0 * left)
    return math.inf if needed < 3.8 and car.acceleration_mps2 > -2.0 else -needed


def ease(car: Car, wanted_mps2: float, dt_s: float) -> float:
    """Limit how fast the acceleration changes, less so when braking in need."""
    low, high = JERK_MPS3
    if wanted_mps2 < -2.5:
        low = 8.0 if car.stops_at_m == math.inf else 40.0
    change = wanted_mps2 - car.acceleration_mps2
    return car.acceleration_mps2 + min(max(change, -low * dt_s), high * dt_s)
