"""Write a whole town: maps, logs, camera files, splits and a vocabulary, from a seed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from navaudit.errors import BadInput, Refused
from navaudit.provenance import digest_file
from navaudit.world import pickles
from navaudit.world.town.cameras import Camera, mount
from navaudit.world.town.curves import Array
from navaudit.world.town.files import digest_files, put
from navaudit.world.town.frames import Names, log_frames, name_log
from navaudit.world.town.ground import PLACES, draw_town
from navaudit.world.town.moments import moment, stack_tracks
from navaudit.world.town.network import Network, build_network
from navaudit.world.town.outings import Outing, set_out, share_out
from navaudit.world.town.paint import mood_of, paint
from navaudit.world.town.scenery import Scenery, dress
from navaudit.world.town.splits import SPLIT, Scenes, split_files
from navaudit.world.town.vocabulary import LARGEST, build_vocabulary, driven
from navaudit.world.town.write_gpkg import gpkg_bytes

EDITION: Final = 1
"""Changes when the same settings begin to give another town."""

RECORD: Final = "town.json"
"""Written last: a folder without it is not a town yet."""
BEGUN: Final = "town.begun.json"
"""Written first, removed last: what an unfinished folder was going to be."""

LEARNT_LOGS: Final = 100
"""The vocabulary learns from the drives of so many logs, the first."""

MOST_SCENES: Final = 200_000
QUALITY: Final = 88

Say = Callable[[str, int, int], None]
"""Told what is being written, how many are done, and how many there will be."""


@dataclass(frozen=True)
class Settings:
    """What a town follows from."""

    scenes: int
    seed: int
    cameras: bool = True
    camera_scale: float = 1.0
    vocabulary_size: int = LARGEST

    def __post_init__(self) -> None:
        _expect("--scenes", self.scenes, 1, MOST_SCENES)
        _expect("--seed", self.seed, 0, 2**63 - 1)
        _expect("--vocabulary-size", self.vocabulary_size, 2, LARGEST)
        mount(self.camera_scale)

    def record(self) -> dict[str, Any]:
        """The settings as they are recorded."""
        return {"edition": EDITION, **asdict(self)}


def _expect(option: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise BadInput(f"value is {value}", where=option, expected=f"{low} to {high}")


def write_town(
    folder: Path, settings: Settings, say: Say = lambda what, done, total: None
) -> dict[str, Any]:
    """Write a town into a folder and return its record; a finished one is left as it is.

    An unfinished folder of the same settings is completed. A folder of other settings, or of
    something else, is refused.
    """
    wanted = settings.record()
    finished = _settle_folder(folder, wanted)
    if finished is not None:
        return finished
    put(folder / BEGUN, _json({"settings": wanted}))
    networks = _write_maps(folder, settings, say)
    scenes, meant, parts = _write_drives(folder, settings, networks, say)
    for path, text in split_files(scenes).items():
        put(folder / "splits" / path, text.encode())
    _write_vocabulary(folder, settings, parts, say)
    count = {"logs": len(scenes), "scenes": settings.scenes, "meant": dict(sorted(meant.items()))}
    record = {"settings": wanted, **count, "sha256": _digests(folder, settings)}
    put(folder / RECORD, _json(record))
    (folder / BEGUN).unlink()
    return record


def _settle_folder(folder: Path, wanted: dict[str, Any]) -> dict[str, Any] | None:
    """The record of a finished town; None where there is one to write."""
    for name in (RECORD, BEGUN):
        if (folder / name).is_file():
            record = _read(folder / name)
            _refuse_others(folder, record["settings"], wanted)
            return record if name == RECORD else None
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Refused(
            "the folder holds something else than a town",
            where=str(folder),
            expected=f"a new or empty folder, or one with {RECORD}",
            remedy="name another folder",
        )
    return None


def _read(path: Path) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text())
    except ValueError:
        record = None
    if not isinstance(record, dict) or not isinstance(record.get("settings"), dict):
        raise BadInput(
            "this is not the record of a town",
            where=str(path),
            expected="one JSON object with the town's settings",
            remedy="remove the folder and write the town again",
        )
    return record


def _refuse_others(folder: Path, have: dict[str, Any], wanted: dict[str, Any]) -> None:
    keys = sorted({*have, *wanted})
    differing = [key for key in keys if have.get(key) != wanted.get(key)]
    if differing:
        raise Refused(
            "the folder holds a town of other settings: "
            + ", ".join(f"{key} {have.get(key)}, not {wanted.get(key)}" for key in differing),
            where=str(folder),
            remedy="name another folder, or remove this one",
        )


def _json(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, indent=1) + "\n").encode()


def _write_maps(folder: Path, settings: Settings, say: Say) -> tuple[Network, ...]:
    versions = {one.location: {"version": one.version, "layers": {}} for one in PLACES}
    put(folder / "maps" / "nuplan-maps-v1.0.json", json.dumps(versions).encode())
    networks = []
    for index, place in enumerate(PLACES):
        town = draw_town(settings.seed, index)
        put(folder / "maps" / place.location / place.version / "map.gpkg", gpkg_bytes(town))
        networks.append(build_network(town))
        say("maps", index + 1, len(PLACES))
    return tuple(networks)


def _write_drives(
    folder: Path, settings: Settings, networks: tuple[Network, ...], say: Say
) -> tuple[Scenes, dict[str, int], list[Array]]:
    """Drive, and write each log and its images before the next drive begins.

    Returns the scenes of each log, how many scenes are meant to see which rule broken, and the
    trajectories driven in the first logs.
    """
    errands, cameras = share_out(settings.seed, settings.scenes), mount(settings.camera_scale)
    painter = Painter(folder, settings.seed, cameras) if settings.cameras else None
    scenes: Scenes = []
    meant: dict[str, int] = {}
    parts: list[Array] = []
    for errand in errands:
        outing, name = (
            set_out(settings.seed, networks, errand),
            name_log(settings.seed, errand.index),
        )
        frames = log_frames(settings.seed, outing, name, cameras)
        put(folder / "navsim_logs" / SPLIT / f"{name.log}.pkl", pickles.dumps(frames))
        if painter is not None:
            painter.paint(outing, name)
        scenes.append((name.log, [name.frames[k] for k in outing.frames]))
        if errand.failing:
            meant[errand.kind] = meant.get(errand.kind, 0) + errand.failing
        if len(parts) < LEARNT_LOGS:
            parts.append(driven(outing.drive))
        say("logs and images" if settings.cameras else "logs", len(scenes), len(errands))
    return scenes, meant, parts


class Painter:
    """Paints the frames that are scenes; the logs name the other frames' files all the same."""

    def __init__(self, folder: Path, seed: int, cameras: tuple[Camera, ...]) -> None:
        self.blobs = folder / "sensor_blobs" / SPLIT
        self.seed = seed
        self.cameras = cameras
        self.sceneries: dict[int, Scenery] = {}

    def paint(self, outing: Outing, names: Names) -> None:
        """Write the images of an outing's scenes."""
        place, drive = outing.errand.place, outing.drive
        if place not in self.sceneries:
            self.sceneries[place] = dress(self.seed, place, drive.network.town)
        mood, tracks = mood_of(self.seed, outing.errand.index), stack_tracks(drive)
        for frame in outing.frames:
            now = moment(drive, tracks, names.step[frame])
            images = paint(self.cameras, drive, now, self.sceneries[place], mood)
            for camera, image in zip(self.cameras, images, strict=True):
                data = io.BytesIO()
                image.save(data, "JPEG", quality=QUALITY)
                put(self.blobs / names.image_path(frame, camera.name), data.getvalue())


def _write_vocabulary(folder: Path, settings: Settings, parts: list[Array], say: Say) -> None:
    data = io.BytesIO()
    np.save(data, build_vocabulary(settings.seed, settings.vocabulary_size, parts))
    put(folder / f"vocabulary_{settings.vocabulary_size}.npy", data.getvalue())
    say("vocabulary", 1, 1)


def _digests(folder: Path, settings: Settings) -> dict[str, str]:
    """What the folder holds: one digest for each part of it."""
    parts = {
        "maps": (folder / "maps").rglob("*.*"),
        "navsim_logs": (folder / "navsim_logs" / SPLIT).glob("*.pkl"),
        "splits": (folder / "splits").rglob("*.yaml"),
    }
    if settings.cameras:
        parts["sensor_blobs"] = (folder / "sensor_blobs" / SPLIT).rglob("*.jpg")
    found = {
        name: digest_files(folder, [one for one in paths if one.is_file()])
        for name, paths in parts.items()
    }
    vocabulary = f"vocabulary_{settings.vocabulary_size}.npy"
    return {**found, vocabulary: digest_file(folder / vocabulary)}
