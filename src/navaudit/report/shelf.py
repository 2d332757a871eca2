"""What other commands left in their folders, read for a page: tables, figures, numbers."""

from __future__ import annotations

import base64
import csv
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from navaudit.errors import BadInput
from navaudit.report.numbers import NUMBERS, TRACE

ORDER: Final = (
    "certify", "census", "audit", "flips", "processors", "probe", "train", "evaluate", "compare",
)  # fmt: skip
"""Commands in the order in which a page tells of them."""

TITLES: Final = {
    "certify": ("Two label files, entry by entry", "Certified"),
    "census": ("How the humans score", "Humans"),
    "audit": ("What the overwrite changed and erased", "Labels"),
    "flips": ("What turns from failing to passing in lane keeping", "Flips"),
    "processors": ("The same labels on other processors", "Processors"),
    "probe": ("What the heads still know", "Probe"),
    "train": ("Training under other labels", "Training"),
    "evaluate": ("Driving, scored with forgiveness on and off", "Evaluation"),
    "compare": ("What differs between the trained models", "Comparison"),
}
"""Title of a section, and the short one."""

LONG: Final = 14
"""Rows from which a table is folded."""

MOST_ROWS: Final = 400
"""Rows of a table that a page carries; the file beside it has all."""


@dataclass(frozen=True)
class Figure:
    """A picture, in the page itself."""

    caption: str
    uri: str


@dataclass(frozen=True)
class Table:
    """A table as its file has it."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def long(self) -> bool:
        """Whether it is folded until asked for."""
        return len(self.rows) > LONG


@dataclass(frozen=True)
class Part:
    """What one command left in one folder."""

    key: str
    """Its name within the page."""
    kind: str
    """Name of the command."""
    command: str
    folder: str
    title: str
    short: str
    lead: str
    figures: tuple[Figure, ...]
    tables: tuple[Table, ...]
    trace: dict[str, dict[str, Any]]
    """Named numbers: value, command, file."""


def read_part(folder: Path, key: str) -> Part:
    """Read what a command left in a folder; the folder must hold a table of numbers."""
    path = folder / TRACE
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        trace = dict(record["numbers"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadInput(
            "this folder holds no results that a page can show",
            where=str(folder),
            expected=f"{NUMBERS} and {TRACE}, as audit, probe, compare and others write them",
            remedy="name the folders that were given to those commands as --out",
        ) from error
    commands = sorted({str(one["command"]) for one in trace.values()})
    command = commands[0] if commands else "navaudit"
    kind = next((name for name in ORDER if f"navaudit {name}" in command), "")
    title, short = TITLES.get(kind, (folder.name, folder.name))
    return Part(
        key, kind, command, folder.name, title, short, str(record.get("lead", "")),
        tuple(_figures(folder)), tuple(_tables(folder)), trace,
    )  # fmt: skip


def in_order(parts: list[Part]) -> list[Part]:
    """Put parts in the order in which a page tells of them."""
    known = {name: k for k, name in enumerate(ORDER)}
    return sorted(parts, key=lambda one: known.get(one.kind, len(ORDER)))


def _figures(folder: Path) -> list[Figure]:
    """Pictures of a folder, each once."""
    found: dict[str, list[Path]] = {}
    for path in sorted([*folder.rglob("*.png"), *folder.rglob("*.svg")]):
        found.setdefault(str(path.relative_to(folder).with_suffix("")), []).append(path)
    return [figure_of(*paths) for paths in found.values()]


def figure_of(*paths: Path) -> Figure:
    """Return a picture; of one saved twice the SVG, unless it is the larger by far."""
    by_kind = {path.suffix: path for path in paths}
    png, svg = by_kind.get(".png"), by_kind.get(".svg")
    if png is not None and svg is not None:
        larger_by_far = svg.stat().st_size >= 2 * png.stat().st_size
        return figure_of(png if larger_by_far else svg)
    path = paths[0]
    return Figure(_caption(path), _uri(path))


def _uri(path: Path) -> str:
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _tables(folder: Path) -> list[Table]:
    found = []
    beside = {path.with_suffix("") for path in [*folder.rglob("*.png"), *folder.rglob("*.svg")]}
    for path in sorted(folder.rglob("*.csv")):
        if path.with_suffix("") in beside:
            continue  # the data of a figure
        with path.open(encoding="utf-8", newline="") as stream:
            rows = [tuple(row) for _, row in zip(range(MOST_ROWS + 1), csv.reader(stream))]  # noqa: B905
        if rows:
            found.append(Table(_caption(path), rows[0], tuple(rows[1:])))
    return found


def _caption(path: Path) -> str:
    words = path.stem.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]
