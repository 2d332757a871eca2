"""The log of a run: a first line that says what it is, then one line of JSON a step."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TextIO

from navaudit.errors import BadInput, Refused
from navaudit.scene.whole import put

LOG: Final = "log.jsonl"


class Journal:
    """Appends lines; a run that goes on first drops the lines of steps it will do again."""

    def __init__(self, path: Path, told: Mapping[str, Any], step: int) -> None:
        """``told`` is what the run is; ``step`` how many of its steps are done."""
        self.path = path
        first = {"run": dict(told)}
        kept = read_journal(path) if path.exists() else []
        if kept and kept[0] != json.loads(json.dumps(first)):
            raise Refused(
                f"the log is of another run: {differing(kept[0].get('run', {}), told)}",
                where=str(path),
                remedy="name another folder, or remove this one",
            )
        lines = [first, *(one for one in kept[1:] if one["step"] <= step)]
        put(path, "".join(json.dumps(one) + "\n" for one in lines).encode())
        self._stream: TextIO = path.open("a", encoding="utf-8")

    def add(self, line: Mapping[str, Any]) -> None:
        """Add a line; it is in the file when this returns."""
        self._stream.write(json.dumps(line) + "\n")
        self._stream.flush()

    def settle(self) -> None:
        """See to it that what was added is on the disk."""
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()


def read_journal(path: Path) -> list[dict[str, Any]]:
    """Read a log; a last line that was cut short is left out."""
    lines = path.read_text(encoding="utf-8").splitlines()
    found: list[dict[str, Any]] = []
    for number, line in enumerate(lines):
        try:
            found.append(json.loads(line))
        except ValueError as error:
            if number == len(lines) - 1:
                break
            raise BadInput(
                f"line {number + 1} of the log is damaged: {error}", where=str(path)
            ) from error
    return found


def differing(have: Mapping[str, Any], want: Mapping[str, Any]) -> str:
    """Say which settings differ, in words."""
    keys = [key for key in sorted({*have, *want}) if have.get(key) != want.get(key)]
    return "; ".join(
        f"{key} is {have.get(key)!s:.48} there, and {want.get(key)!s:.48} is asked for"
        for key in keys
    )
