"""Driving the machine: through a whole file, or from entry to entry of one large dictionary."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from navaudit.errors import BadInput, NavauditError
from navaudit.world.pickles.arrays import Dtype, Placed
from navaudit.world.pickles.budget import Budget
from navaudit.world.pickles.foreign import expect_key
from navaudit.world.pickles.kinds import Kind
from navaudit.world.pickles.machine import BROKEN, Machine, Step
from navaudit.world.pickles.opcodes import (
    KEY_STARTS,
    PLACING_STEPS,
    SETITEM,
    SETITEMS,
    STEPS,
    Done,
)
from navaudit.world.pickles.placing import Memo
from navaudit.world.pickles.values import Named, Stretch

_KEPT: Final = (int, float, np.generic, Named, Dtype)
_SHORT_BYTES: Final = 16
_PICKLERS_BATCH: Final = 1000

Passed = Callable[[int], None]
"""Told up to where the data is no longer needed."""


def _ignore(_: int) -> None:
    """Need everything."""


def whole(data: Any, kind: Kind) -> Any:
    """Read to STOP and return the one value that is left."""
    m = Machine(data, kind)
    steps = STEPS
    try:
        for _ in range(kind.operations):
            opcode = data[m.at]
            m.at += 1
            steps[opcode](m)
    except Done:
        return m.result()
    except BROKEN as error:
        raise m.broken(error) from error
    raise m.too_long()


def entries(
    data: Any, kind: Kind, place: bool = False, passed: Passed = _ignore
) -> Iterator[tuple[Any, Any]]:
    """Read a dictionary, yielding each key and value once the value is complete.

    With ``place``, long bytes stay in the file and arrays come as `Placed`.

    What was handed over is forgotten: an entry that refers back to a container of an earlier one,
    or to an array of it that was not placed, is `BadInput`.  Entries that are dictionaries
    themselves come one by one, others in the pickler's batches of up to a thousand.
    """
    m = Machine(data, kind)
    m.memo = memo = Memo()
    steps = PLACING_STEPS if place else STEPS
    forgotten = 0
    while True:
        start = m.at
        try:
            taken = _next(m, steps)
        except (NavauditError, *BROKEN) as error:
            raise _within(m, error) from error.__cause__ or error
        passed(m.at)
        if not taken:
            return
        for at in range(0, len(taken), 2):
            # an array's texts are texts as well
            key = str(taken[at]) if type(taken[at]) is np.str_ else taken[at]
            expect_key(key)
            yield key, taken[at + 1]
        forgotten = _forget(m, memo, forgotten)
        m.budget = Budget(m.at - start)


def _within(m: Machine, error: Exception) -> NavauditError:
    """Return an error that says within which entry it came up, and near which text."""
    if not isinstance(error, NavauditError):
        error = m.broken(error)
    standing = [value for part in (*m.marks, m.stack) for value in part]
    texts = [value for value in standing[1:] if type(value) is str]
    if not texts:
        return error
    near = f", near {texts[-1]!r:.60}" if len(texts) > 1 else ""
    return type(error)(
        error.what,
        where=f"entry {texts[0]!r:.60}{near}" + (f", {error.where}" if error.where else ""),
        expected=error.expected,
        remedy=error.remedy,
    )


def _next(m: Machine, steps: Sequence[Step]) -> list[Any]:
    # keys and values that are complete before the next step; none at the end
    data = m.data
    for _ in range(m.kind.operations):
        opcode = data[m.at]
        if len(m.marks) < 2 and _completes(m, opcode):
            return _taken(m, opcode)
        m.at += 1
        try:
            steps[opcode](m)
        except Done:
            _expect_root([m.result()])
            return []
    raise m.too_long()


def _completes(m: Machine, opcode: int) -> bool:
    if not m.marks:
        return opcode == SETITEM and len(m.stack) == 3
    if len(m.marks[0]) != 1:
        return False
    if opcode == SETITEMS:
        return bool(m.stack)
    if opcode not in KEY_STARTS or len(m.stack) != 2:
        return False
    # A filled dictionary followed by what can only be the next entry's key.  After a full batch
    # it could be the odd one out of the same dictionary; then the stack runs dry and we say so.
    value = m.stack[1]
    return type(value) is dict and len(value) % _PICKLERS_BATCH != 0


def _taken(m: Machine, opcode: int) -> list[Any]:
    if m.marks:
        _expect_root(m.marks[0])
        taken, m.stack = m.stack, []
    else:
        _expect_root(m.stack[:1])
        taken = m.stack[1:]
        del m.stack[1:]
    if opcode == SETITEM:
        m.at += 1
    if len(taken) % 2 or (opcode == SETITEM and len(taken) != 2):
        raise BadInput("a dictionary's keys and values are not in pairs")
    return taken


def _expect_root(below: list[Any]) -> None:
    if len(below) != 1 or type(below[0]) is not dict or below[0]:
        raise BadInput("the file is not one dictionary of entries")


def _forget(m: Machine, memo: Memo, first: int) -> int:
    for slot in range(first, m.count):
        value: Any = memo.get(slot)
        what = type(value)
        if what is str or what is Placed:
            memo.put_by(slot, value)
        elif what is tuple or what is Stretch:
            del memo[slot]
        elif what is np.ndarray and memo.has_room(value):
            continue
        elif not (isinstance(value, _KEPT) or (what is bytes and len(value) <= _SHORT_BYTES)):
            memo.pop(slot, None)
    return m.count
