"""Maps: what the stock code cached from the same files, and files with something wrong."""

import hashlib
import json
import pickle
import shutil
import sqlite3
import struct
from itertools import chain, pairwise
from pathlib import Path

import numpy as np
import pytest
import shapely

from navaudit.errors import BadInput
from navaudit.world.maps import DRIVABLE_KINDS, LOCATIONS, VERSION, load_map, map_file
from navaudit.world.nuplan_layers import LANE_CONNECTOR_POLYGONS, LANES
from navaudit.world.trigonometry import HOUSE

GOLDEN = Path(__file__).parents[1] / "golden" / "maps"
SCENES = json.loads((GOLDEN / "drivable.json").read_text())
BOSTON = "us-ma-boston"


def sha(array):
    return hashlib.sha256(np.ascontiguousarray(array, dtype="<f8").tobytes()).hexdigest()


def around(scene, half_side_m=100.0):
    x, y = map(float.fromhex, scene["centre"])
    return x, y, half_side_m


def test_the_golden_scenes_are_there():
    assert len(SCENES) == 18
    assert {scene["location"] for scene in SCENES} == set(LOCATIONS)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene["token"])
def test_drivable_map_of_the_stock_cache(golden_map, scene):
    drivable = golden_map(scene["location"]).drivable(*around(scene))
    assert list(drivable.id) == scene["ids"]
    assert list(drivable.kind) == list(chain.from_iterable([k] * n for k, n in scene["kinds"]))
    assert sha(drivable.polygons.xy) == scene["polygons"], (
        "vertices differ from the stock cache in their last bits: this machine's C library has "
        "another sine, cosine or arctangent than glibc on x86-64"
    )


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene["token"])
def test_centreline_of_the_stock_cache(golden_map, scene):
    """The stock centreline is baselines one after the other, headings included."""
    ways = golden_map(scene["location"]).ways
    rows = [ways.row.get((False, way), ways.connector(way)) for way in scene["centreline_ways"]]
    path = np.concatenate([ways.baseline[row] for row in rows])
    assert len(path) == scene["centreline_vertices"]
    assert sha(path) == scene["centreline"]
    # and each way may be driven after the one before
    for before, after in pairwise(rows):
        assert after in ways.after[before]


@pytest.mark.parametrize("trig", [None, HOUSE], ids=["libm", "house"])
def test_vertices_of_the_stock_cache(maps_root, golden_map, trig):
    scene = next(scene for scene in SCENES if scene["token"] == "17aea395c71117ae")
    town = golden_map(BOSTON) if trig is None else load_map(maps_root, BOSTON, trig=trig)
    stored = np.load(GOLDEN / "drivable_boston.npy")
    xy = town.drivable(*around(scene)).polygons.xy[: len(stored)]
    away = np.abs(xy - stored)
    assert (away <= np.spacing(np.abs(stored))).all()
    assert (away != 0.0).mean() < 0.01


def test_a_query_answers_as_shapely_does(golden_map):
    town = golden_map(BOSTON)
    rng = np.random.default_rng(4)
    low, high = town.blocks.polygons.bounds[:, :2].min(0), town.blocks.polygons.bounds[:, 2:].max(0)
    for areas in (town.blocks, town.ways, town.intersections, town.carpark_areas, town.crosswalks):
        shapes = areas.polygons.shapes()
        for x, y in rng.uniform(low, high, (10, 2)):
            square = shapely.box(x - 20, y - 20, x + 20, y + 20)
            expected = np.flatnonzero(shapely.intersects(shapes, square))
            np.testing.assert_array_equal(areas.in_square(x, y, 20.0), expected)
            expected = np.flatnonzero(shapely.contains(shapes, shapely.Point(x, y)))
            np.testing.assert_array_equal(areas.around(x, y), expected)
            row, distance = areas.nearest(x, y)
            assert distance == shapely.distance(shapes, shapely.Point(x, y)).min()
            assert distance == shapely.distance(shapes[row], shapely.Point(x, y))


