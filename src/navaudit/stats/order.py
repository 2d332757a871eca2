"""Order statistics: values that were measured, read at fixed ranks, never interpolated."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from navaudit.errors import BadInput


def five_ranks(count: int) -> tuple[int, int, int, int, int]:
    """Indices 0, floor(m/4), floor(m/2), floor(3m/4) and m-1 into ``count`` ascending values.

    Examples
    --------
    >>> five_ranks(876)
    (0, 219, 438, 657, 875)
    """
    if count < 1:
        raise BadInput("no values to rank", expected="at least one value", remedy="drop the column")
    return 0, count // 4, count // 2, 3 * count // 4, count - 1


def at_five_ranks(values: ArrayLike) -> NDArray[Any]:
    """Read ``values [item]`` at the five ranks: minimum, three quarters, maximum; dtype is kept.

    Examples
    --------
    >>> at_five_ranks([7, 1, 5, 3]).tolist()
    [1, 3, 5, 7, 7]
    """
    ordered = np.sort(_line(values))
    return ordered[list(five_ranks(ordered.size))]


def upper_median(values: ArrayLike) -> Any:
    """Value at rank floor(m/2) of ``values [item]``: for even m the upper of the central two.

    Examples
    --------
    >>> int(upper_median([4, 1, 3, 2]))
    3
    """
    return at_five_ranks(values)[2]


def _line(values: ArrayLike) -> NDArray[Any]:
    line = np.asarray(values)
    if line.ndim != 1:
        raise BadInput(f"values have shape {line.shape}", expected="one axis [item]")
    if line.dtype.kind == "f" and np.isnan(line).any():
        raise BadInput(
            f"{int(np.isnan(line).sum())} of {line.size} values are NaN",
            expected="values that can be ordered",
            remedy="drop the undefined items first, and count them",
        )
    return line
