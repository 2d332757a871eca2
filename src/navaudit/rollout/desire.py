"""Where a trajectory wants the car to be at every step, in the map frame."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.compiled import borrowing, njit
from navaudit.numerics.trig import sincos, wrap_to_pi
from navaudit.vehicle import REAR_AXLE_TO_CENTRE_M

Floats = NDArray[np.float64]

PI: Final = np.pi
TWO_PI: Final = 2.0 * np.pi

SMALL_RAD: Final = 1e-5
"""Turns below this are rotated by two terms of the series: the third is under 2e-16."""


@borrowing
def place_poses(
    ego: Floats, cos_ego: float, sin_ego: float, poses: Any, turn: Floats, knots: Floats
) -> None:
    """Carry relative poses ``[pose, 3]`` into the map frame: knots ``[1 + pose, 5]``.

    ``turn`` is ``[pose, 2]``, cosine and sine of the relative headings.  A knot is x, y, unwrapped
    heading, cosine and sine of it; knot 0 is the ego itself.
    """
    knots[0, 0] = ego[0]
    knots[0, 1] = ego[1]
    knots[0, 2] = ego[2]
    knots[0, 3] = cos_ego
    knots[0, 4] = sin_ego
    heading = ego[2]
    for i in range(poses.shape[0]):
        px = np.float64(poses[i, 0])
        py = np.float64(poses[i, 1])
        # the row sums of a 3 x 3 matrix product, in its order (navsim evaluate/pdm_score.py:41)
        x = (cos_ego * px - sin_ego * py) + ego[0]
        y = (sin_ego * px + cos_ego * py) + ego[1]
        cosine = cos_ego * turn[i, 0] - sin_ego * turn[i, 1]
        sine = sin_ego * turn[i, 0] + cos_ego * turn[i, 1]
        heading = _unwrapped(heading, ego[2] + np.float64(poses[i, 2]))
        knots[i + 1, 0] = _there_and_back(x, cosine)
        knots[i + 1, 1] = _there_and_back(y, sine)
        knots[i + 1, 2] = heading
        knots[i + 1, 3] = cosine
        knots[i + 1, 4] = sine


@borrowing
def sample_knots(
    knots: Floats, knot: NDArray[np.int64], span_us: Floats, since_us: Floats, desired: Floats
) -> None:
    """Read knots ``[knot, 5]`` at the clock's steps: desired ``[step, 5]``, heading wrapped."""
    for step in range(knot.shape[0]):
        late = knot[step]
        early = late - 1
        span = span_us[step]
        since = since_us[step]
        # scipy's interp1d: the slope per microsecond first, so a value at a knot carries rounding
        x = (knots[late, 0] - knots[early, 0]) / span * since + knots[early, 0]
        y = (knots[late, 1] - knots[early, 1]) / span * since + knots[early, 1]
        heading = (knots[late, 2] - knots[early, 2]) / span * since + knots[early, 2]
        near = late if since + since > span else early
        cosine, sine = _turned(knots[near, 3], knots[near, 4], heading - knots[near, 2], heading)
        desired[step, 0] = _there_and_back(x, cosine)
        desired[step, 1] = _there_and_back(y, sine)
        desired[step, 2] = wrap_to_pi(heading)
        desired[step, 3] = cosine
        desired[step, 4] = sine


@borrowing
def _there_and_back(rear_axle: float, direction: float) -> float:
    # an EgoState keeps its centre and gives its rear axle back from it, which rounds twice
    # (nuplan common/actor_state/car_footprint.py:69,80)
    centre = rear_axle + REAR_AXLE_TO_CENTRE_M * direction
    return centre + -REAR_AXLE_TO_CENTRE_M * direction


@borrowing
def _unwrapped(before: float, heading: float) -> float:
    """Return the heading shifted by whole turns to within half a turn of the one before."""
    while heading - before > PI:
        heading -= TWO_PI
    while heading - before < -PI:
        heading += TWO_PI
    return heading


@borrowing
def _turned(cosine: float, sine: float, by: float, heading: float) -> tuple[float, float]:
    """Cosine and sine of a heading that lies ``by`` from one whose cosine and sine are known."""
    if not -SMALL_RAD < by < SMALL_RAD:
        whole_sine, whole_cosine = sincos(heading)
        return whole_cosine, whole_sine
    half_square = 0.5 * by * by
    return cosine - (sine * by + cosine * half_square), sine + (cosine * by - sine * half_square)


@njit(cache=True, nogil=True)
def turns_of(poses: Any) -> Floats:
    """Cosine and sine ``[candidate, pose, 2]`` of the headings of ``[candidate, pose, 3]``."""
    turns = np.empty((poses.shape[0], poses.shape[1], 2))
    for candidate in range(poses.shape[0]):
        for i in range(poses.shape[1]):
            sine, cosine = sincos(np.float64(poses[candidate, i, 2]))
            turns[candidate, i, 0] = cosine
            turns[candidate, i, 1] = sine
    return turns
