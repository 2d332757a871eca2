"""From the layers of a nuPlan GeoPackage to ways, blocks and areas in UTM metres.

Which column of which layer says what follows nuPlan's map objects
(nuplan/common/maps/nuplan_map): a connector *exits* one lane and *enters* another; the polygon of a
lane connector lies in a layer of its own, its baseline in the layer of all baselines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from navaudit.errors import BadInput
from navaudit.numerics.polygons import Polygons
from navaudit.world.areas import Areas
from navaudit.world.geopackage import GeoPackage, Layer
from navaudit.world.network import Blocks, Links, Poses, Ways
from navaudit.world.trigonometry import Floats, Trig
from navaudit.world.utm import project, stray_points

LANES: Final = "lanes_polygons"
LANE_CONNECTORS: Final = "lane_connectors"
LANE_CONNECTOR_POLYGONS: Final = "gen_lane_connectors_scaled_width_polygons"
BASELINES: Final = "baseline_paths"
ROADBLOCKS: Final = "lane_groups_polygons"
ROADBLOCK_CONNECTORS: Final = "lane_group_connectors"

_DEGREES: Final = 4326
_NORTHERN_UTM: Final = 32600
_SYSTEM_KEY: Final = "projectedCoordSystem"

Keys = Sequence[str | None]
Shapes = NDArray[np.object_]


class NuPlanLayers:
    """The layers of an open file, placed on its UTM grid."""

    def __init__(self, package: GeoPackage, trig: Trig) -> None:
        self._package = package
        self._trig = trig
        self.zone = _zone(package.setting(_SYSTEM_KEY))

    def areas(self, name: str) -> Areas:
        """Read one layer of polygons."""
        layer = self._package.layer(name)
        return Areas(layer.id, _polygons(self._features(layer)))

    def network(self) -> tuple[Ways, Blocks]:
        """Read lanes, roadblocks and their connectors."""
        lanes = self._package.layer(LANES, ("lane_group_fid", "speed_limit_mps"))
        columns = ("exit_lane_fid", "entry_lane_fid", "lane_group_connector_fid", "speed_limit_mps")
        connectors = self._package.layer(LANE_CONNECTORS, columns, shapes=False)
        groups = self._package.layer(ROADBLOCKS)
        ends = ("from_lane_group_fid", "to_lane_group_fid")
        group_connectors = self._package.layer(ROADBLOCK_CONNECTORS, ends)

        block = np.concatenate([
            _rows(lanes.keys("lane_group_fid"), groups),
            _rows(connectors.keys("lane_group_connector_fid"), group_connectors, len(groups)),
        ])  # fmt: skip
        blocks = Blocks(
            id=groups.id + group_connectors.id,
            polygons=_polygons(self._features(groups), self._features(group_connectors)),
            first_connector=len(groups),
            ways=Links.of(_owned(block, len(groups) + len(group_connectors))),
            **_joints(
                len(groups),
                _rows(group_connectors.keys("from_lane_group_fid"), groups),
                _rows(group_connectors.keys("to_lane_group_fid"), groups),
            ),
        )
        return self._ways(lanes, connectors, block), blocks

    def _ways(self, lanes: Layer, connectors: Layer, block: NDArray[np.int64]) -> Ways:
        drawn = self._package.layer(LANE_CONNECTOR_POLYGONS, ("lane_connector_fid",))
        whole = _unique(drawn.keys("lane_connector_fid"), self._in_metres(drawn))
        speeds = [layer.numbers("speed_limit_mps") for layer in (lanes, connectors)]
        return Ways(
            id=lanes.id + connectors.id,
            polygons=_polygons(
                self._features(lanes),
                (
                    f"layer {drawn.name}, lane connector",
                    connectors.id,
                    [whole.get(key) for key in connectors.id],
                ),
            ),
            first_connector=len(lanes),
            baseline=self._baselines(lanes, connectors),
            speed_limit_mps=np.concatenate(speeds),
            block=block,
            **_joints(
                len(lanes),
                _rows(connectors.keys("exit_lane_fid"), lanes),
                _rows(connectors.keys("entry_lane_fid"), lanes),
            ),
        )

    def _baselines(self, lanes: Layer, connectors: Layer) -> Poses:
        layer = self._package.layer(BASELINES, ("lane_fid", "lane_connector_fid"))
        shapes = self._in_metres(layer)
        of_lane = _unique(layer.keys("lane_fid"), shapes)
        of_connector = _unique(layer.keys("lane_connector_fid"), shapes)
        lines = [*map(of_lane.get, lanes.id), *map(of_connector.get, connectors.id)]
        return Poses.along([_vertices(line) for line in lines], self._trig)

    def _features(self, layer: Layer) -> tuple[str, Sequence[str], Shapes]:
        return f"layer {layer.name}, feature", layer.id, self._in_metres(layer)

    def _in_metres(self, layer: Layer) -> Shapes:
        metres = _NORTHERN_UTM + self.zone
        if layer.system == metres or not len(layer):
            return layer.shape
        if layer.system != _DEGREES:
            raise BadInput(
                f"coordinates are in EPSG:{layer.system}",
                where=f"layer {layer.name}",
                expected=f"EPSG:{_DEGREES} or EPSG:{metres}",
            )
        lonlat, feature = shapely.get_coordinates(layer.shape, return_index=True)
        stray = stray_points(lonlat, self.zone)
        if len(stray):
            raise BadInput(
                f"longitude {lonlat[stray[0], 0]}, latitude {lonlat[stray[0], 1]} is not in "
                f"UTM zone {self.zone}",
                where=f"layer {layer.name}, feature {layer.id[feature[stray[0]]]}",
                expected=f"what table meta says: a map in EPSG:{metres}",
            )
        shapes: Shapes = layer.shape.copy()
        return np.asarray(
            shapely.set_coordinates(shapes, project(lonlat, self.zone, self._trig)), dtype=object
        )


def _zone(system: str | None) -> int:
    code = (system or "").upper().removeprefix("EPSG:")
    if code.isdecimal() and _NORTHERN_UTM < int(code) <= _NORTHERN_UTM + 60:
        return int(code) - _NORTHERN_UTM
    raise BadInput(
        f"{_SYSTEM_KEY} is {system!r}",
        where="table meta",
        expected="EPSG:32601 to EPSG:32660, a northern UTM zone",
    )


def _polygons(*parts: tuple[str, Sequence[str], Sequence[Any] | Shapes]) -> Polygons:
    """Pack shapes, each part a name for one of them, their ids, and them; None is empty."""
    packed: list[shapely.Polygon | shapely.MultiPolygon] = []
    for name, keys, shapes in parts:
        listed = np.array([*shapes, None], dtype=object)[:-1]  # or NumPy asks what they hold
        xy, row = shapely.get_coordinates(listed, return_index=True)
        stray = row[~np.isfinite(xy).all(axis=1)]
        if len(stray):
            raise BadInput("the shape is not finite", where=f"{name} {keys[stray[0]]}")
        for key, shape in zip(keys, listed, strict=True):
            if not isinstance(shape, shapely.Polygon | shapely.MultiPolygon | None):
                raise BadInput(
                    f"the shape is a {shape.geom_type}",
                    where=f"{name} {key}",
                    expected="a polygon or multipolygon",
                )
            packed.append(shapely.Polygon() if shape is None else shape)
    return Polygons.of(packed)


def _vertices(line: shapely.Geometry | None) -> Floats:
    if isinstance(line, shapely.LineString):
        return np.asarray(shapely.get_coordinates(line))
    return np.empty((0, 2))  # stock cannot follow a line in several pieces either


def _rows(keys: Keys, layer: Layer, first: int = 0) -> NDArray[np.int64]:
    """Return the row of each key in a layer, counted from ``first``; -1 where it is not there."""
    row = {key: first + i for i, key in enumerate(layer.id)}
    return np.array([-1 if key is None else row.get(key, -1) for key in keys], dtype=np.int64)


def _unique(keys: Keys, shapes: Shapes) -> Mapping[str, shapely.Geometry | None]:
    """Map each key that one feature only bears to its shape: stock refuses the others."""
    found: dict[str, shapely.Geometry | None] = {}
    for key, shape in zip(keys, shapes, strict=True):
        if key is not None:
            found[key] = None if key in found else shape
    return found


def _owned(owner: NDArray[np.int64], owners: int) -> list[list[int]]:
    lists: list[list[int]] = [[] for _ in range(owners)]
    for row, one in enumerate(owner.tolist()):
        if one >= 0:
            lists[one].append(row)
    return lists


def _joints(first: int, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> dict[str, Links]:
    """Link ``first`` rows by connectors, which follow them and lead from one to another each."""

    def links(away: NDArray[np.int64], home: NDArray[np.int64]) -> Links:
        outer = [[first + i for i in one] for one in _owned(away, first)]
        return Links.of([*outer, *([row] if row >= 0 else [] for row in home.tolist())])

    return {"after": links(begins, ends), "before": links(ends, begins)}
