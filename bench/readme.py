"""README's table of measured figures, and the record it is written from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
MEASURED: Final = ROOT / "bench" / "measured.json"
README: Final = ROOT / "README.md"
BEGIN: Final = "<!-- measured -->\n"
END: Final = "<!-- end -->"


def read_record() -> dict[str, Any]:
    """What was measured last: figures and provenance of each bench module."""
    if not MEASURED.exists():
        return {"modules": {}}
    record: dict[str, Any] = json.loads(MEASURED.read_text())
    return record


def table(record: dict[str, Any]) -> str:
    """The measured figures as README shows them."""
    lines = ["| figure | measured | command |", "| --- | --- | --- |"]
    for module, measured in record["modules"].items():
        for name, figure in measured["figures"].items():
            what = f"{figure['headline']} ({figure['input']})"
            command = f"`python -m bench.{module} --only {name}`"
            lines.append(f"| {what} | {_brief(figure['value'])} | {command} |")
    return "\n".join(lines) + "\n"


def _brief(value: float) -> str:
    """Three digits, without an exponent where that is no longer to read."""
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e7 else f"{value:.3g}"


def with_table(readme: str, record: dict[str, Any]) -> str:
    """README with its measured block replaced."""
    head, _, rest = readme.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + table(record) + END + tail


def write(record: dict[str, Any]) -> None:
    """Keep the record and put its table into README."""
    MEASURED.write_text(json.dumps(record, indent=1) + "\n")
    README.write_text(with_table(README.read_text(), record))
