"""The paper's named numbers beside ours: reproduced, different, or not measured here.

A number counts as measured only on the paper's own population. One measured on other data, such as
the synthetic town, is shown and compared with nothing; one that no data decides, such as a limit of
the rule, is compared wherever it is measured.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cache
from importlib import resources
from typing import Final

from navaudit.report.needs import RULES, Need, need

REPRODUCED: Final = "reproduced"
DIFFERENT: Final = "different"
NOT_MEASURED: Final = "not measured here"
STANDINGS: Final = (REPRODUCED, DIFFERENT, NOT_MEASURED)

SETTINGS: Final = frozenset({
    "flip_human_bin_a_m", "flip_human_bin_b_m", "flip_human_bin_c_m", "flip_lk_limit_m",
    "flip_lk_steps_required", "flip_rollout_steps", "flip_step_s", "probe_pauc_floor",
    "rt_bootstrap", "rt_confidence", "ties_draws",
})  # fmt: skip
"""Numbers that the rule and the estimators state, whatever the data."""


@dataclass(frozen=True)
class Standing:
    """Where one number of the paper stands."""

    name: str
    paper: str
    """As the paper writes it."""
    ours: str | None
    """As we write it; None where it was not measured at all."""
    standing: str
    """One of ``STANDINGS``."""
    why: str
    """By how much it differs, or what it would take to measure it; empty where reproduced."""


@cache
def paper_numbers() -> Mapping[str, str]:
    """Return the paper's numbers by name, as it writes them."""
    text = resources.files("navaudit.report").joinpath("paper_numbers.json").read_text("utf-8")
    numbers: dict[str, str] = json.loads(text)
    return numbers


def stand(ours: Mapping[str, str]) -> tuple[Standing, ...]:
    """Set every number of the paper beside ours, in the paper's order."""
    return tuple(_stand(name, text, ours) for name, text in paper_numbers().items())


def tally(standings: tuple[Standing, ...]) -> dict[str, int]:
    """Count the standings."""
    counts = Counter(one.standing for one in standings)
    return {name: counts[name] for name in STANDINGS}


def wanting(standings: tuple[Standing, ...]) -> dict[Need, int]:
    """Count what was not measured here, by what it takes to measure it."""
    counts = Counter(need(one.name) for one in standings if one.standing == NOT_MEASURED)
    return {one: counts[one] for _, one in RULES if one in counts}


def _stand(name: str, paper: str, ours: Mapping[str, str]) -> Standing:
    mine = ours.get(name)
    wanted = need(name)
    if mine is None:
        why = f"needs {wanted.data}: {wanted.command}"
        return Standing(name, paper, None, NOT_MEASURED, why)
    theirs, here = paper_numbers()[wanted.population], ours.get(wanted.population, "unstated")
    if name not in SETTINGS and here != theirs:
        why = f"measured on other data: {wanted.population} is {here} here, {theirs} in the paper"
        return Standing(name, paper, mine, NOT_MEASURED, why)
    if _values(mine) == _values(paper):
        return Standing(name, paper, mine, REPRODUCED, "")
    return Standing(name, paper, mine, DIFFERENT, _gap(mine, paper))


def _values(text: str) -> tuple[Decimal, ...] | str:
    """Read the numbers of a text; a text that is none stands for itself."""
    try:
        return tuple(Decimal(one.replace(",", "")) for one in text.split(", "))
    except InvalidOperation:
        return text


def _gap(ours: str, paper: str) -> str:
    mine, theirs = _values(ours), _values(paper)
    if isinstance(mine, str) or isinstance(theirs, str) or len(mine) != len(theirs):
        return f"{ours} here, {paper} in the paper"
    return "by " + ", ".join(f"{a - b:+,}" for a, b in zip(mine, theirs, strict=True))
