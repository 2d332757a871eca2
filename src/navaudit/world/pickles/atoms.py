"""Steps for numbers, text and bytes."""

from __future__ import annotations

import pickle
import struct
from typing import Any, Final

from navaudit.errors import BadInput
from navaudit.world.pickles.machine import Machine, Step

_LONGEST_LINE: Final = 640
_LONGEST_NUMBER: Final = 255

_two = struct.Struct("<H").unpack_from
_four = struct.Struct("<I").unpack_from
_signed = struct.Struct("<i").unpack_from
_eight = struct.Struct("<Q").unpack_from
_real = struct.Struct(">d").unpack_from


def constant(value: Any) -> Step:
    """Push always the same."""
    return lambda m: m.stack.append(value)


def byte(m: Machine) -> None:
    """BININT1."""
    m.stack.append(m.data[m.at])
    m.at += 1


def short(m: Machine) -> None:
    """BININT2."""
    m.stack.append(_two(m.data, m.at)[0])
    m.at += 2


def whole(m: Machine) -> None:
    """BININT."""
    m.stack.append(_signed(m.data, m.at)[0])
    m.at += 4


def real(m: Machine) -> None:
    """BINFLOAT."""
    m.stack.append(_real(m.data, m.at)[0])
    m.at += 8


def long(m: Machine) -> None:
    """LONG1."""
    m.stack.append(int.from_bytes(m.take(m.take(1)[0]), "little", signed=True))


def longer(m: Machine) -> None:
    """LONG4, no longer than LONG1: arithmetic on huge numbers takes quadratic time."""
    length = _signed(m.data, m.at)[0]
    if not 0 <= length <= _LONGEST_NUMBER:
        raise BadInput(f"a number of {length} bytes", expected=f"at most {_LONGEST_NUMBER}")
    m.at += 4
    m.stack.append(int.from_bytes(m.take(length), "little", signed=True))


def short_line(m: Machine) -> bytes:
    """Return a line that holds no more than a number."""
    line = m.line()
    if len(line) > _LONGEST_LINE:
        raise BadInput(f"a number of {len(line)} digits", expected=f"at most {_LONGEST_LINE}")
    return line


def digits(m: Machine) -> int:
    """Return the whole number in a line."""
    return int(short_line(m).removesuffix(b"L"))


def int_line(m: Machine) -> None:
    """INT, which protocols 0 and 1 also write for booleans."""
    line = m.data[m.at : m.at + 3]
    if line in (b"00\n", b"01\n"):
        m.at += 3
        m.stack.append(line == b"01\n")
    else:
        m.stack.append(digits(m))


def long_line(m: Machine) -> None:
    """LONG."""
    m.stack.append(digits(m))


def float_line(m: Machine) -> None:
    """FLOAT."""
    m.stack.append(float(short_line(m)))


def text_line(m: Machine) -> None:
    """UNICODE."""
    m.stack.append(str(m.line(), "raw-unicode-escape"))


def short_text(m: Machine) -> None:
    """SHORT_BINUNICODE."""
    m.stack.append(str(_after_byte(m), "utf-8", "surrogatepass"))


def short_bytes(m: Machine) -> None:
    """SHORT_BINBYTES."""
    m.stack.append(_after_byte(m))


def _after_byte(m: Machine) -> Any:
    # take() with its own length, without the call: the commonest step with bytes in it
    start = m.at + 1
    end = m.at = start + m.data[m.at]
    if end > m.size:
        raise BadInput("the pickle ends inside a string", expected="a whole file")
    return m.data[start:end]


def _text(m: Machine, length: int) -> None:
    m.stack.append(str(m.take(length), "utf-8", "surrogatepass"))


def text_four(m: Machine) -> None:
    """BINUNICODE."""
    _text(m, _four(m.take(4))[0])


def text_eight(m: Machine) -> None:
    """BINUNICODE8."""
    _text(m, _eight(m.take(8))[0])


def bytes_four(m: Machine) -> None:
    """BINBYTES."""
    m.stack.append(m.take(_four(m.take(4))[0]))


def bytes_eight(m: Machine) -> None:
    """BINBYTES8 and BYTEARRAY8: read as bytes, since nothing here is written to."""
    m.stack.append(m.take(_eight(m.take(8))[0]))


def frame(m: Machine) -> None:
    """FRAME: the file must be at least as long as it says; otherwise it means nothing to us."""
    (length,) = _eight(m.take(8))
    if m.at + length > m.size:
        raise BadInput(
            f"{length} bytes are announced and {m.size - m.at} are left", expected="a whole file"
        )


def put_line(m: Machine) -> None:
    """PUT."""
    m.put(digits(m))


def put_byte(m: Machine) -> None:
    """BINPUT."""
    m.put(m.take(1)[0])


def put_four(m: Machine) -> None:
    """LONG_BINPUT."""
    m.put(_four(m.take(4))[0])


def memoize(m: Machine) -> None:
    """MEMOIZE."""
    m.memo[m.count] = m.stack[-1]
    m.count += 1


def fetch_line(m: Machine) -> None:
    """GET."""
    m.stack.append(m.memo[digits(m)])


def fetch_byte(m: Machine) -> None:
    """BINGET."""
    m.stack.append(m.memo[m.data[m.at]])
    m.at += 1


def fetch_four(m: Machine) -> None:
    """LONG_BINGET."""
    m.stack.append(m.memo[_four(m.data, m.at)[0]])
    m.at += 4


ATOMS: Final[dict[bytes, Step]] = {
    pickle.FRAME: frame,
    pickle.NONE: constant(None),
    pickle.NEWTRUE: constant(True),
    pickle.NEWFALSE: constant(False),
    pickle.BININT: whole,
    pickle.BININT1: byte,
    pickle.BININT2: short,
    pickle.LONG1: long,
    pickle.LONG4: longer,
    pickle.INT: int_line,
    pickle.LONG: long_line,
    pickle.FLOAT: float_line,
    pickle.BINFLOAT: real,
    pickle.UNICODE: text_line,
    pickle.SHORT_BINUNICODE: short_text,
    pickle.BINUNICODE: text_four,
    pickle.BINUNICODE8: text_eight,
    pickle.SHORT_BINBYTES: short_bytes,
    pickle.BINBYTES: bytes_four,
    pickle.BINBYTES8: bytes_eight,
    pickle.BYTEARRAY8: bytes_eight,
    pickle.PUT: put_line,
    pickle.BINPUT: put_byte,
    pickle.LONG_BINPUT: put_four,
    pickle.MEMOIZE: memoize,
    pickle.GET: fetch_line,
    pickle.BINGET: fetch_byte,
    pickle.LONG_BINGET: fetch_four,
    pickle.EMPTY_TUPLE: constant(()),
}
