"""Parcels: files in which finished labels wait until all of a set are there.

The file, all numbers little-endian::

    head      64 bytes: "NAVLABEL", format as uint32, zeros
    chunks    one after the other, as `navaudit.labels.chunks` encodes them
    table     JSON, UTF-8; begins where the last chunk ends
    tail      64 bytes: offset and length of the table as uint64, SHA-256 over head, table and
              these two numbers, zeros, "LEBALVAN"

The table has ``inputs`` (what the labels were made from), ``failures`` and ``tokens``: of each its
``token``, ``log``, ``human`` (bytes of float64 ``[column]`` as hexadecimal digits), the ``digest``
of what it holds, and where its chunks ``raw`` and ``path`` lie, as offset and length. A parcel is
written under another name, and takes its own when it is complete and on the disk.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import COLUMNS
from navaudit.errors import BadInput
from navaudit.labels.chunks import Halves, encode, sound
from navaudit.scene.logfile import Failure
from navaudit.scene.whole import whole_file

Floats = NDArray[np.float64]

SUFFIX: Final = ".labels"
FORMAT: Final = 1

_BEGIN: Final = b"NAVLABEL"
_END: Final = b"LEBALVAN"
_HEAD: Final = struct.Struct("<8sI52x")
_PLACE: Final = struct.Struct("<QQ")
_TAIL: Final = struct.Struct("<16s32s8x8s")


def digest_of(human: Floats, raw: Halves, path: Halves | None) -> str:
    """SHA-256 over all that is known of one token: human, raw values, those against the path."""
    sha = hashlib.sha256(np.ascontiguousarray(human, "<f8").data)
    sha.update(np.ascontiguousarray(raw, "<f2").data)
    if path is not None:
        sha.update(np.ascontiguousarray(path, "<f2").data)
    return sha.hexdigest()


@dataclass(frozen=True)
class Packed:
    """All that is known of one token, ready to be written."""

    token: str
    log: str
    human: bytes
    """Float64 ``[column]``, little-endian."""
    digest: str
    raw: bytes
    """The chunk of the values ``[column, candidate]``."""
    path: bytes | None
    """That of lane keeping against the human's path ``[candidate]``."""


def pack(
    token: str, log: str, human: Floats, raw: Halves, path: Halves | None, candidates: int
) -> Packed:
    """Pack the labels of one token; see `ParcelWriter.add`."""
    human = frozen(human, np.float64, (len(COLUMNS),))
    raw = frozen(raw, np.float16, (len(COLUMNS), candidates))
    path = None if path is None else frozen(path, np.float16, (candidates,))
    return Packed(
        token,
        log,
        human.astype("<f8").tobytes(),
        digest_of(human, raw, path),
        encode(raw),
        None if path is None else encode(path),
    )


