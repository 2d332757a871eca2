"""nuPlan maps: from the GeoPackage files under a maps root to a frozen `Map` in UTM metres."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.errors import BadInput
from navaudit.numerics.polygons import Polygons
from navaudit.provenance import digest_arrays
from navaudit.world.areas import Areas
from navaudit.world.geopackage import opened
from navaudit.world.network import Blocks, Ways
from navaudit.world.nuplan_layers import NuPlanLayers
from navaudit.world.trigonometry import LIBM, Trig

VERSION: Final = "nuplan-maps-v1.0"
"""The release that NAVSIM uses; the maps root lists its files in ``nuplan-maps-v1.0.json``."""

LOCATIONS: Final = (
    "sg-one-north",
    "us-ma-boston",
    "us-nv-las-vegas-strip",
    "us-pa-pittsburgh-hazelwood",
)

DRIVABLE_KINDS: Final = ("roadblock", "lane", "lane_connector", "intersection", "carpark_area")
"""Kinds of drivable areas, in the order in which the stock drivable map lists them."""

_REMEDY: Final = (
    "download the nuPlan maps and give their folder as the maps root (NUPLAN_MAPS_ROOT)"
)


@dataclass(frozen=True, eq=False)
class Drivable:
    """The polygons that decide where a car may drive, in the stock drivable map's order."""

    id: tuple[str, ...]
    """Ids, unique within a kind only."""
    kind: tuple[str, ...]
    """Of `DRIVABLE_KINDS`."""
    polygons: Polygons

    def __len__(self) -> int:
        return len(self.id)


@dataclass(frozen=True, eq=False)
class Map:
    """One city in the metres of its UTM zone."""

    location: str
    """Such as ``us-ma-boston``."""
    version: str
    """Of this location's file, such as ``9.12.1817``."""
    zone: int
    """UTM zone, northern."""
    trig: str
    """Name of the trigonometry that placed it."""
    ways: Ways
    blocks: Blocks
    intersections: Areas
    carpark_areas: Areas
    stop_lines: Areas
    crosswalks: Areas
    walkways: Areas

    @cached_property
    def digest(self) -> str:
        """SHA-256 over every array of the map: its geometry and its graph, as they are used."""
        return digest_arrays(_arrays(self))

    def drivable(self, x_m: float, y_m: float, half_side_m: float = 100.0) -> Drivable:
        """Return what is drivable in a square about (x, y), as the stock drivable map lists it.

        Roadblocks that touch the square; all ways of those and of the roadblock connectors that
        touch it, whether they do or not; intersections and car parks that touch it. Roadblock
        connectors themselves are not drivable (navsim's pdm_occupancy_map.py:128-185).
        """
        blocks = self.blocks.in_square(x_m, y_m, half_side_m)
        own = blocks[blocks < self.blocks.first_connector]
        ways = np.array([way for block in blocks for way in self.blocks.ways[block]], np.int64)
        self._require_shapes(ways)
        lanes = ways[ways < self.ways.first_connector]
        connectors = ways[ways >= self.ways.first_connector]
        parts = (
            (self.blocks, own),
            (self.ways, lanes),
            (self.ways, connectors),
            (self.intersections, self.intersections.in_square(x_m, y_m, half_side_m)),
            (self.carpark_areas, self.carpark_areas.in_square(x_m, y_m, half_side_m)),
        )
        return Drivable(
            id=tuple(areas.id[row] for areas, rows in parts for row in rows),
            kind=tuple(
                kind
                for kind, (_, rows) in zip(DRIVABLE_KINDS, parts, strict=True)
                for _ in range(len(rows))
            ),
            polygons=_joined([areas.polygons.take(rows) for areas, rows in parts]),
        )

    def _require_shapes(self, ways: NDArray[np.int64]) -> None:
        rings = np.diff(self.ways.polygons.polygon_ring)[ways]
        if len(rings) and not rings.all():
            way = ways[np.flatnonzero(rings == 0)[0]]
            kind = "lane" if way < self.ways.first_connector else "lane connector"
            raise BadInput(
                f"{kind} {self.ways.id[way]} has no polygon",
                where=f"map {self.location}",
                expected="exactly one",
            )


