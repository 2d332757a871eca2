"""OpenScene logs: one drive at two frames a second, as a frozen `Log` of `Frame`s.

What is used is checked, what is not used is not looked at. A frame that cannot be read is kept as
what is wrong with it, so long as its token and its time are there. Numbers stay as they lie in the
file, in their own precision: the stock code computes with it. Only the ego's heading is worked out
here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import Any, Final

import numpy as np

from navaudit.arrays import frozen
from navaudit.errors import BadInput
from navaudit.world import pickles
from navaudit.world.frames import BOX, Array, Boxes, Camera, Floats, Frame, Unread
from navaudit.world.trigonometry import LIBM, Trig

__all__ = [
    "BOX",
    "INTERVAL_S",
    "Boxes",
    "Camera",
    "Frame",
    "Log",
    "Unread",
    "heading_of",
    "read_log",
]

INTERVAL_S: Final = 0.5
"""Nominal time between frames; the time stamps say how long it really was."""

_UNIT: Final = 1e-14


@dataclass(frozen=True, eq=False)
class Log:
    """One drive: frames of strictly rising time."""

    name: str
    """Of the file, without its suffix."""
    frames: tuple[Frame | Unread, ...]

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

    def frame(self, at: int) -> Frame:
        """Return the frame at a position; raise what is wrong with it if it could not be read."""
        frame = self.frames[at]
        if isinstance(frame, Unread):
            wrong = frame.error
            raise BadInput(
                wrong.what, where=wrong.where, expected=wrong.expected, remedy=wrong.remedy
            )
        return frame

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
    frames = (_read(record, f"{path}, frame {i}", trig) for i, record in enumerate(content))
    return Log(path.stem, tuple(frames))


def _read(record: object, where: str, trig: Trig) -> Frame | Unread:
    """Read one frame, or keep what is wrong with it: only scenes that need it are lost."""
    token, time_us = None, None
    try:
        if not isinstance(record, dict):
            raise BadInput(f"the frame is a {type(record).__name__}", expected="a dictionary")
        token = _text(record, "token")
        time_us = int(_numbers(record, "timestamp", None))
        return _frame(record, token, time_us, trig)
    except BadInput as error:
        found = BadInput(
            error.what,
            where=" ".join(filter(None, (where, error.where))),
            expected=error.expected,
            remedy=error.remedy,
        )
        if token is None or time_us is None:
            raise found from error
        return Unread(token, time_us, found)


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


def _frame(record: Mapping[Any, Any], token: str, time_us: int, trig: Trig) -> Frame:
    rotation = _numbers(record, "ego2global_rotation", 4)
    return Frame(
        token=token,
        log=_text(record, "log_name"),
        location=_text(record, "map_location"),
        time_us=time_us,
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
    command = _array(list(value) if isinstance(value, Iterable) else value)
    if command.shape != (4,) or command.dtype.kind not in "biuf":
        raise BadInput(f"driving_command is {value!r:.60}", expected="four numbers")
    return frozen(command, command.dtype, (4,))


def _light(entry: Any) -> tuple[str, bool]:
    if not isinstance(entry, (tuple, list)) or len(entry) != 2:
        raise BadInput(
            f"traffic_lights holds {entry!r:.60}", expected="pairs (lane connector, is red)"
        )
    connector, red = entry
    if not isinstance(red, (bool, int, float, np.bool_, np.number)):
        raise BadInput(f"a light's state is {red!r:.60}", expected="whether it is red")
    return str(connector), bool(red)


def _boxes(record: Any) -> Boxes | None:
    if record is None:
        return None
    if not isinstance(record, Mapping):
        raise BadInput(f"anns is {record!r:.60}", expected="a dictionary")
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
    array = _array(value)
    if isinstance(value, pickles.Objects):
        items = _array(value.items)
        array = items.reshape(value.shape + items.shape[1:])
    if array.size == 0:
        array = np.empty((0, columns), array.dtype if array.dtype.kind == "f" else np.float64)
    if array.ndim != 2 or array.shape[1] != columns or array.dtype.kind != "f":
        raise BadInput(
            f"{key} has shape {array.shape} and dtype {array.dtype}",
            expected=f"(objects, {columns}) of floats",
        )
    return frozen(array, array.dtype, (None, columns))


def _array(value: Any) -> Array:
    """Return what NumPy makes of a value; objects where that is no array of numbers or text."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError):  # rows of several lengths
        return np.asarray(None)


_MOUNT: Final = ("sensor2lidar_rotation", "sensor2lidar_translation", "cam_intrinsic", "distortion")


def _cameras(record: Any) -> dict[str, Camera]:
    """Read the cameras that have a picture: without, and with odd ones, a frame is one as well."""
    return {
        str(name).lower(): Camera(
            str(camera["data_path"]), *(_mount(camera, key) for key in _MOUNT)
        )
        for name, camera in (record.items() if isinstance(record, Mapping) else ())
        if isinstance(camera, Mapping) and isinstance(camera.get("data_path"), (str, PurePath))
    }


def _mount(camera: Mapping[Any, Any], key: str) -> Array | None:
    part = _array(camera.get(key))
    return frozen(part, part.dtype, (None,) * part.ndim) if part.dtype.kind in "iuf" else None
