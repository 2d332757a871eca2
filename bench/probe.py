"""What the probe costs: ``python -m bench.probe``.

Logits and labels are drawn at the paper's numbers of scenes and candidates. Scores are noise around
what the label says, in float32, so that ties are as rare as in a forward pass. The readings are
measured on every core, as the command takes them; the command's own pass over a store on the disk
is measured at a part of the size and told by proportion.
``python -m bench.probe --eighths 8 FOLDER`` runs the command once on 103,288 drawn scenes.
"""

from __future__ import annotations

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import numba
import numpy as np
from bench.corpus import Corpus, draw_corpus, write_corpus
from bench.figures import Figure, run, show
from numpy.typing import NDArray
from rich.console import Console

from navaudit.agent.logit_draft import writing
from navaudit.agent.logit_store import LogitStore
from navaudit.axes import HEAD_COLUMNS, HEADS
from navaudit.labels.labelset import LabelSet
from navaudit.probe.contrasts import Contrasts
from navaudit.probe.pairing import Pairing
from navaudit.probe.probe import probe
from navaudit.probe.question import Question
from navaudit.probe.scenes import Scenes
from navaudit.stats.auc import rank_auc, readings
from navaudit.stats.ties import TieDraws, tie_draws

CANDIDATES: Final = 16_384
TOKENS: Final = 103_288
FORGIVEN: Final = 9_831
UNFORGIVEN: Final = 86_107
BLOCK: Final = 256
PART: Final = 128

Logits = NDArray[np.float32]
Work = Callable[[Logits, NDArray[np.bool_]], object]


def drawn(count: int, seed: int) -> tuple[Logits, NDArray[np.bool_]]:
    """Logits and labels ``[scene, candidate]``, one in eight passing, AUC about 0.65."""
    random = np.random.default_rng(seed)
    passes = random.random((count, CANDIDATES), dtype=np.float32) < 0.125
    noise = random.standard_normal((count, CANDIDATES), dtype=np.float32)
    return noise + np.float32(0.55) * passes, passes


def probe_auc() -> Figure:
    """Seconds to read 9,831 scenes of 16,384 candidates: AUC alone, and all six readings."""
    rows = tuple(_passes({"tie-averaged rank AUC": rank_auc, "all six readings": readings}))
    source = f"{FORGIVEN} drawn scenes of {CANDIDATES} candidates"
    value = rows[0]["seconds"]
    return Figure("probe_auc", "seconds for the AUC of every scene", value, source, rows)


