"""One scene as a page shows it: from above, in centimetres, with some candidates and their scores.

Everything is seen by the car at t = 0: x to the right, y ahead. Lengths are whole centimetres and
angles ten-thousandths of a radian, packed as little-endian bytes in base64.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from navaudit.axes import COLUMNS, HEADING, STEPS, X, Y
from navaudit.errors import BadInput
from navaudit.report.view import View
from navaudit.rollout.rollout import desire_candidates, desire_human, desire_reference, simulate
from navaudit.scene.scene import AGENT_KINDS, CARPARK_AREA, INTERSECTION, LANE, Scene
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.course import ego_points
from navaudit.score.score import Settings, score_scene
from navaudit.score.why_ground import Terrain
from navaudit.score.why_traffic import stood_in
from navaudit.vehicle import REAR_AXLE_TO_CENTRE_M

Floats = NDArray[np.float64]

SHOWN: Final = 360
"""Candidates of a scene that a page carries."""

CELL_M: Final = 1.5
"""Candidates are taken where their ends lie in cells of this size, one from each first."""

REACH_M: Final = 75.0
"""Ground and agents farther from the car than this are left out."""

_CM: Final = 100.0
_TURN: Final = 10_000.0
_COARSE_M: Final = 0.04
"""Outlines are drawn to this; a page is no map."""


@dataclass(frozen=True, eq=False)
class Labels:
    """What a label set says of one scene."""

    raw: NDArray[np.float16]
    """``[column, candidate]``"""
    human: Floats
    """``[column]``"""
    path: NDArray[np.float16] | None
    """``[candidate]``: lane keeping against the human's path, where the human fails it."""


def spread_out(vocabulary: Vocabulary, most: int = SHOWN) -> NDArray[np.int64]:
    """Choose candidates that end all over the place: indices, ascending, at most so many.

    One is taken from each cell of end points, then a second, until there are enough.
    """
    ends = vocabulary.poses[:, -1, :2].astype(np.float64)
    cells = np.floor(ends / CELL_M).astype(np.int64)
    _, which = np.unique(cells, axis=0, return_inverse=True)
    order = np.argsort(which.ravel(), kind="stable")
    ranks = np.empty(len(order), np.int64)
    starts = np.flatnonzero(np.diff(which.ravel()[order], prepend=-1))
    lengths = np.diff(np.append(starts, len(order)))
    ranks[order] = np.arange(len(order)) - np.repeat(starts, lengths)
    chosen = np.argsort(ranks, kind="stable")
    if len(chosen) > most:
        # a round that does not fit whole is thinned evenly and not cut where it ends
        whole = int((ranks < ranks[chosen[most]]).sum())
        last = chosen[whole : whole + int((ranks == ranks[chosen[most]]).sum())]
        picks = np.linspace(0, len(last) - 1, most - whole).round().astype(np.int64)
        chosen = np.concatenate([chosen[:whole], last[picks]])
    return np.sort(chosen)


def stage(
    scene: Scene, vocabulary: Vocabulary, labels: Labels, settings: Settings, most: int = SHOWN
) -> dict[str, Any]:
    """Return everything a page needs to show a scene, as plain values for JSON."""
    view = View.of(scene)
    return {
        "token": scene.token,
        "log": scene.log,
        "location": scene.location,
        "human": [float(one) for one in labels.human],
        "failing": [int((row < 1.0).sum()) for row in labels.raw],
        "failing_path": None if labels.path is None else int((labels.path < 1.0).sum()),
        "candidates": labels.raw.shape[1],
        "ground": _ground(scene, view),
        "lights": _lights(scene, view),
        "agents": _agents(scene, view),
        "centreline": _cm(view.place(scene.centreline[:, :2])),
        "ego": {"box": _cm(view.place(ego_points(scene.ego)[:4]))},
        "drivers": _drivers(scene, view),
        "shown": _shown(scene, vocabulary, labels, settings, spread_out(vocabulary, most), view),
    }


def _shown(
    scene: Scene,
    vocabulary: Vocabulary,
    labels: Labels,
    settings: Settings,
    chosen: NDArray[np.int64],
    view: View,
) -> dict[str, Any]:
    some = vocabulary.take(chosen)
    sheet = score_scene(scene, some, settings)
    raw = labels.raw[:, chosen]
    if settings.progress_rule == "per-candidate" and (sheet.labels() != raw).any():
        column, row = (int(one) for one in np.argwhere(sheet.labels() != raw)[0])
        raise BadInput(
            f"the label set says {float(raw[column, row])} of {COLUMNS[column]}, "
            f"and the scene {float(sheet.columns[column, row]):.6g}",
            where=f"{scene.token}, candidate {int(chosen[row])}",
            expected="labels made from these scenes, this vocabulary and these settings",
            remedy="give the scenes and the vocabulary that the label set was made from",
        )
    driven = simulate(scene.ego, desire_candidates(scene, some), settings.solver).states
    return {
        "index": [int(one) for one in chosen],
        "xy_cm": _packed(view.place(_middle(driven)) * _CM, "<i2"),
        "heading": _packed(_turned(driven[..., HEADING], view), "<i2"),
        "raw": _packed(raw.astype(np.float64), "<f4"),
        "first_step": _packed(sheet.first_step, "<i1"),
        "path": None if labels.path is None else _packed(labels.path[chosen], "<f4"),
    }


