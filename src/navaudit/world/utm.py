"""From longitude and latitude on the WGS 84 ellipsoid to UTM metres, with the bits PROJ gives.

The stock map loader reprojects every layer with PROJ (nuplan/database/maps_db/gpkg_mapsdb.py:263),
whose UTM is Poder and Engsager's sixth-order series. The same operations in the same order give the
same bits as PROJ 9.1 to 9.5 where sine, cosine and arctangent do; PROJ 9.7 evaluates the series in
another order, and is not to be followed. The hypotenuse is made of basic operations here, with the
results of glibc 2.35 and later.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from navaudit.errors import BadInput
from navaudit.world.trigonometry import LIBM, Floats, Trig

EQUATOR_M: Final = 6378137.0
SCALE: Final = 0.9996
EASTING_M: Final = 500000.0
WIDEST_DEG: Final = 9.0
"""Farthest a point may lie from the zone's central meridian; a zone itself reaches three."""

# The third flattening of WGS 84 as PROJ arrives at it, through asin and tan of the eccentricity;
# f / (2 - f) is two units in the last place larger.
_N: Final = float.fromhex("0x1.b8329291b5a5dp-10")
_DEGREE: Final = 0.017453292519943296
_PIECE: Final = 1 << 13  # points at a time: what is in between stays in the processor's cache

_TO_CONFORMAL: Final = (
    (-2.0, 2 / 3, 4 / 3, -82 / 45, 32 / 45, 4642 / 4725),
    (5 / 3, -16 / 15, -13 / 9, 904 / 315, -1522 / 945),
    (-26 / 15, 34 / 21, 8 / 5, -12686 / 2835),
    (1237 / 630, -12 / 5, -24832 / 14175),
    (-734 / 315, 109598 / 31185),
    (444337 / 155925,),
)
"""Rows of coefficients in rising powers of the third flattening, for the sines of 2, 4, ... times
the latitude; row k begins with the power k + 1. Geodetic to conformal latitude."""

_TO_RECTIFYING: Final = (
    (0.5, -2 / 3, 5 / 16, 41 / 180, -127 / 288, 7891 / 37800),
    (13 / 48, -3 / 5, 557 / 1440, 281 / 630, -1983433 / 1935360),
    (61 / 240, -103 / 140, 15061 / 26880, 167603 / 181440),
    (49561 / 161280, -179 / 168, 6601661 / 7257600),
    (34729 / 80640, -3418889 / 1995840),
    (212378941 / 319334400,),
)
"""Likewise, from the conformal to the rectifying latitude, for complex arguments."""


