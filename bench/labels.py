"""What labels cost from scenes to a closed set: ``python -m bench.labels``, 16,384 candidates.

The command runs in a process of its own, as a person runs it: start-up, reading of scenes,
simulation, scores, compression and writing are all in it. Kernels were compiled before.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
from bench.engine import STOCK_S
from bench.exchange import TOKEN_BYTES, command, disk_bytes
from bench.figures import Figure, run
from bench.places import from_town, town, vocabulary

from navaudit.axes import COLUMNS
from navaudit.labels.labelset import LabelSet
from navaudit.scene.prepare import prepare

SCENES: Final = 240
NAVTRAIN: Final = 103_288
"""Scenes of the real label file."""


def labelling() -> Figure:
    """Labels a second, on one process and two, and bytes a token on the disk."""
    folder = town(SCENES).parent
    prepare(folder / "scenes", from_town(town(SCENES)))
    candidates, source = vocabulary()
    np.save(folder / "vocabulary.npy", candidates.poses)
    rows = [_labelled(folder, workers) for workers in (1, 1, 2)][1:]
    hours = rows[1]["s"] / SCENES * NAVTRAIN / 3600
    return Figure("labelling", f"hours for {NAVTRAIN:,} scenes on two cores, by proportion", hours,
                  f"{SCENES} scenes of a town, {source}", tuple(rows))  # fmt: skip


def _labelled(folder: Path, workers: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=folder) as place:
        out = Path(place) / "labels"
        cost = command("label", folder / "scenes", "--vocabulary", folder / "vocabulary.npy",
                       "--out", out, "--workers", workers)  # fmt: skip
        made, held = LabelSet.open(out), disk_bytes(out)
    return {
        "workers": workers,
        **cost,
        "labels/s": len(made) * made.candidates * len(COLUMNS) / cost["s"],
        "ms a scene": 1e3 * cost["s"] / len(made),
        "times the stock": STOCK_S * len(made) / cost["s"],
        "bytes a token": held / len(made),
        "times smaller": len(made) * TOKEN_BYTES / held,
    }


FIGURES: Final = (labelling,)
EVERY_CORE: Final = (labelling,)


if __name__ == "__main__":
    run(__doc__ or "", FIGURES, EVERY_CORE)
