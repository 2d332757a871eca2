"""Paths through the town: edges joined into one smooth line to drive along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from navaudit.world.town.curves import Array, left_of, lengths, tangents, unit
from navaudit.world.town.network import Network


@dataclass(frozen=True)
class Leg:
    """The part of a path on one edge."""

    edge: int
    origin_m: float
    """Distance along the path at which the edge begins."""
    until_m: float
    """Distance at which the path leaves it."""


@dataclass(frozen=True, eq=False)
class Path:
    """A line to drive along, ``[vertex, 2]``, and the edges it follows."""

    xy_m: Array
    s_m: Array
    heading: Array
    legs: tuple[Leg, ...]

    def place(self, s_m: Array) -> tuple[Array, Array]:
        """Points and unit directions ``[..., 2]`` at distances along: a curve through vertices."""
        where = np.clip(np.asarray(s_m, dtype=np.float64), 0.0, self.s_m[-1])
        k = np.clip(np.searchsorted(self.s_m, where, side="right") - 1, 0, len(self.s_m) - 2)
        step = self.s_m[k + 1] - self.s_m[k]
        t = ((where - self.s_m[k]) / step)[..., None]
        a, b = self.xy_m[k], self.xy_m[k + 1]
        p, q = self.heading[k] * step[..., None], self.heading[k + 1] * step[..., None]
        u = 1.0 - t
        xy = (
            u * u * (1.0 + 2.0 * t) * a
            + t * t * (3.0 - 2.0 * t) * b
            + u * u * t * p
            - t * t * u * q
        )
        slope = 6.0 * t * u * (b - a) + u * (1.0 - 3.0 * t) * p + t * (3.0 * t - 2.0) * q
        return xy, unit(slope)


def smooth(x: Array | float) -> Array:
    """Rise from 0 to 1 between 0 and 1, with no jump in slope or curvature."""
    t = np.clip(x, 0.0, 1.0)
    return t * t * t * (t * (t * 6.0 - 15.0) + 10.0)


def join(network: Network, edges: list[int]) -> Path:
    """The path along the baselines of consecutive edges."""
    lines = [network.edges[e].strip.baseline_m for e in edges]
    xy = np.concatenate([lines[0], *(line[1:] for line in lines[1:])])
    s_m = lengths(xy)
    ends = np.cumsum([0, *(len(line) - 1 for line in lines)])
    origin = s_m[ends].tolist()
    legs = [Leg(e, origin[k], origin[k + 1]) for k, e in enumerate(edges)]
    return Path(xy, s_m, tangents(xy), tuple(legs))


def join_changing(
    network: Network, before: int, after: list[int], span_m: tuple[float, float]
) -> Path:
    """The path that changes from lane ``before`` into its neighbour ``after[0]``.

    The change happens between the two distances along the lane; the rest of ``after`` follows.
    """
    one, other = network.edges[before], network.edges[after[0]]
    share = smooth((one.s_m - span_m[0]) / (span_m[1] - span_m[0]))[:, None]
    mixed = (1.0 - share) * one.strip.baseline_m + share * other.strip.baseline_m
    rest = [network.edges[e].strip.baseline_m[1:] for e in after[1:]]
    xy = np.concatenate([mixed, *rest])
    s_m = lengths(xy)
    ends = np.cumsum([len(mixed) - 1, *(len(line) for line in rest)])
    origin = s_m[ends].tolist()
    middle = (span_m[0] + span_m[1]) / 2
    legs = [Leg(before, 0.0, middle), Leg(after[0], 0.0, origin[0])]
    legs += [Leg(e, origin[k], origin[k + 1]) for k, e in enumerate(after[1:])]
    return Path(xy, s_m, tangents(xy), tuple(legs))


KNOT_M: Final = 24.0


@dataclass(frozen=True)
class Swerve:
    """Leaving the middle of the lane and coming back, by distance along the path."""

    out_m: tuple[float, float]
    """Where the driver begins to leave the middle and where he is fully aside."""
    back_m: tuple[float, float]
    aside_m: float
    """How far to the left."""


@dataclass(frozen=True, eq=False)
class Weave:
    """Where in the lane a driver keeps: never quite the middle, and now and then well aside."""

    knots_m: Array
    """Sideways wish every ``KNOT_M`` metres."""
    swerve: Swerve | None

    def aside(self, s_m: Array) -> Array:
        """Metres to the left of the path at distances along."""
        x = np.asarray(s_m, dtype=np.float64) / KNOT_M
        k = np.clip(x.astype(np.int64), 0, len(self.knots_m) - 2)
        left = self.knots_m[k] + (self.knots_m[k + 1] - self.knots_m[k]) * smooth(x - k)
        if self.swerve is None:
            return left
        out, back = self.swerve.out_m, self.swerve.back_m
        share = smooth((s_m - out[0]) / (out[1] - out[0])) - smooth(
            (s_m - back[0]) / (back[1] - back[0])
        )
        return left + self.swerve.aside_m * share

    def place(self, path: Path, s_m: Array) -> tuple[Array, Array]:
        """Points and unit directions of a rear axle that follows the path this far aside."""
        xy, along = path.place(s_m)
        step = 0.05
        slope = (self.aside(s_m + step) - self.aside(s_m - step)) / (2.0 * step)
        across = left_of(along)
        return xy + across * self.aside(s_m)[..., None], unit(along + across * slope[..., None])
