"""GTRS labels on disk: ``{token: {column: float16[candidate]}}``, in one pickle or a file a token.

The pickle of a whole split is far larger than memory. It is walked through once, which looks at
every opcode and passes over the values; what stays is where each column lies, 17 bytes of it. From
then on any token is nine reads away, for any number of threads at once.

The generator also leaves ``<token>/tmp.pkl``, each ``{column: float16[candidate]}``: a folder of
these is read in the same way.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any, BinaryIO, Final

import numpy as np

from navaudit.axes import COLUMNS
from navaudit.errors import BadInput
from navaudit.labels.places import SHAPE, Halves, Places
from navaudit.scene.whole import sweep_beside, whole_file
from navaudit.world import pickles
from navaudit.world.pickles import LABELS, Placed

Say = Callable[[str, int, int], None]
"""Told what happened, how many things are done, and how many there will be."""

EACH: Final = "tmp.pkl"
"""What the generator calls the file of one token, in a folder named after it."""

_PIECE: Final = 1 << 20
_MEGA: Final = 1 << 20
_TOLD_MEGA: Final = 512
_TOLD_FILES: Final = 1024


def silent(what: str, done: int, total: int) -> None:
    """Say nothing."""


class GtrsLabels:
    """GTRS labels, looked through once and read when they are wanted."""

    def __init__(self, path: Path, say: Say = silent) -> None:
        """Look through a pickle, or a folder of ``<token>/tmp.pkl``.

        Every token is looked at: one that lacks a column, or has another length or dtype, is
        refused by name. ``say`` is told of megabytes, or of the files of a folder.
        """
        self.path = Path(path)
        self.by_token = self.path.is_dir()
        """Whether each token has a file of its own."""
        self._stamps: list[tuple[int, int]] = []
        self._places, self.digest = self._look_through(say)
        self._row = self._places.tokens
        if not self._row:
            raise BadInput("there are no labels", where=str(path), expected=SHAPE)

    def _look_through(self, say: Say) -> tuple[Places, str]:
        """Find out where everything lies, and the digest of it all."""
        places, stop = Places(), Event()
        with ThreadPoolExecutor(1) as aside:
            # beside the walk, so that a file larger than memory comes off the disk once
            digest = aside.submit(digest_gtrs, self.path, stop.is_set)
            try:
                for token, columns in self._walk(say):
                    places.add(token, columns, str(self._file_of(token)))
            except BaseException:
                stop.set()
                raise
        return places, digest.result()

    def _walk(self, say: Say) -> Iterator[tuple[Any, Any]]:
        if self.by_token:
            yield from self._walk_folder(say)
            return
        if not self.path.is_file():
            raise BadInput("there is no such file or folder", where=str(self.path))
        self._stamps.append(_stamp(self.path.stat()))
        size, told = self._stamps[0][0] // _MEGA, 0
        for token, columns in pickles.places(self.path, LABELS):
            if (done := _far(columns) // _MEGA) >= told + _TOLD_MEGA:
                told = done
                say("", done, size)
            yield token, columns
        say("", size, size)

    def _walk_folder(self, say: Say) -> Iterator[tuple[Any, Any]]:
        folders = sorted(one for one in self.path.iterdir() if one.is_dir())
        for done, folder in enumerate(folders):
            file = folder / EACH
            if not file.is_file():
                raise BadInput(
                    "the folder of a token has no labels",
                    where=str(folder),
                    expected=EACH,
                    remedy="label the token again, or remove its folder",
                )
            self._stamps.append(_stamp(file.stat()))
            yield folder.name, dict(pickles.places(file, LABELS))
            if (done + 1) % _TOLD_FILES == 0 or done + 1 == len(folders):
                say("", done + 1, len(folders))

    def _file_of(self, token: object) -> Path:
        return self.path / str(token) / EACH if self.by_token else self.path

    @property
    def candidates(self) -> int:
        """How many each column holds."""
        return self._places.candidates

    @property
    def tokens(self) -> tuple[str, ...]:
        """In the order of the file; of a folder, by name."""
        return tuple(self._row)

    def __len__(self) -> int:
        return len(self._row)

    def __contains__(self, token: object) -> bool:
        return token in self._row

    def raw(self, token: str) -> Halves:
        """Return the values of one token as they stand there: ``[column, candidate]``."""
        row = self._row.get(token)
        if row is None:
            raise BadInput(
                f"there are no labels of {token}",
                where=str(self.path),
                expected=f"one of {len(self)} tokens",
            )
        file = self._file_of(token)
        try:
            handle = os.open(file, os.O_RDONLY)
        except OSError as error:
            raise BadInput(f"the labels cannot be read: {error}", where=str(file)) from error
        values = np.empty((len(COLUMNS), self.candidates), np.float16)
        try:
            self._expect_unchanged(handle, row, file)
            for column, into in enumerate(values):
                into[:] = self._places.column(row * len(COLUMNS) + column, handle)
        finally:
            os.close(handle)
        values.flags.writeable = False
        return values

    def _expect_unchanged(self, handle: int, row: int, file: Path) -> None:
        if _stamp(os.fstat(handle)) != self._stamps[row if self.by_token else 0]:
            raise BadInput(
                "the labels have changed since they were looked through",
                where=str(file),
                remedy="run again when nothing writes there any more",
            )


def digest_gtrs(path: Path, stopped: Callable[[], bool] = lambda: False) -> str:
    """SHA-256 of a pickle; of a folder, of its tokens and the digests of their files.

    Returns early, with nothing of worth, once ``stopped`` says so.
    """
    if not path.is_dir():
        return _digest_file(path, stopped)
    sha = hashlib.sha256()
    for file in sorted(path.glob(f"*/{EACH}")):
        sha.update(f"{file.parent.name} {_digest_file(file, stopped)}\n".encode())
    return sha.hexdigest()


def _digest_file(path: Path, stopped: Callable[[], bool]) -> str:
    sha = hashlib.sha256()
    with path.open("rb", buffering=0) as stream:
        while not stopped() and (piece := stream.read(_PIECE)):
            sha.update(piece)
    return sha.hexdigest()


def _stamp(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _far(columns: Any) -> int:
    """How far into the file an entry lies, where that can be told."""
    if not isinstance(columns, dict):
        return 0
    return max((one.content.offset for one in columns.values() if type(one) is Placed), default=0)


def write_gtrs(path: Path, labels: Iterable[tuple[str, Halves]]) -> str:
    """Write a GTRS pickle whole, of tokens and their values ``[column, candidate]``.

    Holds one token at a time. Equal labels in the same order give equal bytes, which Python's own
    unpickler reads with NumPy 1 or 2. Returns the SHA-256 of the file.
    """
    sweep_beside(path)
    with whole_file(path) as stream:
        hashing = _Hashing(stream)
        pickles.write_items(
            hashing, ((token, dict(zip(COLUMNS, values, strict=True))) for token, values in labels)
        )
        return hashing.end()


class _Hashing:
    """A stream that keeps the digest of what is written to it, and gathers small pieces."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.sha = hashlib.sha256()
        self.pending = bytearray()

    def write(self, data: bytes, /) -> None:
        """Take some bytes."""
        self.pending += data
        if len(self.pending) >= _PIECE:
            self._pass_on()

    def end(self) -> str:
        """Write what is pending; return the digest."""
        self._pass_on()
        return self.sha.hexdigest()

    def _pass_on(self) -> None:
        self.sha.update(self.pending)
        self.stream.write(self.pending)
        self.pending.clear()
