"""One file for the scenes of one log: flat arrays to be mapped into memory, and a table of them.

The file, all numbers little-endian::

    head      64 bytes: "NAVSCENE", format as uint32, zeros
    scenes    one after the other, each from a multiple of 64 bytes on and padded to one;
              within a scene its arrays, each from a multiple of 64 bytes on, raw, C-ordered
    table     JSON, UTF-8; begins where the last scene ends
    tail      64 bytes: offset and length of the table as uint64, SHA-256 over head, table and
              these two numbers, zeros, "ENECSVAN"

The table has ``log``, ``inputs`` (what the scenes were made from: digests and settings),
``carried`` (what a planner that remembers takes from here into the next log), ``failures``, and
``scenes``: of each its ``token``, ``time_us``, the ``digest`` of `navaudit.scene.digest`, where it
lies (``offset``, ``length``), the ``sha256`` of those bytes, and ``arrays``: name to dtype, shape
and offset from the scene's own. So every byte is under some digest: those of the head and the
table are looked at when a file is opened, those of a scene when it is first read.

A file is written under another name, and takes its own when it is complete and on the disk.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from navaudit.errors import BadInput, NavauditError
from navaudit.scene.digest import digest
from navaudit.scene.scene import Scene
from navaudit.scene.shelving import DTYPES, Array, arrays_of, scene_from
from navaudit.scene.whole import whole_file

FORMAT: Final = 1
SUFFIX: Final = ".scenes"

_ALIGN: Final = 64
_BEGIN: Final = b"NAVSCENE"
_END: Final = b"ENECSVAN"
_HEAD: Final = struct.Struct("<8sI52x")
_PLACE: Final = struct.Struct("<QQ")
_TAIL: Final = struct.Struct("<16s32s8x8s")

_REMEDY: Final = "remove the file and make the scenes again"


@dataclass(frozen=True)
class Failure:
    """A scene, or a whole log, that could not be made."""

    token: str | None
    """None where the failure is the log's."""
    log: str
    what: str
    where: str | None = None
    expected: str | None = None
    remedy: str | None = None

    @classmethod
    def of(cls, error: NavauditError, token: str | None, log: str) -> Failure:
        """Keep what an error says."""
        return cls(token, log, error.what, error.where, error.expected, error.remedy)

    @classmethod
    def taken(cls, token: str, log: str, keeper: str) -> Failure:
        """Say that a scene of another log bears this token already."""
        return cls(
            token,
            log,
            "another scene bears this token",
            where=f"log {keeper}, which keeps it",
            expected="a token of its own for every scene",
            remedy="leave one of the logs out",
        )

    def __str__(self) -> str:
        whose = f"log {self.log}" if self.token is None else f"token {self.token}, log {self.log}"
        return f"{whose}: {NavauditError(**self.reason)}"

    @property
    def reason(self) -> dict[str, Any]:
        """What happened, where, what was expected and what to do about it."""
        return {key: value for key, value in asdict(self).items() if key not in ("token", "log")}


# ------------------------------------------------------------------------------------- writing


