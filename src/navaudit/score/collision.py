"""No at-fault collision: only the first contact with each agent counts, and only if at fault.

The stock scorer keeps a list of agents it has met without fault and ignores them from then on, and
tests agents met at fault again at every step, which changes nothing: so for each agent the first
contact decides (pdm_scorer.py:404-445).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from navaudit.axes import CENTRE, FRONT_LEFT, FRONT_RIGHT, STEPS
from navaudit.compiled import borrowing
from navaudit.numerics.boxes import boxes_touch, collapsed, segment_touches_box
from navaudit.score.contact import (
    BEHIND_RAD,
    STOPPED_MPS,
    TrafficIndex,
    agents_near,
    bearing,
    is_busy,
    speed_of,
)
from navaudit.score.drive import Drive, off_lane
from navaudit.score.grid import cell_of
from navaudit.score.ground import GroundIndex

NO_FAULT: Final = 1.0
HIT_OBJECT: Final = 0.5
HIT_AGENT: Final = 0.0

EGO_STOPPED, TRACK_STOPPED, FROM_BEHIND, HEAD_ON, SIDEWAYS = range(5)
"""How a contact comes about."""


class Contact(NamedTuple):
    """Where a metric about agents fails first."""

    score: float
    """1 where nothing was at fault, 0.5 an object, 0 an agent."""
    step: int
    """First step at fault; ``STEPS`` if none."""
    agent: int
    """The agent of that step; -1 if none."""


@borrowing
def no_at_fault_collisions(drive: Drive, traffic: TrafficIndex, ground: GroundIndex) -> Contact:
    """Score one candidate's contacts; ``drive.met`` must be clear and is left dirty."""
    score, first, culprit = NO_FAULT, STEPS, -1
    for step in range(STEPS):
        cell = cell_of(traffic.grid, drive.points[step, CENTRE, 0], drive.points[step, CENTRE, 1])
        if not is_busy(traffic, cell, step):
            continue
        begin, end = agents_near(traffic, cell, step)
        for entry in range(begin, end):
            agent = traffic.agent[entry]
            if drive.met[agent]:
                continue
            if not boxes_touch(drive.points[step, :4], traffic.corners[step, agent]):
                continue
            drive.met[agent] = 1
            if not at_fault(drive, traffic, ground, step, agent):
                continue
            if first == STEPS:
                first, culprit = step, agent
            if traffic.living[agent]:
                return Contact(HIT_AGENT, first, culprit)
            score = HIT_OBJECT
    return Contact(score, first, culprit)


@borrowing
def at_fault(
    drive: Drive, traffic: TrafficIndex, ground: GroundIndex, step: int, agent: int
) -> bool:
    """Whether a contact is the car's fault: it hit something stopped, head on, or off its lane."""
    kind = kind_of_contact(drive, traffic, step, agent)
    if kind in (TRACK_STOPPED, HEAD_ON):
        return True
    return kind == SIDEWAYS and off_lane(drive, ground, step)


@borrowing
def kind_of_contact(drive: Drive, traffic: TrafficIndex, step: int, agent: int) -> int:
    """Tell how a contact comes about, in the order of pdm_scorer_utils.py:27-62."""
    state = drive.states[step]
    if speed_of(state) <= STOPPED_MPS:
        return EGO_STOPPED
    if traffic.stopped[agent]:
        return TRACK_STOPPED
    centroid = traffic.centroid[step, agent]
    sine, cosine = drive.pointing[step, 0], drive.pointing[step, 1]
    if bearing(state, sine, cosine, centroid[0], centroid[1]) > BEHIND_RAD:
        return FROM_BEHIND
    corners = drive.points[step]
    ax, ay = corners[FRONT_LEFT, 0], corners[FRONT_LEFT, 1]
    bx, by = corners[FRONT_RIGHT, 0], corners[FRONT_RIGHT, 1]
    box = traffic.corners[step, agent]
    # a collapsed box is found by the tree above, but touches no plain bumper
    if segment_touches_box(ax, ay, bx, by, box) and not collapsed(box):
        return HEAD_ON
    return SIDEWAYS
