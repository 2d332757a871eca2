"""Figures on disk: PNG and SVG, and beside them the data that they show, as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from matplotlib.figure import Figure

from navaudit.audit.table import Table
from navaudit.report.explained import write_picture
from navaudit.scene.whole import put

KINDS: Final = ("svg", "png")


def save_figure(folder: Path, figure: Figure, data: Table) -> tuple[Path, ...]:
    """Write a figure under the name of its data; return the paths, the data's first."""
    table = folder / f"{data.name}.csv"
    put(table, data.csv().encode())
    pictures = [write_picture(figure, folder / f"{data.name}.{kind}") for kind in KINDS]
    return (table, *pictures)
