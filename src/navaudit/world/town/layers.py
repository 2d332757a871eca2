"""The rows of a nuPlan map: one table of features for each layer of the GeoPackage."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.world.town.ground import Town
from navaudit.world.town.junctions import TURNS, Connector, Junction, group_ring
from navaudit.world.town.lanes import LaneGroup

Array = NDArray[np.float64]
Row = tuple[int, Array, tuple[object, ...]]
"""Id, line in town metres, and the values of the layer's own columns."""

CONNECTOR_TYPES: Final = {"straight": 0, "left": 1, "right": 2}
SIGNALISED: Final = 1
"""Intersection type of nuPlan for one with traffic lights."""
TRAFFIC_LIGHT: Final = 2
"""Stop polygon type of nuPlan for a traffic light's stop line."""


@dataclass(frozen=True)
class Layer:
    """A feature table: its geometry and the columns after ``fid`` and ``geom``."""

    name: str
    shape: str
    columns: tuple[tuple[str, str], ...]


def _layer(name: str, shape: str, **columns: str) -> Layer:
    return Layer(name, shape, tuple(columns.items()))


_I, _R, _T = "INTEGER", "REAL", "TEXT"

LAYERS: Final = (
    _layer(
        "lanes_polygons", "POLYGON",
        lane_fid=_I, lane_group_fid=_I, lane_index=_I, speed_limit_mps=_R, left_boundary_fid=_I,
        right_boundary_fid=_I, creator_id=_I, lane_type_fid=_I, left_has_reflectors=_I,
        right_has_reflectors=_I, from_edge_fid=_I, to_edge_fid=_I,
    ),
    _layer(
        "lane_groups_polygons", "POLYGON",
        from_edge_fid=_I, to_edge_fid=_I, intersection_fid=_I,
    ),
    _layer(
        "lane_connectors", "LINESTRING",
        exit_lane_fid=_I, entry_lane_fid=_I, exit_lane_group_fid=_I, entry_lane_group_fid=_I,
        lane_group_connector_fid=_I, intersection_fid=_I, traffic_light_stop_line_fids=_T,
        speed_limit_mps=_R, lane_connector_type_fid=_I,
    ),
    _layer(
        "lane_group_connectors", "POLYGON",
        from_lane_group_fid=_I, to_lane_group_fid=_I, intersection_fid=_I,
    ),
    _layer(
        "gen_lane_connectors_scaled_width_polygons", "POLYGON",
        lane_connector_fid=_I, left_boundary_fid=_I, right_boundary_fid=_I,
    ),
    _layer("baseline_paths", "LINESTRING", lane_fid=_R, lane_connector_fid=_R, wp=_I, length=_R),
    _layer("boundaries", "LINESTRING", boundary_type_fid=_I),
    _layer("intersections", "POLYGON", intersection_type_fid=_I, is_mini=_I),
    _layer("stop_polygons", "POLYGON", stop_polygon_type_fid=_I),
    _layer("crosswalks", "POLYGON", is_marked=_I),
    _layer("walkways", "POLYGON", x=_I),
    _layer("carpark_areas", "POLYGON", heading=_R),
    _layer("generic_drivable_areas", "POLYGON", x=_I),
    _layer("road_segments", "POLYGON", road_type=_I),
    _layer("traffic_lights", "POINT", traffic_light_type=_I),
)  # fmt: skip
"""Names, shapes and columns are nuPlan's, in the order of the real files."""


def rows(town: Town) -> dict[str, list[Row]]:
    """Every layer's rows in order of their ids, which is the order a reader sees them in."""
    spare = itertools.count(_last_fid(town) + 1)
    made: dict[str, Iterable[Row]] = {
        "lanes_polygons": _lanes(town.groups),
        "lane_groups_polygons": ((one.fid, one.ring_m, (0, 0, 0)) for one in town.groups),
        "lane_connectors": _connectors(town.junctions),
        "lane_group_connectors": _connector_groups(town.junctions),
        "gen_lane_connectors_scaled_width_polygons": _connector_polygons(town.junctions, spare),
        "baseline_paths": _baselines(town, spare),
        "boundaries": ((one.fid, one.line_m, (one.kind,)) for one in town.boundaries()),
        "intersections": ((one.fid, one.ring_m, (SIGNALISED, 0)) for one in town.junctions),
        **_arms(town.junctions),
        "walkways": ((fid, ring, (0,)) for fid, ring in town.walkways),
        "carpark_areas": ((one.fid, one.ring_m, (0.0,)) for one in town.carparks),
        "generic_drivable_areas": (
            (one.driveway_fid, one.driveway_ring_m, (0,)) for one in town.carparks
        ),
        "road_segments": ((fid, ring, (0,)) for fid, ring in town.segments),
    }
    return {layer.name: sorted(made[layer.name], key=lambda row: row[0]) for layer in LAYERS}


def _last_fid(town: Town) -> int:
    lasts = [
        town.segments[-1][0],
        town.walkways[-1][0],
        *(one.driveway_fid for one in town.carparks),
    ]
    return max(lasts)


def _all_connectors(junctions: tuple[Junction, ...]) -> Iterator[Connector]:
    for junction in junctions:
        yield from junction.connectors


def _lanes(groups: tuple[LaneGroup, ...]) -> Iterator[Row]:
    for group in groups:
        for lane in group.lanes:
            bounds = (lane.left.fid, lane.right.fid)
            own = (lane.fid, group.fid, lane.index, lane.limit_mps, *bounds, 1, 0, 0, 0, 0, 0)
            yield lane.fid, lane.ring_m, own


def _connectors(junctions: tuple[Junction, ...]) -> Iterator[Row]:
    for junction in junctions:
        for one in junction.connectors:
            stop = str(junction.arms[one.arms[0]].stop_fid)
            # a turn has no posted limit; the stock planner then falls back on its own
            limit = one.start.limit_mps if one.turn == TURNS[1] else None
            lanes = (one.start.fid, one.end.fid, one.start.group, one.end.group)
            kind = CONNECTOR_TYPES[one.turn]
            yield one.fid, one.baseline_m, (*lanes, one.group, junction.fid, stop, limit, kind)


def _connector_groups(junctions: tuple[Junction, ...]) -> Iterator[Row]:
    for junction in junctions:
        for fid, members in junction.groups():
            ends = (members[0].start.group, members[0].end.group)
            yield fid, group_ring(members), (*ends, junction.fid)


def _connector_polygons(junctions: tuple[Junction, ...], spare: Iterator[int]) -> Iterator[Row]:
    for one in _all_connectors(junctions):
        yield next(spare), one.ring_m, (one.fid, one.left.fid, one.right.fid)


def _baselines(town: Town, spare: Iterator[int]) -> Iterator[Row]:
    for group in town.groups:
        for lane in group.lanes:
            length = round(lane.length_m, 6)
            yield next(spare), lane.baseline_m, (float(lane.fid), None, 0, length)
    for one in _all_connectors(town.junctions):
        yield next(spare), one.baseline_m, (None, float(one.fid), 0, round(one.length_m, 6))


def _arms(junctions: tuple[Junction, ...]) -> dict[str, list[Row]]:
    arms = [arm for junction in junctions for arm in junction.arms]
    return {
        "stop_polygons": [(arm.stop_fid, arm.stop_ring_m, (TRAFFIC_LIGHT,)) for arm in arms],
        "crosswalks": [(arm.crosswalk_fid, arm.crosswalk_ring_m, (1,)) for arm in arms],
        "traffic_lights": [
            (arm.light_fid, arm.across(arm.profile.half_kerb_m, 0.0)[None], (0,)) for arm in arms
        ],
    }
