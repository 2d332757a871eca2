"""One flat table of named numbers, and beside it where each comes from.

``numbers.json`` maps a name to the number as it is written, nothing else; names that are also the
paper's mean the same quantity. ``numbers.trace.json`` maps a name to its unrounded ``value``, the
``command`` that made it, the ``file`` that shows it in context, and the tokens behind it
(``cases``), and holds the ``provenance`` of the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from navaudit import provenance
from navaudit.errors import BadInput
from navaudit.findings import Finding
from navaudit.scene.whole import put

NUMBERS: Final = "numbers.json"
TRACE: Final = "numbers.trace.json"


def write_numbers(
    folder: Path,
    findings: Iterable[Finding],
    command: str,
    inputs: Mapping[str, Any],
    lead: str = "",
) -> dict[str, str]:
    """Write both tables whole; return the flat one. A name that comes twice is refused.

    ``lead`` is what a page says before the tables: a sentence or two, each line a paragraph.
    """
    flat: dict[str, str] = {}
    trace: dict[str, dict[str, Any]] = {}
    for one in findings:
        if one.name in flat:
            raise BadInput(f"two findings are named {one.name}", where=str(folder))
        flat[one.name] = one.text
        trace[one.name] = {
            "value": one.value,
            "command": command,
            "file": one.where,
            "cases": list(one.cases),
        }
    record: dict[str, Any] = {"numbers": trace, "inputs": dict(inputs)}
    if lead:
        record["lead"] = lead
    record["provenance"] = provenance.here()
    put(folder / TRACE, _json(record))
    put(folder / NUMBERS, _json(flat))
    return flat


def read_numbers(path: Path) -> dict[str, str]:
    """Read a flat table, given the file or the folder that holds it."""
    path = path / NUMBERS if path.is_dir() else path
    try:
        flat = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the table of numbers cannot be read: {error}",
            where=str(path),
            expected="a JSON object of names and numbers as they are written",
        ) from error
    if not isinstance(flat, dict) or not all(isinstance(one, str) for one in flat.values()):
        raise BadInput(
            "this is not a table of numbers",
            where=str(path),
            expected='a JSON object such as {"P1_count": "12,576"}',
        )
    return flat


def gather(paths: Iterable[Path]) -> dict[str, str]:
    """Read several flat tables as one; a number that two of them write differently is refused."""
    flat: dict[str, str] = {}
    first: dict[str, Path] = {}
    for path in paths:
        for name, text in read_numbers(path).items():
            if flat.setdefault(name, text) != text:
                raise BadInput(
                    f"{name} is {flat[name]} in one table and {text} in another",
                    where=f"{first[name]}, {path}",
                    expected="tables made from the same data",
                    remedy="leave one of them out",
                )
            first.setdefault(name, path)
    return flat


def _json(record: Mapping[str, Any]) -> bytes:
    return (json.dumps(record, indent=1, allow_nan=False) + "\n").encode()
