"""GeoPackage files: headers of every kind, and files with something wrong."""

import random
import sqlite3
import struct
from collections import Counter

import numpy as np
import pytest
import shapely
from shapely import Point, box

from navaudit.errors import BadInput
from navaudit.world.geopackage import opened


def blob(shape, envelope=1, flags=0, order="<"):
    """A geometry as the standard has it: envelope code 0 to 4, header in either byte order."""
    numbers = (0, 4, 6, 6, 8)[envelope]
    bits = flags | envelope << 1 | (order == "<")
    head = struct.pack(f"{order}2sBBi{numbers}d", b"GP", 0, bits, 4326, *range(numbers))
    return head + (b"" if shape is None else shapely.to_wkb(shape))


CURVE = struct.pack("<BII", 1, 10, 0)


def nested(depth):
    """A collection in a collection, and so on."""
    return struct.pack("<BII", 1, 7, 1) * depth + shapely.to_wkb(Point(1, 2))


def package(path, rows, extra="", declared="INTEGER"):
    base = sqlite3.connect(path)
    base.executescript(f"""
        CREATE TABLE gpkg_geometry_columns (table_name TEXT, column_name TEXT, srs_id INTEGER);
        INSERT INTO gpkg_geometry_columns VALUES ('places', 'shape of it', 4326);
        CREATE TABLE meta (key TEXT, value TEXT);
        INSERT INTO meta VALUES ('colour', 'blue'), ('colour', 'green');
        CREATE TABLE places (nr INTEGER PRIMARY KEY, "shape of it" BLOB, of {declared});
        {extra}
    """)
    base.executemany("INSERT INTO places VALUES (?, ?, ?)", rows)
    base.commit()
    base.close()
    return path


def test_features_come_by_rising_id(tmp_path):
    rows = [(7, blob(Point(7, 1)), 70), (-2, blob(Point(-2, 1)), None), (30, None, 5)]
    with opened(package(tmp_path / "a.gpkg", rows)) as file:
        layer = file.layer("places", ["of"])
        assert file.names() == ("places",)
        assert file.setting("colour") == "blue"
        assert file.setting("size") is None
    assert layer.id == ("-2", "7", "30")
    assert layer.system == 4326
    assert layer.columns["of"] == (None, 70, 5)
    assert layer.keys("of") == (None, "70", "5")
    np.testing.assert_array_equal(layer.numbers("of"), [np.nan, 70.0, 5.0])
    assert [None if shape is None else shape.x for shape in layer.shape] == [-2, 7, None]


def test_geometry_is_left_on_disk_if_not_asked_for(tmp_path):
    with opened(package(tmp_path / "a.gpkg", [(1, b"rubbish", 4)])) as file:
        assert file.layer("places", ["of"], shapes=False).keys("of") == ("4",)
        with pytest.raises(BadInput, match="rubbish"):
            file.layer("places")


@pytest.mark.parametrize("envelope", range(5))
@pytest.mark.parametrize("order", ["<", ">"])
def test_headers(tmp_path, envelope, order):
    shape = box(1, 2, 3, 4)
    path = package(tmp_path / "a.gpkg", [(1, blob(shape, envelope, order=order), 0)])
    with opened(path) as file:
        assert file.layer("places").shape[0].equals_exact(shape)


def test_an_empty_geometry_is_none(tmp_path):
    path = package(tmp_path / "a.gpkg", [(1, blob(Point(), 0, flags=0x10), 0)])
    with opened(path) as file:
        assert file.layer("places").shape[0] is None


def test_an_empty_layer(tmp_path):
    with opened(package(tmp_path / "a.gpkg", [])) as file:
        layer = file.layer("places", ["of"])
    assert len(layer) == 0
    assert layer.keys("of") == ()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"PG" + bytes(20), "begins with"),
        ("GP text", "begins with"),
        (b"GP\x00", "begins with"),
        (b"GP\x00\x21" + bytes(40), "flags 0x21"),
        (b"GP\x00\x0b" + bytes(90), "flags 0x0b"),
        (blob(box(0, 0, 1, 1))[:-3], "feature 8 cannot be read"),
        (blob(None), "feature 8 cannot be read"),
        (blob(None) + CURVE, "feature 8 cannot be read: a geometry has type 10"),
        (blob(None) + nested(5), "feature 8 cannot be read: a geometry has type 7"),
        # deep enough to exhaust the stack of whoever recurses
        (blob(None) + nested(300_000), "feature 8 cannot be read: a geometry has type 7"),
        (blob(None) + struct.pack("<BII", 1, 6, 1 << 31), "feature 8 cannot be read"),
    ],
)
def test_bad_geometry_is_named(tmp_path, content, says):
    path = package(tmp_path / "a.gpkg", [(5, blob(Point(1, 2)), 0), (8, content, 0)])
    with pytest.raises(BadInput, match=says) as caught, opened(path) as file:
        file.layer("places")
    assert "layer places" in caught.value.where
    assert str(path) in caught.value.where
    assert "feature 8" in caught.value.what


