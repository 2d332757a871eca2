"""Does the engine say what the reference says: ``python -m bench.reference``, some ten minutes.

Random worlds of ``tests/score/wild.py`` are scored by the engine and by the slow implementation in
``tests/reference``. Direction bodies and progress rules take turns from world to world.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Any, Final

import numpy as np
from bench.figures import Figure, run

from navaudit.axes import PDM, SHORT

# the worlds and the reference live with the tests
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from score.agreement import SETTINGS, differences, hangs_on_rounding, human_differences
from score.wild import wild_case

WORLDS: Final = 300
CANDIDATES: Final = 512


class Tally:
    """What came of each column so far."""

    def __init__(self) -> None:
        self.grades: list[Counter[float]] = [Counter() for _ in SHORT]
        self.different = np.zeros(len(SHORT), int)
        self.rounding = np.zeros(len(SHORT), int)
        self.humans = np.zeros(len(SHORT), int)

    def take(self, seed: int) -> None:
        """Score one world both ways and count."""
        scene, vocabulary = wild_case(seed, CANDIDATES)
        settings = SETTINGS[seed % len(SETTINGS)]
        entries, columns, slow = differences(scene, vocabulary, settings)
        for column, counter in enumerate(self.grades):
            counter.update(dict(zip(*np.unique(columns[column], return_counts=True), strict=True)))
        for column, candidate in entries:
            self.different[column] += 1
            states = slow["states"][candidate]
            if column != PDM:
                hangs = hangs_on_rounding(scene, states, column, settings.ddc)
                self.rounding[column] += hangs
            print(f"world {seed} candidate {candidate} {SHORT[column]}", file=sys.stderr)
        if scene.human is not None:
            for column, _ in human_differences(scene, settings):
                self.humans[column] += 1

    def rows(self) -> tuple[dict[str, Any], ...]:
        """One row a column."""
        return tuple(
            {
                "column": name,
                "entries": int(counter.total()),
                "0 %": 100 * counter[0.0] / counter.total(),
                "between %": 100 - 100 * (counter[0.0] + counter[1.0]) / counter.total(),
                "1 %": 100 * counter[1.0] / counter.total(),
                "different": int(self.different[column]),
                "by rounding": int(self.rounding[column]),
                "human": int(self.humans[column]),
            }
            for column, (name, counter) in enumerate(zip(SHORT, self.grades, strict=True))
        )


def reference_agreement() -> Figure:
    """Entries in which engine and reference part."""
    tally = Tally()
    for seed in range(WORLDS):
        tally.take(seed)
    parted = int(tally.different.sum() + tally.humans.sum())
    source = f"{WORLDS} random worlds of {CANDIDATES} candidates and a human"
    headline = "entries of the engine that the reference contradicts"
    return Figure("reference_agreement", headline, parted, source, tally.rows())


FIGURES: Final = (reference_agreement,)


if __name__ == "__main__":
    run(__doc__, FIGURES)
