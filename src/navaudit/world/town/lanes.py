"""Lanes and lane groups: what a road is made of, with the boundaries they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from navaudit.world.town.curves import Array, lengths, ring, snap
from navaudit.world.town.roads import Road

SOLID: Final = 0
DASHED: Final = 2
"""Boundary types; the map's own codes."""


@dataclass(frozen=True, eq=False)
class Boundary:
    """A line between lanes, or between a lane and what is not one."""

    fid: int
    line_m: Array
    kind: int


@dataclass(frozen=True, eq=False)
class Strip:
    """What lanes and connectors have in common; lines run in the driving direction."""

    fid: int
    baseline_m: Array
    """``[vertex, 2]``, about 1 m apart."""
    left: Boundary
    right: Boundary
    group: int
    """Id of the lane group, or of the lane group connector."""

    @property
    def ring_m(self) -> Array:
        """The polygon between the two boundaries, closed."""
        return ring(self.left.line_m[::-1], self.right.line_m)

    @property
    def length_m(self) -> float:
        """Length of the baseline."""
        return float(lengths(self.baseline_m)[-1])


@dataclass(frozen=True, eq=False)
class Lane(Strip):
    """A lane of a road."""

    index: int
    """0 is the leftmost lane of its group."""
    limit_mps: float


@dataclass(frozen=True, eq=False)
class LaneGroup:
    """The lanes of a road that lead the same way: nuPlan's roadblock."""

    fid: int
    road: int
    along: bool
    """Whether the lanes run from the road's first end to its second."""
    lanes: tuple[Lane, ...]
    """From left to right."""
    kerb_m: Array
    """The kerb on the right, in the driving direction."""

    @property
    def ring_m(self) -> Array:
        """The polygon from the centreline to the kerb, through the end of every lane boundary."""
        tail = [lane.right.line_m[:1] for lane in self.lanes]
        head = [lane.right.line_m[-1:] for lane in self.lanes[::-1]]
        return ring(self.lanes[0].left.line_m[::-1], *tail, self.kerb_m, *head)


def lay_lanes(roads: tuple[Road, ...], fids: Iterator[int]) -> tuple[LaneGroup, ...]:
    """Lay two lane groups on each road: ``2 k`` runs along road ``k``, ``2 k + 1`` against it."""
    groups = []
    for index, road in enumerate(roads):
        middle = Boundary(next(fids), road.side(0.0), SOLID)
        groups += [
            _group(index, road, True, middle, fids),
            _group(index, road, False, middle, fids),
        ]
    return tuple(groups)


def _group(index: int, road: Road, along: bool, middle: Boundary, fids: Iterator[int]) -> LaneGroup:
    fid, count, width_m = next(fids), road.profile.lanes, road.profile.lane_width_m
    way = -1.0 if along else 1.0
    order = slice(None) if along else slice(None, None, -1)
    left = Boundary(middle.fid, middle.line_m[order], middle.kind)
    lanes = []
    for lane in range(count):
        edge = road.side(way * width_m * (lane + 1))[order]
        right = Boundary(next(fids), edge, DASHED if lane + 1 < count else SOLID)
        base = snap(road.side(way * width_m * (lane + 0.5))[order])
        lanes.append(Lane(next(fids), base, left, right, fid, lane, road.profile.limit_mps))
        left = right
    kerb = road.side(way * road.profile.half_kerb_m)[order]
    return LaneGroup(fid, index, along, tuple(lanes), kerb)