@dataclass
class ParcelWriter:
    """Takes the labels of some tokens, one after the other, and the failures among them."""

    stream: BinaryIO
    candidates: int
    inputs: Mapping[str, Any]
    tokens: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    def add(
        self, token: str, log: str, human: Floats, raw: Halves, path: Halves | None = None
    ) -> Packed:
        """Write the labels of one more token, and return them packed.

        ``human`` is ``[column]``, NaN where unknown; ``raw`` ``[column, candidate]``; ``path``
        ``[candidate]``, for a token on which the human fails lane keeping.
        """
        packed = pack(token, log, human, raw, path, self.candidates)
        self.take(packed)
        return packed

    def take(self, packed: Packed) -> None:
        """Write the labels of one more token that are packed already."""
        self.tokens.append({
            "token": packed.token,
            "log": packed.log,
            "human": packed.human.hex(),
            "digest": packed.digest,
            "raw": self._put(packed.raw),
            "path": None if packed.path is None else self._put(packed.path),
        })  # fmt: skip

    def _put(self, chunk: bytes) -> tuple[int, int]:
        self.stream.write(chunk)
        return self.stream.tell() - len(chunk), len(chunk)

    def end(self, head: bytes) -> None:
        """Write the table and the tail."""
        table = {
            "inputs": self.inputs,
            "failures": [asdict(one) for one in self.failures],
            "tokens": self.tokens,
        }
        text = json.dumps(table, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
        place = _PLACE.pack(self.stream.tell(), len(text))
        self.stream.write(text)
        self.stream.write(_TAIL.pack(place, _seal(head, text, place), _END))


@contextmanager
def writing_parcel(
    path: Path, candidates: int, inputs: Mapping[str, Any]
) -> Iterator[ParcelWriter]:
    """Give a `ParcelWriter`; the file appears when the block ends without an error."""
    with whole_file(path) as stream:
        head = _HEAD.pack(_BEGIN, FORMAT)
        stream.write(head)
        writer = ParcelWriter(stream, candidates, inputs)
        yield writer
        writer.end(head)


class Parcel:
    """The labels of some tokens, as they were written."""

    def __init__(self, path: Path) -> None:
        """Open a file; a damaged or foreign one is refused with `BadInput`."""
        self.path = path
        table = _table(path)
        try:
            self.inputs: dict[str, Any] = dict(table["inputs"])
            self.failures = tuple(Failure(**one) for one in table["failures"])
            self._tokens: list[dict[str, Any]] = list(table["tokens"])
            self.tokens: tuple[str, ...] = tuple(one["token"] for one in self._tokens)
            self.logs: tuple[str, ...] = tuple(one["log"] for one in self._tokens)
            self.digests: tuple[str, ...] = tuple(one["digest"] for one in self._tokens)
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path, f"its table lacks or mistypes {error}") from error

    def __len__(self) -> int:
        return len(self._tokens)

    def human(self, row: int) -> Floats:
        """Return the human's scores ``[column]``."""
        return np.frombuffer(bytes.fromhex(self._tokens[row]["human"]), "<f8")

    def chunks(self, row: int) -> tuple[bytes, bytes | None]:
        """Return the encoded values of one token, raw and against the path."""
        entry = self._tokens[row]
        with self.path.open("rb") as stream:
            raw = self._chunk(stream.fileno(), *entry["raw"])
            path = self._chunk(stream.fileno(), *entry["path"]) if entry["path"] else None
        return raw, path

    def require_whole(self) -> None:
        """Look at every byte of every chunk."""
        for row in range(len(self)):
            self.chunks(row)

    def _chunk(self, handle: int, offset: int, length: int) -> bytes:
        chunk = os.pread(handle, length, offset)
        if len(chunk) != length or not sound(chunk):
            raise _damaged(self.path, f"the bytes from {offset} on are not those written")
        return chunk


def whole_parcel(path: Path, inputs: Mapping[str, Any]) -> Parcel | None:
    """Return the parcel that is there, if it is whole and was made from the same inputs."""
    if not path.is_file():
        return None
    try:
        parcel = Parcel(path)
        if parcel.inputs != json.loads(json.dumps(inputs)):
            return None
        parcel.require_whole()
    except BadInput:
        return None  # damaged, or of another format: it is made again
    return parcel


def _table(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            return _read_table(stream.fileno(), os.fstat(stream.fileno()).st_size, path)
    except OSError as error:
        raise BadInput(f"the parcel cannot be read: {error}", where=str(path)) from error


def _read_table(handle: int, size: int, path: Path) -> dict[str, Any]:
    if size < _HEAD.size + _TAIL.size:
        raise _damaged(path, f"it has {size} bytes")
    head = os.pread(handle, _HEAD.size, 0)
    if head != _HEAD.pack(_BEGIN, FORMAT):
        raise _damaged(path, f"it does not begin with {_BEGIN.decode()}, format {FORMAT}")
    tail = os.pread(handle, _TAIL.size, size - _TAIL.size)
    place, seal, _ = _TAIL.unpack(tail)
    offset, length = _PLACE.unpack(place)
    if tail != _TAIL.pack(place, seal, _END) or offset + length != size - _TAIL.size:
        raise _damaged(path, "its end is not the one written")
    text = os.pread(handle, length, offset)
    if _seal(head, text, place) != seal:
        raise _damaged(path, "its table is not the one written")
    table = json.loads(text)
    if not isinstance(table, dict):
        raise _damaged(path, "its table is no table")
    return table


def _seal(head: bytes, table: bytes, place: bytes) -> bytes:
    return hashlib.sha256(head + table + place).digest()


def _damaged(path: Path, how: str) -> BadInput:
    return BadInput(
        f"the parcel of labels is damaged: {how}",
        where=str(path),
        remedy="remove the file and run again: it is made anew",
    )
