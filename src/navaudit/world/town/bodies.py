"""What the annotated things look like: cars with lamps, people, bicycles, cones and barriers."""

from __future__ import annotations

from typing import Final

import numpy as np

from navaudit.world.town.actors import Actor
from navaudit.world.town.curves import Array, left_of
from navaudit.world.town.solids import Colour, Face, Solid, block, oblong, panel, shade

PAINTS: Final[tuple[Colour, ...]] = (
    (232, 232, 230), (28, 30, 34), (120, 124, 130), (178, 182, 186), (146, 28, 30),
    (34, 62, 120), (70, 76, 84), (208, 204, 190), (52, 84, 66), (196, 148, 44),
)  # fmt: skip
CLOTHES: Final[tuple[Colour, ...]] = (
    (60, 70, 110), (150, 50, 50), (70, 100, 70), (190, 180, 160), (40, 40, 44), (170, 120, 60),
)  # fmt: skip
SKIN: Final[Colour] = (214, 168, 138)
GLASS: Final[Colour] = (38, 48, 58)
TYRE: Final[Colour] = (22, 22, 24)
PALE: Final[Colour] = (240, 240, 240)
ORANGE: Final[Colour] = (240, 104, 24)


def body(actor: Actor, step: int, xy_m: Array, heading: Array, braking_mps2: float) -> Solid:
    """The faces of an actor; its colour follows from its track."""
    which = int(actor.token[:4], 16)
    if actor.kind == "vehicle":
        faces = _car(actor.size_m, PAINTS[which % len(PAINTS)], xy_m, heading, braking_mps2)
    elif actor.kind == "pedestrian":
        swing = 0.18 if (step + which) % 8 < 4 else -0.18
        faces = _person(xy_m, heading, actor.size_m[2], CLOTHES[which % len(CLOTHES)], swing)
    elif actor.kind == "bicycle":
        faces = _bicycle(xy_m, heading, CLOTHES[which % len(CLOTHES)])
    else:
        faces = _thing(actor, xy_m, heading)
    return Solid(xy_m, tuple(faces))


def _car(
    size_m: tuple[float, float, float],
    paint: Colour,
    xy_m: Array,
    heading: Array,
    braking_mps2: float,
) -> list[Face]:
    length, width, height = size_m
    tall = height > 2.2
    waist = 0.85 if tall else 0.56
    low, mid = 0.28, height * waist
    faces = block(oblong(xy_m, heading, length * 0.97, width * 0.96), 0.02, low, TYRE)
    faces += block(oblong(xy_m, heading, length, width), low, mid, paint)
    share, back = (0.62, 0.18) if tall else (0.52, 0.06)
    cabin_at = xy_m - heading * (length * back * (0.0 if tall else 1.0))
    cabin = oblong(cabin_at, heading, length * (0.98 if tall else share), width * 0.86)
    faces += block(cabin, mid, height, GLASS if not tall else paint, paint)
    faces += _pillars(cabin, mid, height, paint)
    faces += _lamps(size_m, xy_m, heading, mid, braking_mps2)
    return faces


def _pillars(cabin_m: Array, low_m: float, high_m: float, paint: Colour) -> list[Face]:
    """A strip of roof colour over the glass, on each side."""
    return block(cabin_m, low_m + (high_m - low_m) * 0.82, high_m, paint)[:4]


def _lamps(
    size_m: tuple[float, float, float], xy_m: Array, heading: Array, mid_m: float, braking: float
) -> list[Face]:
    length, width, _ = size_m
    across, level = left_of(heading), mid_m * 0.78
    bright = braking > 0.35
    faces = []
    for side in (-1.0, 1.0):
        out = across * (side * width * 0.36)
        rear = xy_m - heading * (length / 2 + 0.01) + out
        lamp = panel(
            rear, -heading, (width * 0.22, 0.2), level, (255, 30, 24) if bright else (120, 10, 12)
        )
        faces.append(Face(lamp.xyz_m, lamp.normal, lamp.colour, bright))
        front = xy_m + heading * (length / 2 + 0.01) + out
        faces.append(panel(front, heading, (width * 0.2, 0.16), level, (250, 246, 220)))
    plate = xy_m - heading * (length / 2 + 0.01)
    faces.append(panel(plate, -heading, (0.5, 0.14), level - 0.22, (225, 225, 215)))
    return faces


def _person(
    xy_m: Array, heading: Array, height_m: float, coat: Colour, swing_m: float
) -> list[Face]:
    across = left_of(heading) * 0.11
    faces = []
    for side in (-1.0, 1.0):
        leg = oblong(xy_m + across * side + heading * (swing_m * side), heading, 0.17, 0.16)
        faces += block(leg, 0.0, height_m * 0.47, shade(coat, 0.55))
    faces += block(oblong(xy_m, heading, 0.26, 0.46), height_m * 0.46, height_m * 0.84, coat)
    faces += block(oblong(xy_m, heading, 0.2, 0.19), height_m * 0.85, height_m, SKIN, (60, 44, 34))
    return faces


def _bicycle(xy_m: Array, heading: Array, coat: Colour) -> list[Face]:
    faces = []
    for end in (-0.55, 0.55):
        wheel = oblong(xy_m + heading * end, heading, 0.62, 0.06)
        faces += block(wheel, 0.02, 0.64, TYRE)
    faces += block(oblong(xy_m, heading, 0.9, 0.08), 0.5, 0.85, (60, 60, 70))
    faces += block(oblong(xy_m - heading * 0.1, heading, 0.35, 0.42), 0.85, 1.5, coat)
    faces += block(
        oblong(xy_m + heading * 0.02, heading, 0.22, 0.2), 1.5, 1.74, SKIN, (180, 40, 40)
    )
    return faces


def _thing(actor: Actor, xy_m: Array, heading: Array) -> list[Face]:
    length, width, height = actor.size_m
    if actor.kind == "traffic_cone":
        faces = block(oblong(xy_m, heading, length, width), 0.0, 0.06, (40, 40, 40))
        bands = ((0.06, 0.3, 0.62), (0.3, 0.48, 0.45), (0.48, 1.0, 0.28))
        for (low, high, share), colour in zip(bands, (ORANGE, PALE, ORANGE), strict=True):
            part = oblong(xy_m, heading, length * share, width * share)
            faces += block(part, height * low, height * high, colour)
        return faces
    if actor.kind == "barrier":
        faces = block(oblong(xy_m, heading, length, width * 0.4), 0.15, height, (235, 235, 230))
        for k in np.linspace(-0.4, 0.4, 4).tolist():
            stripe = oblong(xy_m + heading * (k * length), heading, length * 0.11, width * 0.44)
            faces += block(stripe, 0.2, height * 0.98, ORANGE)
        return faces
    if actor.kind == "czone_sign":
        faces = block(oblong(xy_m, heading, 0.08, 0.08), 0.0, height, (90, 90, 90))
        board = oblong(xy_m, heading, 0.08, width * 1.4)
        return faces + block(board, height * 0.55, height, ORANGE)
    return block(oblong(xy_m, heading, length, width), 0.0, height, (62, 84, 70))