@pytest.mark.parametrize("shape", [
    shapely.MultiPolygon([box(0, 0, 1, 1), box(2, 0, 3, 1)]),
    shapely.MultiLineString([[[0, 0], [1, 1]], [[1, 1], [2, 3]]]),
    shapely.force_3d(box(0, 0, 1, 1), 7.0),
])  # fmt: skip
@pytest.mark.parametrize("written", [{}, {"byte_order": 0}, {"flavor": "iso"}])
def test_geometries_of_several_parts_and_with_heights(tmp_path, shape, written):
    content = blob(None) + shapely.to_wkb(shape, output_dimension=3, **written)
    with opened(package(tmp_path / "a.gpkg", [(1, content, 0)])) as file:
        assert file.layer("places").shape[0].equals_exact(shape)


def listed(path, rows, systems):
    """A file whose layer is in system 7 of a table of systems."""
    package(path, rows)
    base = sqlite3.connect(path)
    base.executescript("""
        CREATE TABLE gpkg_spatial_ref_sys (srs_id, organization, organization_coordsys_id);
        UPDATE gpkg_geometry_columns SET srs_id = 7;
    """)
    base.executemany("INSERT INTO gpkg_spatial_ref_sys VALUES (?, ?, ?)", systems)
    base.commit()
    base.close()
    return path


@pytest.mark.parametrize(
    ("systems", "system"),
    [
        ([(7, "EPSG", 4326)], 4326),
        ([(7, "epsg", 32619), (8, "EPSG", 1)], 32619),
        ([(7, "ESRI", 102100)], 7),
        ([(8, "EPSG", 4326)], 7),
    ],
)
def test_a_system_is_the_one_that_the_file_lists(tmp_path, systems, system):
    with opened(listed(tmp_path / "a.gpkg", [(1, None, 1)], systems)) as file:
        assert file.layer("places").system == system


@pytest.mark.parametrize("system", ["abc", None, b"x", 1.5])
def test_a_system_that_is_no_number_is_refused(tmp_path, system):
    path = package(tmp_path / "a.gpkg", [(1, None, 1)])
    base = sqlite3.connect(path)
    base.execute("UPDATE gpkg_geometry_columns SET srs_id = ?", (system,))
    base.commit()
    base.close()
    with pytest.raises(BadInput, match="places has coordinate system"), opened(path):
        pass


@pytest.mark.parametrize("value", [1.5, "east", b"x", float("inf"), float("-inf")])
def test_a_reference_is_a_whole_number(tmp_path, value):
    with opened(package(tmp_path / "a.gpkg", [(5, None, value)], declared="BLOB")) as file:
        layer = file.layer("places", ["of"])
    with pytest.raises(BadInput, match="of of feature 5"):
        layer.keys("of")


@pytest.mark.parametrize(("value", "key"), [(12, "12"), (12.0, "12"), ("12", "12"), (None, None)])
def test_references_are_read_however_they_are_stored(tmp_path, value, key):
    with opened(package(tmp_path / "a.gpkg", [(5, None, value)], declared="BLOB")) as file:
        assert file.layer("places", ["of"]).keys("of") == (key,)


def test_a_speed_is_a_number(tmp_path):
    with opened(package(tmp_path / "a.gpkg", [(5, None, "fast")], declared="BLOB")) as file:
        layer = file.layer("places", ["of"])
    with pytest.raises(BadInput, match="fast"):
        layer.numbers("of")


def test_missing_layer_and_column_name_what_there_is(tmp_path):
    with opened(package(tmp_path / "a.gpkg", [])) as file:
        with pytest.raises(BadInput, match="no layer roads") as caught:
            file.layer("roads")
        assert "places" in caught.value.expected
        with pytest.raises(BadInput, match="no column width") as caught:
            file.layer("places", ["width"])
        assert "nr, shape of it, of" in caught.value.expected


def test_files_that_are_no_geopackage(tmp_path):
    with pytest.raises(BadInput, match="no such file") as caught, opened(tmp_path / "none.gpkg"):
        pass
    assert caught.value.remedy
    text = tmp_path / "text.gpkg"
    text.write_text("not a database at all, though quite a long text " * 50)
    with pytest.raises(BadInput, match="not a database"), opened(text):
        pass
    empty = tmp_path / "empty.gpkg"
    empty.write_bytes(b"")
    with pytest.raises(BadInput, match="gpkg_geometry_columns"), opened(empty):
        pass


def test_a_path_with_odd_letters(tmp_path):
    folder = tmp_path / "maps of 100% ?#"
    folder.mkdir()
    with opened(package(folder / "a&b.gpkg", [(1, None, 1)])) as file:
        assert len(file.layer("places")) == 1
    assert [path.name for path in folder.iterdir()] == ["a&b.gpkg"]


def test_a_damaged_file_is_told_or_read(tmp_path):
    """Whatever bytes are turned, what comes out is a layer or an error of our own."""
    whole = package(
        tmp_path / "whole.gpkg", [(i, blob(box(0, 0, i, 1)), i) for i in range(1, 40)]
    ).read_bytes()
    used = [i for i in range(len(whole)) if whole[i]]
    draw = random.Random(7)
    ends: Counter[str] = Counter()
    for turn in range(2_000):
        data = bytearray(whole)
        for at in draw.sample(used, draw.choice((1, 1, 3, 20))):
            data[at] = draw.randrange(256)
        path = tmp_path / "damaged.gpkg"
        path.write_bytes(data[: draw.randrange(len(data))] if turn % 10 == 0 else data)
        try:
            with opened(path) as file:
                file.layer("places", ["of"]).keys("of")
            ends["read"] += 1
        except BadInput:
            ends["told"] += 1
    assert min(ends["read"], ends["told"]) > 100