def map_file(root: Path, location: str, version: str = VERSION) -> tuple[Path, str]:
    """Return the file of a location under a maps root, and that file's own version."""
    listing = root / f"{version}.json"
    versions = listed_versions(root, version)
    if location not in versions:
        raise BadInput(
            f"there is no map of {location!r}",
            where=str(listing),
            expected=f"one of {', '.join(sorted(versions))}",
        )
    path = root / location / versions[location] / "map.gpkg"
    if not path.is_file():
        others = ", ".join(sorted(p.parent.name for p in path.parent.parent.glob("*/map.gpkg")))
        raise BadInput(
            f"{listing.name} asks for version {versions[location]} of {location}",
            where=str(path),
            expected=f"that file; versions here: {others or 'none'}",
            remedy=_REMEDY,
        )
    return path, versions[location]


def listed_versions(root: Path, version: str = VERSION) -> dict[str, str]:
    """Return the version of each location's file, as the listing of a maps root has them."""
    listing = root / f"{version}.json"
    if not listing.is_file():
        others = ", ".join(sorted(path.stem for path in root.glob("*.json"))) or "none"
        raise BadInput(
            f"the maps root has no {listing.name}",
            where=str(root),
            expected=f"a listing of {version}; there are: {others}",
            remedy=_REMEDY,
        )
    try:
        content = json.loads(listing.read_text(encoding="utf-8"))
        return {place: str(entry["version"]) for place, entry in content.items()}
    except (ValueError, AttributeError, TypeError, KeyError) as error:
        raise BadInput(
            f"the listing cannot be read: {error!r}",
            where=str(listing),
            expected='{"location": {"version": "..."}, ...}',
            remedy=_REMEDY,
        ) from error


def load_map(root: Path, location: str, version: str = VERSION, *, trig: Trig = LIBM) -> Map:
    """Read one location's map.

    It takes seconds for a city: keep the result. ``trig`` decides whose last bits the coordinates
    have: the default agrees with the stock loader on the same machine.
    """
    path, own = map_file(root, location, version)
    with opened(path) as package:
        layers = NuPlanLayers(package, trig)
        ways, blocks = layers.network()
        return Map(
            location=location,
            version=own,
            zone=layers.zone,
            trig=trig.name,
            ways=ways,
            blocks=blocks,
            intersections=layers.areas("intersections"),
            carpark_areas=layers.areas("carpark_areas"),
            stop_lines=layers.areas("stop_polygons"),
            crosswalks=layers.areas("crosswalks"),
            walkways=layers.areas("walkways"),
        )


def _joined(parts: Sequence[Polygons]) -> Polygons:
    vertices = np.cumsum([0, *(len(part.xy) for part in parts)])
    rings = np.cumsum([0, *(len(part.ring_is_hole) for part in parts)])
    return Polygons(
        xy=np.concatenate([part.xy for part in parts]),
        ring_start=_joined_starts([part.ring_start for part in parts], vertices),
        polygon_ring=_joined_starts([part.polygon_ring for part in parts], rings),
        ring_is_hole=np.concatenate([part.ring_is_hole for part in parts]),
    )


def _joined_starts(
    starts: Sequence[NDArray[np.int64]], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    moved = [start[:-1] + offset for start, offset in zip(starts, offsets, strict=False)]
    return np.concatenate([*moved, offsets[-1:]])


def _arrays(value: Any) -> list[NDArray[Any]]:
    """Every array below a dataclass, and its ids as bytes, in the order of the fields."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, tuple):
        return [np.frombuffer("\n".join(value).encode(), np.uint8)]
    if not is_dataclass(value):
        return []
    return [array for one in fields(value) for array in _arrays(getattr(value, one.name))]
