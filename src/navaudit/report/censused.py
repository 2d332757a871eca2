"""What a census found, in words: the humans' scores by v2 and by v1."""

from __future__ import annotations

from typing import Any

from navaudit.audit.census import Census
from navaudit.audit.rounds import Answers
from navaudit.audit.v1_census import V1Census
from navaudit.report.tabled import Results


def by_v2(found: Census, told: dict[str, Any]) -> Results:
    """Say what a census by v2 found."""
    said = [
        *_said(found.answers),
        f"Solver {found.solver}; the rule fires on {int(found.fired.sum()):,} scenes.",
    ]
    return Results(
        "navaudit census", "What the human scores", said, found.tables(), found.findings(), told,
        (found.rows(),), " ".join(said),
    )  # fmt: skip


def by_v1(found: V1Census, told: dict[str, Any]) -> Results:
    """Say what a census by v1 found."""
    title = "What the human scores by NAVSIM v1"
    said = _said(found.answers)
    return Results(
        "navaudit census", title, said, found.tables(), found.findings(), told, (found.rows(),)
    )


def _said(answers: Answers) -> list[str]:
    said = [f"{len(answers.tokens):,} scenes of {len(set(answers.logs)):,} logs."]
    if answers.passed_over:
        said.append(f"{len(answers.passed_over):,} scenes have no human and are left out.")
    return said
