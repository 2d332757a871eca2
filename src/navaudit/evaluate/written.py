"""A comparison on disk: tables, the data of a forest plot, and one record of everything.

::

    contrasts.csv, levels.csv   every contrast and every run's own means, unrounded
    compare.md                  the same to read, with letters, seed scales and cautions
    forest.json                 points and intervals by pair, measure and set
    compare.json                all of it, with what it was made from; written last
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from navaudit import provenance
from navaudit.evaluate.compare import Comparison
from navaudit.evaluate.named import CONTRASTS, LEVELS
from navaudit.evaluate.pairs import Source
from navaudit.evaluate.run import MANIFEST
from navaudit.evaluate.tables import contrasts_csv, finite, forest, levels_csv, markdown
from navaudit.scene.whole import put

MARKDOWN: Final = "compare.md"
FOREST: Final = "forest.json"
RECORD: Final = "compare.json"


def write(folder: Path, comparison: Comparison) -> dict[str, Any]:
    """Write a comparison, each file whole; return the record."""
    told = record(comparison)
    put(folder / CONTRASTS, contrasts_csv(comparison))
    put(folder / LEVELS, levels_csv(comparison))
    put(folder / MARKDOWN, markdown(comparison))
    put(folder / FOREST, _json(told["contrasts"]))
    put(folder / RECORD, _json(told))
    return told


def record(comparison: Comparison) -> dict[str, Any]:
    """The whole comparison as one JSON object."""
    pairs, populations = comparison.pairs, comparison.populations
    return {
        "pairs": [list(pair) for pair in pairs.pairs],
        "runs": {
            name: {"modes": list(run.scores), "notes": list(run.notes), "settings": run.settings}
            for name, run in comparison.aligned.runs.items()
        },
        "tokens": {name: comparison.tokens(name) for name in populations},
        "comfort_tokens": {name: comparison.comfort_tokens(name) for name in populations},
        "logs": comparison.logs,
        "resamples": pairs.resamples,
        "seed": pairs.seed,
        "cautions": list(comparison.cautions),
        "levels": _levels(comparison),
        "contrasts": forest(comparison),
        "inputs": inputs(comparison),
        "provenance": provenance.here(),
    }


def inputs(comparison: Comparison) -> dict[str, Any]:
    """What was compared: of each run its digest."""
    return {source.name: _digest(source) for source in comparison.pairs.sources}


def _digest(source: Source) -> Mapping[str, str]:
    paths = [source.path / MANIFEST if source.path.is_dir() else source.path]
    paths += [] if source.forgiven is None else [source.forgiven]
    return {path.name: provenance.digest_file(path) for path in paths}


def _levels(comparison: Comparison) -> list[dict[str, Any]]:
    return [
        {
            "run": run,
            "metric": one.metric,
            "mode": one.mode,
            "unit": one.unit,
            "set": population,
            "tokens": tokens,
            "mean": finite(mean),
        }
        for (run, one, population), (mean, tokens) in comparison.levels.items()
    ]


def _json(told: Any) -> bytes:
    return (json.dumps(told, indent=1, allow_nan=False) + "\n").encode()
