"""How far a plan lies from where the human drove, at the eight times the human is known.

The plan is compared as it was made, in the ego's frame, before anything simulates it. A plan at
10 Hz is read at every fifth pose, which falls on the human's times to the microsecond.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import HUMAN_POSES, POSES
from navaudit.errors import BadInput
from navaudit.numerics.angles import hypot_of
from navaudit.numerics.polyline import distances_to_polyline

Floats = NDArray[np.float64]

DISTANCES: Final = ("ade_m", "fde_m", "lateral_m")
"""Mean and last distance between poses of the same time, and the largest to the human path."""

SHORT: Final = ("ADE", "FDE", "MAXLAT")
"""Their short names, in the same order."""


def distances(plan: NDArray[np.floating], human: Floats) -> Floats:
    """Distances ``[3]`` in metres, as ``DISTANCES``, of a plan ``[8 or 40, 3]`` to ``[8, 3]``.

    The human path runs from the ego at t = 0 through the eight poses and ends there: a plan that
    goes on farther is measured to its end.

    Examples
    --------
    >>> human = np.column_stack([np.arange(1.0, 9.0), np.zeros(8), np.zeros(8)])
    >>> distances(human + [0.0, 0.5, 0.0], human).tolist()
    [0.5, 0.5, 0.5]
    >>> distances(human * [2.0, 1.0, 1.0], human).tolist()
    [4.5, 8.0, 8.0]
    """
    planned = _shared_times(plan)
    path = np.concatenate([np.zeros((1, 2)), human[:, :2]])
    between = hypot_of(planned[:, 0] - human[:, 0], planned[:, 1] - human[:, 1])
    aside = distances_to_polyline(planned, path)
    return frozen([between.mean(), between[-1], aside.max()], np.float64, (len(DISTANCES),))


def _shared_times(plan: NDArray[np.floating]) -> Floats:
    """Planned points ``[8, xy]`` at 0.5, 1.0, ..., 4.0 s."""
    if plan.shape not in ((HUMAN_POSES, 3), (POSES, 3)):
        raise BadInput(
            f"a plan has shape {plan.shape}",
            expected=f"{HUMAN_POSES} poses at 2 Hz or {POSES} at 10 Hz, of x, y and heading",
        )
    every = len(plan) // HUMAN_POSES
    return np.ascontiguousarray(plan[every - 1 :: every, :2], dtype=np.float64)
