"""A drive as an OpenScene log: one dictionary a frame, with the keys of the real ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np

from navaudit.world.town.angles import heading_of
from navaudit.world.town.cameras import ALL_CAMERAS, Camera
from navaudit.world.town.chance import bell, stream, token
from navaudit.world.town.curves import dot
from navaudit.world.town.drive import Drive
from navaudit.world.town.moments import Moment, moment, stack_tracks
from navaudit.world.town.outings import FIRST_STEP, FRAMES, Outing
from navaudit.world.town.signals import RED
from navaudit.world.town.traffic import DT_S

LIGHTS_M: Final = 150.0
"""A frame lists the lights of junctions within this distance."""
JITTER_US: Final = 180
"""A frame comes up to this much before or after its half second."""
MISSED: Final = 0.004
"""Share of the boxes that the annotators missed."""
LOOK_M: Final = 22.0
"""The driving command says where the route is this far ahead."""
DOUBLES: Final = ("us-nv-las-vegas-strip", "sg-one-north")
"""Places whose logs hold their boxes in float64; a reader should take either."""


@dataclass(frozen=True, eq=False)
class Names:
    """What a log, its frames and its images are called, and when they were taken."""

    log: str
    log_token: str
    scene_token: str
    frames: tuple[str, ...]
    images: tuple[tuple[str, ...], ...]
    """``[frame][camera]``"""
    time_us: tuple[int, ...]
    step: tuple[float, ...]
    """Steps of the drive that have passed at each frame."""

    def image_path(self, frame: int, camera: str) -> str:
        """Path of an image below the folder of camera files."""
        return f"{self.log}/{camera}/{self.images[frame][ALL_CAMERAS.index(camera)]}.jpg"


def name_log(seed: int, index: int) -> Names:
    """Draw the names and time stamps of a log."""
    rng = stream(seed, "names", index)
    day = datetime(2021, 5, 1, tzinfo=UTC) + timedelta(seconds=int(rng.integers(150 * 86400)))
    vehicle, begin = int(rng.integers(10, 60)), int(rng.integers(10, 5000))
    log = f"{day:%Y.%m.%d.%H.%M.%S}_veh-{vehicle:02d}_{begin:05d}_{begin + 20:05d}"
    start = (int(day.timestamp()) + begin) * 1_000_000 + int(rng.integers(1_000_000))
    late = [int(one) for one in rng.integers(-JITTER_US, JITTER_US + 1, FRAMES)]
    return Names(
        log, token(rng), token(rng),
        tuple(token(rng) for _ in range(FRAMES)),
        tuple(tuple(token(rng) for _ in ALL_CAMERAS) for _ in range(FRAMES)),
        tuple(start + 500_000 * k + late[k] for k in range(FRAMES)),
        tuple(FIRST_STEP + 5 * k + late[k] / (DT_S * 1e6) for k in range(FRAMES)),
    )  # fmt: skip


def log_frames(
    seed: int, outing: Outing, names: Names, cameras: tuple[Camera, ...]
) -> list[dict[str, Any]]:
    """Return the frames of a log, with the real logs' keys in the real logs' order."""
    rng = stream(seed, "names", outing.errand.index, 1)
    drive, tracks = outing.drive, stack_tracks(outing.drive)
    route = _route(drive)
    frames = []
    for k in range(FRAMES):
        now = moment(drive, tracks, names.step[k])
        frames.append(
            {
                **_head(names, drive, k),
                **_ego(rng, drive, now),
                "traffic_lights": _lights(drive, now),
                "roadblock_ids": list(route),
                "driving_command": np.array(_command(drive, now), dtype=np.int64),
                "cams": _cams(names, k, cameras),
                "anns": _annotations(rng, drive, now),
            }
        )
    return frames


def _head(names: Names, drive: Drive, k: int) -> dict[str, Any]:
    return {
        "token": names.frames[k],
        "timestamp": names.time_us[k],
        "log_name": names.log,
        "log_token": names.log_token,
        "scene_name": f"{names.log}-0",
        "scene_token": names.scene_token,
        "frame_idx": k,
        "map_location": drive.network.town.place.location,
        "vehicle_name": "synthetic",
        "lidar_path": f"{names.log}/MergedPointCloud/{names.frames[k]}.pcd",
        "sample_prev": names.frames[k - 1] if k else None,
        "sample_next": names.frames[k + 1] if k + 1 < FRAMES else None,
    }


def _ego(rng: np.random.Generator, drive: Drive, now: Moment) -> dict[str, Any]:
    """Pose and motion; the vehicle's own sensors err a little, its pose does not."""
    x, y = now.heading.tolist()
    half = [math.sqrt((1.0 + x) / 2.0), 0.0, 0.0, math.copysign(math.sqrt((1.0 - x) / 2.0), y)]
    rotation = np.round(half, 12)
    where = np.array([*(now.xy_m + np.array(drive.network.town.place.origin_m)), 0.0])
    pose = np.eye(4)
    pose[:2, :2] = np.round([[x, -y], [y, x]], 12)
    pose[:3, 3] = where
    sideways = now.speed_mps * now.yaw_rate_radps
    motion = [now.speed_mps + bell(rng, 0.008), bell(rng, 0.01)]
    motion += [now.acceleration_mps2 + bell(rng, 0.03), sideways + bell(rng, 0.03)]
    motion = [round(one, 9) for one in motion]
    bus = [*where, *rotation, motion[2], motion[3], 9.8, 0.0, 0.0, round(now.yaw_rate_radps, 9)]
    return {
        "can_bus": np.array([*bus, motion[0], motion[1], 0.0, 0.0, 0.0]),
        "ego_dynamic_state": motion,
        "ego2global_translation": where,
        "ego2global_rotation": rotation,
        "ego2global": pose,
        "lidar2ego_translation": np.zeros(3),
        "lidar2ego_rotation": [1, 0, 0, 0],
        "lidar2global": pose,
        "lidar2ego": np.eye(4),
    }


