"""The numbers of a comparison under the paper's names.

With ``prefix = "rt"``, arms named A, M, P and L, and a run named ``released``, the names are those
of the paper (``rt530`` for its step 530): runs in an arm go by arm and seed. ``METRIC`` is EPDMS,
LK, EC, NC, ...; ``MODE`` is ``off`` or ``on`` (what forgiveness does not reach bears ``off``);
``SET`` is ``all``, ``human_fail`` (F) or ``rest`` (R); and ``_lo``, ``_hi`` are added for the ends
of an interval, rounded outward:

======================================  ==========================================================
``rt_P0A0_MODE_METRIC_SET``             arm P minus arm A at seed 0, score points
``rt_L0A0_MODE_METRIC``                 the same on all tokens, for a pair of arms with one seed
``rt_A0released_MODE_METRIC_SET``       run A0 minus run ``released``
``rt_IP0_MODE_METRIC``                  interaction, F minus R, of a pair whose control is A
``rt_dist_P0A0_ADE_F``                  distance to the human in metres; also ``R``, ``FR``
``rt_abs_A0_MODE_METRIC``               a run's own mean on all tokens
``rt_spread_two_seed_MODE_METRIC_all``  seed scale; also ``three_seed``
``rt_LK_forgiven_min``, ``_max``        of P minus A without forgiveness on F, over seeds
``rt_dist_F_ADE_min``, ``_max``         of P minus A on F, over seeds
``rt_unchanged_EC_drop_min``, ``_max``  how far EC falls, P against A, where LK stays as it is
``rt_tokens``, ``rt_n_human_fail``, ``rt_n_rest``, ``rt_ec_n_SET``, ``rt_logs``, ``rt_bootstrap``,
``rt_confidence``, ``rt_seeds``, ``rt_seed0``, ..., ``rt_steps``, ``rt_initial_step``
======================================  ==========================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from navaudit.axes import LK
from navaudit.evaluate.compare import Comparison
from navaudit.evaluate.contrasts import ALIKE, ALL, INTERACTION, Contrast, F, R
from navaudit.evaluate.distance import SHORT as DISTANCES
from navaudit.evaluate.epdms import EC, SHORT
from navaudit.evaluate.letters import scales_of
from navaudit.evaluate.measures import BOTH, Measure
from navaudit.evaluate.pairs import Pairs
from navaudit.findings import NOT_DEFINED, Finding, count, number
from navaudit.stats.bootstrap import PERCENTILES
from navaudit.stats.rounding import PLACES, outward

SETS: Final = {ALL: "all", F: "human_fail", R: "rest"}
_NEAR: Final = {F: "F", R: "R", INTERACTION: "FR", ALL: "all"}
_SEEDS: Final = ("two", "three")
_PAIR: Final = ("P", "A")
"""Treatment and control of the paper's ranges over seeds."""

CONTRASTS: Final = "contrasts.csv"
LEVELS: Final = "levels.csv"
"""Files that show the numbers in context."""


def findings(comparison: Comparison) -> list[Finding]:
    """Return every number of a comparison that has a name, once."""
    found = [
        *_counts(comparison),
        *_absolutes(comparison),
        *_of_contrasts(comparison),
        *_spreads(comparison),
        *_ranges(comparison.contrasts),
    ]
    prefix = comparison.pairs.prefix
    return [
        Finding(f"{prefix}_{one.name}", one.value, one.text, one.where, one.cases) for one in found
    ]


def _counts(comparison: Comparison) -> Iterator[Finding]:
    pairs = comparison.pairs
    yield count("tokens", comparison.tokens(ALL), LEVELS)
    yield count("logs", comparison.logs)
    yield count("bootstrap", pairs.resamples)
    yield count("confidence", round(PERCENTILES[1] - PERCENTILES[0]))
    for population, name in SETS.items():
        if population not in comparison.populations:
            continue
        if population != ALL:
            yield count(f"n_{name}", comparison.tokens(population), LEVELS)
        yield count(f"ec_n_{name}", comparison.comfort_tokens(population), LEVELS)
    scales = scales_of(pairs)
    if scales is not None:
        yield count("seeds", len(scales.seeds))
        for place, seed in enumerate(scales.seeds):
            yield count(f"seed{place}", seed)
    for name, steps in (("steps", pairs.steps), ("initial_step", pairs.initial_step)):
        if steps is not None:
            yield count(name, steps)


def _mode(measure: Measure) -> str:
    return "off" if measure.mode == BOTH else measure.mode


def _absolutes(comparison: Comparison) -> Iterator[Finding]:
    for (run, measure, population), (mean, _) in comparison.levels.items():
        if population == ALL:
            tail = measure.metric if measure.unit == "m" else f"{_mode(measure)}_{measure.metric}"
            yield number(f"abs_{comparison.pairs.label(run)}_{tail}", mean, PLACES, LEVELS)


def _of_contrasts(comparison: Comparison) -> Iterator[Finding]:
    for one in comparison.contrasts:
        for name in _names(one, comparison.pairs):
            yield from _interval(name, one)


def _names(one: Contrast, pairs: Pairs) -> list[str]:
    treated, measure = pairs.label(one.treated), one.measure
    pairing = f"{treated}{pairs.label(one.control)}"
    if one.population == ALIKE:
        return [f"{pairing}_{_mode(measure)}_{measure.metric}_unchanged"]
    if measure.unit == "m":
        return [f"dist_{pairing}_{measure.metric}_{_NEAR[one.population]}"]
    stem = f"{_mode(measure)}_{measure.metric}"
    if one.population == INTERACTION:
        against_a = one.seed is not None and one.pair[1] == _PAIR[1]
        return [f"I{treated if against_a else pairing}_{stem}"]
    names = [f"{pairing}_{stem}_{SETS[one.population]}"]
    return [*names, f"{pairing}_{stem}"] if one.population == ALL else names


def _interval(name: str, one: Contrast) -> Iterator[Finding]:
    yield number(name, one.point, PLACES, CONTRASTS, signed=True)
    for tail, value, text in zip(
        ("lo", "hi"), (one.low, one.high), outward(one.low, one.high), strict=True
    ):
        known = not math.isnan(value)
        yield Finding(
            f"{name}_{tail}", value if known else None, text if known else NOT_DEFINED, CONTRASTS
        )


def _spreads(comparison: Comparison) -> Iterator[Finding]:
    for (measure, population), scales in comparison.scales.items():
        if population != ALL or measure.unit == "m":
            continue
        for seeds, scale in zip(_SEEDS, scales, strict=False):
            name = f"spread_{seeds}_seed_{_mode(measure)}_{measure.metric}_all"
            yield number(name, scale, PLACES, CONTRASTS)


def _ranges(read: Sequence[Contrast]) -> Iterator[Finding]:
    """Smallest and largest over seeds of what the paper's text quotes."""
    lane, comfort, near = SHORT[LK], SHORT[EC], DISTANCES[0]
    quoted = {
        "LK_forgiven": (Measure(lane, "off", "points"), F, 1.0),
        f"dist_F_{near}": (Measure(near, BOTH, "m"), F, 1.0),
        "unchanged_EC_drop": (Measure(comfort, BOTH, "points"), ALIKE, -1.0),
    }
    for name, (measure, population, sign) in quoted.items():
        points = [
            sign * one.point
            for one in read
            if one.pair == _PAIR and one.measure == measure and one.population == population
        ]
        if points:
            yield number(f"{name}_min", min(points), PLACES, CONTRASTS)
            yield number(f"{name}_max", max(points), PLACES, CONTRASTS)
