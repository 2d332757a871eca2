"""When a trajectory has its knots and when the simulator asks for it, to the microsecond.

The stock code stamps knots and queries through float seconds since 1970 and truncates to whole
microseconds, so a query may fall one microsecond off its knot.  The rounding moves positions by up
to 2e-5 m; it is reproduced because a label can hang on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import DT_S, POSES, STEPS


@dataclass(frozen=True, eq=False)
class Clock:
    """For every step, the pair of knots it lies between and how far along."""

    knot: NDArray[np.int64]
    """``[step]``: index of the later knot of the pair, at least 1."""
    span_us: NDArray[np.float64]
    """``[step]``: time between the two knots."""
    since_us: NDArray[np.float64]
    """``[step]``: time from the earlier knot to the step."""

    @classmethod
    def between(cls, knots_us: NDArray[np.int64], start_us: int) -> Clock:
        """Place the 41 steps from ``start_us`` among knots ``[knot]``."""
        steps_us = np.clip(_step_us(start_us), knots_us[0], knots_us[-1])
        # scipy's interp1d looks a value up to the left of an equal knot
        later = np.clip(np.searchsorted(knots_us, steps_us), 1, len(knots_us) - 1)
        earlier_us = knots_us[later - 1]
        return cls(
            knot=frozen(later, np.int64, (STEPS,)),
            span_us=frozen(knots_us[later] - earlier_us, np.float64, (STEPS,)),
            since_us=frozen(steps_us - earlier_us, np.float64, (STEPS,)),
        )


def candidate_clock(start_us: int) -> Clock:
    """Clock of a candidate: the ego at t = 0, then 40 poses at 10 Hz."""
    return Clock.between(_knot_us(start_us, POSES, DT_S), start_us)


def human_clock(start_us: int, poses: int) -> Clock:
    """Clock of the human trajectory: the ego at t = 0, then poses at 2 Hz."""
    return Clock.between(_knot_us(start_us, poses, 0.5), start_us)


def _knot_us(start_us: int, poses: int, interval_s: float) -> NDArray[np.int64]:
    # navsim/evaluate/pdm_score.py:38 through nuplan transform_utils.py:_get_fixed_timesteps
    start_s = start_us * 1e-6
    stamps = [int((i * interval_s + interval_s + start_s) * 1e6) for i in range(poses)]
    return np.array([start_us, *stamps], dtype=np.int64)


def _step_us(start_us: int) -> NDArray[np.int64]:
    # navsim/evaluate/pdm_score.py:74-81; built apart from the knots, so it rounds apart from them
    start_s = start_us * 1e-6
    return np.array([int((i * DT_S + start_s) * 1e6) for i in range(STEPS)], dtype=np.int64)
