"""What must be equal whatever the data are, insisted on in every run."""

from __future__ import annotations

from typing import Any

from navaudit.errors import Unhealthy


def insist(what: str, one: Any, other: Any, where: str) -> None:
    """Refuse to go on where two counts differ that cannot."""
    if one != other:
        raise Unhealthy(
            f"an identity fails: {what}",
            where=where,
            expected=f"{one} = {other}",
            remedy="run navaudit doctor; if it finds nothing, this is a bug of navaudit",
        )
