"""Labels of one token as bytes: the codecs of the store, run here without its machinery.

A chunk is what Zarr's codecs ``bytes``, ``blosc`` and ``crc32c`` make of float16 values: bits
shuffled, zstd, a checksum. All of a token is one block, so bytes do not depend on threads; blosc
runs without its global state, so they do not depend on its environment variables either, and a
forked process can go on where its parent was.
"""

from __future__ import annotations

from typing import Any, Final

import google_crc32c
import numpy as np
from numcodecs import blosc  # type: ignore[import-untyped]
from numpy.typing import NDArray

from navaudit.errors import BadInput

Halves = NDArray[np.float16]

LEVEL: Final = 2
"""Of zstd, in blosc's counting: twice as fast to write as 5, and a hundredth larger."""

_CRC: Final = 4
_HEADER: Final = 16
_BITSHUFFLE: Final = 2

# blosc's other way of working reads the environment
blosc.use_threads = False


def codecs(values: int) -> list[dict[str, Any]]:
    """Zarr's description of the codecs, for chunks of so many values."""
    return [
        {"name": "bytes", "configuration": {"endian": "little"}},
        {
            "name": "blosc",
            "configuration": {
                "typesize": 2,
                "cname": "zstd",
                "clevel": LEVEL,
                "shuffle": "bitshuffle",
                "blocksize": 2 * values,
            },
        },
        {"name": "crc32c"},
    ]


def encode(values: Halves) -> bytes:
    """Return the chunk of some values.

    Examples
    --------
    >>> decode(encode(np.ones((9, 2), np.float16)), (9, 2), "here")[8]
    array([1., 1.], dtype=float16)
    """
    little = np.ascontiguousarray(values, "<f2")
    packed = blosc.compress(little, b"zstd", LEVEL, _BITSHUFFLE, little.nbytes)
    return bytes(packed) + google_crc32c.value(packed).to_bytes(_CRC, "little")


def sound(chunk: bytes) -> bool:
    """Whether the bytes of a chunk are those that were written."""
    kept = int.from_bytes(chunk[-_CRC:], "little")
    return len(chunk) > _HEADER + _CRC and kept == google_crc32c.value(chunk[:-_CRC])


def decode(chunk: bytes, shape: tuple[int, ...], where: str) -> Halves:
    """Return the values of a chunk, read-only; a damaged one is refused."""
    values = np.empty(shape, "<f2")
    if not sound(chunk):
        raise damaged("its checksum does not fit", where)
    # bytes 4 to 7 of blosc's header: the size of what was compressed
    size = int.from_bytes(chunk[4:8], "little")
    if size != values.nbytes:
        raise damaged(f"it holds {size} bytes, not {values.nbytes}", where)
    blosc.decompress(chunk[:-_CRC], values)
    values.flags.writeable = False
    return values


def damaged(how: str, where: str) -> BadInput:
    """Return the error that a damaged chunk is."""
    return BadInput(
        f"stored labels are damaged: {how}", where=where, remedy="make the label set again"
    )
