"""How many labels differ from the stock generator's: ``python -m bench.exactness``.

Golden scenes are those of ``tests/golden``, and those of ``../shared/golden`` where the folder is
at hand. Every float16 of all nine columns is compared byte for byte: both direction bodies, both
progress rules, raw and forgiven, with the human's nine values.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from typing import Any, Final

import numpy as np
from bench.figures import Figure, run
from bench.places import ROOT

from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.forgive import forgive
from navaudit.score.score import Settings, score_human, score_scene

# what the stock generator computed lies with the tests
sys.path.insert(0, str(ROOT / "tests"))

from score import golden


def golden_exactness() -> Figure:
    """Entries of golden scenes that are not the stock generator's."""
    rows = [_row(name, case) for name, case in _cases()]
    entries = sum(row["entries"] for row in rows)
    humans = sum(row["human values"] for row in rows)
    parted = sum(row["different"] for row in rows)
    source = f"{len(rows)} scenes, {entries:,} labels and {humans} human values"
    headline = "labels that differ from the stock generator's"
    return Figure("golden_exactness", headline, parted, source, tuple(rows))


def _cases() -> Iterator[tuple[str, golden.Golden]]:
    for name in golden.OURS:
        yield name, golden.ours(name)
    if not golden.missing():
        for name in golden.shared_names():
            yield name, golden.shared(name)


def _row(name: str, case: golden.Golden) -> dict[str, Any]:
    """Compare a scene under all settings."""
    entries = humans = parted = 0
    for ddc, rule in product(golden.DDC_BODIES, golden.RULES):
        settings = Settings(ddc=ddc, progress_rule=rule)
        labels = score_scene(case.scene, Vocabulary(case.poses), settings).labels()
        pairs = [(labels, case.labels(ddc, rule))]
        stored = case.human(ddc, rule)
        if case.scene.human is not None:
            human = score_human(case.scene, settings).columns[:, 0]
            pairs.append((forgive(labels, human), case.labels(ddc, rule, forgiven=True)))
            if stored is not None:
                humans += human.size
                parted += int((human.astype(np.float16) != stored.astype(np.float16)).sum())
        for ours, stock in pairs:
            if stock is not None:
                entries += ours.size
                parted += int((ours.view(np.uint16) != stock.view(np.uint16)).sum())
    return {"scene": name, "entries": entries, "human values": humans, "different": parted}


FIGURES: Final = (golden_exactness,)


if __name__ == "__main__":
    run(__doc__, FIGURES)
