"""Lines in the plane: measured, resampled, shifted sideways and bent round corners.

A line is an array ``[vertex, 2]`` in metres.  Directions are unit vectors, not angles, so that
nothing here needs a trigonometric function.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

GRID_M: Final = 1e-6
"""Vertices are rounded to this grid: the last bits of a platform's arithmetic end here."""


def snap(xy_m: Array) -> Array:
    """Round to the grid of a micrometre."""
    return np.round(xy_m, 6) + 0.0


def lengths(xy_m: Array) -> Array:
    """Distance along the line at each vertex, ``[vertex]`` in metres, starting at zero."""
    return np.concatenate([[0.0], np.cumsum(size(np.diff(xy_m, axis=0)))])


def size(vector: Array) -> Array:
    """Length of each vector ``[..., 2]``."""
    x, y = vector[..., 0], vector[..., 1]
    return np.asarray(np.sqrt(x * x + y * y))


def unit(vector: Array) -> Array:
    """Scale ``[..., 2]`` to length one."""
    return vector / size(vector)[..., None]


def left_of(direction: Array) -> Array:
    """Turn ``[..., 2]`` a quarter to the left.

    Examples
    --------
    >>> left_of(np.array([1.0, 0.0])).tolist()
    [-0.0, 1.0]
    """
    return np.stack([-direction[..., 1], direction[..., 0]], axis=-1)


def cross(one: Array, other: Array) -> float:
    """Positive where ``other`` points to the left of ``one``."""
    return float(one[0] * other[1] - one[1] * other[0])


def dot(one: Array, other: Array) -> float:
    """Inner product of two plane vectors, without a BLAS."""
    return float(one[0] * other[0] + one[1] * other[1])


def tangents(xy_m: Array) -> Array:
    """Direction at each vertex, ``[vertex, 2]``: mean of the two neighbouring segments."""
    step = unit(np.diff(xy_m, axis=0))
    inner = unit(step[:-1] + step[1:])
    return np.concatenate([step[:1], inner, step[-1:]])


def at(xy_m: Array, s_m: Array, where_m: Array | float) -> Array:
    """Points at the given distances along the line, ``[..., 2]``."""
    return np.stack([np.interp(where_m, s_m, xy_m[:, 0]), np.interp(where_m, s_m, xy_m[:, 1])], -1)


def resample(xy_m: Array, spacing_m: float) -> Array:
    """Even out the vertices to about the given spacing; both ends stay where they are."""
    s_m = lengths(xy_m)
    count = max(2, round(s_m[-1] / spacing_m) + 1)
    even = at(xy_m, s_m, np.linspace(0.0, s_m[-1], count))
    even[0], even[-1] = xy_m[0], xy_m[-1]
    return even


def shift(xy_m: Array, direction: Array, left_m: Array | float) -> Array:
    """Move each vertex to the left of its direction."""
    return xy_m + left_of(direction) * np.asarray(left_m)[..., None]


def _cubic(points: tuple[Array, Array, Array, Array], count: int = 161) -> Array:
    t = np.linspace(0.0, 1.0, count)[:, None]
    u = 1.0 - t
    a, b, c, d = points
    return u * u * u * a + 3.0 * u * u * t * b + 3.0 * u * t * t * c + t * t * t * d


def corner(start_m: Array, heading: Array, end_m: Array, exit_heading: Array) -> Array:
    """Bend from one directed point into another, as a road does, with vertices about 1 m apart.

    A crossing of the two directions ahead is rounded like an arc; otherwise, as on a road that
    runs on, the line swings gently across.
    """
    gap = end_m - start_m
    span = float(size(gap))
    turn = cross(heading, exit_heading)
    legs = (span / 3.0, span / 3.0)
    if abs(turn) > 0.3:
        into, out = cross(gap, exit_heading) / turn, cross(heading, gap) / turn
        if into > 0.0 and out > 0.0:
            # the cubic that keeps closest to a quarter of a circle
            legs = (0.5523 * into, 0.5523 * out)
    pull = (start_m, start_m + heading * legs[0], end_m - exit_heading * legs[1], end_m)
    return resample(_cubic(pull), 1.0)


def ring(*sides: Array) -> Array:
    """Join lines end to end into a closed ring ``[vertex, 2]``, the first vertex repeated last.

    Vertices in which one side ends and the next begins are kept once.
    """
    joined = np.concatenate(sides)
    keep = np.ones(len(joined), dtype=bool)
    keep[1:] = (joined[1:] != joined[:-1]).any(axis=1)
    joined = joined[keep]
    return joined if (joined[0] == joined[-1]).all() else np.concatenate([joined, joined[:1]])


def box(centre_m: Array, heading: Array, length_m: float, width_m: float) -> Array:
    """Ring of an oriented rectangle, ``[5, 2]``, counter-clockwise from front left."""
    along, across = heading * (length_m / 2), left_of(heading) * (width_m / 2)
    corners = (along + across, across - along, -along - across, along - across, along + across)
    return centre_m + np.stack(corners)
