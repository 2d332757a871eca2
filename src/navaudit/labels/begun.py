"""A log that is begun: its scenes' labels as they are made, until all of them are in a parcel.

A parcel appears when its log is finished. Until then each scene stands in a file beside it, one
record after the other, so that a run that is killed loses the scene it was at and no other::

    head      24 bytes: "NAVBEGUN", lengths of text, raw and path as uint32, CRC-32C of the lengths
              and of all that follows
    text      JSON, UTF-8: ``inputs`` in the first record; ``token``, ``log``, ``human`` and
              ``digest`` in the others
    chunks    raw, and path where there is one, as `navaudit.labels.chunks` encodes them

Nothing waits for the disk here: a record that a power cut has torn does not fit its checksum, and
is made again with those behind it.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import google_crc32c

from navaudit.labels.parcel import Packed
from navaudit.scene.whole import asking_the_disk

SUFFIX: Final = ".begun"

_BEGIN: Final = b"NAVBEGUN"
_LENGTHS: Final = struct.Struct("<III")
_HEAD: Final = struct.Struct("<8s12sI")


class Begun:
    """What is finished of a log."""

    def __init__(self, path: Path, inputs: Mapping[str, Any], handle: int) -> None:
        """Take over what an open file has of the same inputs; everything else is cut off."""
        self.path = path
        self._handle = handle
        self._found: dict[str, Packed] = {}
        end = 0
        for text, raw, along, stop in _records(handle):
            if not end and text != {"inputs": json.loads(json.dumps(inputs))}:
                break
            if end:
                packed = _unpack(text, raw, along)
                self._found[packed.token] = packed
            end = stop
        os.ftruncate(handle, end)
        if not end:
            self._append({"inputs": inputs}, b"", b"")

    def __len__(self) -> int:
        return len(self._found)

    def taken(self, token: str) -> Packed | None:
        """Return the labels of a scene that was finished before, once."""
        return self._found.pop(token, None)

    def keep(self, packed: Packed) -> None:
        """Write down the labels of one more scene."""
        told = {
            "token": packed.token,
            "log": packed.log,
            "human": packed.human.hex(),
            "digest": packed.digest,
        }
        self._append(told, packed.raw, packed.path or b"")

    def _append(self, told: Mapping[str, Any], raw: bytes, along: bytes) -> None:
        text = json.dumps(told, separators=(",", ":")).encode()
        lengths = _LENGTHS.pack(len(text), len(raw), len(along))
        body = text + raw + along
        record = _HEAD.pack(_BEGIN, lengths, google_crc32c.value(lengths + body)) + body
        with asking_the_disk(self.path):
            written = 0
            while written < len(record):
                written += os.write(self._handle, record[written:])


@contextmanager
def beginning(path: Path, inputs: Mapping[str, Any]) -> Iterator[Begun]:
    """Give what is there of a log; the file goes when the block ends without an error."""
    with asking_the_disk(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        # appended to, so that a worker whose run was killed cannot write over anything
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        with asking_the_disk(path):
            begun = Begun(path, inputs, handle)
        yield begun
    finally:
        os.close(handle)
    path.unlink(missing_ok=True)


def scenes_begun(path: Path, inputs: Mapping[str, Any]) -> int:
    """How many scenes of the same inputs a file has."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return 0
    try:
        texts = [text for text, *_ in _records(handle)]
    finally:
        os.close(handle)
    if not texts or texts[0] != {"inputs": json.loads(json.dumps(inputs))}:
        return 0
    return len({text["token"] for text in texts[1:]})


def _records(handle: int) -> Iterator[tuple[dict[str, Any], bytes, bytes, int]]:
    """Give every record up to the first that is not whole, and where it ends."""
    at = 0
    while len(head := os.pread(handle, _HEAD.size, at)) == _HEAD.size:
        begin, lengths, kept = _HEAD.unpack(head)
        text, raw, along = _LENGTHS.unpack(lengths)
        body = os.pread(handle, text + raw + along, at + _HEAD.size)
        if begin != _BEGIN or google_crc32c.value(lengths + body) != kept:
            return
        at += _HEAD.size + len(body)
        yield json.loads(body[:text]), body[text : text + raw], body[text + raw :], at


def _unpack(text: Mapping[str, Any], raw: bytes, along: bytes) -> Packed:
    human = bytes.fromhex(text["human"])
    return Packed(text["token"], text["log"], human, text["digest"], raw, along or None)
