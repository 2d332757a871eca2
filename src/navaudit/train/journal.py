"""The log of a run: a first line that says what it is, then one line of JSON a step."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from itertools import pairwise
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
        _expect_all(path, [one["step"] for one in lines[1:]], step)
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
            found.append(_told(line, first=number == 0))
        except ValueError as error:
            if number == len(lines) - 1:
                break
            raise BadInput(
                f"line {number + 1} of the log is damaged: {error}", where=str(path)
            ) from error
    return found


def _told(line: str, first: bool) -> dict[str, Any]:
    told = json.loads(line)
    wanted = "run" if first else "step"
    if not isinstance(told, dict) or wanted not in told:
        raise ValueError(f"it tells of no {wanted}")
    return told


def _expect_all(path: Path, steps: list[int], done: int) -> None:
    for one, after in pairwise([*steps, done + 1]):
        if after != one + 1:
            raise BadInput(
                f"the log lacks steps {one + 1} to {after - 1}",
                where=str(path),
                expected=f"every step up to {done}, where the checkpoint stands",
                remedy="name another folder, or go on from an earlier checkpoint",
            )


def differing(have: Mapping[str, Any], want: Mapping[str, Any]) -> str:
    """Say which settings differ, in words."""
    return "; ".join(
        f"{key} is {_said(have, key, 'not')} there, and "
        f"{_said(want, key, 'it is not')} {'is ' * (key in want)}asked for"
        for key in sorted({*have, *want})
        if key not in have or key not in want or have[key] != want[key]
    )


def _said(settings: Mapping[str, Any], key: str, absent: str) -> str:
    return f"{settings[key]!s:.48}" if key in settings else absent
