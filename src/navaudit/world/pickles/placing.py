"""Steps that leave long bytes where they are, and a memo that keeps next to nothing of them.

With these steps a walk through a file touches its opcodes and passes over its arrays: they come out
as `Placed`, to be read when they are wanted, in any order and by any process.  That makes it cheap
to remember every one of them, so that entries may share arrays.
"""

from __future__ import annotations

import pickle
import struct
from array import array
from bisect import bisect_left
from typing import Any, Final

import numpy as np

from navaudit.world.pickles.arrays import Placed
from navaudit.world.pickles.machine import Machine, Step
from navaudit.world.pickles.values import Stretch

SMALL: Final = 64
"""Bytes, and letters of a text, that are read at once; names and numbers are shorter."""

_SHORT_ARRAYS: Final = 1 << 16

_four = struct.Struct("<I").unpack
_eight = struct.Struct("<Q").unpack


def _bytes(m: Machine, length: int) -> None:
    if length <= SMALL:
        m.stack.append(m.take(length))
    else:
        m.stack.append(Stretch(m.skip(length), length, False))


def _text(m: Machine, length: int) -> None:
    if length <= SMALL:
        m.stack.append(str(m.take(length), "utf-8", "surrogatepass"))
    else:
        m.stack.append(Stretch(m.skip(length), length, True))


PLACING: Final[dict[bytes, Step]] = {
    pickle.SHORT_BINBYTES: lambda m: _bytes(m, m.take(1)[0]),
    pickle.BINBYTES: lambda m: _bytes(m, _four(m.take(4))[0]),
    pickle.BINBYTES8: lambda m: _bytes(m, _eight(m.take(8))[0]),
    pickle.BYTEARRAY8: lambda m: _bytes(m, _eight(m.take(8))[0]),
    pickle.SHORT_BINUNICODE: lambda m: _text(m, m.take(1)[0]),
    pickle.BINUNICODE: lambda m: _text(m, _four(m.take(4))[0]),
    pickle.BINUNICODE8: lambda m: _text(m, _eight(m.take(8))[0]),
}
"""What takes the place of the steps that read bytes and text."""


class Memo(dict[int, Any]):
    """What a walk remembers under its numbers.

    Texts and placed arrays of entries that are over take some twenty bytes each. Short arrays,
    which were read along, are kept whole, as far as there is room for them.
    """

    def __init__(self) -> None:
        super().__init__()
        self._slots = array("q")
        self._which = array("q")
        self._offsets = array("q")
        self._common: list[Any] = []
        self._known: dict[Any, int] = {}
        self._room = _SHORT_ARRAYS

    def put_by(self, slot: int, value: str | Placed) -> None:
        """Store away what is under a number; numbers come in order."""
        del self[slot]
        key: Any = value
        offset = -1
        if isinstance(value, Placed):
            place = value.content
            key = (value.dtype.str, value.shape, value.order, place.length, place.as_text)
            offset = place.offset
        which = self._known.setdefault(key, len(self._common))
        if which == len(self._common):
            self._common.append(value)
        self._slots.append(slot)
        self._which.append(which)
        self._offsets.append(offset)

    def has_room(self, value: np.ndarray[Any, Any]) -> bool:
        """Whether an array is short enough to stay; counts those that are."""
        if value.nbytes > SMALL or self._room == 0:
            return False
        self._room -= 1
        return True

    def __missing__(self, slot: int) -> Any:
        at = bisect_left(self._slots, slot)
        if at == len(self._slots) or self._slots[at] != slot:
            raise KeyError(slot)
        value, offset = self._common[self._which[at]], self._offsets[at]
        if offset < 0:
            return value
        place = Stretch(offset, value.content.length, value.content.as_text)
        return Placed(value.dtype, value.shape, value.order, place)
