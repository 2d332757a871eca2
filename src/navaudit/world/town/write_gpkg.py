"""Write a town's map as a nuPlan GeoPackage: SQLite with well-known binary in degrees."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.world.town.ground import Place, Town
from navaudit.world.town.layers import LAYERS, Layer, Row, rows
from navaudit.world.town.projection import degrees

Array = NDArray[np.float64]

WGS84: Final = 4326
SAVED: Final = "2021-05-01T00:00:00.000Z"
"""Every table says it was last changed then: a map's bytes follow from its seed alone."""

_DEGREES: Final = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],'
    'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],'
    'AXIS["Latitude",NORTH],AXIS["Longitude",EAST],AUTHORITY["EPSG","4326"]]'
)

_FRAME: Final = """
CREATE TABLE gpkg_spatial_ref_sys (srs_name TEXT NOT NULL, srs_id INTEGER PRIMARY KEY NOT NULL,
  organization TEXT NOT NULL, organization_coordsys_id INTEGER NOT NULL,
  definition TEXT NOT NULL, description TEXT);
CREATE TABLE gpkg_contents (table_name TEXT PRIMARY KEY NOT NULL, data_type TEXT NOT NULL,
  identifier TEXT UNIQUE, description TEXT DEFAULT '', last_change DATETIME NOT NULL,
  min_x DOUBLE, min_y DOUBLE, max_x DOUBLE, max_y DOUBLE,
  srs_id INTEGER REFERENCES gpkg_spatial_ref_sys(srs_id));
CREATE TABLE gpkg_geometry_columns (table_name TEXT NOT NULL UNIQUE, column_name TEXT NOT NULL,
  geometry_type_name TEXT NOT NULL, srs_id INTEGER NOT NULL, z TINYINT NOT NULL,
  m TINYINT NOT NULL, PRIMARY KEY (table_name, column_name));
"""

_POINT, _LINESTRING, _POLYGON = 1, 2, 3


def gpkg_bytes(town: Town) -> bytes:
    """Return the bytes of the town's map file; equal towns give equal bytes."""
    with_rows = rows(town)
    base = sqlite3.connect(":memory:")
    base.execute("PRAGMA page_size = 4096")
    base.execute("PRAGMA application_id = 1196444487")  # "GPKG"
    base.execute("PRAGMA user_version = 10400")
    base.executescript(_FRAME)
    base.executemany("INSERT INTO gpkg_spatial_ref_sys VALUES (?,?,?,?,?,?)", list(_systems()))
    for layer in LAYERS:
        _write_layer(base, layer, with_rows[layer.name], town.place)
    _write_meta(base, town.place)
    base.commit()
    data = base.serialize()
    base.close()
    return _unstamped(data)


def _unstamped(data: bytes) -> bytes:
    """Set SQLite's change counter and library version in the header to fixed values."""
    header = bytearray(data[:100])
    header[24:28] = header[92:96] = struct.pack(">I", 1)
    header[96:100] = struct.pack(">I", 3040000)
    return bytes(header) + data[100:]


def _systems() -> Iterator[tuple[str, int, str, int, str, str]]:
    yield "Undefined Cartesian SRS", -1, "NONE", -1, "undefined", "undefined Cartesian"
    yield "Undefined geographic SRS", 0, "NONE", 0, "undefined", "undefined geographic"
    yield "WGS 84 geodetic", WGS84, "EPSG", WGS84, _DEGREES, "longitude and latitude in degrees"


def _write_layer(base: sqlite3.Connection, layer: Layer, made: list[Row], place: Place) -> None:
    columns = "".join(f', "{name}" {kind}' for name, kind in layer.columns)
    base.execute(
        f'CREATE TABLE "{layer.name}" (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,'
        f" geom {layer.shape}{columns})"
    )
    lines = [row[1] for row in made]
    counts = np.cumsum([0, *(len(line) for line in lines)])
    easting, northing = (np.concatenate(lines) + np.array(place.origin_m)).T
    lonlat = np.stack(degrees(easting, northing, place.zone), axis=-1)
    blobs = [
        geometry(layer.shape, lonlat[first:last])
        for first, last in zip(counts[:-1].tolist(), counts[1:].tolist(), strict=True)
    ]
    marks = ",".join("?" * (2 + len(layer.columns)))
    values = [(fid, blob, *own) for (fid, _, own), blob in zip(made, blobs, strict=True)]
    base.executemany(f'INSERT INTO "{layer.name}" VALUES ({marks})', values)  # noqa: S608
    low, high = lonlat.min(axis=0).tolist(), lonlat.max(axis=0).tolist()
    _list_table(base, layer.name, "features", (*low, *high), WGS84)
    base.execute(
        "INSERT INTO gpkg_geometry_columns VALUES (?,'geom',?,?,0,0)",
        (layer.name, layer.shape, WGS84),
    )


def _write_meta(base: sqlite3.Connection, place: Place) -> None:
    base.execute(
        "CREATE TABLE meta (fid INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, key TEXT, value TEXT)"
    )
    system = ("projectedCoordSystem", f"EPSG:{32600 + place.zone}")
    pairs = [system, ("mapVersion", place.version)]
    base.executemany("INSERT INTO meta (key, value) VALUES (?,?)", pairs)
    _list_table(base, "meta", "attributes", (None, None, None, None), 0)


def _list_table(
    base: sqlite3.Connection, name: str, kind: str, extent: tuple[float | None, ...], system: int
) -> None:
    base.execute(
        "INSERT INTO gpkg_contents VALUES (?,?,?,'',?,?,?,?,?,?)",
        (name, kind, name, SAVED, *extent, system),
    )


def geometry(shape: str, lonlat: Array) -> bytes:
    """One feature's GeoPackage blob: header with its envelope, then well-known binary.

    A point has no envelope; a polygon is one closed ring.
    """
    points = np.ascontiguousarray(lonlat, dtype="<f8").tobytes()
    if shape == "POINT":
        return struct.pack("<2sBBi", b"GP", 0, 1, WGS84) + struct.pack("<BI", 1, _POINT) + points
    low, high = lonlat.min(axis=0), lonlat.max(axis=0)
    envelope = (low[0], high[0], low[1], high[1])
    head = struct.pack("<2sBBi4d", b"GP", 0, 3, WGS84, *envelope)
    if shape == "LINESTRING":
        return head + struct.pack("<BII", 1, _LINESTRING, len(lonlat)) + points
    return head + struct.pack("<BIII", 1, _POLYGON, 1, len(lonlat)) + points
