"""Frozen arrays: what rooms hand to each other cannot be written to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from navaudit.errors import BadInput


def frozen(values: ArrayLike, dtype: DTypeLike, axes: tuple[int | None, ...]) -> NDArray[Any]:
    """Return a read-only, C-ordered array of the given dtype and shape.

    ``axes`` states the length of each axis, ``None`` where any length will do.  An array that is
    already as asked for and read-only is handed through without a copy.

    Examples
    --------
    >>> frozen([[1, 2]], np.float64, (None, 2)).flags.writeable
    False
    """
    array = np.asarray(values, dtype=dtype, order="C")
    fits = array.ndim == len(axes) and all(
        want is None or have == want for have, want in zip(array.shape, axes, strict=False)
    )
    if not fits:
        wanted = ", ".join("any" if want is None else str(want) for want in axes)
        raise BadInput(f"array has shape {array.shape}", expected=f"shape ({wanted})")
    if array.flags.writeable:
        # a view of somebody's writable array could still change under us
        array = array.copy(order="C")
        array.flags.writeable = False
    return array
