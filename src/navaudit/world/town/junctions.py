"""Junctions: which lane leads into which, and the ground they cross."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from navaudit.world.town.curves import (
    Array,
    corner,
    cross,
    dot,
    left_of,
    ring,
    shift,
    snap,
    tangents,
)
from navaudit.world.town.lanes import SOLID, Boundary, Lane, LaneGroup, Strip
from navaudit.world.town.roads import Profile, Road, Streets

TURNS: Final = ("left", "straight", "right")

STOP_DEPTH_M: Final = 1.0
CROSSWALK_M: Final = (1.4, 4.6)
"""Where a crosswalk lies, measured from the end of the lanes into the junction."""


@dataclass(frozen=True, eq=False)
class Connector(Strip):
    """The way from one lane into another across a junction."""

    start: Lane
    end: Lane
    turn: str
    junction: int
    arms: tuple[int, int]
    """Arm of the junction it comes from and arm it leaves by."""


@dataclass(frozen=True, eq=False)
class Arm:
    """One road's end at a junction."""

    heading: Array
    """Unit direction outward."""
    port_m: Array
    """Where the road's centreline ends."""
    profile: Profile
    inward: LaneGroup
    outward: LaneGroup
    phase: int
    """Arms of one phase are green together: a road and its continuation across."""
    stop_fid: int
    crosswalk_fid: int
    light_fid: int

    def across(self, left_m: float, inward_m: float) -> Array:
        """The point so far to the left (looking outward) and so far into the junction."""
        return snap(self.port_m + left_of(self.heading) * left_m - self.heading * inward_m)

    @property
    def stop_ring_m(self) -> Array:
        """Stop polygon over the inward lanes."""
        half = self.profile.half_lanes_m
        return _band(self, (0.0, half), (0.0, STOP_DEPTH_M))

    @property
    def crosswalk_ring_m(self) -> Array:
        """Crosswalk from kerb to kerb."""
        half = self.profile.half_kerb_m + 0.6
        return _band(self, (-half, half), CROSSWALK_M)


@dataclass(frozen=True, eq=False)
class Junction:
    """A signalised junction of three or four arms, counter-clockwise."""

    fid: int
    arms: tuple[Arm, ...]
    connectors: tuple[Connector, ...]
    ring_m: Array
    """Polygon inside the kerbs; shares its vertices with the lane groups that end here."""

    def groups(self) -> list[tuple[int, list[Connector]]]:
        """Connectors by the lane group connector they belong to, left to right."""
        by: dict[int, list[Connector]] = {}
        for one in self.connectors:
            by.setdefault(one.group, []).append(one)
        return list(by.items())


def group_ring(connectors: list[Connector]) -> Array:
    """Polygon of a lane group connector: from its leftmost to its rightmost boundary."""
    return ring(connectors[0].left.line_m[::-1], connectors[-1].right.line_m)


def lay_junctions(
    streets: Streets, groups: tuple[LaneGroup, ...], fids: Iterator[int]
) -> tuple[Junction, ...]:
    """Lay every junction of the town."""
    return tuple(
        _junction(index, streets, groups, fids) for index in range(len(streets.junctions_m))
    )


def _junction(
    index: int, streets: Streets, groups: tuple[LaneGroup, ...], fids: Iterator[int]
) -> Junction:
    fid = next(fids)
    ends = [
        (road, end)
        for road, one in enumerate(streets.roads)
        for end in (0, 1)
        if one.ends[end] == index
    ]
    ends.sort(key=lambda which: _bearing(_outward(streets.roads[which[0]], which[1])))
    headings = [_outward(streets.roads[road], end) for road, end in ends]
    arms = tuple(
        _arm(streets.roads, groups, which, phase, fids)
        for which, phase in zip(ends, _phases(headings), strict=True)
    )
    connectors = tuple(_connect(index, arms, fids))
    return Junction(fid, arms, connectors, _outline(arms))


def _outward(road: Road, end: int) -> Array:
    return road.heading[0] if end == 0 else -road.heading[-1]


def _bearing(heading: Array) -> float:
    """Grows with the angle from 0 to 4 over a full turn, without an arctangent."""
    x, y = heading.tolist()
    return 1.0 - x if y >= 0.0 else 3.0 + x


def _phases(headings: list[Array]) -> list[int]:
    """Number the green phases of arms given counter-clockwise: opposite arms share one."""
    count = len(headings)
    if count == 4:
        return [0, 1, 0, 1]
    pairs = [(k, (k + 1) % count) for k in range(count)]
    through = min(pairs, key=lambda pair: dot(headings[pair[0]], headings[pair[1]]))
    return [0 if k in through else 1 for k in range(count)]


