"""OpenScene logs: one drive at two frames a second, as a frozen `Log` of `Frame`s.

What is used is checked, what is not used is not looked at. Numbers stay as they lie in the file, in
their own precision: the stock code computes with it. Only the ego's heading is worked out here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from navaudit.arrays import frozen
from navaudit.errors import BadInput
from navaudit.world import pickles
from navaudit.world.trigonometry import LIBM, Trig

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

INTERVAL_S: Final = 0.5
"""Nominal time between frames; the time stamps say how long it really was."""

BOX: Final = ("x_m", "y_m", "z_m", "length_m", "width_m", "height_m", "heading_rad")
"""Columns of a box, in the ego's frame at the rear axle."""

_UNIT: Final = 1e-14


@dataclass(frozen=True, eq=False)
class Camera:
    """Where a camera's picture of a frame lies, and how the camera was mounted."""

    path: str
    """Relative to the folder of the split's sensor blobs."""
    rotation: Array | None
    """``[3, 3]`` from the sensor to the lidar."""
    translation_m: Array | None
    """``[3]`` of the sensor in the lidar's frame."""
    intrinsic: Array | None
    """``[3, 3]``"""
    distortion: Array | None


@dataclass(frozen=True, eq=False)
class Boxes:
    """Annotated objects of a frame."""

    box: Array
    """``[object, 7]``, columns as ``BOX``, float32 or float64 as in the file."""
    velocity_mps: Array
    """``[object, xyz]`` in the ego's frame, as in the file."""
    name: tuple[str, ...]
    """Kind of each, such as ``vehicle``."""
    track: tuple[str, ...]
    """Token of the track each belongs to."""
    instance: tuple[str, ...]
    """Token of each annotation; empty text where the file has none."""

    def __len__(self) -> int:
        return len(self.track)


@dataclass(frozen=True, eq=False)
class Frame:
    """What was recorded at one moment."""

    token: str
    log: str
    """Name of the drive, as the frame has it."""
    location: str
    """Map name, such as ``us-ma-boston``."""
    time_us: int
    translation_m: Floats
    """``[xyz]`` of the rear axle on the map."""
    rotation: Floats
    """``[w, x, y, z]``: the ego's attitude on the map as a quaternion, as in the file."""
    heading_rad: float
    """Of the ego on the map, in [-pi, pi]."""
    motion: Floats
    """``[vx, vy, ax, ay]`` of the rear axle in the ego's frame, m/s and m/s2."""
    command: Array
    """``[4]``: one-hot driving command, as in the file."""
    roadblock: tuple[str, ...]
    """Ids of the roadblocks and roadblock connectors of the route, in order; they may recur."""
    lights: tuple[tuple[str, bool], ...]
    """(id of a lane connector, whether it shows red), in the order of the file."""
    boxes: Boxes | None
    """None where the file has no annotations."""
    cameras: Mapping[str, Camera]
    """By lower-case name, such as ``cam_f0``; those without a file are left out."""


@dataclass(frozen=True, eq=False)
class Log:
    """One drive: frames of strictly rising time."""

    name: str
    """Of the file, without its suffix."""
    frames: tuple[Frame, ...]

    def __post_init__(self) -> None:
        for before, after in zip(self.frames, self.frames[1:], strict=False):
            if not before.time_us < after.time_us:
                raise BadInput(
                    f"frame {after.token} at {after.time_us} us follows {before.token} at "
                    f"{before.time_us} us",
                    where=self.name,
                    expected="rising time",
                )

    def __len__(self) -> int:
        return len(self.frames)

    @cached_property
    def _row(self) -> dict[str, int]:
        return {frame.token: i for i, frame in enumerate(self.frames)}

    def find(self, token: str) -> int | None:
        """Return the position of the frame with this token, None if there is none."""
        return self._row.get(token)


def read_log(path: Path, *, trig: Trig = LIBM) -> Log:
    """Read one log pickle; no code in it is run.

    ``trig`` decides whose last bits the headings have: the default agrees with the stock code on
    the same machine.
    """
    content = pickles.read(path, pickles.LOG)
    if not isinstance(content, list):
        raise BadInput(
            f"the log is a {type(content).__name__}", where=str(path), expected="a list of frames"
        )
    frames = []
    for i, record in enumerate(content):
        try:
            frames.append(_frame(record, trig))
        except BadInput as error:
            where = " ".join(filter(None, (f"{path}, frame {i}", error.where)))
            raise BadInput(
                error.what, where=where, expected=error.expected, remedy=error.remedy
            ) from error
    return Log(path.stem, tuple(frames))


def heading_of(rotation: Sequence[float] | Floats, trig: Trig = LIBM) -> float:
    """Return the yaw of a quaternion (w, x, y, z), as pyquaternion's ``yaw_pitch_roll`` has it.

    Examples
    --------
    >>> heading_of([0.0, 0.0, 0.0, 1.0])
    3.141592653589793
    """
    w, x, y, z = (float(part) for part in rotation)
    # in turn and not fused, as OpenBLAS's Haswell kernel; it shows where the length is not one
    total = w * w + x * x + y * y + z * z
    if not abs(1.0 - total) < _UNIT and total > 0.0:
        size = math.sqrt(total)
        w, x, y, z = w / size, x / size, y / size, z / size
    rise = 2.0 * (w * z - x * y)
    run = 1.0 - 2.0 * (trig.square(y) + trig.square(z))
    return float(trig.atan2([rise], [run])[0])