def _series(rows: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    values, power = [], 1.0
    for row in rows:
        power *= _N
        total = row[-1]
        for coefficient in reversed(row[:-1]):
            total = coefficient + _N * total
        values.append(power * total)
    return tuple(values)


_CONFORMAL: Final = _series(_TO_CONFORMAL)
_RECTIFYING: Final = _series(_TO_RECTIFYING)
_SQUARE: Final = _N * _N
_MERIDIAN: Final = (
    SCALE / (1.0 + _N) * (1.0 + _SQUARE * (1 / 4.0 + _SQUARE * (1 / 64.0 + _SQUARE / 256.0)))
)
"""Radius of the scaled rectifying sphere in units of the equator's."""


def project(lonlat_deg: npt.ArrayLike, zone: int, trig: Trig = LIBM) -> Floats:
    """Return easting and northing in metres of points ``[point, (longitude, latitude)]``.

    The zone is a northern one. Points more than ``WIDEST_DEG`` from its central meridian or
    beyond the poles are refused.

    Examples
    --------
    >>> project([[3.0, 0.0]], zone=31)
    array([[500000.,      0.]])
    """
    points = _checked(lonlat_deg, zone)
    central = (zone - 1 + 0.5) * math.pi / 30.0 - math.pi
    out = np.empty_like(points)
    for first in range(0, len(points), _PIECE):
        piece = slice(first, first + _PIECE)
        longitude = points[piece, 0] * _DEGREE - central
        latitude = _conformal(points[piece, 1] * _DEGREE, trig)
        across, along = _on_sphere(longitude, latitude, trig)
        out[piece, 0] = EQUATOR_M * (_MERIDIAN * across) + EASTING_M
        out[piece, 1] = EQUATOR_M * (_MERIDIAN * along)
    return out


def stray_points(lonlat_deg: Floats, zone: int) -> npt.NDArray[np.int64]:
    """Return the positions of those points that `project` refuses."""
    aside = np.abs(lonlat_deg[:, 0] - (6.0 * zone - 183.0))
    good = (aside <= WIDEST_DEG) & (np.abs(lonlat_deg[:, 1]) <= 90.0)
    return np.flatnonzero(~good)


def _checked(lonlat_deg: npt.ArrayLike, zone: int) -> Floats:
    if not 1 <= zone <= 60:
        raise BadInput(f"UTM zone is {zone}", expected="1 to 60")
    points = np.asarray(lonlat_deg, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise BadInput(f"points have shape {points.shape}", expected="(point, 2)")
    stray = stray_points(points, zone)
    if len(stray):
        first = int(stray[0])
        raise BadInput(
            f"longitude {points[first, 0]}, latitude {points[first, 1]} is not in UTM zone {zone}",
            where=f"point {first}",
            expected=f"longitude within {WIDEST_DEG} degrees of {6 * zone - 183}",
            remedy="check the map's meta table, and that longitude comes first",
        )
    return points


def _conformal(latitude: Floats, trig: Trig) -> Floats:
    """Clenshaw's sum of the sines of multiples of twice the latitude."""
    double = 2.0 * latitude
    turn = 2.0 * trig.cos(double)
    older: Floats | float = 0.0
    newer: Floats | float = _CONFORMAL[-1]
    total = np.zeros_like(latitude)
    for coefficient in reversed(_CONFORMAL[:-1]):
        total = -older + turn * newer + coefficient
        older, newer = newer, total
    return latitude + total * trig.sin(double)


def _on_sphere(longitude: Floats, latitude: Floats, trig: Trig) -> tuple[Floats, Floats]:
    """Return how far across and along the central meridian, on the unit rectifying sphere."""
    sin_north, cos_north = trig.sin(latitude), trig.cos(latitude)
    forward = cos_north * trig.cos(longitude)
    secant = 1.0 / _hypot(sin_north, forward)
    tangent = trig.sin(longitude) * cos_north * secant
    double_secant = 2.0 * secant
    square = double_secant * secant
    scaled = forward * square
    more_along, more_across = _complex_sines(
        sin_north * scaled, forward * scaled - 1.0, tangent * double_secant, square - 1.0
    )
    return trig.asinh(tangent) + more_across, trig.atan2(sin_north, forward) + more_along


def _complex_sines(
    sine: Floats, cosine: Floats, hyperbolic_sine: Floats, hyperbolic_cosine: Floats
) -> tuple[Floats, Floats]:
    """Clenshaw's sum of the sines of multiples of a complex angle: real and imaginary part."""
    r = 2.0 * cosine * hyperbolic_cosine
    i = -2.0 * sine * hyperbolic_sine
    older_r = older_i = newer_i = np.zeros_like(sine)
    newer_r = np.full_like(sine, _RECTIFYING[-1])
    for coefficient in reversed(_RECTIFYING[:-1]):
        next_r = -older_r + r * newer_r - i * newer_i + coefficient
        next_i = -older_i + i * newer_r + r * newer_i
        older_r, older_i, newer_r, newer_i = newer_r, newer_i, next_r, next_i
    r = sine * hyperbolic_cosine
    i = cosine * hyperbolic_sine
    return r * newer_r - i * newer_i, r * newer_i + i * newer_r


def _hypot(a: Floats, b: Floats) -> Floats:
    """Hypotenuse by Borges' correction of the plain square root, for sides near one."""
    long, short = np.maximum(np.abs(a), np.abs(b)), np.minimum(np.abs(a), np.abs(b))
    root = np.sqrt(long * long + short * short)
    low, high = root - short, root - long
    near = root <= 2.0 * short
    first = np.where(near, long * (2.0 * low - long), 2.0 * high * (long - 2.0 * short))
    second = np.where(
        near, (low - 2.0 * (long - short)) * low, (4.0 * high - short) * short + high * high
    )
    return root - (first + second) / (2.0 * root)
