"""What other commands left in their folders, read for a page: tables, figures, numbers."""

from __future__ import annotations

import base64
import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from navaudit.errors import BadInput
from navaudit.findings import NOT_DEFINED
from navaudit.report.numbers import NUMBERS, TRACE
from navaudit.report.saved import captions_of
from navaudit.report.tabled import TITLES as TITLES_FILE

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

LONGEST: Final = 9
"""Characters from which a fraction is cut short."""

_WHOLE: Final = re.compile(r"[-+]?(0|[1-9]\d*)")
_FRACTION: Final = re.compile(r"[-+]?\d+\.\d*(e[-+]?\d+)?")
_NOTHING: Final = "\N{EN DASH}"


@dataclass(frozen=True)
class Figure:
    """A picture, in the page itself."""

    caption: str
    uri: str


@dataclass(frozen=True)
class Cell:
    """One cell of a table."""

    text: str
    """As it is shown."""
    exact: str
    """As its file has it."""
    number: bool
    """Whether it is a number, or nothing."""


@dataclass(frozen=True)
class Table:
    """A table as its file has it."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    size: int
    """Rows of the file, which may be more than the page carries."""

    @property
    def worded(self) -> tuple[bool, ...]:
        """``[column]``: whether it holds words, which stand to the left."""
        return tuple(
            any(not row[k].number for row in self.rows if k < len(row))
            for k in range(len(self.head))
        )

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
    captions = captions_of(folder)
    found: dict[str, list[Path]] = {}
    for path in sorted([*folder.rglob("*.png"), *folder.rglob("*.svg")]):
        found.setdefault(str(path.relative_to(folder).with_suffix("")), []).append(path)
    return [figure_of(*paths, caption=captions.get(stem, "")) for stem, paths in found.items()]


def figure_of(*paths: Path, caption: str = "") -> Figure:
    """Return a picture; of one saved twice the SVG, unless it is the larger by far."""
    by_kind = {path.suffix: path for path in paths}
    png, svg = by_kind.get(".png"), by_kind.get(".svg")
    if png is not None and svg is not None:
        larger_by_far = svg.stat().st_size >= 2 * png.stat().st_size
        return figure_of(png if larger_by_far else svg, caption=caption)
    path = paths[0]
    return Figure(caption or _caption(path), _uri(path))


def _uri(path: Path) -> str:
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return f"data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}"


def _tables(folder: Path) -> list[Table]:
    """Tables of a folder, those with titles first and in their order; no empty ones."""
    titles = _titles(folder)
    order = {name: k for k, name in enumerate(titles)}
    found = []
    beside = {path.with_suffix("") for path in [*folder.rglob("*.png"), *folder.rglob("*.svg")]}
    paths = sorted(folder.rglob("*.csv"), key=lambda one: (order.get(one.stem, len(order)), one))
    for path in paths:
        if path.with_suffix("") in beside:
            continue  # the data of a figure
        with path.open(encoding="utf-8", newline="") as stream:
            rows = [tuple(row) for row in csv.reader(stream)]
        if len(rows) > 1:
            body = tuple(tuple(map(cell_of, row)) for row in rows[1 : MOST_ROWS + 1])
            title = titles.get(path.stem) or _caption(path)
            found.append(Table(title, rows[0], body, len(rows) - 1))
    return found


def _titles(folder: Path) -> dict[str, str]:
    path = folder / TITLES_FILE
    if not path.is_file():
        return {}
    titles: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return titles


def cell_of(text: str) -> Cell:
    """Return a cell as a person reads it: thousands in groups, long fractions cut short.

    Examples
    --------
    >>> cell_of("251159").text, cell_of("5.206251464550825e-10").text, cell_of("100.00").text
    ('251,159', '5.206e-10', '100.00')
    """
    if _WHOLE.fullmatch(text):
        return Cell(f"{int(text):,}" if len(text) < LONGEST else text, text, True)
    if not _FRACTION.fullmatch(text):
        missing = text in ("", NOT_DEFINED)
        return Cell(_NOTHING if missing else text, text, missing)
    return Cell(text if len(text) < LONGEST else f"{float(text):.4g}", text, True)


def _caption(path: Path) -> str:
    words = path.stem.replace("_", " ").replace("-", " ").strip()
    return words[:1].upper() + words[1:]
