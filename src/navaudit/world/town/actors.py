"""What an annotator would draw a box around: size, kind, and where it is at every step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from navaudit.world.town.curves import Array, lengths, tangents, unit
from navaudit.world.town.curves import at as point_at

KINDS: Final = (
    "vehicle",
    "pedestrian",
    "bicycle",
    "traffic_cone",
    "barrier",
    "czone_sign",
    "generic_object",
)
"""Names in the logs' annotations."""

BODIES: Final = (
    (4.6, 1.85, 1.5), (4.8, 1.9, 1.75), (4.3, 1.8, 1.5), (5.1, 1.95, 1.8),
    (5.6, 2.05, 1.95), (5.9, 2.1, 2.5), (8.2, 2.4, 3.2),
)  # fmt: skip
"""Length, width and height in metres of cars, vans and a lorry; the last two are rare."""

THINGS: Final = {
    "traffic_cone": (0.4, 0.4, 0.75),
    "barrier": (1.8, 0.4, 1.0),
    "czone_sign": (0.6, 0.6, 1.6),
    "generic_object": (0.7, 0.6, 1.1),
    "pedestrian": (0.6, 0.65, 1.75),
    "bicycle": (1.75, 0.65, 1.7),
}
"""Length, width and height in metres."""


@dataclass(frozen=True, eq=False)
class Actor:
    """One box over the steps of a drive."""

    token: str
    kind: str
    size_m: tuple[float, float, float]
    xy_m: Array
    """Centre ``[step, 2]`` in the town's frame."""
    heading: Array
    """Unit direction ``[step, 2]``."""
    velocity_mps: Array
    """``[step, 2]`` in the town's frame."""
    braking: Array
    """``[step]`` deceleration in m/s2, zero when not braking; lights its brake lamps."""


def draw_body(rng: np.random.Generator) -> tuple[float, float, float]:
    """Draw the size of a vehicle."""
    rare = rng.random() < 0.12
    choice = int(rng.integers(5, len(BODIES))) if rare else int(rng.integers(5))
    return BODIES[choice]


def standing(
    token: str,
    thing: tuple[str, tuple[float, float, float]],
    xy_m: Array,
    heading: Array,
    steps: int,
) -> Actor:
    """Something that stays where it is."""
    where, way = np.tile(xy_m, (steps, 1)), np.tile(unit(heading), (steps, 1))
    return Actor(token, *thing, where, way, np.zeros((steps, 2)), np.zeros(steps))


EASE_M: Final = {"bicycle": 4.0, "pedestrian": 0.4}
"""How long before the end of their line they begin to slow down."""


def moving_along(token: str, kind: str, line_m: Array, s_m: Array, dt_s: float) -> Actor:
    """Something that moves along a line and comes to stand where the line ends."""
    total = lengths(line_m)
    where = _come_to_rest(np.maximum(s_m, 0.0), float(total[-1]), EASE_M[kind])
    xy = point_at(line_m, total, where)
    heading = unit(point_at(tangents(line_m), total, where))
    step = np.diff(where) / dt_s
    speed = np.concatenate([step[:1], (step[:-1] + step[1:]) / 2, step[-1:]])
    return Actor(
        token, kind, THINGS[kind], xy, heading, heading * speed[:, None], np.zeros(len(s_m))
    )


def _come_to_rest(s_m: Array, end_m: float, ease_m: float) -> Array:
    """Even motion up to ``ease_m`` before the end, then evenly slower."""
    left = np.clip(end_m + ease_m - s_m, 0.0, 2.0 * ease_m)
    return np.where(s_m < end_m - ease_m, s_m, end_m - left * left / (4.0 * ease_m))
