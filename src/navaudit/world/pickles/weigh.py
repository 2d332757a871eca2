"""Whether a finished value is known things without cycles, of bounded depth and unshared size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any, Final

import numpy as np

from navaudit.errors import BadInput
from navaudit.world.pickles.arrays import Placed
from navaudit.world.pickles.kinds import Kind
from navaudit.world.pickles.values import Member, Objects, Record, Wkb

_LEAVES: Final = frozenset({
    type(None), bool, int, float, str, bytes, Member, Wkb, PurePosixPath, np.ndarray, Placed,
    np.bool_, np.str_, np.bytes_,
    np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
    np.float16, np.float32, np.float64,
})  # fmt: skip


def weigh(value: Any, kind: Kind) -> Any:
    """Return the value itself, or raise `BadInput` if it is not fit to be handed on.

    A shared part counts as often as it is referred to, so a small file that stands for a huge
    value is found out without writing that value out.
    """
    if type(value) in _LEAVES:
        return value
    measured: dict[int, tuple[int, int]] = {}
    path = [_Open(value)]
    opened = {id(value)}
    while path:
        top = path[-1]
        part = top.next_unknown(measured)
        if part is None:
            path.pop()
            opened.discard(id(top.node))
            measured[id(top.node)] = top.size, top.depth
            _expect_within(top, kind)
            if path:
                path[-1].add(top.size, top.depth)
        elif id(part) in opened:
            raise BadInput("the file holds a value that contains itself")
        elif len(path) >= kind.depth:
            raise _too_deep(kind)
        else:
            opened.add(id(part))
            path.append(_Open(part))
    return value


class _Open:
    """A container some of whose parts are still to be measured."""

    __slots__ = ("depth", "node", "rest", "size")

    def __init__(self, node: Any) -> None:
        self.node = node
        self.rest = _parts(node)
        self.size = 1
        self.depth = 1

    def next_unknown(self, measured: dict[int, tuple[int, int]]) -> Any:
        """Add parts up to the first container not measured yet, and return that, or None."""
        for part in self.rest:
            if type(part) in _LEAVES:
                self.size += 1
                continue
            known = measured.get(id(part))
            if known is None:
                return part
            self.add(*known)
        return None

    def add(self, size: int, depth: int) -> None:
        """Count in one measured part."""
        self.size += size
        self.depth = max(self.depth, depth + 1)


def _parts(node: Any) -> Iterator[Any]:
    kind = type(node)
    if kind in (list, tuple, set, frozenset):
        return iter(node)
    if kind is dict:
        return iter(node.values())
    if kind is Record:
        return iter(node.fields.values())
    if kind is Objects:
        return iter(node.items)
    raise BadInput(
        f"the file holds a {kind.__name__} where a value should be", expected="plain data"
    )


def _expect_within(top: _Open, kind: Kind) -> None:
    if top.size > kind.values:
        raise BadInput(
            f"the file stands for more than {kind.values} values", expected=f"a {kind.title}"
        )
    if top.depth > kind.depth:
        raise _too_deep(kind)


def _too_deep(kind: Kind) -> BadInput:
    return BadInput(f"values are nested more than {kind.depth} deep", expected=f"a {kind.title}")
