"""Flat faces in space: what cars, people, houses, trees and lights are made of for the cameras."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from navaudit.world.town.curves import Array, left_of

Colour = tuple[int, int, int]

SUN: Final = (0.48, 0.36, 0.80)
"""Unit direction towards the light, in the town's frame."""


@dataclass(frozen=True, eq=False)
class Face:
    """A convex polygon in space, ``[vertex, 3]``; ``normal`` points to where it is seen from."""

    xyz_m: Array
    normal: tuple[float, float, float]
    colour: Colour
    glows: bool = False
    """A lamp: neither shade nor haze dims it."""


@dataclass(frozen=True, eq=False)
class Solid:
    """Faces drawn together; nearer solids are drawn over farther ones."""

    xy_m: Array
    """Where it counts as standing, in the town's frame."""
    faces: tuple[Face, ...]


def shade(colour: Colour, factor: float) -> Colour:
    """Darken or brighten."""
    r, g, b = (min(255, max(0, int(part * factor))) for part in colour)
    return r, g, b


def quad(corners: list[tuple[float, float, float]], normal: Array, colour: Colour) -> Face:
    """A flat face from its corners."""
    x, y = normal.tolist()[:2]
    z = float(normal[2]) if len(normal) > 2 else 0.0
    return Face(np.array(corners), (x, y, z), colour)


def block(
    base_m: Array, low_m: float, high_m: float, colour: Colour, roof: Colour | None = None
) -> list[Face]:
    """Walls and roof over a counter-clockwise base ``[corner, 2]``."""
    faces = []
    count = len(base_m)
    for k in range(count):
        a, b = base_m[k], base_m[(k + 1) % count]
        along = b - a
        normal = -left_of(along) / np.sqrt(along[0] * along[0] + along[1] * along[1])
        corners = [(*a, low_m), (*b, low_m), (*b, high_m), (*a, high_m)]
        faces.append(quad(corners, normal, colour))
    top = [(*corner, high_m) for corner in base_m]
    faces.append(Face(np.array(top), (0.0, 0.0, 1.0), roof or colour))
    return faces


def oblong(centre_m: Array, heading: Array, length_m: float, width_m: float) -> Array:
    """Corners ``[4, 2]`` of an oriented rectangle, counter-clockwise from front left."""
    along, across = heading * (length_m / 2), left_of(heading) * (width_m / 2)
    return centre_m + np.stack([along + across, across - along, -along - across, along - across])


def panel(
    centre_m: Array, facing: Array, size_m: tuple[float, float], high_m: float, colour: Colour
) -> Face:
    """An upright rectangle of a width and a height, facing a direction, centred ``high_m`` up."""
    across = left_of(facing) * (size_m[0] / 2)
    a, b = centre_m - across, centre_m + across
    low, high = high_m - size_m[1] / 2, high_m + size_m[1] / 2
    return quad([(*a, low), (*b, low), (*b, high), (*a, high)], facing, colour)
