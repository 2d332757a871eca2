"""Well-known binary, walked before GEOS sees it: counts are checked and nothing nests deep."""

from __future__ import annotations

import struct

from navaudit.errors import BadInput

_POINT, _LINE, _POLYGON = 1, 2, 3
_MULTI_OF = {4: _POINT, 5: _LINE, 6: _POLYGON}
_HAS_Z, _HAS_M, _HAS_SRID = 0x80000000, 0x40000000, 0x20000000


def expect_flat(data: bytes) -> None:
    """Raise `BadInput` unless these bytes are one simple geometry, or several of one sort."""
    try:
        end = _walk(data, 0, frozenset({_POINT, _LINE, _POLYGON, *_MULTI_OF}))
    except (struct.error, IndexError) as error:
        raise BadInput("a geometry ends before its last point") from error
    if end != len(data):
        raise BadInput(f"a geometry of {end} bytes is stored in {len(data)} bytes")


def _walk(data: bytes, at: int, allowed: frozenset[int]) -> int:
    order = {0: ">", 1: "<"}.get(data[at])
    if order is None:
        raise BadInput(f"a geometry has byte order {data[at]}", expected="0 or 1")
    (code,) = struct.unpack_from(order + "I", data, at + 1)
    at += 9 if code & _HAS_SRID else 5
    sort, ordinates = _sort(code)
    if sort not in allowed:
        raise BadInput(
            f"a geometry has type {sort}",
            expected="a point, a line string or a polygon, or several",
        )
    if sort in _MULTI_OF:
        (count,) = struct.unpack_from(order + "I", data, at)
        at += 4
        for _ in range(count):
            at = _walk(data, at, frozenset({_MULTI_OF[sort]}))
        return at
    if sort == _POINT:
        return _within(data, at + 8 * ordinates)
    return _skip_rings(data, at, order, 8 * ordinates, sort == _POLYGON)


def _sort(code: int) -> tuple[int, int]:
    ordinates = 2 + bool(code & _HAS_Z) + bool(code & _HAS_M)
    plain = code & ~(_HAS_Z | _HAS_M | _HAS_SRID)
    # the ISO spelling adds thousands: 1 for z, 2 for m, 3 for both
    thousands, sort = divmod(plain, 1000)
    return sort, ordinates + {0: 0, 1: 1, 2: 1, 3: 2}.get(thousands, 0)


def _skip_rings(data: bytes, at: int, order: str, stride: int, several: bool) -> int:
    count = 1
    if several:
        (count,) = struct.unpack_from(order + "I", data, at)
        at += 4
    for _ in range(count):
        (points,) = struct.unpack_from(order + "I", data, at)
        at = _within(data, at + 4 + points * stride)
    return at


def _within(data: bytes, end: int) -> int:
    if end > len(data):
        raise BadInput(f"a geometry wants {end} bytes and has {len(data)}")
    return end
