"""The way back: plain values into a pickle that names foreign classes, none of them installed.

What is written is protocol 4, readable by Python 3.4 and later with NumPy 1 or 2 and shapely 2.
Equal values give equal bytes.
"""

from __future__ import annotations

import io
import lzma
import pickle
import struct
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath
from typing import Any, Final, Protocol

import numpy as np

from navaudit.errors import BadInput
from navaudit.world.pickles.arrays import NDARRAY
from navaudit.world.pickles.foreign import CACHE_NAMES, PLAIN_NAMES, QUATERNION_NAMES
from navaudit.world.pickles.kinds import Kind
from navaudit.world.pickles.values import Member, Named, Objects, Record, Wkb

_CLASSES: Final = {
    named.name: named for table in (CACHE_NAMES, QUATERNION_NAMES) for named in table.values()
}
_DTYPE: Final = PLAIN_NAMES["numpy", "dtype"]
_RECONSTRUCT: Final = PLAIN_NAMES["numpy.core.multiarray", "_reconstruct"]
_SCALAR: Final = PLAIN_NAMES["numpy.core.multiarray", "scalar"]
_PATH: Final = PLAIN_NAMES["pathlib", "PosixPath"]
_WKB: Final = CACHE_NAMES["shapely.io", "from_wkb"]
_FLEXIBLE: Final = "SU"


def dumps(value: Any) -> bytes:
    """Return the pickle of a value made of what `loads` gives.

    Examples
    --------
    >>> import pickle
    >>> pickle.loads(dumps({"a": [1, 2.5, None]}))
    {'a': [1, 2.5, None]}
    """
    out = io.BytesIO()
    writer = _Writer(out)
    writer.begin()
    writer.value(value)
    writer.end()
    return out.getvalue()


def write(path: Path, value: Any, kind: Kind) -> None:
    """Write one value to a file of a kind, inside an xz container where the kind asks for it."""
    data = dumps(value)
    path.write_bytes(lzma.compress(data, preset=0) if kind.xz else data)


class Sink(Protocol):
    """What can be written to."""

    def write(self, data: bytes, /) -> object:
        """Take some bytes."""
        ...


def write_items(out: Sink, entries: Iterable[tuple[Any, Any]]) -> None:
    """Write one dictionary entry by entry, holding only one of them at a time."""
    writer = _Writer(out)
    writer.begin()
    out.write(pickle.EMPTY_DICT + pickle.MEMOIZE)
    writer.count += 1
    for key, value in entries:
        writer.value(key)
        writer.value(value)
        out.write(pickle.SETITEM)
        writer.forget()
    writer.end()


class _Writer:
    """One writing: the stream, and what it may refer back to."""

    def __init__(self, out: Sink) -> None:
        self.put = out.write
        self.count = 0
        self.texts: dict[Any, int] = {}
        self.shared: dict[int, tuple[int, Any]] = {}

    def begin(self) -> None:
        self.put(pickle.PROTO + b"\x04")

    def end(self) -> None:
        self.put(pickle.STOP)

    def forget(self) -> None:
        """Refer back no longer to values that are about to go away."""
        self.shared.clear()

    def value(self, value: Any) -> None:
        writing = _WRITING.get(type(value))
        if writing is not None:
            writing(self, value)
        elif isinstance(value, np.generic):
            self.call(_SCALAR, value.dtype, value.tobytes())
        else:
            raise BadInput(f"a {type(value).__name__} cannot be pickled here")

    def call(self, function: Named, *arguments: Any) -> None:
        self.value(function)
        self.value(arguments)
        self.put(pickle.REDUCE)

    def known_text(self, key: Any) -> bool:
        """Refer back to an equal text, dtype or global if there is one."""
        slot = self.texts.get(key)
        if slot is None:
            return False
        self.fetch(slot)
        return True

    def remember_text(self, key: Any) -> None:
        self.texts[key] = self.memoize()

    def known(self, value: Any) -> bool:
        """Refer back to the same object if there is one."""
        found = self.shared.get(id(value))
        if found is None:
            return False
        self.fetch(found[0])
        return True

    def remember(self, value: Any) -> None:
        # the value is kept alive, or its id could come to mean another
        self.shared[id(value)] = self.memoize(), value

    def fetch(self, slot: int) -> None:
        if slot < 256:
            self.put(pickle.BINGET + bytes([slot]))
        else:
            self.put(pickle.LONG_BINGET + slot.to_bytes(4, "little"))

    def memoize(self) -> int:
        self.put(pickle.MEMOIZE)
        self.count += 1
        return self.count - 1


def _whole(w: _Writer, value: int) -> None:
    if 0 <= value < 256:
        w.put(pickle.BININT1 + bytes([value]))
    elif -(1 << 31) <= value < 1 << 31:
        w.put(pickle.BININT + struct.pack("<i", value))
    else:
        content = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        w.put(pickle.LONG1 + bytes([len(content)]) + content)