def _ground(scene: Scene, view: View) -> list[dict[str, Any]]:
    """Outlines to be filled one over the other: road, places, route, lanes."""
    terrain, ground = Terrain(scene.ground), scene.ground
    near = shapely.Point(scene.ego[X], scene.ego[Y]).buffer(REACH_M)
    kinds = {
        "road": terrain.road,
        "carpark": shapely.union_all(terrain.shapes[ground.kind == CARPARK_AREA]),
        "intersection": shapely.union_all(terrain.shapes[ground.kind == INTERSECTION]),
        "route": shapely.union_all(terrain.shapes[ground.on_route]),
        "lane": terrain.shapes[ground.kind == LANE],
    }
    layers = []
    for name, shapes in kinds.items():
        clipped = shapely.intersection(shapes, near)
        rough = shapely.simplify(clipped, _COARSE_M)
        rings = [_cm(view.place(ring)) for ring in _rings(np.atleast_1d(rough))]
        layers.append({"kind": name, "rings": rings})
    return layers


def _rings(shapes: NDArray[Any]) -> list[Floats]:
    parts = shapely.get_parts(shapes)
    flat = parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON]
    return [shapely.get_coordinates(ring) for ring in shapely.get_rings(flat)]


def _lights(scene: Scene, view: View) -> list[dict[str, Any]]:
    shapes = scene.lights.polygons.shapes()
    return [
        {
            "rings": [_cm(view.place(ring)) for ring in _rings(np.array([shape], object))],
            "red": "".join("1" if red else "0" for red in scene.lights.red[:, light]),
        }
        for light, shape in enumerate(shapes)
    ]


def _agents(scene: Scene, view: View) -> list[dict[str, Any]]:
    """Agents near the car; those it stands in at t = 0 are not replayed, and say so."""
    traffic, gone = scene.traffic, stood_in(scene)
    found = []
    for agent in range(len(traffic)):
        box = traffic.box[:, agent]
        steps = np.flatnonzero(traffic.present[:, agent])
        seen = view.place(box[:, :2])
        if not len(steps) or np.hypot(*seen[steps].T).min() > REACH_M:
            continue
        poses: list[list[int] | None] = [None] * STEPS
        turned = _turned(box[:, 2], view)
        for step in steps:
            poses[step] = [*_cm(seen[step]), round(float(turned[step]))]
        found.append({
            "kind": AGENT_KINDS[int(traffic.kind[agent])],
            "size": _cm(box[steps[0], 3:5]),
            "replayed": not bool(gone[agent]),
            "poses": poses,
        })  # fmt: skip
    return found


def _drivers(scene: Scene, view: View) -> Mapping[str, Any]:
    """Paths of the human and of the reference, as the simulator drives them."""
    desired = {"reference": desire_reference(scene)}
    if scene.human is not None:
        desired["human"] = desire_human(scene)
    paths = {}
    for name, one in desired.items():
        states = simulate(scene.ego, one).states[0]
        paths[name] = {
            "xy_cm": _cm(view.place(_middle(states))),
            "heading": [round(float(one)) for one in _turned(states[:, HEADING], view)],
        }
    return paths


def _middle(states: Floats) -> Floats:
    """Centres ``[..., xy]`` of the car in states ``[..., 11]``; near enough for a picture."""
    heading = states[..., HEADING]
    ahead = np.stack([np.cos(heading), np.sin(heading)], axis=-1)
    return np.asarray(states[..., (X, Y)] + REAR_AXLE_TO_CENTRE_M * ahead)


def _turned(heading_rad: Floats, view: View) -> Floats:
    turned = np.asarray(heading_rad) + view.turn_rad
    return np.asarray((np.mod(turned + np.pi, 2 * np.pi) - np.pi) * _TURN)


def _cm(metres: Floats) -> list[int]:
    """Return centimetres, flat."""
    return [int(one) for one in np.rint(np.asarray(metres) * _CM).ravel()]


def _packed(values: NDArray[Any], dtype: str) -> str:
    kind = np.dtype(dtype)
    if kind.kind == "i":
        limits = np.iinfo(kind)
        values = np.clip(np.rint(values), limits.min, limits.max)
    return base64.b64encode(np.ascontiguousarray(values, kind).tobytes()).decode()
