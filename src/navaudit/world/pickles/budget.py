"""What one file may make the machine do beyond reading its bytes once."""

from __future__ import annotations

from navaudit.errors import BadInput

_TIMES = 4
_ROOM = 1 << 16


class Budget:
    """Bytes that may still be copied or looked through; grows with the file, not with its claims.

    Examples
    --------
    >>> budget = Budget(100)
    >>> budget.spend(60_000)
    >>> budget.spend(60_000)
    Traceback (most recent call last):
    navaudit.errors.BadInput: the file uses the same bytes over and over
    """

    __slots__ = ("left",)

    def __init__(self, file_bytes: int) -> None:
        self.left = _TIMES * file_bytes + _ROOM

    def spend(self, count: int) -> None:
        """Take bytes off what is left."""
        self.left -= count
        if self.left < 0:
            raise BadInput("the file uses the same bytes over and over")