def _counted(w: _Writer, content: bytes, short: bytes, middle: bytes, long: bytes) -> None:
    count = len(content)
    if count < 256:
        w.put(short + bytes([count]))
    elif count < 1 << 32:
        w.put(middle + count.to_bytes(4, "little"))
    else:
        w.put(long + count.to_bytes(8, "little"))
    w.put(content)


def _text(w: _Writer, value: str) -> None:
    if not w.known_text(value):
        content = value.encode("utf-8", "surrogatepass")
        _counted(w, content, pickle.SHORT_BINUNICODE, pickle.BINUNICODE, pickle.BINUNICODE8)
        w.remember_text(value)


def _bytes(w: _Writer, value: bytes) -> None:
    _counted(w, value, pickle.SHORT_BINBYTES, pickle.BINBYTES, pickle.BINBYTES8)


def _tuple(w: _Writer, value: tuple[Any, ...]) -> None:
    w.put(pickle.MARK)
    for item in value:
        w.value(item)
    w.put(pickle.TUPLE)


def _list(w: _Writer, value: list[Any]) -> None:
    if not w.known(value):
        w.put(pickle.EMPTY_LIST)
        w.remember(value)
        w.put(pickle.MARK)
        for item in value:
            w.value(item)
        w.put(pickle.APPENDS)


def _dict(w: _Writer, value: dict[Any, Any]) -> None:
    if not w.known(value):
        w.put(pickle.EMPTY_DICT)
        w.remember(value)
        w.put(pickle.MARK)
        for key, item in value.items():
            w.value(key)
            w.value(item)
        w.put(pickle.SETITEMS)


def _named(w: _Writer, value: Named) -> None:
    if not w.known_text(value):
        w.value(value.module)
        w.value(value.attribute)
        w.put(pickle.STACK_GLOBAL)
        w.remember_text(value)


def _dtype(w: _Writer, value: np.dtype[Any]) -> None:
    if not w.known_text(value):
        order, code = value.str[0], value.str[1:]
        w.call(_DTYPE, "O8" if value.hasobject else code, False, True)
        w.remember_text(value)
        sizes = (value.itemsize, value.alignment) if value.kind in _FLEXIBLE else (-1, -1)
        w.value((3, order, None, None, None, *sizes, value.flags))
        w.put(pickle.BUILD)


def _array(w: _Writer, value: np.ndarray[Any, Any]) -> None:
    if not w.known(value):
        w.call(_RECONSTRUCT, NDARRAY, (0,), b"b")
        w.remember(value)
        w.value((1, value.shape, value.dtype, False, value.tobytes()))
        w.put(pickle.BUILD)


def _objects(w: _Writer, value: Objects) -> None:
    if not w.known(value):
        w.call(_RECONSTRUCT, NDARRAY, (0,), b"b")
        w.remember(value)
        w.value((1, value.shape, np.dtype(object), False, value.items))
        w.put(pickle.BUILD)


def _member(w: _Writer, value: Member) -> None:
    if not w.known_text(value):
        w.call(_class(value.name), value.value)
        w.remember_text(value)


def _record(w: _Writer, value: Record) -> None:
    if w.known(value):
        return
    cls = _class(value.name)
    if cls.parameters:
        w.call(cls, *(value[name] for name in cls.parameters))
        w.remember(value)
        return
    w.value(cls)
    w.put(pickle.EMPTY_TUPLE + pickle.NEWOBJ)
    w.remember(value)
    w.value((None, value.fields) if cls.slotted else value.fields)
    w.put(pickle.BUILD)


def _class(name: str) -> Named:
    try:
        return _CLASSES[name]
    except KeyError:
        raise BadInput(f"no class {name} can be named in a pickle written here") from None


def _wkb(w: _Writer, value: Wkb) -> None:
    if not w.known(value):
        w.call(_WKB, value.data)
        w.remember(value)


_WRITING: Final[dict[type, Callable[[_Writer, Any], Any]]] = {
    type(None): lambda w, _: w.put(pickle.NONE),
    bool: lambda w, value: w.put(pickle.NEWTRUE if value else pickle.NEWFALSE),
    int: _whole,
    float: lambda w, value: w.put(pickle.BINFLOAT + struct.pack(">d", value)),
    str: _text,
    bytes: _bytes,
    tuple: _tuple,
    list: _list,
    dict: _dict,
    PurePosixPath: lambda w, value: w.call(_PATH, *value.parts),
    Named: _named,
    Member: _member,
    Record: _record,
    Objects: _objects,
    Wkb: _wkb,
    np.ndarray: _array,
    **{type(np.dtype(code)): _dtype for code in "?bhilqBHILQefdOUS"},
}  # fmt: skip
