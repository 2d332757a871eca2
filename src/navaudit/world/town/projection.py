"""From UTM metres to longitude and latitude on the WGS 84 ellipsoid.

The map files hold degrees; the town is drawn in metres.  Krueger's series to the sixth order of
the third flattening is right to nanometres within a zone, and uses nothing but arithmetic,
``sqrt`` and the house's own trigonometry, so the degrees are the same on every processor.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.world.town.angles import heading_of, sincos

Array = NDArray[np.float64]

_EQUATOR_M: Final = 6378137.0
_FLATTENING: Final = 1.0 / 298.257223563
_SCALE: Final = 0.9996
_N: Final = _FLATTENING / (2.0 - _FLATTENING)
_E2: Final = _FLATTENING * (2.0 - _FLATTENING)
_RECTIFYING_M: Final = _EQUATOR_M / (1.0 + _N) * (1.0 + _N * _N / 4.0 + _N * _N * _N * _N / 64.0)

_INVERSE: Final = (
    (1 / 2, -2 / 3, 37 / 96, -1 / 360, -81 / 512, 96199 / 604800),
    (0.0, 1 / 48, 1 / 15, -437 / 1440, 46 / 105, -1118711 / 3870720),
    (0.0, 0.0, 17 / 480, -37 / 840, -209 / 4480, 5569 / 90720),
    (0.0, 0.0, 0.0, 4397 / 161280, -11 / 504, -830251 / 7257600),
    (0.0, 0.0, 0.0, 0.0, 4583 / 161280, -108847 / 3991680),
    (0.0, 0.0, 0.0, 0.0, 0.0, 20648693 / 638668800),
)
"""Coefficients of Krueger's inverse series in powers of the third flattening."""


def _horner(coefficients: tuple[float, ...], x: float) -> float:
    total = 0.0
    for coefficient in reversed(coefficients):
        total = (total + coefficient) * x
    return total


_BETA: Final = tuple(_horner(row, _N) for row in _INVERSE)


def _sinh(x: Array) -> Array:
    square = x * x
    total = np.ones_like(x)
    for k in range(21, 2, -2):
        total = 1.0 + total * square / (k * (k - 1))
    return x * total


def _atanh(x: Array) -> Array:
    square = x * x
    total = np.zeros_like(x)
    for k in range(25, 0, -2):
        total = total * square + 1.0 / k
    return x * total


def degrees(easting_m: Array, northing_m: Array, zone: int) -> tuple[Array, Array]:
    """Longitude and latitude in degrees of points in a northern UTM zone.

    Examples
    --------
    >>> east, north = degrees(np.array([500000.0]), np.array([0.0]), zone=31)
    >>> float(east[0]), float(north[0])
    (3.0, 0.0)
    """
    xi = northing_m / (_SCALE * _RECTIFYING_M)
    eta = (easting_m - 500000.0) / (_SCALE * _RECTIFYING_M)
    xi, eta = _to_sphere(xi, eta)
    sine, cosine = sincos(xi)
    side = _sinh(eta)
    longitude = heading_of(np.stack([cosine, side], -1)) * (180.0 / math.pi) + (6.0 * zone - 183.0)
    conformal = sine / np.sqrt(side * side + cosine * cosine)
    tangent = _geographic(conformal)
    latitude = heading_of(np.stack([np.ones_like(tangent), tangent], -1)) * (180.0 / math.pi)
    return longitude, latitude


def _to_sphere(xi: Array, eta: Array) -> tuple[Array, Array]:
    out_xi, out_eta = xi.copy(), eta.copy()
    for j, beta in enumerate(_BETA, start=1):
        sine, cosine = sincos(2.0 * j * xi)
        side = _sinh(2.0 * j * eta)
        out_xi -= beta * sine * np.sqrt(1.0 + side * side)
        out_eta -= beta * cosine * side
    return out_xi, out_eta


def _geographic(conformal: Array) -> Array:
    """Tangent of the latitude from the tangent of the conformal latitude, by Newton's method."""
    eccentricity = math.sqrt(_E2)
    tangent = conformal.copy()
    for _ in range(5):
        secant = np.sqrt(1.0 + tangent * tangent)
        sigma = _sinh(eccentricity * _atanh(eccentricity * tangent / secant))
        guess = tangent * np.sqrt(1.0 + sigma * sigma) - sigma * secant
        slope = (1.0 - _E2) * secant / (1.0 + (1.0 - _E2) * tangent * tangent)
        tangent += (conformal - guess) / np.sqrt(1.0 + guess * guess) / slope
    return tangent
