"""Print one digest over the labels of golden scenes, on as many threads as asked.

Run as a script under some environment by ``test_same_labels``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from navaudit.provenance import digest_arrays
from navaudit.scene.stock import read_scene
from navaudit.scene.vocabulary import read_vocabulary
from navaudit.score.score import Settings, score_human, score_scene

GOLDEN = Path(__file__).parents[1] / "golden" / "labels"


def main(threads: int) -> None:
    """Score every golden scene whose cache is at hand, with both bodies and both rules."""
    vocabulary = read_vocabulary(GOLDEN / "candidates.npy")
    arrays: list[np.ndarray] = []
    caches = sorted(GOLDEN.glob("*.pkl"))
    assert len(caches) >= 8
    for path in caches:
        scene = read_scene(path)
        for ddc, rule in (("v2.0", "per-candidate"), ("v2.1", "batch")):
            settings = Settings(ddc=ddc, progress_rule=rule)
            sheet = score_scene(scene, vocabulary, settings, threads=threads)
            arrays += [sheet.labels(), sheet.columns, sheet.progress_m, sheet.first_step]
        if scene.human is not None:
            arrays.append(score_human(scene).columns)
    print(digest_arrays(arrays))


if __name__ == "__main__":
    main(int(sys.argv[1]))
