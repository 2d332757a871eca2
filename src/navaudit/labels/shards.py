"""Shards of the store: one file for the chunks of 64 tokens, and an index of them at its end.

This is the file of Zarr's ``sharding_indexed`` codec: chunks one after the other, then for each its
offset and length as little-endian uint64, all ones where there is none, then a CRC-32C of these.
Chunks are copied into a shard as they are, and one is read by two reads.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from navaudit.labels.chunks import codecs, damaged
from navaudit.scene.whole import whole_file

SHARD: Final = 64
"""Tokens in a shard."""

_NONE: Final = np.iinfo(np.uint64).max
_INDEX: Final = SHARD * 16
_CRC: Final = 4


def shard_codec(inner: Sequence[int], values: int) -> dict[str, Any]:
    """Zarr's description of the codec, for inner chunks of this shape."""
    return {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": list(inner),
            "codecs": codecs(values),
            "index_codecs": [
                {"name": "bytes", "configuration": {"endian": "little"}},
                {"name": "crc32c"},
            ],
            "index_location": "end",
        },
    }


def write_shard(path: Path, chunks: Sequence[bytes | None]) -> None:
    """Write a shard whole; None stands for a chunk that there is none of."""
    index = np.full((SHARD, 2), _NONE, "<u8")
    with whole_file(path) as stream:
        for row, chunk in enumerate(chunks):
            if chunk is not None:
                index[row] = stream.tell(), len(chunk)
                stream.write(chunk)
        packed = index.tobytes()
        stream.write(packed)
        stream.write(google_crc32c.value(packed).to_bytes(_CRC, "little"))


class Shards:
    """The chunks of one array, token by token.

    Keeps the indices it has read, 1 KiB for every 64 tokens, and no file open.
    """

    def __init__(self, folder: Path, tail: str) -> None:
        """``tail`` is how the name of a shard goes on after its number."""
        self.folder = folder
        self.tail = tail
        self._index: dict[int, NDArray[np.uint64]] = {}

    def path(self, shard: int) -> Path:
        """Return where a shard lies."""
        return self.folder / "c" / f"{shard}{self.tail}"

    def chunk(self, row: int) -> bytes | None:
        """Return the chunk of one token, None where there is none."""
        return next(self.chunks(row, row + 1))

    def chunks(self, start: int, stop: int) -> Iterator[bytes | None]:
        """Give the chunks of some tokens, one after the other."""
        for shard in range(start // SHARD, -(-stop // SHARD)):
            first = shard * SHARD
            yield from self._read(shard, max(start - first, 0), min(stop - first, SHARD))

    def _read(self, shard: int, start: int, stop: int) -> Iterator[bytes | None]:
        path = self.path(shard)
        try:
            handle = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            yield from (None for _ in range(start, stop))
            return
        try:
            if shard not in self._index:
                self._index[shard] = _read_index(handle, path)
            for offset, length in self._index[shard][start:stop]:
                yield None if offset == _NONE else os.pread(handle, int(length), int(offset))
        finally:
            os.close(handle)


def _read_index(handle: int, path: Path) -> NDArray[np.uint64]:
    end = os.fstat(handle).st_size - _INDEX - _CRC
    packed = os.pread(handle, _INDEX + _CRC, max(end, 0))
    kept = int.from_bytes(packed[_INDEX:], "little")
    if end < 0 or len(packed) != _INDEX + _CRC or google_crc32c.value(packed[:_INDEX]) != kept:
        raise damaged("the index of a shard does not fit its checksum", str(path))
    index = np.frombuffer(packed, "<u8", 2 * SHARD).reshape(SHARD, 2)
    held = index[index[:, 0] != _NONE]
    if (held > end).any() or (held.sum(axis=1) > end).any():
        raise damaged("the index of a shard points beyond it", str(path))
    return index
