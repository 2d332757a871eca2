"""NumPy arrays and scalars out of their pickled parts, every length checked before it is used.

Arrays are read-only views of the bytes in the file: reading one copies nothing and allocates
nothing that the file did not hold.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

from navaudit.errors import BadInput, Refused
from navaudit.world.pickles.budget import Budget
from navaudit.world.pickles.values import Named, Objects, Stretch

_CODE: Final = re.compile(r"b1|[iu][1248]|f[248]|[US][1-9]\d{0,4}|O[48]?")
_ORDERS: Final = ("<", ">", "=", "|")
_MOST_AXES: Final = 16
_LONGEST_EMPTY: Final = 1 << 16
_LARGEST_RUNE: Final = 0x10FFFF

NDARRAY: Final = Named("numpy", "ndarray")
"""Stands for the class where ``_reconstruct`` is told what to make."""


class Dtype:
    """A dtype under construction: its code, and the byte order that its state brings."""

    __slots__ = ("code", "order")

    def __init__(self, code: str) -> None:
        self.code = code
        self.order: str | None = None

    def build(self, state: object) -> None:
        """Take the byte order out of a dtype's state; refuse fields and subarrays."""
        if self.order is not None:
            raise BadInput(f"dtype {self.code!r} is given its state twice")
        if type(state) is not tuple or len(state) != 8 or type(state[0]) is not int:
            raise Refused(f"dtype {self.code!r} has a state of its own", expected="a plain dtype")
        if any(part is not None for part in state[2:5]):
            raise Refused(f"dtype {self.code!r} has fields", expected="a plain dtype")
        if type(state[1]) is not str or state[1] not in _ORDERS:
            raise BadInput(f"dtype {self.code!r} has byte order {state[1]!r:.20}")
        self.order = state[1]

    @property
    def holds_objects(self) -> bool:
        """Whether elements are values of their own rather than bytes."""
        return self.code[0] == "O"

    def plain(self) -> np.dtype[Any]:
        """The NumPy dtype itself."""
        return _plain((self.order or "=") + self.code)


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """An array whose content is read when it is wanted."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    order: str
    """``C`` or ``F``."""
    content: Stretch
    """Where it lies."""

    def read(self, handle: int) -> Any:
        """Return the array, read-only, given the descriptor of the open file."""
        content = self.content.read(handle)
        _expect_bytes(self.shape, self.dtype, len(content))
        return _over(content, self.dtype, self.shape, self.order)


class Blank:
    """What ``_reconstruct`` makes: an array whose shape, dtype and bytes are yet to come."""

    __slots__ = ("slot",)

    def __init__(self) -> None:
        self.slot = -1

    def build(self, budget: Budget, state: object) -> Any:
        """Return the array that this state describes."""
        if type(state) is not tuple or len(state) != 5 or state[0] != 1:
            raise BadInput("an array's state is not that of an array")
        _, shape, dtype, fortran, content = state
        if type(dtype) is not Dtype or type(fortran) is not bool:
            raise BadInput("an array's state is not that of an array")
        if dtype.holds_objects:
            return _objects(shape, fortran, content)
        return _view(budget, content, dtype, shape, "F" if fortran else "C")


def make_dtype(_: Budget, code: object, *flags: object) -> Dtype:
    """``numpy.dtype(code, align, copy)``; of codes, numbers, booleans, strings and objects."""
    if type(code) is not str or not _CODE.fullmatch(code):
        raise Refused(
            f"asks for dtype {code!r:.60}", expected="a number, boolean, string or object"
        )
    if len(flags) > 2 or any(type(flag) not in (bool, int) for flag in flags):
        raise Refused(f"asks for dtype {code!r} with {len(flags)} further arguments")
    return Dtype(code)


def make_blank(_: Budget, cls: object, shape: object, code: object) -> Blank:
    """``_reconstruct(numpy.ndarray, (0,), b"b")``, always with these arguments."""
    if cls is not NDARRAY or shape != (0,) or code not in (b"b", "b"):
        raise Refused("asks for an array of another class than numpy.ndarray")
    return Blank()


def make_view(
    budget: Budget, content: object, dtype: object, shape: object, *layout: object
) -> Any:
    """``_frombuffer(bytes, dtype, shape, order[, axes])``."""
    order, axes = layout if len(layout) == 2 else (*layout, None)
    if type(dtype) is not Dtype or dtype.holds_objects or order not in ("C", "F", "K"):
        raise BadInput("an array over a buffer has no plain dtype or order")
    view = _view(budget, content, dtype, shape, "F" if order == "F" else "C")
    if order != "K" or axes is None:
        return view
    if isinstance(view, Placed):
        raise BadInput("an array's axes are in an order of their own", expected="C or F")
    if type(axes) is not tuple or len(axes) != view.ndim or sorted(axes) != list(range(view.ndim)):
        raise BadInput("an array's axes are not an order of its axes")
    return view.transpose(axes)


def make_scalar(budget: Budget, dtype: object, content: object) -> Any:
    """``scalar(dtype, bytes)``."""
    if type(dtype) is not Dtype or dtype.holds_objects:
        raise Refused("asks for a scalar that is an object", expected="a number or a string")
    plain = dtype.plain()
    if type(content) is not bytes or len(content) != plain.itemsize:
        raise BadInput(f"a scalar of dtype {plain} is not stored in {plain.itemsize} bytes")
    budget.spend(len(content))
    view = np.ndarray((), plain, content)
    if plain.kind in "bU":
        _expect_readable(view, content)
    return view[()]


def make_bytes(budget: Budget, text: object, encoding: object = "latin1") -> bytes | Stretch:
    """``_codecs.encode(text, "latin1")``, which is how protocols 0 to 2 write bytes."""
    if type(text) is Stretch and text.as_text and encoding in ("latin1", "latin-1"):
        return text
    if type(text) is not str or encoding not in ("latin1", "latin-1"):
        raise Refused("asks for an encoding", expected="latin1")
    budget.spend(len(text))
    return text.encode("latin-1")


@lru_cache(maxsize=256)
def _plain(code: str) -> np.dtype[Any]:
    return np.dtype(code)


def _view(budget: Budget, content: object, dtype: Dtype, shape: object, order: Any) -> Any:
    plain = dtype.plain()
    shape = _shape(shape)
    if type(content) is Stretch:
        if not content.as_text:
            _expect_bytes(shape, plain, content.length)
        return Placed(plain, shape, order, content)
    if type(content) is not bytes:
        raise BadInput(f"an array's content is {type(content).__name__}", expected="bytes")
    _expect_bytes(shape, plain, len(content))
    budget.spend(len(content))
    return _over(content, plain, shape, order)


def _expect_bytes(shape: tuple[int, ...], plain: np.dtype[Any], count: int) -> None:
    wanted = math.prod(shape) * plain.itemsize
    if wanted != count:
        raise BadInput(
            f"an array of shape {shape} and dtype {plain} is stored in {count} bytes",
            expected=f"{wanted} bytes",
        )


def _over(content: bytes, plain: np.dtype[Any], shape: tuple[int, ...], order: Any) -> Any:
    view: Any = np.ndarray(shape, plain, buffer=content, order=order)
    if plain.kind in "bU":
        _expect_readable(view, content)
    return view


def _shape(shape: object) -> tuple[int, ...]:
    if type(shape) is not tuple or len(shape) > _MOST_AXES:
        raise BadInput("an array's shape is not a shape")
    if any(type(length) is not int or length < 0 for length in shape):
        raise BadInput("an array's shape is not a shape")
    if 0 in shape and max(shape) > _LONGEST_EMPTY:
        # it holds no bytes that would bear the length out
        raise BadInput(f"an empty array has shape {shape}"[:80])
    return shape


def _expect_readable(view: Any, content: bytes) -> None:
    if not content:
        return
    if view.dtype.kind == "b":
        whole = int(np.frombuffer(content, np.uint8).max()) <= 1
    else:
        runes = np.frombuffer(content, view.dtype.byteorder.replace("=", "") + "u4")
        whole = int(runes.max()) <= _LARGEST_RUNE
    if not whole:
        raise BadInput(f"an array of dtype {view.dtype} holds what no such element can be")


def _objects(shape: object, fortran: bool, content: object) -> Objects:
    shape = _shape(shape)
    if type(content) is not list or math.prod(shape) != len(content):
        raise BadInput(f"an array of {shape} objects does not hold as many")
    if fortran and len(shape) > 1:
        raise BadInput("an array of objects is stored by columns", expected="by rows")
    return Objects(shape, content)
