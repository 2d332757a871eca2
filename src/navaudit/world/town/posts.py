"""Traffic lights as they stand at a junction, showing what the signals say."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from navaudit.world.town.curves import Array, dot
from navaudit.world.town.ground import Town
from navaudit.world.town.junctions import Arm
from navaudit.world.town.moments import Moment
from navaudit.world.town.signals import GREEN, RED, YELLOW, Signals
from navaudit.world.town.solids import Colour, Face, Solid, block, oblong, panel

SEEN_M: Final = 100.0
LAMPS: Final[tuple[tuple[int, Colour], ...]] = (
    (RED, (255, 28, 22)),
    (YELLOW, (255, 190, 20)),
    (GREEN, (40, 240, 120)),
)
"""From top to bottom."""
STEEL: Final[Colour] = (74, 78, 80)
CASE: Final[Colour] = (20, 20, 20)


def light_posts(town: Town, signals: Signals, now: Moment) -> Iterator[Solid]:
    """Posts nearby: one beside each stop line, one across the junction with lamps on an arm."""
    for index, junction in enumerate(town.junctions):
        centre = town.streets.junctions_m[index]
        gap = centre - now.xy_m
        if dot(gap, gap) > SEEN_M * SEEN_M:
            continue
        for arm in junction.arms:
            shows = signals.colour(index, arm.phase, now.time_s)
            to_centre = arm.port_m - centre
            across = 2.0 * float(np.sqrt(dot(to_centre, to_centre))) + 1.0
            kerb = arm.profile.half_kerb_m + 1.0
            yield _post(arm, (kerb, 0.2), (kerb, 3.4), shows)
            yield _post(arm, (kerb + 0.5, across), (arm.profile.half_lanes_m / 2, 5.9), shows)


def _post(arm: Arm, foot: tuple[float, float], head: tuple[float, float], shows: int) -> Solid:
    """A post at ``foot`` (left, inward) whose lamps hang at ``head`` (left, height)."""
    base = arm.across(*foot)
    at = arm.across(head[0], foot[1])
    faces = block(oblong(base, arm.heading, 0.18, 0.18), 0.0, head[1] + 0.7, STEEL)
    if head[0] != foot[0]:
        beam = oblong((base + at) / 2, arm.heading, 0.12, abs(foot[0] - head[0]) + 0.2)
        faces += block(beam, head[1] + 0.55, head[1] + 0.67, STEEL)
    faces += block(oblong(at, arm.heading, 0.3, 0.52), head[1] - 0.72, head[1] + 0.72, CASE)
    return Solid(at, (*faces, *_lamps(at, arm.heading, head[1], shows)))


def _lamps(at_m: Array, facing: Array, high_m: float, shows: int) -> Iterator[Face]:
    front = at_m + facing * 0.16
    for k, (which, colour) in enumerate(LAMPS):
        lit = which == shows
        dim = (colour[0] // 7, colour[1] // 7, colour[2] // 7)
        lamp = panel(front, facing, (0.36, 0.36), high_m + 0.45 * (1 - k), colour if lit else dim)
        yield Face(lamp.xyz_m, lamp.normal, lamp.colour, lit)
