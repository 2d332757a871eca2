"""Figures on disk: PNG and SVG, and beside them the data that they show, as CSV."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from matplotlib.figure import Figure

from navaudit.audit.table import Table
from navaudit.report.explained import write_picture
from navaudit.scene.whole import put

KINDS: Final = ("svg", "png")
CAPTIONS: Final = "figures.json"
"""What the figures of a folder show, by name."""


def save_figure(folder: Path, figure: Figure, data: Table) -> tuple[Path, ...]:
    """Write a figure under the name of its data; return the paths, the data's first."""
    table = folder / f"{data.name}.csv"
    put(table, data.csv().encode())
    captions = {**captions_of(folder), data.name: data.title}
    put(folder / CAPTIONS, (json.dumps(captions, indent=1) + "\n").encode())
    pictures = [write_picture(figure, folder / f"{data.name}.{kind}") for kind in KINDS]
    return (table, *pictures)


def captions_of(folder: Path) -> dict[str, str]:
    """Return what the figures of a folder show, by the stems of their files."""
    path = folder / CAPTIONS
    if not path.is_file():
        return {}
    captions: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return captions
