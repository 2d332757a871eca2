"""Steps for lists, tuples, dictionaries and sets."""

from __future__ import annotations

import pickle
from typing import Any, Final

from navaudit.errors import BadInput
from navaudit.world.pickles.foreign import expect_key
from navaudit.world.pickles.machine import Machine, Step

_MOST_SHOWN: Final = 400


def mark(m: Machine) -> None:
    """MARK."""
    m.marks.append(m.stack)
    m.stack = []


def empty_list(m: Machine) -> None:
    """EMPTY_LIST."""
    m.stack.append([])


def empty_dict(m: Machine) -> None:
    """EMPTY_DICT."""
    m.stack.append({})


def empty_set(m: Machine) -> None:
    """EMPTY_SET."""
    m.stack.append(set())


def full_list(m: Machine) -> None:
    """LIST."""
    items = m.since_mark()
    m.stack.append(items)


def full_tuple(m: Machine) -> None:
    """TUPLE."""
    items = m.since_mark()
    m.stack.append(tuple(items))


def tuple1(m: Machine) -> None:
    """TUPLE1."""
    stack = m.stack
    stack[-1] = (stack[-1],)


def tuple2(m: Machine) -> None:
    """TUPLE2."""
    stack = m.stack
    last = stack.pop()
    stack[-1] = (stack[-1], last)


def tuple3(m: Machine) -> None:
    """TUPLE3."""
    stack = m.stack
    last = stack.pop()
    middle = stack.pop()
    stack[-1] = (stack[-1], middle, last)


def full_dict(m: Machine) -> None:
    """DICT."""
    items = m.since_mark()
    made: dict[Any, Any] = {}
    _fill(made, items)
    m.stack.append(made)


def full_set(m: Machine) -> None:
    """FROZENSET."""
    items = m.since_mark()
    for item in items:
        expect_key(item)
    m.stack.append(frozenset(items))


def append(m: Machine) -> None:
    """APPEND."""
    item = m.stack.pop()
    m.target(list).append(item)


def appends(m: Machine) -> None:
    """APPENDS."""
    items = m.since_mark()
    m.target(list).extend(items)


def set_item(m: Machine) -> None:
    """SETITEM."""
    value = m.stack.pop()
    key = m.stack.pop()
    _fill(m.target(dict), (key, value))


def set_items(m: Machine) -> None:
    """SETITEMS."""
    items = m.since_mark()
    _fill(m.target(dict), items)


def add_items(m: Machine) -> None:
    """ADDITEMS."""
    items = m.since_mark()
    for item in items:
        expect_key(item)
    m.target(set).update(items)


def _fill(target: dict[Any, Any], items: Any) -> None:
    before = len(target)
    for at in range(0, len(items), 2):
        key = items[at]
        if type(key) is not str:
            expect_key(key)
        target[key] = items[at + 1]
    if 2 * (len(target) - before) < len(items):
        raise BadInput(
            "a dictionary is given one of its keys twice",
            where=f"among {', '.join(map(repr, items[:64:2]))}"[:_MOST_SHOWN],
            expected="keys that differ",
        )


CONTAINERS: Final[dict[bytes, Step]] = {
    pickle.MARK: mark,
    pickle.EMPTY_LIST: empty_list,
    pickle.LIST: full_list,
    pickle.APPEND: append,
    pickle.APPENDS: appends,
    pickle.TUPLE: full_tuple,
    pickle.TUPLE1: tuple1,
    pickle.TUPLE2: tuple2,
    pickle.TUPLE3: tuple3,
    pickle.EMPTY_DICT: empty_dict,
    pickle.DICT: full_dict,
    pickle.SETITEM: set_item,
    pickle.SETITEMS: set_items,
    pickle.EMPTY_SET: empty_set,
    pickle.ADDITEMS: add_items,
    pickle.FROZENSET: full_set,
}