@pytest.mark.parametrize("location", LOCATIONS)
def test_the_graph_holds_together(golden_map, location):
    town = golden_map(location)
    for table in (town.ways, town.blocks):
        forth = {(a, b) for a in range(len(table)) for b in table.after[a]}
        back = {(a, b) for b in range(len(table)) for a in table.before[b]}
        assert forth == back
        assert forth
        # connectors join what are no connectors, one to one
        for a, b in forth:
            assert (a < table.first_connector) != (b < table.first_connector)
        for row in range(table.first_connector, len(table)):
            assert len(table.after[row]) == len(table.before[row]) == 1
    for way in range(len(town.ways)):
        block = town.ways.block[way]
        assert way in town.blocks.ways[block]
        assert (way < town.ways.first_connector) == (block < town.blocks.first_connector)
        # the way ends where the next begins, up to the drawing's slack
        for after in town.ways.after[way]:
            gap = town.ways.baseline[way][-1, :2] - town.ways.baseline[after][0, :2]
            assert np.hypot(*gap) < 0.5
    assert len(town.ways.block) == sum(len(town.blocks.ways[b]) for b in range(len(town.blocks)))
    assert np.nanmin(town.ways.speed_limit_mps) > 0.0
    assert town.version == map_file_version(location)


def map_file_version(location):
    return json.loads((GOLDEN / f"{VERSION}.json").read_text())[location]["version"]


def test_speed_limits_may_be_missing(edited, golden_map):
    root, base = edited
    before = np.isnan(golden_map(BOSTON).ways.speed_limit_mps).sum()
    base.execute(f"UPDATE {LANES} SET speed_limit_mps = NULL WHERE fid = 40042")
    base.commit()
    ways = load_map(root, BOSTON).ways
    assert np.isnan(ways.speed_limit_mps[ways.row[False, "40042"]])
    assert np.isnan(ways.speed_limit_mps).sum() == before + 1


def test_a_map_is_frozen_and_crosses_processes(golden_map):
    town = golden_map(BOSTON)
    assert not town.ways.baseline.xyh.flags.writeable
    assert not town.blocks.polygons.xy.flags.writeable
    twin = pickle.loads(pickle.dumps(town))
    assert twin.digest == town.digest
    assert twin.drivable(*around(SCENES[0])).id == town.drivable(*around(SCENES[0])).id


def test_the_digest_tells_maps_apart(maps_root, golden_map):
    digests = {golden_map(location).digest for location in LOCATIONS}
    assert len(digests) == len(LOCATIONS)
    assert load_map(maps_root, BOSTON).digest == golden_map(BOSTON).digest


def test_kinds_come_in_their_order(golden_map):
    kinds = [
        DRIVABLE_KINDS.index(kind) for kind in golden_map(BOSTON).drivable(*around(SCENES[0])).kind
    ]
    assert kinds == sorted(kinds)


def test_nothing_is_drivable_out_at_sea(golden_map):
    drivable = golden_map(BOSTON).drivable(0.0, 0.0)
    assert len(drivable) == len(drivable.polygons) == 0


# --------------------------------------------------------------------------- defects


@pytest.fixture
def edited(maps_root, tmp_path):
    """A copy of the maps root, and Boston's file opened for writing."""
    root = tmp_path / "maps"
    shutil.copytree(maps_root, root)
    base = sqlite3.connect(map_file(root, BOSTON)[0])
    yield root, base
    base.close()


@pytest.mark.parametrize(
    "layer",
    [
        "lanes_polygons", "lane_connectors", "gen_lane_connectors_scaled_width_polygons",
        "lane_groups_polygons", "lane_group_connectors", "baseline_paths", "intersections",
        "carpark_areas", "stop_polygons", "crosswalks", "walkways",
    ],
)  # fmt: skip
def test_a_missing_layer_is_named(edited, layer):
    root, base = edited
    base.execute("DELETE FROM gpkg_geometry_columns WHERE table_name = ?", (layer,))
    base.commit()
    with pytest.raises(BadInput, match=f"no layer {layer}") as caught:
        load_map(root, BOSTON)
    assert "map.gpkg" in caught.value.where
    assert "intersections" in caught.value.expected or layer == "intersections"
    assert "download" in caught.value.remedy


def test_a_missing_table_and_a_missing_column(edited):
    root, base = edited
    base.execute("ALTER TABLE lane_connectors RENAME COLUMN exit_lane_fid TO exit")
    base.commit()
    with pytest.raises(BadInput, match="lane_connectors has no column exit_lane_fid"):
        load_map(root, BOSTON)
    base.execute("DROP TABLE lane_connectors")
    base.commit()
    with pytest.raises(BadInput, match="lane_connectors"):
        load_map(root, BOSTON)


@pytest.mark.parametrize("kept", [0.02, 0.3, 0.9, 0.999])
def test_a_truncated_file(maps_root, tmp_path, kept):
    root = tmp_path / "maps"
    shutil.copytree(maps_root, root)
    path, _ = map_file(root, BOSTON)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    with pytest.raises(BadInput) as caught:
        load_map(root, BOSTON)
    assert str(path) in caught.value.where
    assert "download" in caught.value.remedy


