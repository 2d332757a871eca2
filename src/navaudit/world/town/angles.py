"""Angles of many plane vectors at once, the same bits on every processor."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from navaudit.numerics.angles import atan2_of, cos_of, sin_of

Array = NDArray[np.float64]


def sincos(angle_rad: ArrayLike) -> tuple[Array, Array]:
    """Sine and cosine of each angle.

    Examples
    --------
    >>> sincos([0.0])
    (array([0.]), array([1.]))
    """
    return sin_of(angle_rad), cos_of(angle_rad)


def heading_of(direction: ArrayLike) -> Array:
    """Angle of each plane vector ``[..., 2]``, in radians from -pi to pi."""
    vectors = np.asarray(direction, dtype=np.float64)
    return atan2_of(vectors[..., 1], vectors[..., 0])


def directions(heading_rad: ArrayLike) -> Array:
    """Unit vector ``[..., 2]`` of each angle."""
    return np.stack([cos_of(heading_rad), sin_of(heading_rad)], axis=-1)
