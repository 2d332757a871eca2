"""The rule itself: where the human scored zero, every candidate passes.

Forgiven values are never stored; they are computed from raw ones wherever they are wanted.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def forgiven_columns(human: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which columns the rule fires on: ``[..., column]`` where the human scored exactly zero.

    A half is not forgiven (pdm_score.py:300-308).

    Examples
    --------
    >>> forgiven_columns(np.array([0.0, 0.5, 1.0])).tolist()
    [True, False, False]
    """
    return np.asarray(human) == 0.0


def forgive(raw: NDArray[Any], human: NDArray[np.float64]) -> NDArray[Any]:
    """Published values of raw ones ``[..., column, candidate]``, in the same dtype.

    Every column is subject to it, ego progress and ``pdm_score`` too; the aggregate is not rebuilt
    from forgiven parts.

    Examples
    --------
    >>> forgive(np.array([[0.0, 1.0], [0.0, 0.5]]), np.array([0.0, 1.0])).tolist()
    [[1.0, 1.0], [0.0, 0.5]]
    """
    return np.where(forgiven_columns(human)[..., None], np.ones_like(raw), raw)
