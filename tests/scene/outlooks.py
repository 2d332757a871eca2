"""Outlooks: those the stock planner was seen to plan, and streets drawn by hand."""

from __future__ import annotations

import io
import lzma
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import shapely

from navaudit.numerics.polygons import Polygons
from navaudit.scene.outlook import Outlook, Sighting
from navaudit.scene.route import Route
from navaudit.scene.scene import LANE, PEDESTRIAN, ROADBLOCK, TRAFFIC_CONE, VEHICLE, Ground

GOLDEN = Path(__file__).parents[1] / "golden"


# ------------------------------------------------------------------------------------ golden


@cache
def stored():
    """Arrays by moment and name."""
    packed = (GOLDEN / "reference" / "outlooks.npz.xz").read_bytes()
    moments = {}
    with np.load(io.BytesIO(lzma.decompress(packed))) as arrays:
        for key in arrays:
            moment, name = key.split("/")
            moments.setdefault(moment, {})[name] = arrays[key]
    return moments


def _polygons(arrays, name):
    parts = (arrays[f"{name}_{part}"] for part in ("xy", "ring_start", "polygon_ring", "hole"))
    return Polygons(*parts)


def golden_outlook(moment):
    """The outlook of a stored moment, with as much ground as its proposals see."""
    arrays = stored()[moment]
    names = tuple(arrays["ground_id"].tolist())
    ground = Ground(
        names, arrays["ground_kind"], _polygons(arrays, "ground"), arrays["ground_on_route"]
    )
    objects = Sighting(
        tuple(arrays["object_token"].tolist()),
        arrays["object_kind"],
        arrays["object_box"],
        arrays["object_velocity_mps"],
    )
    return Outlook(
        str(arrays["token"]),
        int(arrays["time_us"]),
        arrays["ego"],
        along(arrays["centreline"], float(arrays["speed_limit_mps"])),
        ground,
        objects,
        tuple(arrays["red"].tolist()),
        _polygons(arrays, "red"),
    )


def along(centreline, speed_limit_mps):
    """A route of which only the centreline and the speed limit are known."""
    none = np.zeros(0, np.int64)
    return Route((), none, (), none, 0, speed_limit_mps, none, np.asarray(centreline, float))


# ----------------------------------------------------------------------------------- by hand


@dataclass(frozen=True)
class Thing:
    """Something on the road."""

    x: float
    y: float
    heading: float = 0.0
    speed: float = 0.0
    kind: int = VEHICLE
    length: float = 4.6
    width: float = 1.9
    token: str = ""


def cone(x, y, **more):
    return Thing(x, y, kind=TRAFFIC_CONE, length=0.4, width=0.4, **more)


def walker(x, y, heading, speed, **more):
    return Thing(x, y, heading, speed, kind=PEDESTRIAN, length=0.6, width=0.6, **more)


def headed(xy):
    """A line ``[vertex, xy]`` with headings to the next vertex."""
    xy = np.asarray(xy, float)
    steps = np.diff(xy, axis=0)
    heading = np.arctan2(steps[:, 1], steps[:, 0])
    return np.column_stack([xy, np.append(heading, heading[-1])])


STRAIGHT = headed(np.column_stack([np.arange(0.0, 301.0, 5.0), np.zeros(61)]))


def street(
    things=(), *, speed=8.0, limit=12.0, lights=(), line=STRAIGHT, ego=(20.0, 0.0, 0.0), token="t0"
):
    """A wide road along a line; the rear axle at ``ego``; lights are (id, polygon)."""
    state = np.zeros(11)
    state[:3], state[3] = ego, speed
    wide = shapely.LineString(line[:, :2]).buffer(6.0, cap_style="flat")
    narrow = shapely.LineString(line[:, :2]).buffer(1.8, cap_style="flat")
    ground = Ground(
        ("1", "2"),
        np.array([ROADBLOCK, LANE]),
        Polygons.of([wide, narrow]),
        np.array([False, True]),
    )
    ordered = sorted(things, key=lambda one: one.kind)
    velocity = [
        (one.speed * np.cos(one.heading), one.speed * np.sin(one.heading)) for one in ordered
    ]
    objects = Sighting(
        tuple(one.token or f"thing{i}" for i, one in enumerate(ordered)),
        np.array([one.kind for one in ordered], np.int8),
        np.array([(o.x, o.y, o.heading, o.length, o.width) for o in ordered]).reshape(-1, 5),
        np.array(velocity).reshape(-1, 2),
    )
    return Outlook(
        token,
        1_600_000_000_000_000,
        state,
        along(line, limit),
        ground,
        objects,
        tuple(name for name, _ in lights),
        Polygons.of([shape for _, shape in lights]),
    )


def first_wins(trial):
    """A judge for whom all are equal."""
    return np.ones(len(trial.paths))


def wins(proposal):
    """A judge for whom one is best."""
    return lambda trial: np.eye(len(trial.paths))[proposal]
