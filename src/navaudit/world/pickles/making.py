"""Steps that name, call and build: the ones through which a pickle could run code, were it let."""

from __future__ import annotations

import pickle
from typing import Any, Final

from navaudit.errors import BadInput, Refused
from navaudit.world.pickles.arrays import Blank, Dtype
from navaudit.world.pickles.machine import Machine, Step
from navaudit.world.pickles.values import Named, Record


def name_by_lines(m: Machine) -> None:
    """GLOBAL."""
    module = str(m.line(), "utf-8")
    m.stack.append(m.named(module, str(m.line(), "utf-8")))


def name_by_stack(m: Machine) -> None:
    """STACK_GLOBAL."""
    name = m.stack.pop()
    module = m.stack.pop()
    if type(name) is not str or type(module) is not str:
        raise BadInput("the pickle names a global by something else than text")
    m.stack.append(m.named(module, name))


def new(m: Machine) -> None:
    """NEWOBJ: a blank record, never a class of anybody's."""
    arguments = m.stack.pop()
    cls = m.stack.pop()
    if type(cls) is not Named or cls.blank is None or arguments != ():
        raise Refused(f"asks for a new {_shown(cls)}", expected="a record of its kind")
    m.stack.append(cls.blank())


def call(m: Machine) -> None:
    """REDUCE: one of our own pure functions, never anything that came out of the file."""
    arguments = m.stack.pop()
    function = m.stack[-1]
    if type(function) is not Named or function.call is None or type(arguments) is not tuple:
        raise Refused(f"calls {_shown(function)}", expected="one of the calls of its kind")
    made: Any = function.call(m.budget, *arguments)
    if isinstance(made, Blank):
        # the slot in which the array under construction is about to be remembered
        made.slot = m.count
    m.stack[-1] = made


def build(m: Machine) -> None:
    """BUILD: fields into a record, a byte order into a dtype, or an array out of its parts."""
    state = m.stack.pop()
    target = m.stack[-1]
    kind = type(target)
    if kind is Record:
        _set_fields(m, target, state)
    elif kind is Dtype:
        target.build(state)
    elif kind is Blank:
        _complete(m, target, state)
    else:
        raise Refused(f"sets the state of {_shown(target)}", expected="a record of its kind")


def _complete(m: Machine, blank: Blank, state: Any) -> None:
    made = m.stack[-1] = blank.build(m.budget, state)
    if m.memo.get(blank.slot) is blank:
        m.memo[blank.slot] = made


def _set_fields(m: Machine, record: Record, state: Any) -> None:
    # a state is a dictionary, or a pair of one and of the slots' values, either of them None
    parts = state if type(state) is tuple and len(state) == 2 else (state,)
    for part in parts:
        if part is None:
            continue
        if type(part) is not dict:
            raise BadInput(f"the state of a {record.name} is {type(part).__name__}")
        if record.fields:
            m.budget.spend(64 * (len(record.fields) + len(part)))
            record.fields = {**record.fields, **part}
        else:
            record.fields = part


def _shown(value: Any) -> str:
    return value.name if type(value) in (Named, Record) else f"a {type(value).__name__}"


MAKING: Final[dict[bytes, Step]] = {
    pickle.GLOBAL: name_by_lines,
    pickle.STACK_GLOBAL: name_by_stack,
    pickle.NEWOBJ: new,
    pickle.REDUCE: call,
    pickle.BUILD: build,
}