def _arm(
    roads: tuple[Road, ...],
    groups: tuple[LaneGroup, ...],
    which: tuple[int, int],
    phase: int,
    fids: Iterator[int],
) -> Arm:
    road, end = which
    along, against = groups[2 * road], groups[2 * road + 1]
    inward, outward = (against, along) if end == 0 else (along, against)
    port = roads[road].axis_m[0 if end == 0 else -1]
    names = (next(fids), next(fids), next(fids))
    heading = _outward(roads[road], end)
    return Arm(heading, port, roads[road].profile, inward, outward, phase, *names)


def _turn(come: Arm, leave: Arm) -> str:
    if dot(-come.heading, leave.heading) > 0.7:
        return "straight"
    return "left" if cross(-come.heading, leave.heading) > 0.0 else "right"


def _connect(index: int, arms: tuple[Arm, ...], fids: Iterator[int]) -> Iterator[Connector]:
    for come, arm in enumerate(arms):
        ways = [leave for leave in range(len(arms)) if leave != come]
        turns = [_turn(arm, arms[leave]) for leave in ways]
        for leave, turn in zip(ways, turns, strict=True):
            group = next(fids)
            for start, end in _pair(arm.inward.lanes, arms[leave].outward.lanes, turn, turns):
                strip = _bend(start, end, group, fids)
                yield Connector(*strip, start, end, turn, index, (come, leave))


def _pair(
    into: tuple[Lane, ...], out: tuple[Lane, ...], turn: str, turns: list[str]
) -> list[tuple[Lane, Lane]]:
    """Which lane may take a turn into which lane, left to right."""
    if turn == "left":
        return [(into[0], out[0])]
    if turn == "right":
        return [(into[-1], out[-1])]
    # where nobody can turn right the right lane must go straight, and so must the left
    lanes = into[: len(out)] if "right" in turns and len(into) > len(out) else into
    pairs = [(lane, out[min(k, len(out) - 1)]) for k, lane in enumerate(lanes)]
    return pairs + [(lanes[-1], extra) for extra in out[len(lanes) :]]


def _bend(
    start: Lane, end: Lane, group: int, fids: Iterator[int]
) -> tuple[int, Array, Boundary, Boundary, int]:
    first, last = tangents(start.baseline_m)[-1], tangents(end.baseline_m)[0]
    base = snap(corner(start.baseline_m[-1], first, end.baseline_m[0], last))
    heading = tangents(base)
    heading[0], heading[-1] = first, last
    width = np.linspace(_width(start, -1), _width(end, 0), len(base))
    left, right = (snap(shift(base, heading, side * width / 2)) for side in (1.0, -1.0))
    left[0], right[0] = start.left.line_m[-1], start.right.line_m[-1]
    left[-1], right[-1] = end.left.line_m[0], end.right.line_m[0]
    bounds = (Boundary(next(fids), left, SOLID), Boundary(next(fids), right, SOLID))
    return next(fids), base, *bounds, group


def _width(lane: Lane, vertex: int) -> float:
    gap = lane.left.line_m[vertex] - lane.right.line_m[vertex]
    return math.sqrt(dot(gap, gap))


def _outline(arms: tuple[Arm, ...]) -> Array:
    """Go round a junction counter-clockwise, along the arms' ends and round the kerbs."""
    sides = []
    for k, arm in enumerate(arms):
        after = arms[(k + 1) % len(arms)]
        mouth, goal = _mouth(arm), _mouth(after)[0]
        sides += [mouth, snap(corner(mouth[-1], -arm.heading, goal, after.heading))]
    return ring(*sides)


def _mouth(arm: Arm) -> Array:
    """The end of an arm from its right kerb, looking outward, to its left."""
    right = [lane.right.line_m[0] for lane in arm.outward.lanes[::-1]]
    left = [lane.right.line_m[-1] for lane in arm.inward.lanes]
    middle = arm.outward.lanes[0].left.line_m[0]
    return np.stack([arm.outward.kerb_m[0], *right, middle, *left, arm.inward.kerb_m[-1]])


def _band(arm: Arm, left_m: tuple[float, float], inward_m: tuple[float, float]) -> Array:
    places = [(left_m[0], inward_m[0]), (left_m[0], inward_m[1])]
    places += [(left_m[1], inward_m[1]), (left_m[1], inward_m[0])]
    corners = [arm.across(*place) for place in places]
    return np.stack([*corners, corners[0]])