def _lights(drive: Drive, now: Moment) -> list[tuple[int, bool]]:
    """Every connector of the junctions around, and whether it shows red."""
    shown = []
    for index, junction in enumerate(drive.network.town.junctions):
        gap = junction.arms[0].port_m - now.xy_m
        if dot(gap, gap) > LIGHTS_M * LIGHTS_M:
            continue
        for one in junction.connectors:
            phase = junction.arms[one.arms[0]].phase
            shown.append((one.fid, drive.signals.colour(index, phase, now.time_s) == RED))
    return shown


def _route(drive: Drive) -> list[str]:
    """Ids of the lane groups and lane group connectors from the drive's beginning on."""
    blocks: list[str] = []
    for leg in drive.path.legs:
        block = str(drive.network.edges[leg.edge].strip.group)
        if leg.until_m > float(drive.u_m[0]) and block not in blocks[-1:]:
            blocks.append(block)
    return blocks


def _command(drive: Drive, now: Moment) -> tuple[int, int, int, int]:
    """Left, straight, right or unknown, by where the route is some way ahead."""
    there = now.into_ego(drive.path.place(np.array([now.u_m + LOOK_M]))[0][0])
    aside = float(there[1])
    return (1, 0, 0, 0) if aside > 2.0 else (0, 0, 1, 0) if aside < -2.0 else (0, 1, 0, 0)


def _cams(names: Names, frame: int, cameras: tuple[Camera, ...]) -> dict[str, Any]:
    cams: dict[str, Any] = {name: {} for name in ALL_CAMERAS}
    for camera in cameras:
        cams[camera.name] = {
            "data_path": names.image_path(frame, camera.name),
            "sensor2lidar_rotation": camera.rotation,
            "sensor2lidar_translation": camera.place_m,
            "cam_intrinsic": camera.intrinsic,
            "distortion": np.zeros(5),
        }
    return cams


def _annotations(rng: np.random.Generator, drive: Drive, now: Moment) -> dict[str, Any]:
    kept = rng.random(len(drive.actors))[now.seen] >= MISSED
    marks = [token(rng) for _ in range(int(kept.sum()))]
    actors = [drive.actors[k] for k in now.seen[kept].tolist()]
    sizes = np.array([one.size_m for one in actors]).reshape(-1, 3)
    heading = heading_of(now.box_way[kept])
    boxes = np.column_stack([now.box_xy_m[kept], sizes[:, 2] / 2, sizes, heading])
    velocity = np.column_stack([now.box_velocity_mps[kept], np.zeros(len(actors))])
    kind = np.float64 if drive.network.town.place.location in DOUBLES else np.float32
    return {
        "gt_boxes": np.round(boxes, 6).astype(kind),
        "gt_names": np.array([one.kind for one in actors], dtype="<U16"),
        "gt_velocity_3d": np.round(velocity, 6).astype(kind),
        "instance_tokens": marks,
        "track_tokens": [one.token for one in actors],
    }