def _frame(record: object, trig: Trig) -> Frame:
    if not isinstance(record, dict):
        raise BadInput(f"the frame is a {type(record).__name__}", expected="a dictionary")
    rotation = _numbers(record, "ego2global_rotation", 4)
    return Frame(
        token=_text(record, "token"),
        log=_text(record, "log_name"),
        location=_text(record, "map_location"),
        time_us=int(_numbers(record, "timestamp", None)),
        translation_m=_numbers(record, "ego2global_translation", 3),
        rotation=rotation,
        heading_rad=heading_of(rotation, trig),
        motion=_numbers(record, "ego_dynamic_state", 4),
        command=_command(_needed(record, "driving_command")),
        roadblock=tuple(map(str, _items(record, "roadblock_ids"))),
        lights=tuple(_light(one) for one in _items(record, "traffic_lights")),
        boxes=_boxes(record.get("anns")),
        cameras=_cameras(record.get("cams")),
    )


def _needed(record: Mapping[Any, Any], key: str) -> Any:
    if key not in record or record[key] is None:
        raise BadInput(f"there is no {key}", expected="it, in every frame of an OpenScene log")
    return record[key]


def _text(record: Mapping[Any, Any], key: str) -> str:
    value = _needed(record, key)
    if not isinstance(value, str) or not value:
        raise BadInput(f"{key} is {value!r:.60}", expected="text")
    return str(value)


def _items(record: Mapping[Any, Any], key: str) -> list[Any]:
    value = _needed(record, key)
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise BadInput(f"{key} is {value!r:.60}", expected="a list")
    return list(value)


def _numbers(record: Mapping[Any, Any], key: str, count: int | None) -> Floats:
    """Return a field as finite float64 ``[count]``, or as one number ``[]`` if count is None."""
    value = _needed(record, key)
    if isinstance(value, pickles.Record):
        value = value["q"]  # a quaternion
    shape = () if count is None else (count,)
    try:
        array = np.asarray(value if count is None else list(value))
        if array.dtype.kind not in "iuf" or array.shape != shape or not np.isfinite(array).all():
            raise ValueError
    except (TypeError, ValueError):
        raise BadInput(
            f"{key} is {value!r:.90}", expected=f"{count or 'one'} finite number(s)"
        ) from None
    if array.dtype.kind in "iu" and count is None:
        return array  # a time stamp in microseconds fits into a double, but need not go through one
    return frozen(array, np.float64, shape)


def _command(value: Any) -> Array:
    command = np.asarray(list(value) if isinstance(value, Iterable) else value)
    if command.shape != (4,) or command.dtype.kind not in "biuf":
        raise BadInput(f"driving_command is {value!r:.60}", expected="four numbers")
    return frozen(command, command.dtype, (4,))


def _light(entry: Any) -> tuple[str, bool]:
    if not isinstance(entry, (tuple, list)) or len(entry) != 2:
        raise BadInput(
            f"traffic_lights holds {entry!r:.60}", expected="pairs (lane connector, is red)"
        )
    connector, red = entry
    return str(connector), bool(red)


def _boxes(record: Any) -> Boxes | None:
    if record is None:
        return None
    box = _table(_needed(record, "gt_boxes"), "gt_boxes", len(BOX))
    velocity = _table(_needed(record, "gt_velocity_3d"), "gt_velocity_3d", 3)
    name = tuple(map(str, _items(record, "gt_names")))
    track = tuple(map(str, _items(record, "track_tokens")))
    named = record.get("instance_tokens") is not None
    instance = tuple(map(str, _items(record, "instance_tokens"))) if named else ("",) * len(track)
    counts = {
        "gt_boxes": len(box),
        "gt_velocity_3d": len(velocity),
        "gt_names": len(name),
        "track_tokens": len(track),
        "instance_tokens": len(instance),
    }
    if len(set(counts.values())) != 1:
        raise BadInput(f"annotations have lengths {counts}", expected="one entry each per object")
    return Boxes(box, velocity, name, track, instance)


def _table(value: Any, key: str, columns: int) -> Array:
    array = np.asarray(value)
    if isinstance(value, pickles.Objects):
        items = np.asarray(value.items)
        array = items.reshape(value.shape + items.shape[1:])
    if array.size == 0:
        array = np.empty((0, columns), array.dtype if array.dtype.kind == "f" else np.float64)
    if array.ndim != 2 or array.shape[1] != columns or array.dtype.kind != "f":
        raise BadInput(
            f"{key} has shape {array.shape} and dtype {array.dtype}",
            expected=f"(objects, {columns}) of floats",
        )
    return frozen(array, array.dtype, (None, columns))


_MOUNT: Final = ("sensor2lidar_rotation", "sensor2lidar_translation", "cam_intrinsic", "distortion")


def _cameras(record: Any) -> dict[str, Camera]:
    cameras = {}
    for name, camera in (record or {}).items():
        if not camera or camera.get("data_path") is None:
            continue  # a frame without pictures is a frame all the same
        mount = [None if camera.get(key) is None else np.asarray(camera[key]) for key in _MOUNT]
        arrays = [
            None if part is None else frozen(part, part.dtype, (None,) * part.ndim)
            for part in mount
        ]
        cameras[str(name).lower()] = Camera(str(camera["data_path"]), *arrays)
    return cameras
