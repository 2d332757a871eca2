"""Which step an opcode takes; every opcode that is not here is refused by name."""

from __future__ import annotations

import pickle
from typing import Any, Final

from navaudit.errors import BadInput, Refused
from navaudit.world.pickles.atoms import ATOMS
from navaudit.world.pickles.containers import CONTAINERS
from navaudit.world.pickles.machine import Machine, Step
from navaudit.world.pickles.making import MAKING
from navaudit.world.pickles.placing import PLACING

_LATEST_PROTOCOL: Final = 5


class Done(Exception):  # noqa: N818 - not an error
    """The pickle has said STOP."""


def _stop(_: Machine) -> None:
    raise Done


def _protocol(m: Machine) -> None:
    if m.take(1)[0] > _LATEST_PROTOCOL:
        raise BadInput("the pickle has an unknown protocol", expected="0 to 5")


_KNOWN: Final[dict[bytes, Step]] = {
    pickle.STOP: _stop,
    pickle.PROTO: _protocol,
    **ATOMS,
    **CONTAINERS,
    **MAKING,
}


def _names() -> dict[int, str]:
    values: dict[str, Any] = vars(pickle)
    return {
        value[0]: name
        for name, value in values.items()
        if name.isupper() and isinstance(value, bytes) and len(value) == 1
    }


_NAMES: Final = _names()


def _refused(opcode: int) -> Step:
    name = _NAMES.get(opcode)

    def step(m: Machine) -> None:
        if name is None:
            raise BadInput(
                f"byte {opcode:#04x} at {m.at - 1} is no opcode", expected="a pickled file"
            )
        raise Refused(f"uses the opcode {name}", expected="what picklers write for plain data")

    return step


STEPS: Final = tuple(_KNOWN.get(bytes([code]), _refused(code)) for code in range(256))
"""``[opcode]``"""

PLACING_STEPS: Final = tuple(PLACING.get(bytes([code]), step) for code, step in enumerate(STEPS))
"""``[opcode]``: the same, leaving long bytes in the file."""

SETITEM: Final = pickle.SETITEM[0]
SETITEMS: Final = pickle.SETITEMS[0]

KEY_STARTS: Final = frozenset(
    code[0]
    for code in (
        pickle.SHORT_BINUNICODE,
        pickle.BINUNICODE,
        pickle.UNICODE,
        pickle.BINGET,
        pickle.LONG_BINGET,
        pickle.GET,
    )
)
"""Opcodes with which a dictionary's key can begin."""
