"""What evaluating and comparing cost: ``python -m bench.compare``.

Compared are ten runs of navtest's size, drawn at random with the paper's arms and seeds and written
to disk; what is measured is a fresh process that reads them, compares them, and writes tables and
numbers. Evaluated are straight plans on the golden scenes.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
from bench.engine import scenes
from bench.figures import Figure, best, run

from navaudit.agent.predictions import Plan
from navaudit.evaluate.compare import compare
from navaudit.evaluate.judge import judge_plan
from navaudit.evaluate.named import findings
from navaudit.evaluate.pairs import read_pairs, source_of
from navaudit.evaluate.run import Run
from navaudit.evaluate.written import write
from navaudit.report.numbers import write_numbers

TOKENS: Final = 12_146
LOGS: Final = 136
RESAMPLES: Final = 10_000
NAMES: Final = ("A0", "A1", "A2", "M0", "M1", "M2", "P0", "P1", "P2", "L0")
PAIRS: Final = """
pairs = [["P", "A"], ["M", "A"], ["L", "A"]]
prefix = "rt"
[arms]
A = ["A0", "A1", "A2"]
M = ["M0", "M1", "M2"]
P = ["P0", "P1", "P2"]
L = ["L0"]
"""


def draw_runs(folder: Path) -> None:
    """Ten runs that score like the published models, on the same humans and logs."""
    random = np.random.default_rng(0)
    logs = np.sort(random.integers(0, LOGS, TOKENS))
    human = np.ones((TOKENS, 8))
    human[random.random(TOKENS) < 0.13, 6] = 0.0
    has_comfort = random.random(TOKENS) < 0.83
    for name in NAMES:
        components = (random.random((TOKENS, 8)) < 0.97) * 1.0
        components[:, 4] = np.clip(random.normal(0.89, 0.1, TOKENS), 0.0, 1.0)
        Run(
            tokens=tuple(f"{row:016x}" for row in range(TOKENS)),
            logs=tuple(f"log{log:03}" for log in logs),
            time_us=np.arange(TOKENS),
            components=components,
            human=human,
            comfort=np.where(has_comfort, (random.random(TOKENS) < 0.78) * 1.0, np.nan),
            distance=random.random((TOKENS, 3)),
            settings={"ddc": "v2.1"},
        ).write(folder / name)
    (folder / "pairs.toml").write_text(PAIRS)


def compare_all(folder: Path) -> dict[str, Any]:
    """Read, compare, write; what it took."""
    start = time.perf_counter()
    given = [source_of(str(folder / name)) for name in NAMES]
    made = compare(read_pairs(folder / "pairs.toml", given))
    read = time.perf_counter() - start
    write(folder / "out", made)
    flat = write_numbers(folder / "out", findings(made), "bench", {})
    return {
        "contrasts": len(made.contrasts),
        "numbers": len(flat),
        "read and compared s": read,
        "seconds": time.perf_counter() - start,
        "cpu s": time.process_time(),
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def comparison() -> Figure:
    """Ten runs, three pairs, every measure and population, letters, tables and numbers."""
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        draw_runs(folder)
        for attempt in ("first", "again"):
            command = [sys.executable, "-m", "bench.compare", "--in", str(folder)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
            rows.append({"process": attempt, **json.loads(done.stdout)})
    source = f"{len(NAMES)} runs x {TOKENS} tokens, {RESAMPLES} resamples of {LOGS} logs"
    return Figure("comparison", "seconds, import apart", rows[-1]["seconds"], source, tuple(rows))


def evaluation() -> Figure:
    """A plan, the reference and the human of each golden scene, driven and scored on one core."""
    plan = Plan(np.outer(np.arange(1, 41) / 10.0, [8.0, 0.0, 0.0]).astype(np.float32), 0.1)
    at_hand = scenes()
    took = 1e3 * best(lambda: [judge_plan(scene, plan) for scene in at_hand], 3) / len(at_hand)
    row = {"scenes": len(at_hand), "ms a token": took, "minutes for navtest": took * TOKENS / 6e4}
    return Figure("evaluation", "ms a token", took, f"{len(at_hand)} golden scenes", (row,))


FIGURES: Final = (comparison, evaluation)


if __name__ == "__main__":
    if "--in" in sys.argv:
        print(json.dumps(compare_all(Path(sys.argv[-1]))))
    else:
        run(__doc__, FIGURES)
