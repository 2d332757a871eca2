"""What other kernels made of the labels: a map of the differences, and words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from navaudit.audit.processed import Processors
from navaudit.audit.rounds import Answers
from navaudit.report.difference_map import write_difference_map
from navaudit.report.tabled import Results


def draw(found: Processors, answers: Answers, out: Path) -> None:
    """Write the map of where labels differ, and its data."""
    names = [one.ready.name for one in found.outcomes]
    write_difference_map(out, names, answers.array["differing"], found.candidates)


def results(found: Processors, told: dict[str, Any]) -> Results:
    """Say what the environments came to."""
    reference = found.outcomes[0].ready
    said = [
        f"{found.tokens:,} tokens of {found.candidates:,} candidates in {len(found.outcomes)} "
        f"environments; the reference is {reference.name}.",
        *(f"{one.name} was not run: {one.reason}." for one in found.absent),
        f"Closed forms {'hold' if found.closed_holds else 'DO NOT hold'}: their labels have digest "
        f"{found.closed_digest}.",
    ]
    title = "The same labels under other kernels"
    return Results(
        "navaudit processors", title, said, found.tables(), found.findings(), told,
        lead=" ".join([_verdict(found), *said]),
    )  # fmt: skip


def _verdict(found: Processors) -> str:
    others = len(found.outcomes) - 1
    if not others:
        return "Nothing but the reference was run."
    same = sum(one.equal == (one.tokens,) * 2 for one in found.outcomes[1:])
    return f"{same} of {others} other environments give the reference's labels, every bit."
