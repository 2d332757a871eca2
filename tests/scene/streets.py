"""Maps drawn by hand: roadblocks of straight lanes, and connectors between them."""

from __future__ import annotations

import numpy as np
import shapely

from navaudit.numerics.polygons import Polygons
from navaudit.world.areas import Areas
from navaudit.world.maps import Map
from navaudit.world.network import Blocks, Links, Poses, Ways
from navaudit.world.trigonometry import LIBM

WIDTH_M = 3.5


def lane(*points):
    """A lane's or connector's baseline through these points."""
    return np.array(points, dtype=float)


class Sketch:
    """A map in the making; ids of the four kinds are separate, so they may coincide."""

    def __init__(self):
        self.blocks = {}  # id -> {lane id: line}
        self.joints = {}  # id -> (from block, to block, {connector id: (from, to, line)})
        self.areas = {"intersections": {}, "carpark_areas": {}}
        self.speeds = {}  # lane id -> m/s
        self.shapes = {}  # (is connector, way id) -> polygon, where it is not the buffered baseline

    def block(self, block_id, **lanes):
        """Add a roadblock; lanes are named ``l<id>``."""
        self.blocks[block_id] = {name[1:]: line for name, line in lanes.items()}
        return self

    def joint(self, joint_id, begin, end, **connectors):
        """Add a roadblock connector; connectors are named ``c<id>``: (from lane, to lane)."""
        self.joints[joint_id] = (begin, end, {})
        for name, (before, after, *points) in connectors.items():
            first = self.blocks[begin][before][-1]
            last = self.blocks[end][after][0]
            self.joints[joint_id][2][name[1:]] = (before, after, np.array([first, *points, last]))
        return self

    def ways(self):
        lanes = [(b, name, line) for b, one in self.blocks.items() for name, line in one.items()]
        turns = [
            (j, name, *one) for j, (*_, all_) in self.joints.items() for name, one in all_.items()
        ]
        return lanes, turns

    def map(self):
        lanes, turns = self.ways()
        way = {name: row for row, (_, name, _) in enumerate(lanes)}
        block = {name: row for row, name in enumerate([*self.blocks])}
        joint = {name: len(block) + row for row, name in enumerate(self.joints)}
        lines = [line for *_, line in lanes] + [line for *_, line in turns]
        ids = [name for _, name, _ in lanes] + [name for _, name, *_ in turns]
        owner = [block[b] for b, *_ in lanes] + [joint[j] for j, *_ in turns]
        kinds = [False] * len(lanes) + [True] * len(turns)
        shapes = [
            self.shapes.get(
                (kind, name),
                shapely.buffer(shapely.LineString(line), WIDTH_M / 2, cap_style="flat"),
            )
            for kind, name, line in zip(kinds, ids, lines, strict=True)
        ]
        owned = [
            [row for row, one in enumerate(owner) if one == own]
            for own in range(len(block) + len(joint))
        ]
        ends = [(way[a], way[b]) for _, _, a, b, _ in turns]
        joined = [(block[a], block[b]) for a, b, _ in self.joints.values()]
        ways = Ways(
            id=tuple(ids),
            polygons=Polygons.of(shapes),
            first_connector=len(lanes),
            baseline=Poses.along(lines, LIBM),
            speed_limit_mps=np.array([self.speeds.get(name, np.nan) for name in ids]),
            block=np.array(owner),
            **_links(len(lanes), ends),
        )
        blocks = Blocks(
            id=(*self.blocks, *self.joints),
            polygons=Polygons.of(
                shapely.union_all([shapes[row] for row in rows]) if rows else shapely.Polygon()
                for rows in owned
            ),
            first_connector=len(block),
            ways=Links.of(owned),
            **_links(len(block), joined),
        )
        nothing = Areas((), Polygons.of([]))
        areas = {
            name: Areas(tuple(shapes), Polygons.of(shapes.values()))
            for name, shapes in self.areas.items()
        }
        return Map(
            location="us-ma-boston", version="drawn", zone=19, trig="libm",
            ways=ways, blocks=blocks, stop_lines=nothing, crosswalks=nothing,
            walkways=nothing, **areas,
        )  # fmt: skip


def _links(count, ends):
    after = [[count + k for k, (a, _) in enumerate(ends) if a == row] for row in range(count)]
    before = [[count + k for k, (_, b) in enumerate(ends) if b == row] for row in range(count)]
    return {
        "after": Links.of([*after, *([b] for _, b in ends)]),
        "before": Links.of([*before, *([a] for a, _ in ends)]),
    }


def chain(count, length_m=20.0, gap_m=10.0, y_m=0.0, name=str):
    """Roadblocks ``1, 2, ...`` of one lane each along x, joined by connectors ``101, 102, ...``."""
    sketch = Sketch()
    for k in range(1, count + 1):
        x = (k - 1) * (length_m + gap_m)
        sketch.blocks[name(k)] = {
            name(k): lane((x, y_m), (x + length_m / 2, y_m), (x + length_m, y_m))
        }
    for k in range(1, count):
        sketch.joint(name(100 + k), name(k), name(k + 1), **{f"c{100 + k}": (name(k), name(k + 1))})
    return sketch
