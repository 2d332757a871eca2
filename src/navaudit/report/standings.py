"""Where the paper's numbers stand, on disk: ``paper.csv``, and ours as ``numbers.tex``."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path

from navaudit.report.latex import latex
from navaudit.report.paper import Standing
from navaudit.scene.whole import put


def write_standings(folder: Path, ours: Mapping[str, str], standings: tuple[Standing, ...]) -> None:
    """Write the standings as a table, and our numbers as LaTeX."""
    put(folder / "paper.csv", _csv(standings).encode())
    put(folder / "numbers.tex", latex(ours).encode())


def _csv(standings: tuple[Standing, ...]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("name", "paper", "ours", "standing", "why"))
    writer.writerows(
        (one.name, one.paper, one.ours or "", one.standing, one.why) for one in standings
    )
    return text.getvalue()