def probe_ties() -> Figure:
    """Milliseconds to read a scene under 100 random orders of its ties."""

    def draw(logits: Logits, passes: NDArray[np.bool_]) -> TieDraws:
        return tie_draws(logits, passes, draws=100, seed=0)

    rows = tuple(_passes({"100 random orders of ties": draw}, FORGIVEN // 16))
    source = f"{FORGIVEN // 16} drawn scenes of {CANDIDATES} candidates"
    return Figure("probe_ties", "processor ms a scene", rows[0]["cpu ms a scene"], source, rows)


def _passes(works: dict[str, Work], scenes: int = FORGIVEN) -> Iterator[dict[str, Any]]:
    """Time each over drawn scenes, block by block; what is drawn is not timed."""
    wall, cpu = dict.fromkeys(works, 0.0), dict.fromkeys(works, 0.0)
    for work in works.values():
        work(*drawn(2, 0))
    for first in range(0, scenes, BLOCK):
        block = drawn(min(BLOCK, scenes - first), first)
        for name, work in works.items():
            start, start_cpu = time.perf_counter(), time.process_time()
            work(*block)
            wall[name] += time.perf_counter() - start
            cpu[name] += time.process_time() - start_cpu
    for name in works:
        yield {
            "what": name,
            "seconds": wall[name],
            "cpu s": cpu[name],
            "cpu ms a scene": 1e3 * cpu[name] / scenes,
            "threads": numba.get_num_threads(),
        }


def probe_contrasts() -> Figure:
    """Seconds to match 9,831 scenes among 86,107 and resample every contrast 10,000 times."""
    scenes = _drawn_scenes(FORGIVEN, UNFORGIVEN)
    start = time.perf_counter()
    pairing = Pairing.of(scenes, 250)
    matched = time.perf_counter()
    Contrasts.of(scenes, pairing, Question())
    took = time.perf_counter() - matched
    rows = (
        {"what": "matching", "seconds": matched - start, "scenes": len(scenes)},
        {"what": "groups and contrasts", "seconds": took, "scenes": len(scenes)},
    )
    return Figure("probe_contrasts", "seconds", matched - start + took, "readings drawn", rows)


def _drawn_scenes(forgiven: int, unforgiven: int) -> Scenes:
    """Readings as they might come out of the kernels."""
    random = np.random.default_rng(0)
    count = forgiven + unforgiven
    fired = np.arange(count) < forgiven
    usual = (CANDIDATES - 2) * random.beta(1.0, 2.0, count)
    failing = 1 + np.where(fired, random.integers(305, CANDIDATES - 2, count), usual)
    auc = np.where(fired, random.beta(6, 3, count), random.beta(90, 2, count))
    values = {"auc": auc, "control_auc": random.beta(6, 3, count)}
    values |= {
        "own_auc": random.beta(60, 2, count),
        "gap": np.zeros(count),
        "grouped_gap": np.zeros(count),
    }
    for name in ("precision", "grouped_precision"):
        values[name] = random.random(count)
    for name in ("area", "grouped_area"):
        values[name] = 0.1 * random.random(count)
    nothing = np.empty((0, forgiven))
    return Scenes(
        tokens=tuple(map(str, range(count))), forgiven=fired, failing=failing.astype(np.int64),
        own_forgiven=np.zeros(count, bool), drawn_precision=nothing, drawn_area=nothing,
        constant=(0, 0), max_fpr=0.1, **values,
    )  # fmt: skip


def write_logits(folder: Path, corpus: Corpus, labels: LabelSet) -> LogitStore:
    """Logits of every head for a drawn corpus: noise around the labels of the head's column."""
    scenes = list(zip(labels.tokens, labels.logs, strict=True))
    random = np.random.default_rng(1)
    noise = random.standard_normal((len(HEADS), 2 * CANDIDATES), dtype=np.float32)
    with writing(folder, {"drawn": len(scenes)}, {}, scenes, CANDIDATES) as draft:
        for shard in draft.left():
            tokens = [draft.tokens[row] for row in draft.rows(shard)]
            values = []
            for token in tokens:
                raw = labels.raw(token)
                shift = int(random.integers(CANDIDATES))
                logits = noise[:, shift : shift + CANDIDATES].copy()
                fired = labels.human[labels.index(token), list(HEAD_COLUMNS)] == 0.0
                pull = np.where(fired, 0.5, 3.0).astype(np.float32)[:, None]
                logits[: len(HEAD_COLUMNS)] += pull * raw[list(HEAD_COLUMNS)]
                values.append(logits)
            draft.add(shard, values, [""] * len(tokens), [])
        draft.close()
    return LogitStore.open(folder)


def probed(folder: Path, tokens: int, workers: int = 2) -> dict[str, Any]:
    """Draw a store of so many scenes, probe it once, and tell what that cost."""
    corpus = draw_corpus(tokens)
    labels = write_corpus(folder / "labels", corpus, workers)
    logits = write_logits(folder / "logits", corpus, labels)
    start, start_cpu = time.perf_counter(), time.process_time()
    found = probe(logits, labels)
    return {
        "tokens": tokens,
        "scenes": len(found.scenes),
        "forgiven": int(found.scenes.forgiven.sum()),
        "seconds": time.perf_counter() - start,
        "cpu s": time.process_time() - start_cpu,
        "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def probe_pass() -> Figure:
    """The whole probe of a drawn store on the disk, at a part of the real size."""
    with tempfile.TemporaryDirectory() as folder:
        probed(Path(folder) / "warm", 64)
        row = probed(Path(folder) / "part", TOKENS // PART)
    minutes = row["seconds"] / row["tokens"] * TOKENS / 60
    return Figure("probe_pass", "minutes for 103,288 tokens, by proportion", minutes,
                  f"{TOKENS // PART} drawn tokens, {CANDIDATES} candidates", (row,))  # fmt: skip


FIGURES: Final = (probe_auc, probe_ties, probe_contrasts, probe_pass)
EVERY_CORE: Final = (probe_auc, probe_ties, probe_contrasts, probe_pass)


if __name__ == "__main__":
    if "--eighths" in sys.argv:
        parser = argparse.ArgumentParser()
        parser.add_argument("folder", type=Path)
        parser.add_argument("--eighths", type=float, required=True)
        asked = parser.parse_args()
        row = probed(asked.folder, round(TOKENS * asked.eighths / 8))
        show(Figure("probe_pass", "seconds", row["seconds"], "drawn scenes", (row,)),
             Console(width=140))  # fmt: skip
    else:
        run(__doc__ or "", FIGURES, EVERY_CORE)