@dataclass
class LogWriter:
    """Takes the scenes of one log, in order of time, and the failures among them."""

    stream: BinaryIO
    log: str
    inputs: Mapping[str, Any]
    scenes: list[dict[str, Any]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    carried: tuple[str, ...] = ()
    """Set it before the end where something is carried into the next log."""

    def add(self, scene: Scene) -> None:
        """Write one more scene."""
        start, sha, places = self.stream.tell(), hashlib.sha256(), {}
        for name, array in arrays_of(scene).items():
            offset = self.stream.tell() - start
            places[name] = [array.dtype.str, list(array.shape), offset]
            self._put(array.tobytes(), sha)
        self.scenes.append({
            "token": scene.token,
            "time_us": scene.time_us,
            "digest": digest(scene),
            "offset": start,
            "length": self.stream.tell() - start,
            "sha256": sha.hexdigest(),
            "arrays": places,
        })  # fmt: skip

    def _put(self, data: bytes, sha: Any) -> None:
        padded = data + bytes(-len(data) % _ALIGN)
        sha.update(padded)
        self.stream.write(padded)

    def end(self, head: bytes) -> None:
        """Write the table and the tail."""
        table = {
            "log": self.log,
            "inputs": self.inputs,
            "carried": self.carried,
            "failures": [asdict(one) for one in self.failures],
            "scenes": self.scenes,
        }
        text = json.dumps(table, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()
        place = _PLACE.pack(self.stream.tell(), len(text))
        self.stream.write(text)
        self.stream.write(_TAIL.pack(place, _seal(head, text, place), _END))


@contextmanager
def writing_log(path: Path, log: str, inputs: Mapping[str, Any]) -> Iterator[LogWriter]:
    """Give a `LogWriter`; the file appears when the block ends without an error."""
    with whole_file(path) as stream:
        head = _HEAD.pack(_BEGIN, FORMAT)
        stream.write(head)
        writer = LogWriter(stream, log, inputs)
        yield writer
        writer.end(head)


def write_log(
    path: Path,
    log: str,
    inputs: Mapping[str, Any],
    scenes: Iterable[Scene],
    failures: Iterable[Failure] = (),
) -> None:
    """Write the scenes of one log, taking them one by one."""
    with writing_log(path, log, inputs) as writer:
        for scene in scenes:
            writer.add(scene)
        writer.failures.extend(failures)


# ------------------------------------------------------------------------------------- reading


class LogFile:
    """The scenes of one log, mapped into memory."""

    def __init__(self, path: Path) -> None:
        """Open a file; a damaged, foreign or newer one is refused with `BadInput`."""
        self.path = path
        self._bytes = _mapped(path)
        self.seal, table = _table(self._bytes, path)
        try:
            self.log = str(table["log"])
            self.inputs: dict[str, Any] = dict(table["inputs"])
            self.carried: tuple[str, ...] = tuple(table["carried"])
            self.failures = tuple(Failure(**one) for one in table["failures"])
            self._scenes: list[dict[str, Any]] = list(table["scenes"])
            self.tokens: tuple[str, ...] = tuple(one["token"] for one in self._scenes)
            self.times_us: tuple[int, ...] = tuple(one["time_us"] for one in self._scenes)
            self.digests: tuple[str, ...] = tuple(one["digest"] for one in self._scenes)
        except (KeyError, TypeError, ValueError) as error:
            raise _damaged(path, f"its table lacks or mistypes {error}") from error
        self._whole: set[int] = set()

    def __len__(self) -> int:
        return len(self._scenes)

    def scene(self, row: int) -> Scene:
        """Return one scene; its arrays are read-only views of the file."""
        try:
            return scene_from(self._arrays(self._scenes[row], row))
        except (KeyError, TypeError, ValueError, NavauditError) as error:
            if isinstance(error, BadInput) and error.remedy == _REMEDY:
                raise
            raise _damaged(self.path, f"scene {row} does not fit together: {error}") from error

    def require_whole(self) -> None:
        """Look at every byte of every scene."""
        for row, entry in enumerate(self._scenes):
            self._require_sound(entry, row)

    def _arrays(self, entry: Mapping[str, Any], row: int) -> dict[str, Array]:
        self._require_sound(entry, row)
        arrays = {}
        for name, (dtype, shape, offset) in entry["arrays"].items():
            size = math.prod(shape) * np.dtype(dtype).itemsize
            if dtype not in DTYPES or min(offset, size) < 0 or offset + size > entry["length"]:
                raise ValueError(f"array {name} is {dtype} {shape} at {offset}")
            arrays[name] = np.ndarray(shape, dtype, self._bytes, entry["offset"] + offset)
        return arrays

    def _require_sound(self, entry: Mapping[str, Any], row: int) -> None:
        if row in self._whole:
            return
        start, stop = entry["offset"], entry["offset"] + entry["length"]
        with memoryview(self._bytes) as view, view[start:stop] as part:
            sound = hashlib.sha256(part).hexdigest() == entry["sha256"]
        if not sound:
            raise _damaged(self.path, f"the bytes of scene {row} are not those written")
        self._whole.add(row)


def _mapped(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as stream:
            size = stream.seek(0, 2)
            if size >= _HEAD.size + _TAIL.size:
                return mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise BadInput(f"the scenes cannot be read: {error}", where=str(path)) from error
    raise _damaged(path, f"it has {size} bytes")


def _table(data: mmap.mmap, path: Path) -> tuple[str, dict[str, Any]]:
    begin, version = _HEAD.unpack_from(data)
    if begin != _BEGIN:
        raise BadInput(
            "this is not a file of scenes", where=str(path), expected=f"{_BEGIN.decode()} in front"
        )
    if version != FORMAT:
        raise BadInput(
            f"the file has format {version}",
            where=str(path),
            expected=f"format {FORMAT}",
            remedy="read it with the navaudit that wrote it, or make the scenes again",
        )
    place, seal, end = _TAIL.unpack_from(data, len(data) - _TAIL.size)
    if end != _END:
        raise _damaged(path, "its end is missing")
    offset, length = _PLACE.unpack(place)
    if offset + length != len(data) - _TAIL.size:
        raise _damaged(path, f"its table is said to end at byte {offset + length}")
    text = data[offset : offset + length]
    if _seal(data[: _HEAD.size], text, place) != seal or any(data[-16:-8]):
        raise _damaged(path, "its table is not the one written")
    table = json.loads(text)
    if not isinstance(table, dict):
        raise _damaged(path, "its table is no table")
    return seal.hex(), table


def _seal(head: bytes, table: bytes, place: bytes) -> bytes:
    return hashlib.sha256(head + table + place).digest()


def _damaged(path: Path, how: str) -> BadInput:
    return BadInput(f"the file of scenes is damaged: {how}", where=str(path), remedy=_REMEDY)
