"""What a pickle is read into where plain Python has no word for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import shapely
from shapely.geometry.base import BaseGeometry

from navaudit.errors import BadInput
from navaudit.world.pickles.wkb import expect_flat


class Record:
    """An instance of a foreign class: the class's dotted name, and the fields that were stored.

    Examples
    --------
    >>> Record("road.Pose", {"x": 1.5})["x"]
    1.5
    """

    __slots__ = ("fields", "name")

    def __init__(self, name: str, fields: dict[str, Any] | None = None) -> None:
        self.name = name
        self.fields: dict[str, Any] = {} if fields is None else fields

    def __getitem__(self, field_name: str) -> Any:
        try:
            return self.fields[field_name]
        except KeyError:
            have = ", ".join(sorted(map(str, self.fields))[:20])
            raise BadInput(
                f"{self.name} has no field {field_name!r}", expected=f"it among: {have}"
            ) from None

    def __repr__(self) -> str:
        return f"Record({self.name!r}, {len(self.fields)} fields)"


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a foreign enumeration: the class's dotted name, and the member's value."""

    name: str
    value: int


@dataclass(frozen=True, slots=True, eq=False)
class Objects:
    """A NumPy array of objects: its shape, and its items in C order."""

    shape: tuple[int, ...]
    items: list[Any]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)


@dataclass(frozen=True, slots=True)
class Stretch:
    """Bytes that were left in their file."""

    offset: int
    length: int
    as_text: bool
    """Whether they stand there as text whose letters are the bytes, as protocol 2 has it."""

    def read(self, handle: int) -> bytes:
        """Return them, given the descriptor of the open file."""
        data = os.pread(handle, self.length, self.offset)
        if len(data) != self.length:
            raise BadInput(
                f"{self.length} bytes are wanted from byte {self.offset} and {len(data)} are there",
                expected="the file as it was when it was walked through",
            )
        if not self.as_text:
            return data
        try:
            return data.decode("utf-8").encode("latin-1")
        except UnicodeError as error:
            raise BadInput(f"text at byte {self.offset} does not stand for bytes") from error


@dataclass(frozen=True, slots=True)
class Wkb:
    """A shapely geometry as its well-known binary, as it stood in the file.

    Examples
    --------
    >>> Wkb(shapely.Point(1, 2).wkb).shape()
    <POINT (1 2)>
    """

    data: bytes = field(repr=False)

    def shape(self) -> BaseGeometry:
        """Build the geometry: a point, a line string, a polygon, or several of one of these."""
        expect_flat(self.data)
        try:
            return shapely.from_wkb(self.data)
        except shapely.errors.ShapelyError as error:
            raise BadInput(f"a geometry cannot be read: {error}") from error


@dataclass(frozen=True, slots=True, eq=False)
class Named:
    """A global on an allow-list: what calling it and what making a blank instance of it gives."""

    module: str
    attribute: str
    call: Callable[..., Any] | None = None
    """Takes the budget and the arguments of the pickle; None where calling is refused."""
    blank: Callable[[], Any] | None = None
    """Makes an instance whose state is yet to come; None where that is refused."""
    parameters: tuple[str, ...] = ()
    """Names of the constructor's arguments, for a record that is pickled by them."""
    slotted: bool = False
    """Whether the fields are slots, which a state keeps apart from other attributes."""

    @property
    def name(self) -> str:
        """Module and attribute, dotted."""
        return f"{self.module}.{self.attribute}"
