"""Traffic lights: two phases a junction, turning about a common cycle from an offset of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

GREEN_S: Final = 13.0
YELLOW_S: Final = 3.0
CLEARING_S: Final = 2.0
"""All arms show red."""

HALF_S: Final = GREEN_S + YELLOW_S + CLEARING_S
CYCLE_S: Final = 2 * HALF_S

GREEN, YELLOW, RED = range(3)


@dataclass(frozen=True)
class Signals:
    """When each junction's lights turn."""

    offset_s: tuple[float, ...]
    """For each junction the time at which phase 0 turns green."""

    def since_green(self, junction: int, phase: int, time_s: float) -> float:
        """Seconds since the phase last turned green, from 0 to the cycle."""
        turn = (time_s - self.offset_s[junction] - phase * HALF_S) / CYCLE_S
        return (turn - turn // 1.0) * CYCLE_S

    def colour(self, junction: int, phase: int, time_s: float) -> int:
        """What the arms of a phase show."""
        since = self.since_green(junction, phase, time_s)
        if since < GREEN_S:
            return GREEN
        return YELLOW if since < GREEN_S + YELLOW_S else RED

    def until_green(self, junction: int, phase: int, time_s: float) -> float:
        """Seconds until the phase next turns green."""
        return CYCLE_S - self.since_green(junction, phase, time_s)


def offset_for(phase: int, green_at_s: float) -> float:
    """The offset with which a phase turns green at the given time."""
    return green_at_s - phase * HALF_S
