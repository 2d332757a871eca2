"""The plan of a town: a bent grid of streets, its crossings and T-junctions.

Rows and columns of streets are drawn crooked; some blocks are missing, so that crossings become
T-junctions; at the town's corners two streets run into one another in a wide bend.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from navaudit.world.town.chance import bell
from navaudit.world.town.curves import (
    Array,
    at,
    cross,
    dot,
    left_of,
    lengths,
    resample,
    shift,
    snap,
    tangents,
    unit,
)

GRID: Final = 4
"""Streets in each direction."""

MOST_BLOCKS: Final = 23
"""Blocks with a street between, of the 24 a full grid has."""

KERB_RADIUS_M: Final = 9.0
"""Room left for the bend of the kerb between two arms of a junction."""

Node = tuple[int, int]


@dataclass(frozen=True)
class Profile:
    """What a street looks like across."""

    lanes: int
    """Lanes each way."""
    lane_width_m: float
    shoulder_m: float
    """Paved strip beyond the outermost lane, each side: cyclists ride and cars park there."""
    limit_mps: float

    @property
    def half_lanes_m(self) -> float:
        """From the centreline to the outer edge of the lanes."""
        return self.lanes * self.lane_width_m

    @property
    def half_kerb_m(self) -> float:
        """From the centreline to the kerb."""
        return self.half_lanes_m + self.shoulder_m


@dataclass(frozen=True, eq=False)
class Road:
    """One street between two junctions, from the first to the second."""

    ends: tuple[int, int]
    """Indices of the junctions."""
    profile: Profile
    axis_m: Array
    """Centreline ``[station, 2]``, vertices about 1 m apart."""
    heading: Array
    """Unit direction at each station, ``[station, 2]``."""

    def side(self, left_m: float) -> Array:
        """The line ``left_m`` to the left of the centreline, ``[station, 2]``."""
        return snap(shift(self.axis_m, self.heading, left_m))


@dataclass(frozen=True, eq=False)
class Streets:
    """Junction centres ``[junction, 2]`` in metres and the roads between them."""

    junctions_m: Array
    roads: tuple[Road, ...]


@dataclass
class _Link:
    """A road before its ends are known: the nodes it passes."""

    via: tuple[Node, ...]
    profile: Profile
    bend: tuple[float, float]
    """Bow and wave aside, each from -1 to 1 of what the length allows."""
    setback_m: list[float] = field(default_factory=lambda: [0.0, 0.0])


def draw_streets(rng: np.random.Generator) -> Streets:
    """Draw a town's streets: about a dozen junctions and twenty roads on some 700 m square."""
    nodes = _draw_nodes(rng)
    links = _draw_links(rng, _choose_blocks(rng))
    names = sorted({node for link in links for node in (link.via[0], link.via[-1])})
    for name in names:
        _set_back(name, nodes, links)
    roads = [_road(link, nodes, names) for link in links]
    return Streets(np.array([nodes[name] for name in names]), tuple(roads))


def _draw_nodes(rng: np.random.Generator) -> dict[Node, Array]:
    gaps = rng.uniform(185.0, 260.0, size=(2, GRID))
    x, y = np.cumsum(gaps[0]), np.cumsum(gaps[1])
    t = rng.uniform(-0.3, 0.3)  # tangent of half the angle by which the town is turned
    turned = np.array([[1 - t * t, -2 * t], [2 * t, 1 - t * t]]) / (1 + t * t)
    nodes = {}
    for row in range(GRID):
        for column in range(GRID):
            here = (x[column] + bell(rng, 9.0), y[row] + bell(rng, 9.0))
            nodes[row, column] = snap(turned[:, 0] * here[0] + turned[:, 1] * here[1])
    return nodes


def _choose_blocks(rng: np.random.Generator) -> list[tuple[Node, Node]]:
    """Pairs of neighbouring nodes joined by a street; all but the corners keep three or more."""
    pairs = [((r, c), (r, c + 1)) for r in range(GRID) for c in range(GRID - 1)]
    pairs += [((r, c), (r + 1, c)) for r in range(GRID - 1) for c in range(GRID)]
    kept = list(pairs)
    for index in rng.permutation(len(pairs)).tolist():
        one, other = pairs[index]
        if len(kept) > MOST_BLOCKS and min(_degree(kept, one), _degree(kept, other)) > 3:
            kept.remove((one, other))
    return kept


def _degree(pairs: list[tuple[Node, Node]], node: Node) -> int:
    return sum(node in pair for pair in pairs)


def _draw_links(rng: np.random.Generator, pairs: list[tuple[Node, Node]]) -> list[_Link]:
    profiles = [_draw_profile(rng, lanes) for lanes in (1, 2, 1, 2, 1, 2, 2, 1)]
    order = rng.permutation(len(profiles)).tolist()
    links = []
    for one, other in pairs:
        row = one[0] == other[0]
        profile = profiles[order[one[0] if row else GRID + one[1]]]
        straight, bow, wave = rng.random(), rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0)
        bend = (0.0, 0.0) if straight < 0.35 else (float(bow), float(wave))
        links.append(_Link((one, other), profile, bend))
    for corner in [(r, c) for r in (0, GRID - 1) for c in (0, GRID - 1)]:
        links = _round_off(links, corner)
    return links


