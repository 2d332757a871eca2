"""Last steps: the page, and where the paper's numbers stand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from navaudit import provenance
from navaudit.demo.step import Demo, Facts
from navaudit.report.numbers import TRACE, gather
from navaudit.report.paper import stand, tally
from navaudit.report.report import PAGE, Browse, write_report
from navaudit.report.standings import write_standings

RESULTS: Final = (
    "certificate",
    "census",
    "audit",
    "flips",
    "processors",
    "trained",
    "probe",
    "compared",
)
"""Folders that the page tells of, where they are there."""

OF_THE_MACHINE: Final = ("navaudit processors", "navaudit probe", "navaudit train",
                         "navaudit compare")  # fmt: skip
"""Commands whose numbers hang on the processor: what kernels it has, and how training adds up."""

OF_THE_LIBRARY: Final = ("solver_",)
"""Beginnings of names of numbers that say how far a library strays."""


def write_page(demo: Demo) -> Facts:
    """Put everything on one page, with scenes to look at."""
    folders = [demo.at(name) for name in RESULTS if (demo.at(name) / TRACE).is_file()]
    browse = Browse(demo.scenes(), demo.labels(), demo.vocabulary(), demo.settings.browsed)
    out = demo.at("report")
    page = write_report(out, folders, browse, "A study of a synthetic town", demo.say)
    shared = shared_numbers(out)
    return {
        "page": str(page.relative_to(demo.folder)),
        "numbers": len(gather([out])),
        "shared_numbers": len(shared),
        "digest": provenance.digest_settings(shared),
    }


def shared_numbers(report: Path) -> dict[str, str]:
    """Return the numbers of a report that are the same on every machine: training figures aside."""
    record = json.loads((report / TRACE).read_text(encoding="utf-8"))["numbers"]
    return {
        name: text
        for name, text in gather([report]).items()
        if not str(record[name]["command"]).startswith(OF_THE_MACHINE)
        and not name.startswith(OF_THE_LIBRARY)
    }


def stand_beside_the_paper(demo: Demo) -> Facts:
    """Set the paper's numbers beside the town's."""
    out = demo.at("paper")
    numbers = gather([demo.at("report")])
    standings = stand(numbers)
    write_standings(out, numbers, standings)
    return tally(standings)


__all__ = ["PAGE", "shared_numbers", "stand_beside_the_paper", "write_page"]
