"""Angles of many vectors at once, the same bits on every processor."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from navaudit.numerics import trig

Array = NDArray[np.float64]


@njit(cache=True)
def _sincos(angle_rad: Array, sine: Array, cosine: Array) -> None:
    for i in range(len(angle_rad)):
        sine[i], cosine[i] = trig.sincos(angle_rad[i])


@njit(cache=True)
def _atan2(y: Array, x: Array, out: Array) -> None:
    for i in range(len(y)):
        out[i] = trig.atan2(y[i], x[i])


def sincos(angle_rad: ArrayLike) -> tuple[Array, Array]:
    """Sine and cosine of each angle.

    Examples
    --------
    >>> sincos([0.0])
    (array([0.]), array([1.]))
    """
    angle = np.array(angle_rad, dtype=np.float64)
    sine, cosine = np.empty_like(angle), np.empty_like(angle)
    _sincos(angle.reshape(-1), sine.reshape(-1), cosine.reshape(-1))
    return sine, cosine


def heading_of(direction: ArrayLike) -> Array:
    """Angle of each plane vector ``[..., 2]``, in radians from -pi to pi."""
    vectors = np.array(direction, dtype=np.float64)
    out = np.empty(vectors.shape[:-1])
    flat = vectors.reshape(-1, 2)
    _atan2(flat[:, 1].copy(), flat[:, 0].copy(), out.reshape(-1))
    return out


def directions(heading_rad: ArrayLike) -> Array:
    """Unit vector ``[..., 2]`` of each angle."""
    sine, cosine = sincos(heading_rad)
    return np.stack([cosine, sine], axis=-1)
