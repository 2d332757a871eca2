"""Time to collision: where the car would be within 0.9 s at constant speed and heading."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import CENTRE, STEPS, X, Y
from navaudit.compiled import borrowing
from navaudit.numerics.boxes import boxes_touch
from navaudit.score.cells import CROSSROADS, lies_in
from navaudit.score.collision import HIT_AGENT, NO_FAULT, Contact
from navaudit.score.contact import (
    AHEAD_RAD,
    BEHIND_RAD,
    TrafficIndex,
    agents_near,
    bearing,
    is_busy,
    speed_of,
)
from navaudit.score.drive import Drive, off_lane
from navaudit.score.grid import cell_of
from navaudit.score.ground import GroundIndex

Floats = NDArray[np.float64]

OFFSETS: Final = (0, 3, 6, 9)
"""Steps ahead at which the projected car is tested."""
ANCHORS: Final = STEPS - OFFSETS[-1]
"""Steps from which the car is projected: 0 to 31 (pdm_scorer.py:521-609)."""
STANDING_MPS: Final = 5e-3
"""Below this speed the car is not projected, nor is what it meets ignored later."""


@borrowing
def time_to_collision(
    drive: Drive, traffic: TrafficIndex, ground: GroundIndex, anchors: int = ANCHORS
) -> Contact:
    """Score one candidate; ``drive.met`` must be clear and is left dirty.

    An agent that the projected car meets either fails the metric or is ignored from then on, so
    the first meeting decides; meetings while standing decide nothing. From ``anchors`` beyond the
    usual ones the car is projected no farther than to the last step.
    """
    ahead = drive.ahead
    for step in range(anchors):
        state = drive.states[step]
        speed = speed_of(state)
        if speed < STANDING_MPS:
            continue
        dx = drive.pointing[step, 1] * speed
        dy = drive.pointing[step, 0] * speed
        for offset in OFFSETS:
            if step + offset >= STEPS:
                break
            # float(index) * 0.1 as upstream: 0.3 and 0.6 come out an ulp high
            delta_s = offset * 0.1
            way_x, way_y = dx * delta_s, dy * delta_s
            x = drive.points[step, CENTRE, 0] + way_x
            y = drive.points[step, CENTRE, 1] + way_y
            later = step + offset
            cell = cell_of(traffic.grid, x, y)
            if not is_busy(traffic, cell, later):
                continue
            for k in range(4):
                ahead[k, 0] = drive.points[step, k, 0] + way_x
                ahead[k, 1] = drive.points[step, k, 1] + way_y
            begin, end = agents_near(traffic, cell, later)
            for entry in range(begin, end):
                agent = traffic.agent[entry]
                if drive.met[agent]:
                    continue
                if not boxes_touch(ahead, traffic.corners[later, agent]):
                    continue
                if threatens(drive, traffic, ground, step, later, agent):
                    return Contact(HIT_AGENT, step, agent)
                drive.met[agent] = 1
    return Contact(NO_FAULT, STEPS, -1)


@borrowing
def threatens(
    drive: Drive, traffic: TrafficIndex, ground: GroundIndex, step: int, later: int, agent: int
) -> bool:
    """Whether an agent the projected car meets is ahead, or beside it off lane or at a crossing."""
    state = drive.states[step]
    sine, cosine = drive.pointing[step, 0], drive.pointing[step, 1]
    centroid = traffic.centroid[later, agent]
    angle = bearing(state, sine, cosine, centroid[0], centroid[1])
    if angle < AHEAD_RAD:
        return True
    if angle > BEHIND_RAD:
        return False
    # the intersection is asked for the rear axle, not the centre; a bearing of NaN also ends here
    return off_lane(drive, ground, step) or lies_in(ground.cells, CROSSROADS, state[X], state[Y])
