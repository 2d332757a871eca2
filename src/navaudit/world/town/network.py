"""The lanes and connectors of a town as one graph to drive on."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np

from navaudit.world.town.curves import Array, at, lengths, shift, tangents, unit
from navaudit.world.town.ground import Town
from navaudit.world.town.junctions import Connector
from navaudit.world.town.lanes import Lane, Strip

SIDEWAYS_MPS2: Final = 2.0
"""Sideways acceleration that drivers accept in a bend."""
EASING_MPS2: Final = 1.3
"""How hard they slow down for one."""


@dataclass(frozen=True, eq=False)
class Edge:
    """A lane or a connector, ready to drive on."""

    index: int
    strip: Strip
    s_m: Array
    """Distance along the baseline at each vertex."""
    heading: Array
    """Unit direction at each vertex."""
    cap_mps: tuple[float, ...]
    """Speed that the limit and the bends from here on allow, at each vertex."""
    nexts: tuple[int, ...]
    junction: int
    """Junction a connector crosses, or a lane leads to."""
    arm: int
    """Arm of that junction it comes from."""

    @property
    def length_m(self) -> float:
        """Length of the baseline."""
        return float(self.s_m[-1])

    @property
    def connector(self) -> Connector | None:
        """The connector, or None for a lane."""
        return self.strip if isinstance(self.strip, Connector) else None

    def cap_at(self, s_m: float) -> float:
        """Speed allowed at a distance along, in m/s."""
        last = len(self.cap_mps) - 1
        return self.cap_mps[min(last, max(0, int(s_m / float(self.s_m[-1]) * last)))]

    def place(self, s_m: Array | float, left_m: float = 0.0) -> tuple[Array, Array]:
        """Points ``[..., 2]`` and directions at distances along, shifted to the left."""
        heading = unit(at(self.heading, self.s_m, s_m))
        return shift(at(self.strip.baseline_m, self.s_m, s_m), heading, left_m), heading


@dataclass(frozen=True, eq=False)
class Network:
    """Every edge of a town, lanes first; an edge's index is its place in the tuple."""

    town: Town
    edges: tuple[Edge, ...]
    lanes: int
    """How many of the edges are lanes."""
    mate: tuple[int, ...]
    """For each lane the leftmost lane of the opposite direction of its road."""
    beside: tuple[tuple[int, int], ...]
    """For each lane its left and right neighbour in the group, -1 where there is none."""
    kin: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    """For each connector the others out of its lane, and the others into its lane."""
    crossing: tuple[tuple[int, ...], ...]
    """For each junction its connectors."""
    number: dict[int, int]
    """Index of each edge by its map id."""

    def siblings(self, connector: int) -> tuple[int, ...]:
        """Other connectors out of the same lane."""
        return self.kin[connector - self.lanes][0]

    def rivals(self, connector: int) -> tuple[int, ...]:
        """Other connectors into the same lane."""
        return self.kin[connector - self.lanes][1]

    def inside(self, junction: int) -> tuple[int, ...]:
        """Connectors that cross a junction."""
        return self.crossing[junction]

    def lane_of(self, lane: Lane) -> int:
        """Index of a lane's edge."""
        return self.number[lane.fid]


def build_network(town: Town) -> Network:
    """Link a town's lanes and connectors."""
    lanes = [lane for group in town.groups for lane in group.lanes]
    connectors = [one for junction in town.junctions for one in junction.connectors]
    number = {one.fid: k for k, one in enumerate([*lanes, *connectors])}
    nexts: dict[int, list[int]] = {lane.fid: [] for lane in lanes}
    goal: dict[int, tuple[int, int]] = {}
    for one in connectors:
        nexts[one.start.fid].append(number[one.fid])
        goal[one.start.fid] = (one.junction, one.arms[0])
    edges = [
        _edge(number[lane.fid], lane, tuple(nexts[lane.fid]), lane.limit_mps, goal[lane.fid])
        for lane in lanes
    ]
    for one in connectors:
        limit = one.start.limit_mps
        way = (one.junction, one.arms[0])
        edges.append(_edge(number[one.fid], one, (number[one.end.fid],), limit, way))
    groups = town.groups
    mate = [number[groups[k ^ 1].lanes[0].fid] for k, g in enumerate(groups) for _ in g.lanes]
    beside = [
        (number[lane.fid] - 1 if lane.index else -1,
         number[lane.fid] + 1 if lane.index + 1 < len(group.lanes) else -1)
        for group in groups for lane in group.lanes
    ]  # fmt: skip
    crossing = tuple(
        tuple(number[one.fid] for one in junction.connectors) for junction in town.junctions
    )
    kin = tuple((_like(connectors, one, "start", number), _like(connectors, one, "end", number))
                for one in connectors)  # fmt: skip
    return Network(
        town, tuple(edges), len(lanes), tuple(mate), tuple(beside), kin, crossing, number
    )


def _like(
    connectors: list[Connector], one: Connector, end: str, number: dict[int, int]
) -> tuple[int, ...]:
    lane = getattr(one, end)
    return tuple(number[c.fid] for c in connectors if getattr(c, end) is lane and c is not one)


def _edge(
    index: int, strip: Strip, nexts: tuple[int, ...], limit_mps: float, goal: tuple[int, int]
) -> Edge:
    line = strip.baseline_m
    s_m, heading = lengths(line), tangents(line)
    return Edge(index, strip, s_m, heading, _caps(s_m, heading, limit_mps), nexts, *goal)


def _caps(s_m: Array, heading: Array, limit_mps: float) -> tuple[float, ...]:
    """Speed allowed at each vertex, falling early enough before each bend."""
    bend = np.abs(heading[:-1, 0] * heading[1:, 1] - heading[:-1, 1] * heading[1:, 0])
    curvature = np.concatenate([[0.0], bend / np.diff(s_m), [0.0]])
    # a mean over several metres: one crooked vertex is not a bend
    wide = np.cumsum(np.concatenate([[0.0] * 3, curvature, [0.0] * 2]))
    curvature = (wide[5:] - wide[:-5]) / 5.0
    caps = np.minimum(limit_mps, np.sqrt(SIDEWAYS_MPS2 / np.maximum(curvature, 1e-4))).tolist()
    for k in range(len(s_m) - 2, -1, -1):
        slowed = math.sqrt(
            caps[k + 1] * caps[k + 1] + 2.0 * EASING_MPS2 * float(s_m[k + 1] - s_m[k])
        )
        caps[k] = min(caps[k], slowed)
    return tuple(caps[: len(s_m)])
