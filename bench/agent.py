"""Figures of the agent: ``python -m bench.agent [--json] [--only NAME]``.

One full-size look at a scene with all 16,384 candidates, in a process of its own so that its peak
memory is its own; one training step of the narrow agent; and how fast pictures become features.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from bench.figures import Figure, best, run

from navaudit.agent.features import see
from navaudit.agent.model import Agent
from navaudit.agent.shapes import GTRS_DENSE, NARROW
from navaudit.agent.slots import make_adam

BATCH: Final = 8
_KIB_A_GIB: Final = 1 << 20


def _paths(count: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(0.0, 0.5, (count, 40, 3)).cumsum(1).astype(np.float32)


def look() -> dict[str, Any]:
    """Look at one scene at full size; to be called in a fresh process."""
    torch.manual_seed(0)
    agent = Agent(GTRS_DENSE, torch.from_numpy(_paths(GTRS_DENSE.candidates))).eval()
    image, status = torch.rand(1, 3, *GTRS_DENSE.image), torch.rand(1, 8)
    took = {}
    with torch.no_grad():
        start = time.perf_counter()
        embedded = agent.embed()
        took["candidates, once"] = time.perf_counter() - start
        start = time.perf_counter()
        agent.encoder(image)
        took["image encoder alone"] = time.perf_counter() - start
        start = time.perf_counter()
        logits = agent(image, status, embedded=embedded)
        took["a scene"] = time.perf_counter() - start
    assert all(bool(torch.isfinite(one).all()) for one in logits.values())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _KIB_A_GIB
    return {"took": took, "peak_gib": peak, "threads": torch.get_num_threads()}


def full_forward() -> Figure:
    """Seconds and memory of one scene, on every core."""
    call = "import json; from bench.agent import look; print(json.dumps(look()))"
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", call], capture_output=True, text=True, check=True, cwd=root
    )
    found = json.loads(done.stdout)
    rows = tuple(
        {"part": name, "seconds": seconds, "threads": found["threads"]}
        for name, seconds in found["took"].items()
    )
    memory = {"part": f"peak memory {found['peak_gib']:.2f} GiB", "seconds": None, "threads": None}
    about = f"batch 1, 512 x 2048 pixels, 16,384 candidates, peak {found['peak_gib']:.2f} GiB"
    return Figure(
        "full_forward",
        "seconds in which GTRS-Dense looks at a scene",
        found["took"]["a scene"],
        f"{about}, {found['threads']} threads",
        (*rows, memory),
    )


def narrow_step() -> Figure:
    """Processor seconds of one training step of the narrow agent, one thread."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    agent = Agent(NARROW, torch.from_numpy(_paths(NARROW.candidates)))
    adam = make_adam(agent, 1e-4)
    image, status = torch.rand(BATCH, 3, *NARROW.image), torch.rand(BATCH, 8)

    def step(count: int) -> None:
        adam.zero_grad()
        logits = agent(image, status, torch.randperm(NARROW.candidates)[:count])
        torch.stack(list(logits.values())).mean().backward()
        adam.step()

    counts = (NARROW.candidates // 2, NARROW.candidates)
    rows = tuple(
        {"candidates": count, "seconds a step": best(lambda count=count: step(count), 3)}
        for count in counts
    )
    return Figure(
        "narrow_step",
        "seconds a training step of the narrow agent takes",
        rows[0]["seconds a step"],
        f"batch {BATCH}, {counts[0]} of {counts[1]:,} candidates, one thread",
        rows,
    )


def features() -> Figure:
    """Pictures of a scene, decoded already, into the agent's image."""
    rng = np.random.default_rng(0)
    pictures = tuple(rng.integers(0, 256, (1080, 1920, 3), np.uint8) for _ in range(3))
    took = best(lambda: see(pictures, GTRS_DENSE.image), 3)
    rows = ({"pixels": "3 x 1920 x 1080", "seconds": took},)
    return Figure(
        "features", "scenes a second are stitched and halved", 1 / took, "one thread", rows
    )


FIGURES: Final = (full_forward, narrow_step, features)
EVERY_CORE: Final = (full_forward,)


if __name__ == "__main__":
    run(__doc__, FIGURES, EVERY_CORE)
