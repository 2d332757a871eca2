"""What driving the overwritten lane-keeping columns again found, in words."""

from __future__ import annotations

from typing import Any, Final

from navaudit.audit.flipped import Flips
from navaudit.findings import NOT_DEFINED
from navaudit.report.tabled import Results

_NAMED: Final = 4
"""Tokens of one kind that are named."""


def results(found: Flips, told: dict[str, Any]) -> Results:
    """Say what the drives found."""
    said = [
        f"{found.candidates:,} candidates of {len(found.tokens):,} lane-keeping columns driven.",
        f"{found.passed_over:,} scenes have no such column, no labels or no human.",
    ]
    for words, tokens in (
        ("columns are stored otherwise than the drives say", found.differing),
        ("human scores are stored otherwise than the human's drive says", found.human_differing),
        ("checks against the human's path are stored otherwise", found.path_differing),
    ):
        if tokens:
            more = ", ..." if len(tokens) > _NAMED else ""
            said.append(f"{len(tokens):,} {words}: {', '.join(tokens[:_NAMED])}{more}.")
    if found.agrees:
        said.append("Every stored column is what the check says of the drives.")
    title = "What the overwrite turns from failing to passing in lane keeping"
    numbers = found.findings()
    lead = " ".join([*_lead({one.name: one.text for one in numbers}), *said])
    return Results("navaudit flips", title, said, found.tables(), numbers, told, lead=lead)


def _lead(numbers: dict[str, str]) -> list[str]:
    """Say what the overwrite turns to passing; nothing where it turns nothing."""
    names = ("flip_T_lkH_fail_percent", "flip_T_dac_fail_percent", "flip_T_other_fail_percent")
    own, road, other = (numbers.get(name, NOT_DEFINED) for name in names)
    if NOT_DEFINED in (own, road, other):
        return []
    return [
        f"Of the entries that the overwrite turns from failing to passing, {own} % fail lane "
        f"keeping against the human's own path too, {road} % leave the road, and {other} % fail "
        "another check."
    ]
