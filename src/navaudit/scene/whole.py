"""Files that appear whole or not at all, also when the machine stops in the middle."""

from __future__ import annotations

import fcntl
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from navaudit.errors import BadInput, Refused

PART: Final = ".part"
"""How the names of unfinished files end; they begin with a dot."""


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Give a stream to write to; the file takes its place when the block ends without an error.

    What is written is on the disk before the file has its name, and the name before this returns.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}{PART}")
    try:
        with asking_the_disk(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with beside.open("wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.replace(beside, path)
            _settle(path.parent)
    finally:
        beside.unlink(missing_ok=True)


@contextmanager
def asking_the_disk(path: Path) -> Iterator[None]:
    """Tell what the disk refuses while a file is written as `BadInput`, with the file's name."""
    try:
        yield
    except OSError as error:
        raise BadInput(
            f"the file cannot be written: {error}",
            where=str(path),
            remedy="make room or permit it, then run again: what is finished is kept",
        ) from error


def put(path: Path, data: bytes) -> None:
    """Write a file whole."""
    with whole_file(path) as stream:
        stream.write(data)


def sweep(folder: Path) -> None:
    """Remove what writers that were killed have left."""
    for path in folder.glob(f".*{PART}"):
        path.unlink(missing_ok=True)


def sweep_beside(path: Path) -> None:
    """Remove what writers of one file have left that were killed; those that live are spared."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*{PART}"):
        writer = part.name.removesuffix(PART).rpartition(".")[2]
        if writer.isdecimal() and not _lives(int(writer)):
            part.unlink(missing_ok=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _settle(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold a lock file while the block runs; the system lets go of it however the process ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Refused(
                "another run is writing here",
                where=str(path.parent),
                remedy="wait for it, or end it and run again",
            ) from error
        yield


@contextmanager
def in_turn(path: Path) -> Iterator[None]:
    """Hold a lock file while the block runs, after waiting for whoever holds it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield
