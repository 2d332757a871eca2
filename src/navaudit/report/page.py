"""One page that a person reads: the verdict, a browser of scenes, every table, figure and number.

It is one HTML file: styles, code, pictures and data are in it, and it asks the network for nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import jinja2
from markupsafe import Markup, escape

from navaudit import provenance
from navaudit.axes import COLUMNS, SHORT
from navaudit.errors import BadInput
from navaudit.findings import percent
from navaudit.report.paper import NOT_MEASURED, stand, tally, wanting
from navaudit.report.shelf import Figure, Part, in_order

POLICIES: Final = (
    ("raw", "Raw: what the scorer says, before the overwrite."),
    ("published", "Published: where the human scored zero, every candidate passes."),
    ("masked", "Masked: where the human scored zero, the label abstains."),
    ("pass-lk", "Pass-LK: as published, and lane keeping passes in every scene."),
    ("path", "Path: as published, but lane keeping is judged against the human's own path."),
)


@dataclass(frozen=True)
class Fact:
    """A number at the top of the page, and what it says."""

    name: str
    words: str


FACTS: Final = (
    Fact("P1_count", "scenes on which the rule fires"),
    Fact("headline_count", "scenes that lose a distinction the loss reads"),
    Fact("forgiven_token_columns", "columns set to passing"),
    Fact("supervision_entries_exact", "targets of the loss changed"),
    Fact("LK_mixed", "lane-keeping columns that still ordered candidates"),
    Fact("LK_mixed_median", "candidates failing in the median one of those"),
)


OBSERVED: Final = ("probe", "compare")
"""Commands whose sentences stand in the verdict, too: what became of agents."""


class _Numbers:
    """Sets a number where the page names it, and leads to where it was made."""

    def __init__(self, parts: Sequence[Part], flat: Mapping[str, str]) -> None:
        self.flat = flat
        self.trace = {name: one for part in parts for name, one in part.trace.items()}

    def has(self, name: str) -> bool:
        return name in self.flat and self.trace[name]["value"] is not None

    def value(self, name: str) -> Any:
        return self.trace[name]["value"]

    def show(self, name: str) -> Markup:
        made = self.trace[name]
        title = f"{name}: {made['command']}" + (f", {made['file']}" if made["file"] else "")
        return Markup('<data class="number" data-name="{}" value="{}" title="{}">{}</data>').format(
            name, json.dumps(made["value"]), title, self.flat[name]
        )

    def linked(self, name: str) -> Markup:
        """Set a number that leads to its row in the table of all numbers."""
        return Markup('<a class="traced" href="#n-{}">{}</a>').format(name, self.show(name))

    def share(self, part: str, whole: str) -> Markup:
        return escape(percent("", self.value(part), self.value(whole), 1).text) + Markup("&nbsp;%")


def page(
    title: str,
    parts: Sequence[Part],
    flat: Mapping[str, str],
    stages: Sequence[Mapping[str, Any]],
    panels: Figure | None = None,
) -> str:
    """Return the page as HTML.

    ``flat`` holds the numbers of all parts as they are written; ``stages`` are scenes to browse,
    from `navaudit.report.stage.stage`; ``panels`` shows one before and after the overwrite.
    """
    ordered = in_order(list(parts))
    numbers = _Numbers(ordered, flat)
    missing = [name for name in flat if name not in numbers.trace]
    if missing:
        raise BadInput(f"nobody says where {missing[0]} comes from", expected="a trace of it")
    standings = stand(flat)
    counted = tally(standings)
    here = provenance.here()
    return _template().render(
        title=title,
        css=Markup(_file("page.css")),  # noqa: S704 - ours, and no part of it comes from outside
        js=Markup(_file("page.js")),  # noqa: S704
        parts=ordered,
        facts=FACTS,
        said=_observed(ordered),
        n=numbers.show,
        linked=numbers.linked,
        has=numbers.has,
        value=numbers.value,
        share=numbers.share,
        numbers=[
            {"name": name, "file": one["file"], "command": one["command"]}
            for name, one in numbers.trace.items()
        ],
        standings=standings,
        tally_words=", ".join(f"{n} {name}" for name, n in counted.items()) + ".",
        wanting=wanting(standings),
        other_data=_other_data(flat) if counted[NOT_MEASURED] else "",
        stages=[_listed(one) for one in stages],
        panels=panels,
        stages_json=_browsed(stages),
        columns=COLUMNS,
        short=SHORT,
        policies=POLICIES,
        version=here["navaudit"],
        code=here["code"][:12],
    )


def _observed(parts: Sequence[Part]) -> list[str]:
    """What the parts that observed agents lead with, line by line."""
    return [
        line
        for part in parts
        if part.lead and part.kind in OBSERVED
        for line in part.lead.splitlines()
    ]


def _browsed(stages: Sequence[Mapping[str, Any]]) -> Markup:
    """What the browser of scenes reads."""
    told = {"scenes": list(stages), "columns": COLUMNS, "short": SHORT}
    return _embedded({**told, "policies": dict(POLICIES)})


def _other_data(flat: Mapping[str, str]) -> str:
    tokens = flat.get("population_tokens")
    if tokens is None or tokens == "103,288":
        return ""
    return (
        f"These are {tokens} scenes and not navtrain's 103,288: shares here say what happens on "
        "this data, and are no estimate of the paper's."
    )


def _listed(stage: Mapping[str, Any]) -> dict[str, Any]:
    fired = [name for name, one in zip(SHORT, stage["human"], strict=True) if one == 0.0]
    return {"token": stage["token"], "fired": fired}


def _embedded(value: Any) -> Markup:
    """Return JSON that a script element can hold, whatever is in it."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for mark in "<>&":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return Markup(text)  # noqa: S704 - nothing in it can end the element any more


def _file(name: str) -> str:
    return (Path(__file__).parent / "templates" / name).read_text(encoding="utf-8")


def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_file("page.html.j2"))