@pytest.mark.parametrize("value", ["EPSG:2326", "EPSG:32719", "UTM 19", None])
def test_another_grid_is_refused(edited, value):
    root, base = edited
    base.execute("UPDATE meta SET value = ? WHERE key = 'projectedCoordSystem'", (value,))
    base.commit()
    with pytest.raises(BadInput, match="projectedCoordSystem is"):
        load_map(root, BOSTON)
    base.execute("DELETE FROM meta")
    base.commit()
    with pytest.raises(BadInput, match="projectedCoordSystem is None"):
        load_map(root, BOSTON)


def test_the_wrong_zone_is_noticed(edited):
    root, base = edited
    base.execute("UPDATE meta SET value = 'EPSG:32648' WHERE key = 'projectedCoordSystem'")
    base.commit()
    with pytest.raises(BadInput, match="not in UTM zone 48"):
        load_map(root, BOSTON)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e308])
@pytest.mark.filterwarnings("error")
def test_a_stray_vertex_is_named_with_its_layer_and_feature(edited, value):
    root, base = edited
    (fid,) = base.execute("SELECT max(fid) FROM intersections").fetchone()
    ring = np.array([[-71.0, 42.3], [-71.0, 42.4], [value, 42.4], [-71.0, 42.3]])
    data = struct.pack("<2sBBiBIII", b"GP", 0, 1, 4326, 1, 3, 1, 4) + ring.tobytes()
    base.execute("UPDATE intersections SET geom = ? WHERE fid = ?", (data, fid))
    base.commit()
    with pytest.raises(BadInput, match="not in UTM zone 19") as caught:
        load_map(root, BOSTON)
    assert f"layer intersections, feature {fid}" in caught.value.where


def replace_shape(base, table, geometry):
    """Give the last feature of a layer another shape; return its id."""
    (fid,) = base.execute(f"SELECT max(fid) FROM {table}").fetchone()
    data = struct.pack("<2sBBi", b"GP", 0, 1, 4326) + shapely.to_wkb(geometry)
    base.execute(f"UPDATE {table} SET geom = ? WHERE fid = ?", (data, fid))
    base.commit()
    return fid


@pytest.mark.parametrize(
    "table",
    ["lanes_polygons", "lane_groups_polygons", "lane_group_connectors", "intersections",
     "carpark_areas", "stop_polygons"],
)  # fmt: skip
def test_a_shape_that_is_no_polygon_is_named_with_its_layer_and_feature(edited, table):
    root, base = edited
    fid = replace_shape(base, table, shapely.Point(-71.0, 42.3))
    with pytest.raises(BadInput, match="the shape is a Point") as caught:
        load_map(root, BOSTON)
    assert caught.value.where.endswith(f"layer {table}, feature {fid}")
    assert caught.value.expected == "a polygon or multipolygon"


def test_a_connector_whose_shape_is_no_polygon_is_named(edited):
    root, base = edited
    fid = replace_shape(base, LANE_CONNECTOR_POLYGONS, shapely.LineString([(-71, 42), (-71, 43)]))
    (connector,) = base.execute(
        f"SELECT lane_connector_fid FROM {LANE_CONNECTOR_POLYGONS} WHERE fid = ?", (fid,)
    ).fetchone()
    with pytest.raises(BadInput, match="the shape is a LineString") as caught:
        load_map(root, BOSTON)
    assert caught.value.where.endswith(
        f"layer {LANE_CONNECTOR_POLYGONS}, lane connector {connector}"
    )


def test_metres_that_are_no_numbers_are_named_with_their_feature(edited):
    root, base = edited
    ring = [[0.0, 0.0], [9.0, 0.0], [float("nan"), 9.0], [0.0, 0.0]]
    with np.errstate(invalid="ignore"):
        fid = replace_shape(base, "carpark_areas", shapely.Polygon(ring))
    base.execute(
        "UPDATE gpkg_geometry_columns SET srs_id = 32619 WHERE table_name = 'carpark_areas'"
    )
    base.commit()
    with pytest.raises(BadInput, match="not finite") as caught:
        load_map(root, BOSTON)
    assert caught.value.where.endswith(f"layer carpark_areas, feature {fid}")


