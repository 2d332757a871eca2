"""Figures of the statistics: ``python -m bench.stats [--json] [--only NAME]``.

Inputs are drawn from fixed seeds at the paper's sizes. What is compared is measured side by side,
on one thread, in processor time, which other processes hardly disturb.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import numba
import numpy as np
from bench.figures import Figure, best, run
from sklearn.metrics import average_precision_score, roc_auc_score

from navaudit.stats import auc
from navaudit.stats.bootstrap import difference_of_medians
from navaudit.stats.clusters import cluster_means
from navaudit.stats.matching import match

CANDIDATES: Final = 16_384
FORGIVEN: Final = 9_831
UNFORGIVEN: Final = 86_107
PAIRS: Final = 7_940
TOKENS: Final = 12_146
LOGS: Final = 136
RESAMPLES: Final = 10_000
CONTRASTS: Final = 60


def scenes(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores and labels ``[scene, candidate]``, one in eight positive, AUC about 0.7."""
    random = np.random.default_rng(seed)
    labels = random.random((count, CANDIDATES), dtype=np.float32) < 0.125
    noise = random.standard_normal((count, CANDIDATES), dtype=np.float32)
    return noise + np.float32(0.75) * labels, labels


def scene_auc() -> Figure:
    """Each statistic of one scene of 16,384 scores, against scikit-learn."""
    scores, labels = scenes(40)
    here: dict[str, Callable[[], object]] = {
        "AUC": lambda: auc.rank_auc(scores, labels),
        "average precision": lambda: auc.average_precision(scores, labels, grouped=True),
        "partial AUC": lambda: auc.partial_auc(scores, labels, grouped=True),
    }
    there: dict[str, Callable[[], object]] = {
        "AUC": lambda: [roc_auc_score(*scene) for scene in zip(labels, scores, strict=True)],
        "average precision": lambda: [
            average_precision_score(*scene) for scene in zip(labels, scores, strict=True)
        ],
        "partial AUC": lambda: [
            roc_auc_score(*scene, max_fpr=0.1) for scene in zip(labels, scores, strict=True)
        ],
    }
    rows = []
    for name, work in here.items():
        ours, theirs = (1e3 * best(each, 3) / len(scores) for each in (work, there[name]))
        rows.append({"statistic": name, "ms": ours, "sklearn ms": theirs, "times": theirs / ours})
    value = min(row["times"] for row in rows)
    source = f"{CANDIDATES} float32 scores a scene"
    return Figure(
        "scene_auc",
        "scikit-learn takes at least this many times longer",
        value,
        source,
        tuple(rows),
    )


def corpus_auc() -> Figure:
    """All six statistics of as many scenes as the paper's forgiven ones, on every core."""
    auc.readings(*scenes(2))
    wall = cpu = 0.0
    for first in range(0, FORGIVEN, 512):
        block = scenes(min(512, FORGIVEN - first), seed=first)
        start, start_cpu = time.perf_counter(), time.process_time()
        auc.readings(*block)
        wall += time.perf_counter() - start
        cpu += time.process_time() - start_cpu
    row = {
        "scenes": FORGIVEN,
        "threads": numba.get_num_threads(),
        "seconds": wall,
        "cpu s": cpu,
        "cpu ms a scene": 1e3 * cpu / FORGIVEN,
    }
    source = f"{FORGIVEN} x {CANDIDATES} float32 scores"
    return Figure("corpus_auc", "seconds for six statistics", wall, source, (row,))


def cluster_bootstrap() -> Figure:
    """10,000 resamples of 136 logs, 60 contrasts over three subsets, intervals included."""
    random = np.random.default_rng(0)
    values, logs = random.normal(size=(TOKENS, CONTRASTS)), random.integers(0, LOGS, TOKENS)
    forgiven = random.random(TOKENS) < 0.15
    subsets = {"all": np.ones(TOKENS, bool), "F": forgiven, "R": ~forgiven}

    def whole() -> None:
        means = cluster_means(values, logs, subsets, seed=0)
        for subset in subsets:
            means.over(subset)
        means.between("F", "R")

    def loop(resamples: int = 20) -> None:
        draws = np.random.default_rng(0)
        members = [np.flatnonzero(logs == log) for log in range(LOGS)]
        for _ in range(resamples):
            tokens = np.concatenate([members[log] for log in draws.integers(0, LOGS, LOGS)])
            for mask in subsets.values():
                values[tokens[mask[tokens]]].mean(axis=0)

    def blas() -> None:
        draws = np.random.default_rng(0).integers(0, LOGS, size=(RESAMPLES, LOGS))
        counts = np.stack([np.bincount(draw, minlength=LOGS) for draw in draws]).astype(float)
        of_log = np.equal.outer(np.arange(LOGS), logs).astype(float)
        for mask in subsets.values():
            sums, sizes = of_log @ (values * mask[:, None]), of_log @ mask[:, None]
            np.percentile((counts @ sums) / (counts @ sizes), (2.5, 97.5), axis=0)

    ours, product, theirs = best(whole), best(blas), best(loop, 2) * RESAMPLES / 20
    rows: tuple[dict[str, Any], ...] = (
        {"way": "product of draw counts", "seconds": ours, "times": 1.0},
        {"way": "the same by BLAS, no gaps", "seconds": product, "times": product / ours},
        {"way": "loop over resamples, from 20", "seconds": theirs, "times": theirs / ours},
    )
    source = f"{RESAMPLES} resamples of {LOGS} logs, {CONTRASTS} contrasts x 3 subsets"
    return Figure("cluster_bootstrap", "seconds", ours, source, rows)


def pair_bootstrap() -> Figure:
    """10,000 resamples of 7,940 pairs: a difference of medians with its interval."""
    there, here = np.random.default_rng(0).normal(size=(2, 1, PAIRS))

    def loop(resamples: int = 200) -> None:
        random = np.random.default_rng(0)
        for _ in range(resamples):
            drawn = random.integers(0, PAIRS, PAIRS)
            np.median(there[0, drawn]) - np.median(here[0, drawn])

    ours = best(lambda: difference_of_medians(there, here, seed=0), 3)
    theirs = best(loop, 2) * RESAMPLES / 200
    rows: tuple[dict[str, Any], ...] = (
        {"way": "walk over drawn counts", "seconds": ours, "times": 1.0},
        {"way": "NumPy loop, from 200", "seconds": theirs, "times": theirs / ours},
    )
    source = f"{RESAMPLES} resamples of {PAIRS} pairs"
    return Figure("pair_bootstrap", "seconds", ours, source, rows)


def scene_matching() -> Figure:
    """Forgiven scenes matched to unforgiven ones within a caliper of 250."""
    random = np.random.default_rng(0)
    treatment = random.integers(306, CANDIDATES, FORGIVEN)
    control = (CANDIDATES * random.beta(1.0, 2.0, UNFORGIVEN)).astype(np.int64)
    took = best(lambda: match(treatment, control))
    row = {"treatments": FORGIVEN, "controls": UNFORGIVEN, "seconds": took}
    return Figure("scene_matching", "seconds", took, "counts drawn at random", (row,))


FIGURES: Final = (scene_auc, corpus_auc, cluster_bootstrap, pair_bootstrap, scene_matching)
EVERY_CORE: Final = (corpus_auc,)


if __name__ == "__main__":
    run(__doc__, FIGURES, EVERY_CORE)
