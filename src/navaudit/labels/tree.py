"""The Zarr hierarchy of a label set: which arrays there are, and what their metadata say.

::

    zarr.json         attributes: what the set is made from; and the metadata of all arrays
    raw/              float16 [token, column, candidate], shards of 64 tokens, a chunk for each
    human/            float64 [token, column]
    path/             float16 [token, candidate], where the human fails lane keeping
    token/ log/       texts [token]
    column/           texts [column]

Every chunk ends with its CRC-32C, the small arrays' as well: a wrong human score would forgive, and
no label would look amiss. The arrays' metadata are repeated in the group's, as Zarr's consolidated
metadata: a reader then need not list the folder, and opens a remote one with a single request.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from navaudit.axes import COLUMNS
from navaudit.errors import BadInput
from navaudit.labels.shards import SHARD, shard_codec
from navaudit.scene.whole import put

GROUP: Final = "zarr.json"

_CHECKED: Final[dict[str, Any]] = {"name": "crc32c"}
_RAW_CODECS: Final[list[dict[str, Any]]] = [
    {"name": "bytes", "configuration": {"endian": "little"}},
    _CHECKED,
]
_TEXT_CODECS: Final[list[dict[str, Any]]] = [{"name": "vlen-utf8", "configuration": {}}, _CHECKED]
_CRC: Final = 4


def arrays_of(tokens: int, candidates: int, path: bool) -> dict[str, dict[str, Any]]:
    """Metadata of every array of a set, by name."""
    wide = len(COLUMNS) * candidates
    raw = _array(
        "float16",
        {"token": tokens, "column": len(COLUMNS), "candidate": candidates},
        (SHARD, len(COLUMNS), candidates),
        [shard_codec((1, len(COLUMNS), candidates), wide)],
    )
    along = _array(
        "float16",
        {"token": tokens, "candidate": candidates},
        (SHARD, candidates),
        [shard_codec((1, candidates), candidates)],
    )
    human = _array("float64", {"token": tokens, "column": len(COLUMNS)}, None, _RAW_CODECS)
    for one in (raw, along, human):
        one["attributes"] = {"coordinates": "log"}
    return {
        "raw": raw,
        "human": human,
        **({"path": along} if path else {}),
        "token": _array("string", {"token": tokens}, None, _TEXT_CODECS),
        "log": _array("string", {"token": tokens}, None, _TEXT_CODECS),
        "column": _array("string", {"column": len(COLUMNS)}, None, _TEXT_CODECS),
    }


def _array(
    dtype: str,
    shape: Mapping[str, int],
    chunk: Sequence[int] | None,
    codecs: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    # Zarr has no chunks of length zero, so an empty axis gets chunks of one
    whole = [max(length, 1) for length in shape.values()]
    return {
        "zarr_format": 3,
        "node_type": "array",
        "shape": list(shape.values()),
        "data_type": dtype,
        "chunk_grid": {
            "name": "regular",
            "configuration": {"chunk_shape": whole if chunk is None else list(chunk)},
        },
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": "" if dtype == "string" else "NaN",
        "codecs": list(codecs),
        "attributes": {},
        "dimension_names": list(shape),
        "storage_transformers": [],
    }


def write_small(
    folder: Path,
    arrays: Mapping[str, Mapping[str, Any]],
    tokens: Sequence[str],
    logs: Sequence[str],
    human: NDArray[np.float64],
) -> None:
    """Write the metadata of all arrays, and those arrays that are one chunk."""
    for name, metadata in arrays.items():
        put(folder / name / GROUP, _json(metadata))
    _put_checked(folder / "token" / "c" / "0", pack_texts(tokens))
    _put_checked(folder / "log" / "c" / "0", pack_texts(logs))
    _put_checked(folder / "column" / "c" / "0", pack_texts(COLUMNS))
    _put_checked(folder / "human" / "c" / "0" / "0", np.ascontiguousarray(human, "<f8").tobytes())


def _put_checked(path: Path, data: bytes) -> None:
    put(path, data + _sum_of(data))


def read_small(folder: Path, array: str) -> bytes:
    """Return the bytes of an array that is one chunk, if they are those that were written."""
    place = folder / array / "c" / ("0/0" if array == "human" else "0")
    data = place.read_bytes()
    if data[-_CRC:] != _sum_of(data[:-_CRC]):
        raise ValueError(f"the checksum of {array} does not fit")
    return data[:-_CRC]


def _sum_of(data: bytes) -> bytes:
    return int(google_crc32c.value(data)).to_bytes(_CRC, "little")


def write_group(
    folder: Path, attributes: Mapping[str, Any], arrays: Mapping[str, Mapping[str, Any]]
) -> None:
    """Write the metadata of the set itself: from then on it is complete."""
    group = {
        "zarr_format": 3,
        "node_type": "group",
        "attributes": dict(attributes),
        "consolidated_metadata": {
            "kind": "inline",
            "must_understand": False,
            "metadata": dict(arrays),
        },
    }
    put(folder / GROUP, _json(group))


def _json(value: object) -> bytes:
    return (json.dumps(value, indent=1, allow_nan=False) + "\n").encode()


def pack_texts(texts: Sequence[str]) -> bytes:
    """Texts as Zarr's ``vlen-utf8`` has them: their number, then each with its length in front."""
    return b"".join((struct.pack("<I", len(texts)), *map(_pack_text, texts)))


def _pack_text(text: str) -> bytes:
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise BadInput(f"the name {text!r} is no text", expected="UTF-8") from error
    return struct.pack("<I", len(encoded)) + encoded


def unpack_texts(data: bytes) -> Iterable[str]:
    """Give the texts back."""
    (count,) = struct.unpack_from("<I", data)
    place = 4
    for _ in range(count):
        (length,) = struct.unpack_from("<I", data, place)
        yield data[place + 4 : place + 4 + length].decode()
        place += 4 + length
