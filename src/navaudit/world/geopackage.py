"""GeoPackage files: SQLite tables whose geometry column holds a header and well-known binary.

Nothing but the tables asked for is read; the raster tables that make nuPlan's files large stay on
disk. Features come in the order of their ids, which is the order in which the stock loader sees
them.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from navaudit.errors import BadInput
from navaudit.world.pickles.wkb import expect_flat

_REMEDY: Final = "download the nuPlan maps again"
_ENVELOPE_BYTES: Final = (0, 32, 48, 48, 64)
"""Bytes of the bounding box after the header, by the header's envelope code."""


_SIMPLE: Final = frozenset(
    struct.pack(order + "BI", order == "<", sort) for order in "<>" for sort in (1, 2, 3)
)
"""How points, lines and polygons begin; whatever else could nest is walked before GEOS sees it."""


@dataclass(frozen=True, eq=False)
class Layer:
    """One table's features, by rising feature id."""

    name: str
    id: tuple[str, ...]
    """Feature ids as text."""
    shape: NDArray[np.object_]
    """``[feature]``: shapely geometries in the file's coordinates; None where there is none."""
    system: int
    """EPSG code of the coordinates; longitude comes first where they are degrees."""
    columns: dict[str, tuple[Any, ...]]
    """The columns asked for, as SQLite stores them: ``[feature]`` each."""

    def __len__(self) -> int:
        return len(self.id)

    def keys(self, column: str) -> tuple[str | None, ...]:
        """Return a column of references as ids: text, whole numbers, or None where unset."""
        return tuple(self._key(i, column) for i in range(len(self)))

    def _key(self, feature: int, column: str) -> str | None:
        value = self.columns[column][feature]
        if value is None:  # SQLite stores NaN so too
            return None
        try:
            key = int(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise self._bad(feature, column, "a whole number") from error
        if isinstance(value, float) and key != value:
            raise self._bad(feature, column, "a whole number")
        return str(key)

    def numbers(self, column: str) -> NDArray[np.float64]:
        """Return a column of numbers ``[feature]``; NaN where unset."""
        values = self.columns[column]
        for i, value in enumerate(values):
            if not (value is None or isinstance(value, (int, float))):
                raise self._bad(i, column, "a number")
        return np.array([np.nan if value is None else value for value in values], np.float64)

    def _bad(self, feature: int, column: str, expected: str) -> BadInput:
        return BadInput(
            f"{column} of feature {self.id[feature]} is {self.columns[column][feature]!r:.60}",
            where=f"layer {self.name}",
            expected=expected,
        )


class GeoPackage:
    """An open file; `opened` makes one."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        codes = _codes(base)
        self._geometry = {
            table: (column, _system(table, system, codes))
            for table, column, system in base.execute(
                "SELECT table_name, column_name, srs_id FROM gpkg_geometry_columns"
            )
        }

    def names(self) -> tuple[str, ...]:
        """Return the names of all layers of features."""
        return tuple(sorted(self._geometry))

    def setting(self, key: str) -> str | None:
        """Return the first value of a key in the file's ``meta`` table."""
        row = self._base.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return None if row is None else str(row[0])

    def layer(self, name: str, columns: Sequence[str] = (), *, shapes: bool = True) -> Layer:
        """Read one layer with these columns, its geometry too unless told otherwise."""
        if name not in self._geometry:
            raise BadInput(
                f"there is no layer {name}",
                expected=f"it among: {', '.join(self.names()) or 'none'}",
                remedy=_REMEDY,
            )
        geometry, system = self._geometry[name]
        identity = self._identity(name, columns)
        shape = _quoted(geometry) if shapes else "NULL"
        wanted = ", ".join([_quoted(identity), shape, *map(_quoted, columns)])
        rows = self._base.execute(
            f"SELECT {wanted} FROM {_quoted(name)} ORDER BY {_quoted(identity)}"  # noqa: S608
        ).fetchall()
        ids, blobs, *values = zip(*rows, strict=True) if rows else ((), (), *[()] * len(columns))
        return Layer(
            name=name,
            id=tuple(map(str, ids)),
            shape=_shapes(name, ids, blobs),
            system=system,
            columns=dict(zip(columns, values, strict=True)),
        )

    def _identity(self, table: str, columns: Sequence[str]) -> str:
        described = self._base.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
        have = [column[1] for column in described]
        missing = [column for column in columns if column not in have]
        if missing:
            raise BadInput(
                f"layer {table} has no column {missing[0]}",
                expected=f"it among: {', '.join(have)}",
                remedy=_REMEDY,
            )
        return next((column[1] for column in described if column[5]), "rowid")


@contextmanager
def opened(path: Path) -> Iterator[GeoPackage]:
    """Open a file for reading; whatever SQLite finds wrong with it is `BadInput` naming it."""
    if not path.is_file():
        raise BadInput("there is no such file", where=str(path), remedy=_REMEDY)
    # immutable: no locks and no journal, so that read-only and network disks will do
    base = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
    try:
        _require_whole(base, path)
        yield GeoPackage(base)
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise BadInput(
            f"the file cannot be read as a GeoPackage: {error}",
            where=str(path),
            expected="a complete SQLite database with the GeoPackage tables",
            remedy=_REMEDY,
        ) from error
    except BadInput as error:
        raise BadInput(
            error.what,
            where=" ".join(filter(None, (str(path), error.where))),
            expected=error.expected,
            remedy=error.remedy or _REMEDY,
        ) from error
    finally:
        base.close()


def _require_whole(base: sqlite3.Connection, path: Path) -> None:
    """SQLite itself does not miss the end of the last page until it reads there."""
    pages, page = (
        base.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size")
    )
    if (size := path.stat().st_size) < pages * page:
        raise BadInput(f"the file has {size} bytes", expected=f"{pages * page}")


def _codes(base: sqlite3.Connection) -> dict[Any, Any]:
    """Return EPSG codes by the file's own numbers of coordinate systems; empty without a table."""
    if not base.execute("PRAGMA table_info(gpkg_spatial_ref_sys)").fetchall():
        return {}
    return dict(
        base.execute(
            "SELECT srs_id, organization_coordsys_id FROM gpkg_spatial_ref_sys"
            " WHERE upper(organization) = 'EPSG'"
        )
    )


def _system(table: str, number: object, codes: Mapping[Any, Any]) -> int:
    code = codes.get(number, number)
    if not isinstance(code, int):
        raise BadInput(f"layer {table} has coordinate system {code!r:.40}", expected="a number")
    return code


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _shapes(layer: str, ids: Sequence[object], blobs: Sequence[object]) -> NDArray[np.object_]:
    bodies = np.empty(len(blobs), dtype=object)
    for i, blob in enumerate(blobs):
        bodies[i] = None if blob is None else _body(layer, ids[i], blob)
    # coordinates that are no numbers are told of where they are used
    with np.errstate(invalid="ignore"):
        try:
            return np.asarray(shapely.from_wkb(bodies), dtype=object)
        except shapely.errors.ShapelyError:
            shapes = [_shape(layer, key, body) for key, body in zip(ids, bodies, strict=True)]
            return np.array(shapes, dtype=object)


def _shape(layer: str, key: object, body: bytes | None) -> Any:
    try:
        return shapely.from_wkb(body)
    except shapely.errors.ShapelyError as error:
        raise _unreadable(layer, key, error) from error


def _unreadable(layer: str, key: object, error: object) -> BadInput:
    what = f"the geometry of feature {key} cannot be read: {error}"
    return BadInput(what, where=f"layer {layer}")


def _body(layer: str, key: object, blob: object) -> bytes | None:
    """Cut the header off; None if the header says that the geometry is empty."""
    if not isinstance(blob, bytes) or len(blob) < 8 or blob[:2] != b"GP":
        raise BadInput(
            f"the geometry of feature {key} begins with {blob!r:.20}",
            where=f"layer {layer}",
            expected="the letters GP of a GeoPackage header",
        )
    flags = blob[3]
    envelope = flags >> 1 & 7
    if flags & 0x20 or envelope >= len(_ENVELOPE_BYTES):
        raise BadInput(
            f"the geometry of feature {key} has flags {flags:#04x}",
            where=f"layer {layer}",
            expected="a standard geometry with a known envelope",
        )
    if flags & 0x10:
        return None
    body = blob[8 + _ENVELOPE_BYTES[envelope] :]
    if body[:5] not in _SIMPLE:
        try:
            expect_flat(body)
        except BadInput as error:
            raise _unreadable(layer, key, error.what) from error
    return body
