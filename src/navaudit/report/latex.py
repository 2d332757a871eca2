"""``numbers.tex``: every named number as LaTeX macros."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

_DIGITS: Final = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


def macro(name: str) -> str:
    r"""Return the LaTeX macro of a name: letters only, parts run together, digits spelt out.

    Examples
    --------
    >>> macro("LK_mixed"), macro("rt_P0A0_off_LK_all_hi")
    ('\\numLKMixed', '\\numRtPZeroAZeroOffLKAllHi')
    """
    parts = (part for part in re.split(r"[^A-Za-z0-9]+", name) if part)
    joined = "".join(part[0].upper() + part[1:] for part in parts)
    return "\\num" + re.sub(r"\d", lambda digit: _DIGITS[int(digit[0])], joined)


def latex(numbers: Mapping[str, str]) -> str:
    r"""Write ``numbers.tex``: one macro a number, and each also by its own name.

    ``\paperNumber{LK_mixed}`` and ``\numLKMixed`` both set the number.
    """
    lines = ["% Written by navaudit from numbers.json; one macro a number."]
    lines.append("\\providecommand{\\paperNumber}[1]{\\csname paper@number@#1\\endcsname}")
    taken: dict[str, str] = {}
    for name, text in numbers.items():
        written = _tex(text)
        lines.append(f"\\expandafter\\def\\csname paper@number@{name}\\endcsname{{{written}}}")
        command = macro(name)
        if taken.setdefault(command, name) == name:
            lines.append(f"\\providecommand{{{command}}}{{{written}}}")
    return "\n".join(lines) + "\n"


def _tex(text: str) -> str:
    """Set commas as thousands and signs as mathematics does."""
    if text.startswith(("-", "+")) and text[1:2].isdigit():
        return f"\\ensuremath{{{text}}}"
    return re.sub(r"([%&#_$])", r"\\\1", text)
