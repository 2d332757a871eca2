"""From a `Scene` to the ``MetricCache`` that stock code would read it from.

Where a `Scene` has nothing to give, this is written instead:

- height of every box: 0.0; no score reads it;
- token and time of an object's own annotation: its track token, and the scene's time;
- velocity of an object after its first step: that of its first step.  The scorer reads no other,
  but reactive traffic would;
- tracks before t = 0: none, and the tracks after it at 10 Hz as replayed;
- the map's root: what the caller says, or nothing.

Everything the non-reactive scorer reads comes back bit for bit.  Corners of boxes, which a cache
holds beside the boxes, are computed here with correctly rounded sines; stock caches hold those of
the machine that cached, a rounding away at most.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any, Final

import numpy as np

from navaudit.axes import DT_S, HUMAN_POSES, POSES, STEPS
from navaudit.errors import BadInput
from navaudit.scene import packing
from navaudit.scene.from_cache import LAYERS, RED_PREFIX, SYNTHETIC_LENGTH
from navaudit.scene.scene import Lights, Scene
from navaudit.world.pickles import Member, Objects, Record, Wkb

MAP_VERSION: Final = "nuplan-maps-v1.0"
"""The only version of the maps NAVSIM uses."""

_MAP_RADIUS_M: Final = 100
_NODE_CAPACITY: Final = 10
_LAYER_OF: Final = {ground: layer for layer, ground in LAYERS.items()}

_NUPLAN: Final = "nuplan.planning.simulation"
_PDM: Final = "navsim.planning.simulation.planner.pdm_planner"
_CACHE: Final = "navsim.planning.metric_caching.metric_cache"


def cache_of(scene: Scene, path: PurePosixPath, map_root: str, map_version: str) -> Record:
    """Return the ``MetricCache`` of a scene; ``path`` is where it says it lies."""
    if (len(scene.token) == SYNTHETIC_LENGTH) != (scene.human is None):
        raise BadInput(
            f"token {scene.token!r} does not say whether the scene is synthetic",
            expected=f"{SYNTHETIC_LENGTH} characters if and only if it has no human trajectory",
        )
    frames = packing.frames(scene.traffic, scene.time_us)
    return Record(
        f"{_CACHE}.MetricCache",
        {
            "file_path": path,
            "log_name": scene.log,
            "timepoint": packing.time(scene.time_us),
            "scene_type": Member("navsim.common.enums.SceneFrameType", int(scene.human is None)),
            "trajectory": packing.trajectory(scene.reference),
            "human_trajectory": _human(scene),
            "past_human_trajectory": packing.trajectory(scene.past),
            "ego_state": packing.ego(scene.time_us, scene.ego),
            "observation": _observation(scene, frames),
            "centerline": Record(
                f"{_PDM}.utils.pdm_path.PDMPath",
                {"discrete_path": [packing.pose(*row) for row in scene.centreline.tolist()]},
            ),
            "route_lane_ids": list(scene.route_lane),
            "drivable_area_map": _area(scene),
            "past_detections_tracks": [],
            "current_tracked_objects": [packing.tracks(frames[0])],
            "future_tracked_objects": [packing.tracks(frame) for frame in frames[1:]],
            "map_parameters": Record(
                f"{_CACHE}.MapParameters",
                {"map_root": map_root, "map_version": map_version, "map_name": scene.location},
            ),
        },
    )


def _human(scene: Scene) -> Record | None:
    if scene.human is None:
        return None
    interval = (STEPS - 1) * DT_S / HUMAN_POSES
    sampling = Record(
        f"{_NUPLAN}.trajectory.trajectory_sampling.TrajectorySampling",
        {
            "num_poses": HUMAN_POSES,
            "time_horizon": HUMAN_POSES * interval,
            "interval_length": interval,
        },
    )
    return Record(
        "navsim.common.dataclasses.Trajectory",
        {"poses": scene.human, "trajectory_sampling": sampling},
    )


def _objects(items: list[Any]) -> Objects:
    return Objects((len(items),), items)


def _map(tokens: list[str], shapes: list[Wkb]) -> Record:
    return Record(
        f"{_PDM}.observation.pdm_occupancy_map.PDMOccupancyMap",
        {"tokens": tokens, "geometries": _objects(shapes), "node_capacity": _NODE_CAPACITY},
    )


def _observation(scene: Scene, frames: list[list[Record]]) -> Record:
    first: dict[str, Record] = {}
    for frame in frames:
        for thing in frame:
            first.setdefault(thing["_metadata"]["track_token"], thing)
    absent = [token for token in scene.traffic.token if token not in first]
    if absent:
        raise BadInput(f"track {absent[0]!r} is never there", expected="no such track")
    lights = _shown(scene.lights)
    maps = [
        _map(
            [thing["_metadata"]["track_token"] for thing in frame] + tokens,
            [thing["_box"]["geometry"] for thing in frame] + shapes,
        )
        for frame, (tokens, shapes) in zip(frames, lights, strict=True)
    ]
    return Record(
        f"{_PDM}.observation.pdm_observation.PDMObservation",
        {
            "_sample_interval": DT_S,
            "_observation_samples": POSES,
            "_map_radius": _MAP_RADIUS_M,
            "_observation_sample_res": 1,
            "_global_to_local_idcs": list(range(STEPS)),
            "_collided_track_ids": [],
            "_red_light_token": RED_PREFIX.rstrip("_"),
            "_occupancy_maps": maps,
            "_unique_objects": {token: first[token] for token in scene.traffic.token},
            "_occupancy_maps_tl": [(tokens, _objects(shapes)) for tokens, shapes in lights],
            "_initialized": True,
            "_detections_tracks": [packing.tracks(frame) for frame in frames],
        },
    )


def _shown(lights: Lights) -> list[tuple[list[str], list[Wkb]]]:
    tokens = [RED_PREFIX + connector for connector in lights.connector]
    shapes = [Wkb(shape.wkb) for shape in lights.polygons.shapes()]
    return [
        ([tokens[light] for light in red], [shapes[light] for light in red])
        for red in (np.flatnonzero(row).tolist() for row in lights.red)
    ]


def _area(scene: Scene) -> Record:
    layer = "nuplan.common.maps.maps_datatypes.SemanticMapLayer"
    return Record(
        f"{_PDM}.observation.pdm_occupancy_map.PDMDrivableMap",
        {
            "tokens": list(scene.ground.id),
            "map_types": [Member(layer, _LAYER_OF[kind]) for kind in scene.ground.kind.tolist()],
            "geometries": [Wkb(shape.wkb) for shape in scene.ground.polygons.shapes()],
            "node_capacity": _NODE_CAPACITY,
        },
    )
