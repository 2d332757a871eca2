"""The kernels of `navaudit.numerics.trig` over whole arrays, checked once at the door.

Each function takes numbers or arrays of any real dtype that fits into doubles, broadcasts two of
them together, and returns a fresh float64 array of that shape with the bits the kernel gives.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from navaudit.compiled import njit
from navaudit.errors import BadInput
from navaudit.numerics import trig

Doubles = npt.NDArray[np.float64]


def _doubles(values: npt.ArrayLike, name: str) -> Doubles:
    array = np.asarray(values)
    if not np.can_cast(array.dtype, np.float64, casting="safe"):
        raise BadInput(
            f"{name} has dtype {array.dtype}",
            where=name,
            expected="real numbers that fit into float64",
            remedy="convert them first, so that the loss is yours to see",
        )
    return array.astype(np.float64)


def _each(fill: Callable[[Doubles, Doubles], None], angle_rad: npt.ArrayLike, name: str) -> Doubles:
    angles = _doubles(angle_rad, name)
    out = np.empty(angles.shape)
    fill(angles.reshape(-1), out.reshape(-1))
    return out


def _each_pair(
    fill: Callable[[Doubles, Doubles, Doubles], None], y: npt.ArrayLike, x: npt.ArrayLike
) -> Doubles:
    rise, run = _doubles(y, "y"), _doubles(x, "x")
    try:
        shape = np.broadcast_shapes(rise.shape, run.shape)
    except ValueError as error:
        raise BadInput(
            f"y has shape {rise.shape} and x has shape {run.shape}",
            where="y, x",
            expected="shapes that broadcast together",
        ) from error
    rise, run = (np.array(np.broadcast_to(each, shape)) for each in (rise, run))
    out = np.empty(shape)
    fill(rise.reshape(-1), run.reshape(-1), out.reshape(-1))
    return out


@njit(cache=True)
def _fill_sin(angle_rad: Doubles, out: Doubles) -> None:
    for i in range(angle_rad.size):
        out[i] = trig.sin(angle_rad[i])


@njit(cache=True)
def _fill_cos(angle_rad: Doubles, out: Doubles) -> None:
    for i in range(angle_rad.size):
        out[i] = trig.cos(angle_rad[i])


@njit(cache=True)
def _fill_tan(angle_rad: Doubles, out: Doubles) -> None:
    for i in range(angle_rad.size):
        out[i] = trig.tan(angle_rad[i])


@njit(cache=True)
def _fill_acos(cosine: Doubles, out: Doubles) -> None:
    for i in range(cosine.size):
        out[i] = trig.acos(cosine[i])


@njit(cache=True)
def _fill_wrap_to_pi(angle_rad: Doubles, out: Doubles) -> None:
    for i in range(angle_rad.size):
        out[i] = trig.wrap_to_pi(angle_rad[i])


@njit(cache=True)
def _fill_wrap_by_atan2(angle_rad: Doubles, out: Doubles) -> None:
    for i in range(angle_rad.size):
        out[i] = trig.wrap_by_atan2(angle_rad[i])


@njit(cache=True)
def _fill_atan2(y: Doubles, x: Doubles, out: Doubles) -> None:
    for i in range(y.size):
        out[i] = trig.atan2(y[i], x[i])


@njit(cache=True)
def _fill_hypot(y: Doubles, x: Doubles, out: Doubles) -> None:
    for i in range(y.size):
        out[i] = trig.hypot(y[i], x[i])


def sin_of(angle_rad: npt.ArrayLike) -> Doubles:
    """Return the sine of every angle.

    >>> sin_of([[0.0, 1.0]])
    array([[0.        , 0.84147098]])
    """
    return _each(_fill_sin, angle_rad, "angle_rad")


def cos_of(angle_rad: npt.ArrayLike) -> Doubles:
    """Return the cosine of every angle."""
    return _each(_fill_cos, angle_rad, "angle_rad")


def tan_of(angle_rad: npt.ArrayLike) -> Doubles:
    """Return the tangent of every angle."""
    return _each(_fill_tan, angle_rad, "angle_rad")


def acos_of(cosine: npt.ArrayLike) -> Doubles:
    """Return the angle of every cosine in radians, NaN beyond one."""
    return _each(_fill_acos, cosine, "cosine")


def wrap_to_pi_of(angle_rad: npt.ArrayLike) -> Doubles:
    """Return every angle as `trig.wrap_to_pi` wraps it."""
    return _each(_fill_wrap_to_pi, angle_rad, "angle_rad")


def wrap_by_atan2_of(angle_rad: npt.ArrayLike) -> Doubles:
    """Return every angle as `trig.wrap_by_atan2` wraps it."""
    return _each(_fill_wrap_by_atan2, angle_rad, "angle_rad")


def atan2_of(y: npt.ArrayLike, x: npt.ArrayLike) -> Doubles:
    """Return the direction in radians of every point (x, y).

    >>> atan2_of([1.0, -0.0], -1.0)
    array([ 2.35619449, -3.14159265])
    """
    return _each_pair(_fill_atan2, y, x)


def hypot_of(y: npt.ArrayLike, x: npt.ArrayLike) -> Doubles:
    """Return the distance of every point (x, y) from the origin, in the unit of y and x."""
    return _each_pair(_fill_hypot, y, x)
