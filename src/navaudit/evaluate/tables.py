"""A comparison as tables: CSV with everything, Markdown to read, and the data of a forest plot."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator, Sequence
from typing import Any, Final

from navaudit.evaluate.compare import Comparison
from navaudit.evaluate.contrasts import ALL, INTERACTION, Contrast, F, R
from navaudit.evaluate.letters import Judgement
from navaudit.evaluate.measures import MEASURES, Measure
from navaudit.findings import NOT_DEFINED
from navaudit.stats.rounding import PLACES, interval_text

_SETS: Final = {ALL: "All", F: "F", R: "R", INTERACTION: "F-R"}


def contrasts_csv(comparison: Comparison) -> bytes:
    """Every contrast, unrounded, a row each."""
    header = (
        "treatment", "control", "seed", "treated_run", "control_run", "metric", "mode", "unit",
        "set", "tokens", "point", "low", "high", "undefined_resamples", "verdict", "seed_scales",
    )  # fmt: skip
    verdicts = {(one.pair, one.measure, one.population): one for one in comparison.judgements}
    rows = []
    for one in comparison.contrasts:
        judged = verdicts.get((one.pair, one.measure, one.population))
        rows.append((
            *one.pair, "" if one.seed is None else one.seed, one.treated, one.control,
            one.measure.metric, one.measure.mode, one.measure.unit, one.population, one.tokens,
            *map(_cell, (one.point, one.low, one.high)), one.undefined,
            "" if judged is None else judged.verdict.letter,
            "" if judged is None else "/".join(map(repr, judged.verdict.scales)),
        ))  # fmt: skip
    return _csv(header, rows)


def levels_csv(comparison: Comparison) -> bytes:
    """Every run's own means, unrounded, a row each."""
    rows = [
        (run, one.metric, one.mode, one.unit, population, tokens, _cell(mean))
        for (run, one, population), (mean, tokens) in comparison.levels.items()
    ]
    return _csv(("run", "metric", "mode", "unit", "set", "tokens", "mean"), rows)


def markdown(comparison: Comparison) -> bytes:
    """Everything a person reads: cautions, own means, contrasts with letters, seed scales."""
    parts = [
        f"# {len(comparison.aligned.runs)} runs compared",
        _counted(comparison),
        *(f"- {caution}" for caution in comparison.cautions),
        "",
        "## Own means on all tokens",
        "",
        *_means(comparison),
    ]
    for pair in comparison.pairs.pairs:
        parts += ["", f"## {pair[0]} minus {pair[1]}", "", *_pair_table(comparison, pair)]
    return ("\n".join(parts) + "\n").encode()


def forest(comparison: Comparison) -> list[dict[str, Any]]:
    """Points and intervals for a forest plot, grouped by pair, measure and set."""
    groups: dict[tuple[tuple[str, str], Measure, str], list[Contrast]] = {}
    for one in comparison.contrasts:
        groups.setdefault((one.pair, one.measure, one.population), []).append(one)
    judged = {(one.pair, one.measure, one.population): one for one in comparison.judgements}
    return [
        {
            "pair": list(pair),
            "metric": measure.metric,
            "mode": measure.mode,
            "unit": measure.unit,
            "set": population,
            "verdict": _judged(judged.get((pair, measure, population))),
            "entries": [
                {
                    "label": f"{one.treated} - {one.control}",
                    "seed": one.seed,
                    "tokens": one.tokens,
                    **{name: finite(getattr(one, name)) for name in ("point", "low", "high")},
                }
                for one in read
            ],
        }
        for (pair, measure, population), read in groups.items()
    ]


def _judged(one: Judgement | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "letters": list(one.verdict.letters),
        "readings": [list(reading) for reading in one.readings],
        "scales": [finite(scale) for scale in one.verdict.scales],
        "cautions": list(one.verdict.cautions),
    }


def _counted(comparison: Comparison) -> str:
    sets = ", ".join(
        f"{comparison.tokens(name):,} in {_SETS[name]}" for name in comparison.populations
    )
    return (
        f"\nTokens: {sets}; {comparison.comfort_tokens(ALL):,} with extended comfort. "
        f"{comparison.logs} logs, resampled {comparison.pairs.resamples:,} times with shared "
        "draws; 95% percentile intervals, rounded outward. Scores in points, distances in metres. "
        "O observed, S unresolved on the seed scale, U unresolved.\n"
    )


def _means(comparison: Comparison) -> Iterator[str]:
    have = [one for one in MEASURES if any(key[1] == one for key in comparison.levels)]
    yield from _head(("run", *map(str, have)))
    for run in comparison.aligned.runs:
        cells = [comparison.levels.get((run, one, ALL)) for one in have]
        yield _row((run, *(NOT_DEFINED if one is None else _rounded(one[0]) for one in cells)))


def _pair_table(comparison: Comparison, pair: tuple[str, str]) -> Iterator[str]:
    read = [one for one in comparison.contrasts if one.pair == pair]
    runs = list(dict.fromkeys((one.treated, one.control) for one in read))
    judged = {
        (one.measure, one.population): one for one in comparison.judgements if one.pair == pair
    }
    yield from _head((
        "metric", "set", "tokens", *(f"{treated} - {control}" for treated, control in runs),
        "verdict", "seed scales",
    ))  # fmt: skip
    by_row: dict[tuple[Measure, str], dict[tuple[str, str], Contrast]] = {}
    for one in read:
        by_row.setdefault((one.measure, one.population), {})[one.treated, one.control] = one
    for (measure, population), cells in by_row.items():
        yield _row((
            str(measure), _SETS.get(population, population), _counts(list(cells.values())),
            *(_text(cells.get(run)) for run in runs), *_letters(judged.get((measure, population))),
        ))  # fmt: skip


def _counts(read: Sequence[Contrast]) -> str:
    return "/".join(dict.fromkeys(f"{one.tokens:,}" for one in read))


def _text(one: Contrast | None) -> str:
    if one is None or math.isnan(one.point):
        return NOT_DEFINED
    return interval_text(one.point, one.low, one.high)


def _letters(one: Judgement | None) -> tuple[str, str]:
    if one is None:
        return "", ""
    return one.verdict.letter, "/".join(map(_rounded, one.verdict.scales))


def _rounded(value: float) -> str:
    return NOT_DEFINED if math.isnan(value) else f"{value:.{PLACES}f}"


def finite(value: float) -> float | None:
    """Return a number as JSON takes it: None for what is not finite."""
    return value if math.isfinite(value) else None


def _cell(value: float) -> str:
    return "" if math.isnan(value) else repr(value)


def _head(names: Sequence[str]) -> tuple[str, str]:
    return _row(names), _row(["---"] * len(names))


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _csv(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue().encode()
