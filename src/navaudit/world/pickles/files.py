"""From a file to plain values."""

from __future__ import annotations

import lzma
import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NoReturn

from navaudit.errors import BadInput, NavauditError
from navaudit.world.pickles.kinds import Kind
from navaudit.world.pickles.walk import entries, whole
from navaudit.world.pickles.weigh import weigh

_XZ_MEMORY: Final = 128 << 20
"""More than any preset of xz needs to unpack; a container that asks for more is refused."""

_STRANGE: Final = (
    (b"version https://git-lfs", "the stand-in that git keeps for a large file", "git lfs pull"),
    (b"<", "a web page", "download the file that it shows"),
    (b"\x1f\x8b", "packed by gzip", "gunzip"),
    (b"BZh", "packed by bzip2", "bunzip2"),
    (b"\xfd7zXZ\0", "packed by xz", "unxz"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd", "unzstd"),
    (b"PK\x03\x04", "a zip archive", "unzip, unless torch wrote it: it holds no plain data then"),
)
"""What comes in the place of a pickle, by how it begins; and what to do about it."""

_PASSED_BYTES: Final = 32 << 20
"""How much of a mapped file is passed before it is let go of."""

_BEGINNING: Final = 32
"""Bytes that tell what a file is."""


def loads(data: bytes, kind: Kind, where: str) -> Any:
    r"""Read one file's bytes; ``where`` names the file in errors.

    Examples
    --------
    >>> from navaudit.world.pickles import PLAIN, loads
    >>> loads(b"K\x01.", PLAIN, "one.pkl")
    1
    >>> loads(b"cos\nsystem\n(Vtrue\ntR.", PLAIN, "two.pkl")
    Traceback (most recent call last):
    navaudit.errors.Refused: asks for os.system, which a plain file has no use for
      where: two.pkl
      expected: plain data and the classes of its kind
      remedy: unpickle this file with nothing else unless you trust its author
    """
    try:
        payload = _unpack(data, kind) if kind.xz else data
        _expect_pickle(payload[:_BEGINNING], kind)
        return weigh(whole(payload, kind), kind)
    except NavauditError as error:
        _raise_in(error, where)


def read(path: Path, kind: Kind) -> Any:
    """Read a whole file into memory."""
    with _open(path, kind) as stream:
        data = stream.read(kind.file_bytes + 1)
    if len(data) > kind.file_bytes:
        raise BadInput(
            f"{kind.title} is larger than {kind.file_bytes} bytes",
            where=str(path),
            remedy="walk through it entry by entry",
        )
    return loads(data, kind, str(path))


def items(path: Path, kind: Kind) -> Iterator[tuple[Any, Any]]:
    """Walk through a file that holds one dictionary, entry by entry, whatever its size.

    The file is mapped, not read, so it must not shrink meanwhile.  Keys are distinct.
    """
    return _walk(path, kind, place=False)


def places(path: Path, kind: Kind) -> Iterator[tuple[Any, Any]]:
    """Walk as `items` does, but leave arrays where they are: they come as `Placed`.

    Arrays of a few bytes are read along. Entries may share arrays.
    """
    return _walk(path, kind, place=True)


def _walk(path: Path, kind: Kind, place: bool) -> Iterator[tuple[Any, Any]]:
    seen = set()
    with _open(path, kind) as stream:
        if path.stat().st_size == 0:
            raise BadInput(f"{kind.title} is empty", where=str(path))
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
            try:
                _expect_pickle(data[:_BEGINNING], kind)
                for key, value in entries(data, kind, place, _letting_go(data)):
                    if key in seen:
                        raise BadInput(f"entry {key!r:.60} stands there twice")
                    seen.add(key)
                    yield key, weigh(value, kind)
            except NavauditError as error:
                _raise_in(error, str(path))


def _expect_pickle(beginning: bytes, kind: Kind) -> None:
    """Name what a file is instead, where that is plain from how it begins."""
    for begins, what, remedy in _STRANGE:
        if beginning.startswith(begins):
            raise BadInput(
                f"{kind.title} is {what}", expected="a pickle as it was written", remedy=remedy
            )


def _letting_go(data: mmap.mmap) -> Callable[[int], None]:
    """Hand pages back as they are passed: a mapped page counts as memory of the process."""
    kept = 0

    def passed(at: int) -> None:
        nonlocal kept
        if at - kept >= _PASSED_BYTES:
            end = at // mmap.PAGESIZE * mmap.PAGESIZE
            data.madvise(mmap.MADV_DONTNEED, kept, end - kept)
            kept = end

    return passed


def _open(path: Path, kind: Kind) -> Any:
    if not path.is_file():
        raise BadInput(f"{kind.title} does not exist", where=str(path), expected="a regular file")
    try:
        return path.open("rb")
    except OSError as error:
        raise BadInput(f"{kind.title} cannot be opened: {error}", where=str(path)) from error


def _unpack(data: bytes, kind: Kind) -> bytes:
    unpacker = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    try:
        payload = unpacker.decompress(data, max_length=kind.pickle_bytes + 1)
    except lzma.LZMAError as error:
        raise BadInput(f"the xz container is broken: {error}", expected="a whole file") from error
    if len(payload) > kind.pickle_bytes:
        raise BadInput(
            f"the file unpacks to more than {kind.pickle_bytes} bytes", expected=f"a {kind.title}"
        )
    if not unpacker.eof:
        raise BadInput("the xz container ends before its end", expected="a whole file")
    if unpacker.unused_data:
        raise BadInput(f"{len(unpacker.unused_data)} bytes follow the xz container")
    return payload


def _raise_in(error: NavauditError, where: str) -> NoReturn:
    where = f"{where}, {error.where}" if error.where else where
    raise type(error)(
        error.what, where=where, expected=error.expected, remedy=error.remedy
    ) from error.__cause__
