"""What a scene costs to make: ``python -m bench.scenes``, one process, from logs and maps.

Reading logs and maps, the reference trajectory and the writing of the scenes are all included.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np
from bench.figures import Figure, best, run
from bench.places import ROOT, SEED, SHARED, from_town, town

from navaudit.axes import DDC, LK, NC, SHORT, TLC, TTC
from navaudit.scene.filters import SceneFilter
from navaudit.scene.from_logs import FromLogs
from navaudit.scene.prepare import prepare
from navaudit.scene.store import SceneSet
from navaudit.score.referee import score_proposals
from navaudit.score.score import score_human

STOCK_S: Final = 0.53
"""What stock metric caching takes for a scene of the golden maps, on one core of a comparable
machine; its own code is not here to be measured beside ours."""

MANY: Final = 1_000
PAPER: Final = {NC: 10, DDC: 876, TLC: 2_156, TTC: 18, LK: 9_982}
"""Scenes of 103,288 on which the human scores zero, as the paper counts them."""
PAPER_SCENES: Final = 103_288


def jobs() -> Iterator[tuple[str, FromLogs]]:
    """Sources of scenes and their names."""
    golden = SHARED / "golden"
    if golden.exists():
        every = SceneFilter(num_history_frames=4, num_future_frames=10, frame_interval=1)
        logs, maps = golden / "navsim_logs", golden / "maps"
        yield "golden logs", FromLogs(logs, maps, judge=score_proposals, scene_filter=every)
    yield "town", from_town(town(80))


def scene_making() -> Figure:
    """Processor time of a scene from logs and maps."""
    rows = []
    for name, job in jobs():
        counts = []

        def make(job: FromLogs = job, counts: list[int] = counts) -> None:
            with tempfile.TemporaryDirectory() as folder:
                counts.append(len(prepare(Path(folder) / "scenes", job)))

        took = best(make, 3) / counts[0]
        rows.append({
            "from": name,
            "scenes": counts[0],
            "ms a scene": 1e3 * took,
            "scenes/s": 1.0 / took,
            "times the stock": STOCK_S / took,
        })  # fmt: skip
    source = f"{rows[0]['scenes']} scenes of {rows[0]['from']}"
    headline = "stock metric caching takes this many times longer a scene"
    return Figure("scene_making", headline, rows[0]["times the stock"], source, tuple(rows))


def scene_memory() -> Figure:
    """Memory of a process that makes a thousand scenes, as it goes on."""
    rows = _many()["memory"]
    half = len(rows) // 2
    growth = max(row["MB"] for row in rows[half:]) / max(row["MB"] for row in rows[:half])
    headline = "memory over the second half of the scenes against the first"
    return Figure("scene_memory", headline, growth, f"{MANY} scenes of a town", tuple(rows))


def town_faults() -> Figure:
    """How often the humans of the town fail what, by the engine, beside the paper's counts."""
    zeros = _many()["zeros"]
    rows = tuple(
        {
            "column": SHORT[column],
            "scenes": zeros[SHORT[column]],
            "% here": 100 * zeros[SHORT[column]] / MANY,
            "% in the paper": 100 * count / PAPER_SCENES,
        }
        for column, count in PAPER.items()
    )
    source = f"{MANY} scenes of a town, seed {SEED}"
    value = 100 * zeros[SHORT[LK]] / MANY
    return Figure("town_faults", "% of scenes forgiven on lane keeping", value, source, rows)


def _many() -> dict:
    """Make many scenes in a process of their own, once; what it measured."""
    if not _MEASURED:
        call = "from bench.scenes import make_many; make_many()"
        answer = subprocess.run(
            [sys.executable, "-c", call], cwd=ROOT, capture_output=True, text=True, check=True
        )
        _MEASURED.update(json.loads(answer.stdout))
    return _MEASURED


_MEASURED: Final[dict] = {}


def make_many() -> None:
    """Make many scenes; print resident memory along the way and the humans' zeros."""
    folder = town(MANY)
    memory = []

    def say(what: str, done: int, total: int) -> None:
        if done and (done % (total // 10) == 0):
            memory.append({"scenes": round(done / total * MANY), "MB": _resident_mb()})

    made = prepare(folder.parent / "scenes", from_town(folder), say=say)
    assert len(made) == MANY
    print(json.dumps({"memory": memory, "zeros": _zeros(made)}))


def _resident_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def _zeros(made: SceneSet) -> dict[str, int]:
    columns = np.stack([score_human(scene).columns[:, 0] for scene in made])
    return dict(zip(SHORT, (columns == 0.0).sum(axis=0).tolist(), strict=True))


FIGURES: Final = (scene_making, scene_memory, town_faults)


if __name__ == "__main__":
    run(__doc__, FIGURES)