def test_layers_may_be_in_metres_already(edited, golden_map):
    root, base = edited
    metres = golden_map(BOSTON).carpark_areas.polygons
    base.execute(
        "UPDATE gpkg_geometry_columns SET srs_id = 32619 WHERE table_name = 'carpark_areas'"
    )
    keys = [fid for (fid,) in base.execute("SELECT fid FROM carpark_areas ORDER BY fid")]
    for fid, shape in zip(keys, metres.shapes(), strict=True):
        data = struct.pack("<2sBBi", b"GP", 0, 1, 32619) + shapely.to_wkb(shape)
        base.execute("UPDATE carpark_areas SET geom = ? WHERE fid = ?", (data, fid))
    base.commit()
    np.testing.assert_array_equal(load_map(root, BOSTON).carpark_areas.polygons.xy, metres.xy)
    base.execute(
        "UPDATE gpkg_geometry_columns SET srs_id = 3857 WHERE table_name = 'carpark_areas'"
    )
    base.commit()
    with pytest.raises(BadInput, match="EPSG:3857") as caught:
        load_map(root, BOSTON)
    assert "carpark_areas" in caught.value.where


@pytest.mark.parametrize("copies", [0, 2])
def test_a_connector_without_one_polygon_is_refused_where_it_is_needed(edited, copies):
    """As in stock, but by name: the rest of the city can still be driven in."""
    root, base = edited
    scene = SCENES[0]
    connector = scene["ids"][scene["kinds"][0][1] + scene["kinds"][1][1]]
    where = "lane_connector_fid = ?"
    if copies:
        base.execute(
            f"INSERT INTO {LANE_CONNECTOR_POLYGONS} (geom, lane_connector_fid)"
            f" SELECT geom, lane_connector_fid FROM {LANE_CONNECTOR_POLYGONS} WHERE {where}",
            (connector,),
        )
    else:
        base.execute(f"DELETE FROM {LANE_CONNECTOR_POLYGONS} WHERE {where}", (connector,))
    base.commit()
    town = load_map(root, BOSTON)
    with pytest.raises(BadInput, match=f"lane connector {connector} has no polygon"):
        town.drivable(*around(scene))
    assert len(town.drivable(0.0, 0.0)) == 0


def test_a_baseline_that_is_missing_or_double_is_refused_where_it_is_needed(edited):
    root, base = edited
    base.execute("DELETE FROM baseline_paths WHERE lane_fid = 40042")
    base.execute(
        "INSERT INTO baseline_paths (geom, lane_fid)"
        " SELECT geom, lane_fid FROM baseline_paths WHERE lane_fid = 40056"
    )
    base.commit()
    ways = load_map(root, BOSTON).ways
    for lane in ("40042", "40056"):
        with pytest.raises(BadInput, match="0 vertices"):
            ways.baseline[ways.row[False, lane]]
    assert len(ways.baseline[ways.row[False, "40105"]]) > 2


def test_dangling_references_are_left_out(edited):
    root, base = edited
    base.execute("UPDATE lanes_polygons SET lane_group_fid = 999 WHERE fid = 40042")
    base.execute("UPDATE lane_connectors SET entry_lane_fid = NULL WHERE fid = 40973")
    base.commit()
    ways = load_map(root, BOSTON).ways
    assert ways.block[ways.row[False, "40042"]] == -1
    assert ways.after[ways.connector("40973")].tolist() == []


def test_missing_files_say_what_to_do(maps_root, tmp_path):
    with pytest.raises(BadInput, match=r"no nuplan-maps-v1\.0\.json") as caught:
        map_file(tmp_path, BOSTON)
    assert "NUPLAN_MAPS_ROOT" in caught.value.remedy
    with pytest.raises(BadInput, match=r"nuplan-maps-v1\.1\.json") as caught:
        map_file(maps_root, BOSTON, "nuplan-maps-v1.1")
    assert "nuplan-maps-v1.0" in caught.value.expected
    with pytest.raises(BadInput, match="no map of 'atlantis'") as caught:
        map_file(maps_root, "atlantis")
    assert BOSTON in caught.value.expected


def test_another_version_of_the_file_is_pointed_out(edited):
    root, _ = edited
    listing = json.loads((root / f"{VERSION}.json").read_text())
    listing[BOSTON]["version"] = "9.9.9"
    (root / f"{VERSION}.json").write_text(json.dumps(listing))
    with pytest.raises(BadInput, match=r"version 9\.9\.9 of us-ma-boston") as caught:
        load_map(root, BOSTON)
    assert "9.12.1817" in caught.value.expected


@pytest.mark.parametrize(
    "text", ["{", "[1]", '{"us-ma-boston": "9.12.1817"}', '{"us-ma-boston": {}}']
)
def test_a_broken_listing(tmp_path, text):
    (tmp_path / f"{VERSION}.json").write_text(text)
    with pytest.raises(BadInput, match="listing cannot be read"):
        map_file(tmp_path, BOSTON)
