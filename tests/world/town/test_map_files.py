"""Map files: the layers and columns of the real ones; the house's own reader reads them back."""

import sqlite3
import struct
from contextlib import closing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.world.maps import load_map
from navaudit.world.town.ground import PLACES
from navaudit.world.town.projection import degrees
from navaudit.world.town.write_gpkg import geometry, gpkg_bytes
from navaudit.world.trigonometry import HOUSE
from navaudit.world.utm import project


@settings(deadline=None)
@given(st.floats(-2.9, 2.9), st.floats(0.01, 60.0), st.integers(1, 60))
def test_the_projection_is_undone(east, north, zone):
    lonlat = np.array([[6.0 * zone - 183.0 + east, north]])
    easting, northing = project(lonlat, zone, HOUSE).T
    longitude, latitude = degrees(easting, northing, zone)
    assert longitude[0] == pytest.approx(lonlat[0, 0], abs=3e-13 * max(1.0, abs(lonlat[0, 0])))
    assert latitude[0] == pytest.approx(lonlat[0, 1], abs=3e-13)


@pytest.fixture(scope="module")
def map_path(small):
    place = PLACES[0]
    return small / "maps" / place.location / place.version / "map.gpkg"


NOT_IN_THE_GOLDEN_MAP = {
    "boundaries": ("LINESTRING", [("boundary_type_fid", "INTEGER")]),
    "generic_drivable_areas": ("POLYGON", [("x", "INTEGER")]),
    "road_segments": ("POLYGON", [("road_type", "INTEGER")]),
    "traffic_lights": ("POINT", [("traffic_light_type", "INTEGER")]),
}
"""Layers that no reader of ours needs, as nuPlan has them: the golden maps leave them out."""


def open_map(path):
    return closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True))


