"""All figures: ``python -m bench [--write]``; ``--write`` also puts them into README.

The figures of the last ``--write`` are kept in ``bench/measured.json``; a test reads README back
against it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, Final

from bench import engine, numerics, stats, trig
from bench.figures import report, show, take
from rich.console import Console

ROOT: Final = Path(__file__).parents[1]
MEASURED: Final = ROOT / "bench" / "measured.json"
README: Final = ROOT / "README.md"
BEGIN: Final = "<!-- measured -->\n"
END: Final = "<!-- end -->"
MODULES: Final = {"numerics": numerics, "trig": trig, "stats": stats, "engine": engine}


def table(record: dict[str, Any]) -> str:
    """The measured figures as README shows them."""
    lines = ["| figure | measured | command |", "| --- | --- | --- |"]
    for name, figure in record["figures"].items():
        command = f"`python -m bench.{figure['module']} --only {name}`"
        lines.append(
            f"| {figure['headline']} ({figure['input']}) | {figure['value']:.3g} | {command} |"
        )
    return "\n".join(lines) + "\n"


def with_table(readme: str, record: dict[str, Any]) -> str:
    """README with its measured block replaced."""
    head, _, rest = readme.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return head + BEGIN + table(record) + END + tail


def main() -> None:
    """Take every figure; print them, and write them where asked to."""
    parser = argparse.ArgumentParser(description="Take every figure of the bench.")
    parser.add_argument("--write", action="store_true", help="put the figures into README")
    asked = parser.parse_args()
    figures: dict[str, Any] = {}
    record: dict[str, Any] = {}
    for module_name, module in MODULES.items():
        for measure in module.FIGURES:
            figure = take(measure, measure in getattr(module, "EVERY_CORE", ()))
            show(figure, Console())
            record = report([figure])
            figures[figure.name] = {**record["figures"][figure.name], "module": module_name}
    record = {**record, "figures": figures}
    if asked.write:
        MEASURED.write_text(json.dumps(record, indent=1) + "\n")
        README.write_text(with_table(README.read_text(), record))


if __name__ == "__main__":
    main()
