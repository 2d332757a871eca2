"""All figures, or those of some modules: ``python -m bench [MODULE...] [--write]``.

``--write`` also puts them into README and the docs, beside what was measured of the other modules
before; the figures are kept in ``bench/measured.json``, and a test reads both back against it.
"""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import Final

from bench import readme
from bench.figures import report, show, take
from rich.console import Console

MODULES: Final = (
    "exactness", "reference", "numerics", "trig", "stats", "scenes", "engine", "labels", "exchange",
    "audit", "agent", "train", "probe", "compare",
)  # fmt: skip


def main() -> None:
    """Take the figures; print them, and write them where asked to."""
    parser = argparse.ArgumentParser(description="Take every figure of the bench.")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"of {', '.join(MODULES)}")
    parser.add_argument("--write", action="store_true", help="put the figures into README")
    asked = parser.parse_args()
    unknown = sorted(set(asked.modules) - set(MODULES))
    if unknown:
        parser.error(f"no such module: {', '.join(unknown)}; there are {', '.join(MODULES)}")
    record = readme.read_record()
    measured = record["modules"]
    for name in MODULES:
        if asked.modules and name not in asked.modules:
            continue
        module = import_module(f"bench.{name}")
        every_core = getattr(module, "EVERY_CORE", ())
        figures = [take(measure, measure in every_core) for measure in module.FIGURES]
        for figure in figures:
            show(figure, Console())
        measured[name] = report(figures)
        record = {"modules": {one: measured[one] for one in MODULES if one in measured}}
        if asked.write:
            readme.write(record)


if __name__ == "__main__":
    main()