def layout(base):
    """Name, type, geometry type and columns of every table that is not the format's own."""
    shapes = {row[0]: row[1:] for row in base.execute("SELECT * FROM gpkg_geometry_columns")}
    names = [row[0] for row in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {
        name: (shapes.get(name), [row[1:3] for row in base.execute(f'PRAGMA table_info("{name}")')])
        for name in names
        if not name.startswith(("gpkg_", "sqlite_", "rtree_"))
    }


def test_layers_columns_and_shapes_are_those_of_real_maps(map_path, golden_map):
    with open_map(map_path) as base, open_map(golden_map) as golden:
        ours, real = layout(base), layout(golden)
    assert len(real) == 12
    for name, (shape, columns) in NOT_IN_THE_GOLDEN_MAP.items():
        real[name] = (("geom", shape, 4326, 0, 0), [("fid", "INTEGER"), ("geom", shape), *columns])
    assert ours == real


def test_the_contents_list_every_layer(map_path):
    with open_map(map_path) as base:
        listed = {row[0] for row in base.execute("SELECT table_name FROM gpkg_contents")}
        marks = [
            base.execute(f"PRAGMA {one}").fetchone()[0]
            for one in ("application_id", "user_version")
        ]
        assert listed == set(layout(base))
    assert marks == [int.from_bytes(b"GPKG"), 10400]


def test_the_map_says_where_it_is(small):
    for place in PLACES:
        path = small / "maps" / place.location / place.version / "map.gpkg"
        with open_map(path) as base:
            meta = dict(base.execute("SELECT key, value FROM meta"))
            extent = base.execute("SELECT min_x, min_y, max_x, max_y FROM gpkg_contents").fetchone()
        assert meta == {
            "projectedCoordSystem": f"EPSG:{32600 + place.zone}",
            "mapVersion": place.version,
        }
        assert abs(extent[0] - (6 * place.zone - 183)) < 3
        assert extent[2] - extent[0] < 0.02


def test_references_between_layers_lead_somewhere(map_path):
    with open_map(map_path) as base:
        for table, column, target in [
            ("lanes_polygons", "lane_group_fid", "lane_groups_polygons"),
            ("lanes_polygons", "left_boundary_fid", "boundaries"),
            ("lanes_polygons", "right_boundary_fid", "boundaries"),
            ("lane_connectors", "exit_lane_fid", "lanes_polygons"),
            ("lane_connectors", "entry_lane_fid", "lanes_polygons"),
            ("lane_connectors", "exit_lane_group_fid", "lane_groups_polygons"),
            ("lane_connectors", "entry_lane_group_fid", "lane_groups_polygons"),
            ("lane_connectors", "lane_group_connector_fid", "lane_group_connectors"),
            ("lane_connectors", "intersection_fid", "intersections"),
            ("lane_connectors", "traffic_light_stop_line_fids", "stop_polygons"),
            ("lane_group_connectors", "from_lane_group_fid", "lane_groups_polygons"),
            ("lane_group_connectors", "to_lane_group_fid", "lane_groups_polygons"),
            ("gen_lane_connectors_scaled_width_polygons", "lane_connector_fid", "lane_connectors"),
        ]:
            query = (
                f"SELECT count(*), count(t.fid) FROM {table} s"
                f" LEFT JOIN {target} t ON CAST(s.{column} AS INTEGER) = t.fid"
            )
            asked, found = base.execute(query).fetchone()
            assert asked == found > 0, (table, column)
        lanes, connectors = (
            base.execute(
                f"SELECT count(*), count(DISTINCT {one}) FROM baseline_paths WHERE {one} NOT NULL"
            ).fetchone()
            for one in ("lane_fid", "lane_connector_fid")
        )
        assert (
            lanes[0]
            == lanes[1]
            == base.execute("SELECT count(*) FROM lanes_polygons").fetchone()[0]
        )
        assert (
            connectors[0]
            == connectors[1]
            == base.execute("SELECT count(*) FROM lane_connectors").fetchone()[0]
        )


def test_the_reader_finds_the_lines_that_were_drawn(small, town_of):
    town = town_of(41, 0)
    read = load_map(small / "maps", town.place.location, trig=HOUSE)
    lanes = [lane for group in town.groups for lane in group.lanes]
    connectors = [one for junction in town.junctions for one in junction.connectors]
    assert len(read.ways.id) == len(lanes) + len(connectors)
    assert len(read.intersections.id) == len(town.junctions)
    assert len(read.carpark_areas.id) == len(town.carparks)
    assert len(read.stop_lines.id) == len(read.crosswalks.id) > 0
    for one in [*lanes, *connectors]:
        row = read.ways.row[one in connectors, str(one.fid)]
        start, stop = read.ways.baseline.start[row : row + 2]
        drawn = one.baseline_m + town.place.origin_m
        assert np.abs(read.ways.baseline.xyh[start:stop, :2] - drawn).max() < 1e-7


def test_equal_towns_give_equal_bytes_and_others_do_not(town_of, small):
    town = town_of(41, 2)
    path = small / "maps" / town.place.location / town.place.version / "map.gpkg"
    assert gpkg_bytes(town) == path.read_bytes()
    assert gpkg_bytes(town_of(40, 2)) != path.read_bytes()


def test_a_blob_is_a_geopackage_header_and_well_known_binary():
    points = np.array([[1.0, 2.0], [3.0, 5.0], [1.0, 2.0]])
    blob = geometry("LINESTRING", points)
    assert struct.unpack_from("<2sBBi4d", blob) == (b"GP", 0, 3, 4326, 1.0, 3.0, 2.0, 5.0)
    assert struct.unpack_from("<BII6d", blob, 40) == (1, 2, 3, 1.0, 2.0, 3.0, 5.0, 1.0, 2.0)
    assert geometry("POINT", points[:1])[8:] == struct.pack("<BI2d", 1, 1, 1.0, 2.0)
    assert struct.unpack_from("<BIII", geometry("POLYGON", points), 40) == (1, 3, 1, 3)