def _draw_profile(rng: np.random.Generator, lanes: int) -> Profile:
    width = round(float(rng.uniform(3.3, 3.7)), 2)
    shoulder = (1.3, 2.4)[int(rng.integers(2))]
    limit = (11.176, 13.411, 15.646)[int(rng.integers(2)) + lanes - 1]
    return Profile(lanes, width, shoulder, limit)


def _round_off(links: list[_Link], corner: Node) -> list[_Link]:
    """Join the two streets at a corner of the town into one."""
    first, second = (link for link in links if corner in link.via)
    start = first.via[0] if first.via[-1] == corner else first.via[-1]
    end = second.via[0] if second.via[-1] == corner else second.via[-1]
    rest = [link for link in links if corner not in link.via]
    return [*rest, _Link((start, corner, end), first.profile, (0.0, 0.0))]


def _set_back(name: Node, nodes: dict[Node, Array], links: list[_Link]) -> None:
    """Find how far from a junction's centre each arm ends: clear of its neighbours' kerbs."""
    arms = []
    for link in links:
        for end, (here, there) in enumerate(
            ((link.via[0], link.via[1]), (link.via[-1], link.via[-2]))
        ):
            if here == name:
                arms.append((link, end, unit(nodes[there] - nodes[here])))
    for link, end, heading in arms:
        link.setback_m[end] = 8.0
        for other, _, beside in arms:
            if abs(cross(heading, beside)) > 0.3:
                meets = _meets(heading, beside, link.profile, other.profile)
                link.setback_m[end] = max(link.setback_m[end], meets + KERB_RADIUS_M)


def _meets(heading: Array, beside: Array, mine: Profile, other: Profile) -> float:
    """How far along an arm the kerb of a neighbouring arm reaches, in metres."""
    sine, cosine = abs(cross(heading, beside)), dot(heading, beside)
    return (other.half_kerb_m + mine.half_kerb_m * cosine) / sine


def _road(link: _Link, nodes: dict[Node, Array], names: list[Node]) -> Road:
    start, end = nodes[link.via[0]], nodes[link.via[-1]]
    out, into = unit(nodes[link.via[1]] - start), unit(end - nodes[link.via[-2]])
    ports = (start + out * link.setback_m[0], end - into * link.setback_m[1])
    if len(link.via) == 3:
        dense = _wide_bend(ports[0], out, ports[1], into)
    else:
        dense = _bow(ports[0], ports[1], link.bend)
    axis = resample(dense, 1.0)
    s_m = lengths(dense)
    heading = unit(at(tangents(dense), s_m, np.linspace(0.0, s_m[-1], len(axis))))
    heading[0], heading[-1] = out, into
    ends = (names.index(link.via[0]), names.index(link.via[-1]))
    return Road(ends, link.profile, snap(axis), heading)


def _bow(start_m: Array, end_m: Array, bend: tuple[float, float]) -> Array:
    """A street that bows aside and waves, straight where it meets its junctions."""
    u = np.linspace(0.0, 1.0, 2001)
    hump = u * (1.0 - u)
    hump = 64.0 * hump * hump * hump
    chord = end_m - start_m
    # what keeps every bend wider than some 70 m
    most_m = dot(chord, chord) / 2400.0
    side = hump * most_m * (bend[0] + 1.3 * bend[1] * (u - 0.5))
    return start_m + chord * u[:, None] + left_of(unit(chord)) * side[:, None]


def _wide_bend(start_m: Array, heading: Array, end_m: Array, exit_heading: Array) -> Array:
    """Straight, spiral into a bend of some 50 m radius, spiral out, straight."""
    turn = cross(heading, exit_heading)
    gap = end_m - start_m
    into, out = cross(gap, exit_heading) / turn, cross(heading, gap) / turn
    reach = min(into, out, 85.0)
    first, last = start_m + heading * (into - reach), end_m - exit_heading * (out - reach)
    # a quintic with no curvature at its ends is the polynomial cousin of a pair of spirals
    t = np.linspace(0.0, 1.0, 2001)[:, None]
    u = 1.0 - t
    knots = [first, first + heading * reach * 0.36, first + heading * reach * 0.72]
    knots += [last - exit_heading * reach * 0.72, last - exit_heading * reach * 0.36, last]
    powers = [1.0, 5.0, 10.0, 10.0, 5.0, 1.0]
    weights = [u * u * u * u * u, u * u * u * u * t, u * u * u * t * t]
    weights += [u * u * t * t * t, u * t * t * t * t, t * t * t * t * t]
    bend = sum(
        (n * w * k for n, w, k in zip(powers, weights, knots, strict=True)),
        np.zeros((len(t), 2)),
    )
    lead = start_m + (first - start_m) * np.linspace(0.0, 1.0, 200)[:-1, None]
    tail = last + (end_m - last) * np.linspace(0.0, 1.0, 200)[1:, None]
    return np.concatenate([lead, bend, tail])
