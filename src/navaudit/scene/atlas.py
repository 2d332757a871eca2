"""The maps of a run: each is read once, by whichever process needs it first, and mapped by all.

A city takes seconds to read and hundreds of megabytes to hold. So a map that was read is left in
the folder of the run as one file of flat arrays, which every process maps: the system keeps its
pages once, and takes them back when memory is short.

The file, numbers little-endian::

    head      64 bytes: "NAVATLAS", length of the table as uint64, SHA-256 of the table, zeros
    table     JSON: the map's stamp, and of each array its dtype, shape and offset
    arrays    each from a multiple of 64 bytes on, raw, C-ordered

A stamp says what a map was made from; a file with another one, or of another size, is written anew.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import struct
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Final, get_origin, get_type_hints

import numpy as np

from navaudit.errors import BadInput, NavauditError
from navaudit.scene.code import code_of
from navaudit.scene.shelving import Array, read_texts, texts_of
from navaudit.scene.whole import in_turn, whole_file
from navaudit.world.maps import Map, load_map
from navaudit.world.trigonometry import Trig

_ALIGN: Final = 64
_BEGIN: Final = b"NAVATLAS"
_HEAD: Final = struct.Struct("<8sQ32s16x")


class Atlas:
    """The maps under a maps root, as the processes of one run share them."""

    def __init__(self, folder: Path, root: Path, trig: Trig) -> None:
        """``folder`` is where the run keeps them; whoever owns it removes it in the end."""
        self.folder = folder
        self.root = root
        self.trig = trig
        self._maps: dict[str, Map | NavauditError] = {}

    def map(self, location: str, digest: str | None) -> Map:
        """Return the map of a location, given the digest of its file; None where there is none."""
        if location not in self._maps:
            try:
                self._maps[location] = self._read(location, digest)
            except NavauditError as error:
                self._maps[location] = error  # or every scene would read the file again
        found = self._maps[location]
        if isinstance(found, NavauditError):
            raise found
        return found

    def _read(self, location: str, digest: str | None) -> Map:
        if digest is None:
            return load_map(self.root, location, trig=self.trig)  # says what is wrong
        stamp = f"{digest} {self.trig.name} {code_of(Path(__file__))}"
        path = self.folder / f"{location}.map"
        with in_turn(path.with_suffix(".turn")):
            kept = open_map(path, stamp)
            if kept is not None:
                return kept
            own = load_map(self.root, location, trig=self.trig)
            try:
                keep_map(path, own, stamp)
            except BadInput:
                return own  # there is no room for it: then every process holds its own
            return open_map(path, stamp) or own


def keep_map(path: Path, map_: Map, stamp: str) -> None:
    """Write a map whole, to be opened with the same stamp."""
    arrays = {name: _little(array) for name, array in _taken_apart(map_, "map").items()}
    places: dict[str, list[Any]] = {}
    end = 0
    for name, array in arrays.items():
        places[name] = [array.dtype.str, list(array.shape), end]
        end += array.nbytes + -array.nbytes % _ALIGN
    table = json.dumps({"stamp": stamp, "arrays": places, "length": end}).encode()
    table += b" " * (-len(table) % _ALIGN)
    with whole_file(path) as stream:
        stream.write(_HEAD.pack(_BEGIN, len(table), hashlib.sha256(table).digest()))
        stream.write(table)
        for array in arrays.values():
            stream.write(array.data if array.nbytes else b"")
            stream.write(bytes(-array.nbytes % _ALIGN))


def open_map(path: Path, stamp: str) -> Map | None:
    """Return a kept map, its arrays views of the mapped file; None unless it is whole and this one.

    Every array is looked through once, as of any `Map`, so that broken ones do not pass.
    """
    if not path.is_file() or path.stat().st_size < _HEAD.size:
        return None
    with path.open("rb") as stream:
        data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    begin, length, seal = _HEAD.unpack_from(data)
    text = data[_HEAD.size : _HEAD.size + length]
    if begin != _BEGIN or hashlib.sha256(text).digest() != seal:
        return None
    table = json.loads(text)
    start = _HEAD.size + length
    if table["stamp"] != stamp or start + table["length"] != len(data):
        return None
    arrays = {
        # nothing can be mapped at the end of a file
        name: np.ndarray(shape, dtype, data, start + offset)
        if math.prod(shape)
        else np.empty(shape, dtype)
        for name, (dtype, shape, offset) in table["arrays"].items()
    }
    whole: Map = _put_together(Map, "map", arrays)
    return whole


# ------------------------------------------------------------------- a dataclass as named arrays


def _taken_apart(value: Any, name: str) -> dict[str, Array]:
    if is_dataclass(value):
        parts: dict[str, Array] = {}
        for one in fields(value):
            if one.init:
                parts |= _taken_apart(getattr(value, one.name), f"{name}.{one.name}")
        return parts
    if isinstance(value, tuple):
        return texts_of(name, value)
    if isinstance(value, str):
        return texts_of(name, (value,))
    return {name: np.asarray(value)}


def _put_together(kind: Any, name: str, arrays: Mapping[str, Array]) -> Any:
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        parts = {
            one.name: _put_together(hints[one.name], f"{name}.{one.name}", arrays)
            for one in fields(kind)
            if one.init
        }
        return kind(**parts)  # type: ignore[operator]
    if get_origin(kind) is tuple:
        return read_texts(arrays, name)
    if kind is str:
        return read_texts(arrays, name)[0]
    return int(arrays[name]) if kind is int else arrays[name]


def _little(array: Array) -> Array:
    return np.asarray(array, array.dtype.newbyteorder("<"), order="C")
