"""What was measured, where a reader finds it: a short table in README, every row in the docs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
MEASURED: Final = ROOT / "bench" / "measured.json"
README: Final = ROOT / "README.md"
DOCS: Final = ROOT / "docs" / "measured.md"
BEGIN: Final = "<!-- measured -->\n"
END: Final = "<!-- end -->"

TOLD: Final = (
    "golden_exactness", "reference_agreement", "scene_cost", "threads", "memory", "scene_making",
    "labelling", "size", "random_access", "audit_at_size", "profile_fits", "scene_auc",
    "cluster_bootstrap", "full_forward", "probe_auc", "comparison",
)  # fmt: skip
"""Figures that README tells of, in this order; the docs tell of all."""


def read_record() -> dict[str, Any]:
    """What was measured last: figures and provenance of each bench module."""
    if not MEASURED.exists():
        return {"modules": {}}
    record: dict[str, Any] = json.loads(MEASURED.read_text())
    return record


def table(record: dict[str, Any]) -> str:
    """The few figures that README shows."""
    figures = {
        name: (module, figure)
        for module, measured in record["modules"].items()
        for name, figure in measured["figures"].items()
    }
    lines = ["| figure | measured | command |", "| --- | --- | --- |"]
    for name in TOLD:
        if name in figures:
            module, figure = figures[name]
            what = f"{figure['headline']} ({figure['input']})"
            command = f"`python -m bench.{module} --only {name}`"
            lines.append(f"| {what} | {brief(figure['value'])} | {command} |")
    return "\n".join(lines) + "\n"


def every_row(record: dict[str, Any]) -> str:
    """Every figure with all its rows, and the machine it was measured on."""
    parts = []
    for module, measured in record["modules"].items():
        parts.append(f"## `python -m bench.{module}`\n\n{_machine(measured['provenance'])}\n")
        for name, figure in measured["figures"].items():
            told = f"{figure['headline']} ({figure['input']}): **{brief(figure['value'])}**"
            parts.append(f"### {name}\n\n{told}\n\n{_rows(figure['rows'])}")
    return "\n".join(parts)


def _machine(provenance: dict[str, Any]) -> str:
    return (
        f"On {provenance['processor']}, Python {provenance['python']}, "
        f"NumPy {provenance['numpy']}, code `{provenance['code'][:12]}`."
    )


def _rows(rows: list[dict[str, Any]]) -> str:
    head = list(rows[0])
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    for row in rows:
        cells = (brief(one) if isinstance(one, float) else str(one) for one in row.values())
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def brief(value: float) -> str:
    """Three digits, without an exponent where that is no longer to read."""
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e7 else f"{value:.3g}"


def with_block(page: str, block: str) -> str:
    """A page with its measured block replaced."""
    head, _, rest = page.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + block + END + tail


def write(record: dict[str, Any]) -> None:
    """Keep the record, and put its tables into README and the docs."""
    MEASURED.write_text(json.dumps(record, indent=1) + "\n")
    README.write_text(with_block(README.read_text(), table(record)))
    DOCS.write_text(with_block(DOCS.read_text(), every_row(record)))
