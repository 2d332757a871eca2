"""NAVSIM's metric caches on disk: ``metric_cache.pkl`` into a `Scene`, and a `Scene` back."""

from __future__ import annotations

import csv
from pathlib import Path, PurePosixPath
from typing import Final, NoReturn

from navaudit.errors import BadInput, NavauditError
from navaudit.scene.from_cache import scene_of
from navaudit.scene.scene import Scene
from navaudit.scene.to_cache import MAP_VERSION, cache_of
from navaudit.world import pickles
from navaudit.world.pickles import METRIC_CACHE

FILE_NAME: Final = "metric_cache.pkl"
"""What every cache file is called."""


def index_caches(folder: Path, *, whole: bool = True) -> dict[str, Path]:
    """Return the cache file of each token in a cache folder, in the order of its index.

    All ``metadata/*.csv`` are read, one per node that cached.  The absolute paths in them are
    those of the machine that cached; their last four parts hold wherever the folder is now.
    ``whole`` refuses an index that names files which are not there.
    """
    tables = sorted((folder / "metadata").glob("*.csv"))
    if not tables:
        raise BadInput(
            "cache folder has no index",
            where=str(folder),
            expected="metadata/*_metadata_node_*.csv, as metric caching writes them",
        )
    found: dict[str, Path] = {}
    for table in tables:
        for line in _paths(table):
            path = folder.joinpath(*line.parts[-4:])
            if found.setdefault(path.parent.name, path) != path:
                raise BadInput(f"token {path.parent.name} has two caches", where=str(table))
    missing = [path for path in found.values() if whole and not path.is_file()]
    if missing:
        raise BadInput(
            f"{len(missing)} of {len(found)} caches are not there, first {missing[0]}",
            where=str(folder),
            remedy="cache again, or bring the whole folder",
        )
    return found


def read_scene(path: Path) -> Scene:
    """Read one metric cache."""
    cache = pickles.read(path, METRIC_CACHE)
    try:
        return scene_of(cache)
    except NavauditError as error:
        _raise_in(error, str(path))


def write_scene(
    scene: Scene, folder: Path, map_root: str = "", map_version: str = MAP_VERSION
) -> Path:
    """Write a scene as stock code would cache it, and return the file.

    `navaudit.scene.to_cache` says what stands where a `Scene` has nothing to give.
    """
    for name in (scene.log, scene.token):
        if name in ("", "..") or PurePosixPath(name).parts != (name,):
            raise BadInput(f"{name!r} cannot be the name of a folder", where=str(folder))
    path = folder / scene.log / "unknown" / scene.token / FILE_NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = PurePosixPath(path.as_posix())
    pickles.write(path, cache_of(scene, stored, map_root, map_version), METRIC_CACHE)
    return path


def write_index(folder: Path, paths: list[Path], node: int = 0) -> Path:
    """Write the index of these cache files, as stock metric caching does, and return it."""
    table = folder / "metadata" / f"{folder.name}_metadata_node_{node}.csv"
    table.parent.mkdir(parents=True, exist_ok=True)
    with table.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["file_name"])
        writer.writerows([[path.as_posix()] for path in paths])
    return table


def _paths(table: Path) -> list[PurePosixPath]:
    try:
        with table.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.reader(stream))
    except (csv.Error, UnicodeDecodeError) as error:
        raise BadInput(f"the index cannot be read: {error}", where=str(table)) from error
    if not rows or rows[0] != ["file_name"]:
        raise BadInput("the index has another header", where=str(table), expected="file_name")
    paths = [PurePosixPath(row[0]) for row in rows[1:] if row]
    for path in paths:
        parts = path.parts[-4:]
        if len(parts) < 4 or parts[3] != FILE_NAME or not set(parts).isdisjoint({"..", "/"}):
            raise BadInput(
                f"the index names {path}",
                where=str(table),
                expected=f"a path that ends in log/type/token/{FILE_NAME}",
            )
    return paths


def _raise_in(error: NavauditError, where: str) -> NoReturn:
    raise type(error)(
        error.what, where=where, expected=error.expected, remedy=error.remedy
    ) from error
