"""Where the columns of each token lie in label files, noted while these are looked through."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import COLUMNS
from navaudit.errors import BadInput
from navaudit.world.pickles import Placed
from navaudit.world.pickles.values import Stretch

Halves = NDArray[np.float16]

SHAPE: Final = "{token: {column: float16[candidate]}}"

_HALF: Final = np.dtype("<f2")
_NAMED: Final = 5
_REMEDY: Final = f"write it as the GTRS generator does: {SHAPE}"


@dataclass
class Places:
    """What has been noted, 17 bytes a column."""

    candidates: int = 0
    tokens: dict[str, int] = field(default_factory=dict)
    offset: array[int] = field(default_factory=lambda: array("q"))
    """``[token, column]``: in the file; below zero, that of a short one in ``held``, negated."""
    length: array[int] = field(default_factory=lambda: array("q"))
    as_text: array[int] = field(default_factory=lambda: array("b"))
    held: list[Halves] = field(default_factory=lambda: [np.empty(0, np.float16)])

    def add(self, token: object, columns: object, where: str) -> None:
        """Note where one more token lies, and refuse one that is not as labels are."""
        if type(token) is not str or not token.isprintable() or not token:
            raise BadInput(f"a token is {token!r:.60}", where=where, expected="text")
        where = f"{where}, token {token}"
        if not isinstance(columns, dict):
            raise BadInput(
                f"a token has {_what(columns)}", where=where, expected="columns", remedy=_REMEDY
            )
        _expect_columns(columns, where)
        for name in COLUMNS:
            self._add_column(columns[name], f"{where}, column {name}")
        self.tokens[token] = len(self.tokens)

    def column(self, place: int, handle: int) -> Halves:
        """Read one column, by its place among all of them, given the descriptor of its file."""
        offset = self.offset[place]
        if offset < 0:
            return self.held[-offset]
        content = Stretch(offset, self.length[place], bool(self.as_text[place]))
        array: Halves = Placed(_HALF, (self.candidates,), "C", content).read(handle)
        return array

    def _add_column(self, values: Any, where: str) -> None:
        if not isinstance(values, (Placed, np.ndarray)):
            raise BadInput(f"a column is {_what(values)}", where=where, expected="an array")
        if values.dtype != _HALF:
            raise BadInput(
                f"a column is {values.dtype}",
                where=where,
                expected="little-endian float16",
                remedy="swap its bytes where it was made"
                if values.dtype == _HALF.newbyteorder()
                else "convert it where it was made: numbers change when they are rounded",
            )
        if len(values.shape) != 1 or 0 in values.shape:
            raise BadInput(
                f"a column has shape {values.shape}", where=where, expected="[candidate]"
            )
        self.candidates = self.candidates or values.shape[0]
        if values.shape[0] != self.candidates:
            raise BadInput(
                f"a column has {values.shape[0]} candidates",
                where=where,
                expected=f"{self.candidates}, as in the columns before it",
            )
        if isinstance(values, Placed):
            self._note(values.content.offset, values.content.length, values.content.as_text)
        else:
            self._note(-len(self.held), 0, False)
            self.held.append(values)

    def _note(self, offset: int, length: int, as_text: bool) -> None:
        self.offset.append(offset)
        self.length.append(length)
        self.as_text.append(as_text)


def _expect_columns(columns: Mapping[Any, Any], where: str) -> None:
    missing = [name for name in COLUMNS if name not in columns]
    strange = [name for name in columns if name not in COLUMNS]
    if missing or strange:
        said = [f"no column {name}" for name in missing]
        said += [f"a column {name!r:.40} of its own" for name in strange[:_NAMED]]
        raise BadInput(
            f"the token has {', '.join(said)}",
            where=where,
            expected=f"the columns {', '.join(COLUMNS)}",
            remedy=None if missing else "leave the others out where the file is written",
        )


def _what(value: object) -> str:
    if isinstance(value, (Placed, np.ndarray)):
        return f"an array of shape {value.shape} and dtype {value.dtype}"
    return f"a {type(value).__name__}"
