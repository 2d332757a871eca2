"""Arrays that a frozen value may hold: nobody writes into them afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def sealed(values: ArrayLike, dtype: Any = None) -> NDArray[Any]:
    """Return a read-only array of ``values``; a writable source is copied, never frozen."""
    array = np.asarray(values, dtype)
    if array.flags.writeable:
        array = array.copy()
        array.setflags(write=False)
    return array
