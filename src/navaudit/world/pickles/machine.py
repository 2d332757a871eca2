"""The state of one reading: the bytes, the stack, the memo, and what a step may ask of them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Final

from navaudit.errors import BadInput, Refused
from navaudit.world.pickles.budget import Budget
from navaudit.world.pickles.kinds import Kind
from navaudit.world.pickles.values import Named

BROKEN: Final = (IndexError, KeyError, TypeError, ValueError, OverflowError, struct.error)
"""What a step may raise where the bytes mean nothing; `Machine.broken` puts it in words."""

_MOST_SHOWN: Final = 80


class Machine:
    """One reading; ``data`` is anything that indexes, slices and finds like bytes."""

    __slots__ = ("at", "budget", "count", "data", "kind", "marks", "memo", "size", "stack")

    def __init__(self, data: Any, kind: Kind) -> None:
        self.data = data
        self.size = len(data)
        self.kind = kind
        self.at = 0
        self.stack: list[Any] = []
        self.marks: list[list[Any]] = []
        self.memo: dict[int, Any] = {}
        self.count = 0
        self.budget = Budget(self.size)

    def take(self, length: int) -> Any:
        """Return the next ``length`` bytes, which must be there."""
        start = self.skip(length)
        return self.data[start : self.at]

    def skip(self, length: int) -> int:
        """Pass over the next ``length`` bytes, which must be there; return where they begin."""
        start = self.at
        end = start + length
        if end > self.size:
            raise BadInput(
                f"{length} bytes are announced and {self.size - start} are left",
                expected="a whole file",
            )
        self.at = end
        return start

    def line(self) -> bytes:
        """Return the next line without its end."""
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise BadInput("the pickle ends inside a line", expected="a whole file")
        content: bytes = self.data[self.at : end]
        self.at = end + 1
        return content

    def since_mark(self) -> list[Any]:
        """Return what stands above the last mark, and take both away."""
        items = self.stack
        self.stack = self.marks.pop()
        return items

    def target(self, kind: type) -> Any:
        """Return the container on top of the stack that is about to be filled."""
        target = self.stack[-1]
        if type(target) is not kind:
            raise BadInput(
                f"the pickle fills a {type(target).__name__} as if it were a {kind.__name__}"
            )
        return target

    def put(self, slot: int) -> None:
        """Remember the top of the stack under a number; a number costs one entry, however large."""
        if slot < 0:
            raise BadInput(f"memo slot {slot}", expected="0 or more")
        if slot not in self.memo:
            self.count += 1
        self.memo[slot] = self.stack[-1]

    def named(self, module: str, name: str) -> Named:
        """Return the stand-in for a global, or refuse it."""
        found = self.kind.names.get((module, name))
        if found is None:
            shown = f"{module}.{name}".encode("unicode_escape").decode()[:_MOST_SHOWN]
            raise Refused(
                f"asks for {shown}, which a {self.kind.title} has no use for",
                expected="plain data and the classes of its kind",
                remedy="unpickle this file with nothing else unless you trust its author",
            )
        return found

    def result(self) -> Any:
        """Return what STOP leaves: exactly one value, and no bytes after it."""
        if self.marks or len(self.stack) != 1:
            raise BadInput("the pickle stops with its stack not cleared")
        if self.at != self.size:
            raise BadInput(f"{self.size - self.at} bytes follow the end of the pickle")
        return self.stack[0]

    def broken(self, error: Exception) -> BadInput:
        """Return the error for a file that ends early or means nothing."""
        if self.at >= self.size:
            return BadInput("the pickle ends before its last value", expected="a whole file")
        if isinstance(error, KeyError):
            return BadInput(
                f"the pickle refers to its value {error}, which is not there (any more)",
                expected="a whole file, or entries that stand alone",
            )
        text = f"{type(error).__name__}: {error}"[:_MOST_SHOWN]
        return BadInput(f"the pickle is broken at byte {self.at} ({text})", expected="a whole file")

    def too_long(self) -> BadInput:
        """Return the error for a file that does not come to an end."""
        return BadInput(
            f"the pickle has more than {self.kind.operations} operations",
            expected=f"a {self.kind.title}",
        )


Step = Callable[[Machine], None]
"""What an opcode does to a machine."""
