"""The Zarr hierarchy of logits: which arrays there are, and what their files hold.

::

    zarr.json      attributes: what the logits are made from, and the ledger of failures
    logits/        float32 [token, head, candidate], shards of 16 tokens, a chunk for each head
    token/ log/    texts [token]
    features/      texts [token]: digest of the pictures and status that a token was seen by
    head/          texts [head]

Logits hardly compress, so chunks are the numbers themselves and a CRC-32C. A token without logits,
because its pictures could not be read, has no chunks, and reads as NaN.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from navaudit.axes import HEADS
from navaudit.errors import BadInput
from navaudit.scene.whole import whole_file

Logits = NDArray[np.float32]

SHARD: Final = 16
"""Tokens in a shard."""

_COUNT: Final = SHARD * len(HEADS)
_NONE: Final = np.iinfo(np.uint64).max
_CRC: Final = 4
_INDEX: Final = 16 * _COUNT
_LITTLE: Final = {"name": "bytes", "configuration": {"endian": "little"}}
_CHECKED: Final = {"name": "crc32c"}
_TEXTS: Final = [{"name": "vlen-utf8", "configuration": {}}]


def arrays_of(tokens: int, candidates: int) -> dict[str, dict[str, Any]]:
    """Metadata of every array, by name."""
    sharding = {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": [1, 1, candidates],
            "codecs": [_LITTLE, _CHECKED],
            "index_codecs": [_LITTLE, _CHECKED],
            "index_location": "end",
        },
    }
    shape = {"token": tokens, "head": len(HEADS), "candidate": candidates}
    logits = _array("float32", shape, [SHARD, len(HEADS), candidates], [sharding])
    logits["attributes"] = {"coordinates": "log features"}
    texts = {
        name: _array("string", {"token": tokens}, [max(tokens, 1)], _TEXTS)
        for name in ("token", "log", "features")
    }
    head = _array("string", {"head": len(HEADS)}, [len(HEADS)], _TEXTS)
    return {"logits": logits, **texts, "head": head}


def _array(
    dtype: str, shape: Mapping[str, int], chunk: Sequence[int], codecs: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape.values()),
        "data_type": dtype,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "" if dtype == "string" else "NaN",
        "codecs": list(codecs),
        "attributes": {},
        "dimension_names": list(shape),
        "storage_transformers": [],
    }


def shard_path(folder: Path, shard: int) -> Path:
    """Return where a shard of a store lies."""
    return folder / "logits" / "c" / str(shard) / "0" / "0"


def write_shard(path: Path, tokens: Sequence[Logits | None]) -> None:
    """Write a shard whole, of ``[head, candidate]`` for each token or None for a missing one."""
    index = np.full((SHARD, len(HEADS), 2), _NONE, "<u8")
    with whole_file(path) as stream:
        for row, heads in enumerate(tokens):
            for head, values in enumerate([] if heads is None else heads):
                chunk = np.ascontiguousarray(values, "<f4").tobytes()
                index[row, head] = stream.tell(), len(chunk) + _CRC
                stream.write(chunk + _crc(chunk))
        packed = index.tobytes()
        stream.write(packed + _crc(packed))


class Shard:
    """One open shard; to be closed."""

    def __init__(self, path: Path, candidates: int) -> None:
        """Open a shard; a damaged one is refused."""
        self.path = path
        self.candidates = candidates
        try:
            self._handle = os.open(path, os.O_RDONLY)
        except OSError as error:
            raise damaged(f"a shard cannot be opened: {error}", path) from error
        try:
            self._index = self._read_index()
        except BadInput:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._handle)

    def has(self, row: int) -> bool:
        """Whether a token of the shard has logits."""
        return bool(self._index[row, 0, 0] != _NONE)

    def read(self, row: int, head: int, into: Logits) -> None:
        """Read the logits of one head of one token into ``[candidate]``."""
        offset, length = (int(one) for one in self._index[row, head])
        chunk = b"" if offset == _NONE else os.pread(self._handle, length, offset)
        if len(chunk) != 4 * self.candidates + _CRC or _crc(chunk[:-_CRC]) != chunk[-_CRC:]:
            raise damaged(f"head {HEADS[head]} of its token {row} is not whole", self.path)
        into[:] = np.frombuffer(chunk, "<f4", self.candidates)

    def _read_index(self) -> NDArray[np.uint64]:
        end = os.fstat(self._handle).st_size - _INDEX - _CRC
        packed = os.pread(self._handle, _INDEX + _CRC, max(end, 0))
        if end < 0 or _crc(packed[:_INDEX]) != packed[_INDEX:]:
            raise damaged("the index of a shard does not fit its checksum", self.path)
        return np.frombuffer(packed, "<u8", 2 * _COUNT).reshape(SHARD, len(HEADS), 2)


def damaged(how: str, path: Path) -> BadInput:
    """Return the error that a damaged store is."""
    return BadInput(
        f"stored logits are damaged: {how}",
        where=str(path),
        remedy="remove this file and make the logits again: the others are kept",
    )


def _crc(data: bytes) -> bytes:
    return bytes(google_crc32c.value(data).to_bytes(_CRC, "little"))
