"""Contrasts as a forest plot: a panel a pair, a row a metric and a set of tokens, a mark a seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from navaudit.audit.table import Table
from navaudit.axes import LK
from navaudit.evaluate.compare import Comparison
from navaudit.evaluate.contrasts import ALL, INTERACTION, Contrast, F, R
from navaudit.evaluate.epdms import EC, EPDMS, SHORT
from navaudit.evaluate.measures import MEASURES
from navaudit.report.look import LIGHT, Look
from navaudit.report.saved import save_figure
from navaudit.report.tabled import write_tables

NAME: Final = "forest"
METRICS: Final = tuple(SHORT[one] for one in (EPDMS, LK, EC))
"""What is drawn; the tables have every metric."""

SETS: Final = {ALL: "all", F: "F", R: "R", INTERACTION: "F - R"}
MARKS: Final = ("o", "s", "D", "^", "v")
"""Of the seeds, in turn."""

ABREAST: Final = 4
"""Panels beside each other."""
_ROW_IN, _WIDE_IN, _LABELS_IN, _HEAD_IN = 0.25, 2.3, 1.15, 0.95

TITLES: Final = {
    "contrasts": "Every contrast of every metric, with its interval.",
    "levels": "Every run's own mean of every metric.",
}
"""Of the tables that a comparison leaves."""

Row = tuple[str, str]
"""A measure, in words, and a set of tokens."""


def write_forest(folder: Path, comparison: Comparison) -> tuple[Path, ...]:
    """Write the plot and its data; nothing where a comparison has none of the metrics.

    Beside them stand the runs' own means, and what the tables of the folder are called.
    """
    write_tables(folder, [means_table(comparison)], TITLES)
    data = forest_table(comparison)
    return save_figure(folder, forest_of(data), data) if data.rows else ()


def forest_table(comparison: Comparison) -> Table:
    """What the plot shows: a row a contrast."""
    letters = {(one.pair, one.measure, one.population): one.verdict.letter
               for one in comparison.judgements}  # fmt: skip
    order = [one for one in MEASURES if one.metric in METRICS and one.unit == "points"]
    rows = [
        (*one.pair, f"{one.treated} - {one.control}", one.seed, str(one.measure),
         SETS[one.population], one.tokens, *map(_known, (one.point, one.low, one.high)),
         letters.get((one.pair, one.measure, one.population), ""))
        for one in _sorted(comparison.contrasts, order)
    ]  # fmt: skip
    return Table(
        NAME,
        "Contrasts in score points, with 95 percent intervals over resampled logs; blue where an "
        "interval leaves out zero. F: scenes on which the human fails something, R: the others. "
        "Letters: O observed, S unresolved on the scale of seeds, U unresolved.",
        ("treatment", "control", "runs", "seed", "metric", "set", "tokens", "point", "low", "high",
         "verdict"),
        tuple(rows),
    )  # fmt: skip


def means_table(comparison: Comparison) -> Table:
    """The runs' own means over all tokens: a row a run, a column a measure that is drawn."""
    known = {
        (run, measure): mean
        for (run, measure, population), (mean, _) in comparison.levels.items()
        if population == ALL and math.isfinite(mean)
    }
    measured = {measure for _, measure in known}
    drawn = [
        one for one in MEASURES
        if one in measured and one.metric in METRICS and one.unit == "points"
    ]  # fmt: skip
    rows = [
        (run, *(f"{known[run, one]:.2f}" if (run, one) in known else None for one in drawn))
        for run in dict.fromkeys(run for run, _, _ in comparison.levels)
    ]
    return Table(
        "own_means",
        "Each run's own mean over all scenes, in points: OFF without forgiveness, ON with it.",
        ("run", *map(str, drawn)),
        tuple(rows),
    )


def _sorted(read: Sequence[Contrast], order: Sequence[Any]) -> list[Contrast]:
    pairs = list(dict.fromkeys(one.pair for one in read))
    sets = list(SETS)
    shown = [one for one in read if one.measure in order and one.population in SETS]
    shown = [one for one in shown if math.isfinite(one.point)]
    return sorted(
        shown,
        key=lambda one: (pairs.index(one.pair), order.index(one.measure),
                         sets.index(one.population), one.seed or 0),
    )  # fmt: skip


def forest_of(data: Table, look: Look = LIGHT) -> Figure:
    """Draw a plot of the rows of `forest_table`."""
    rows = [dict(zip(data.columns, row, strict=True)) for row in data.rows]
    pairs = list(dict.fromkeys((one["treatment"], one["control"]) for one in rows))
    lines: list[Row] = list(dict.fromkeys((str(one["metric"]), str(one["set"])) for one in rows))
    seeds = sorted({one["seed"] for one in rows if one["seed"] is not None})
    wide = min(len(pairs), ABREAST)
    tall = -(-len(pairs) // wide)
    figure = Figure(
        figsize=(_LABELS_IN + _WIDE_IN * wide, (_HEAD_IN + _ROW_IN * len(lines)) * tall),
        facecolor=look.page, layout="constrained",
    )  # fmt: skip
    axes = figure.subplots(tall, wide, squeeze=False, sharey=True)
    for ax, pair in zip(axes.flat, pairs, strict=False):
        own = [one for one in rows if (one["treatment"], one["control"]) == pair]
        _draw_pair(ax, own, lines, seeds, look)
        ax.set_title(
            f"{pair[0]} \N{MINUS SIGN} {pair[1]}", fontsize=10, color=look.ink, weight="bold"
        )
    for ax in axes.flat[len(pairs) :]:
        ax.set_axis_off()
    axes[0, 0].set_ylim(len(lines) - 0.4, -0.6)
    figure.supxlabel("score points", fontsize=9, color=look.ink)
    handles = _legend(seeds, look)
    figure.legend(
        handles=handles, loc="outside lower right", ncols=len(handles), frameon=False,
        fontsize=8, labelcolor=look.ink,
    )  # fmt: skip
    return figure


def _legend(seeds: Sequence[Any], look: Look) -> list[Line2D]:
    """Marks are seeds', whatever their colour; the colour says whether zero is left out."""
    own = seeds if len(seeds) > 1 else ()
    marks = [
        Line2D([], [], color=look.faint, ls="", marker=MARKS[k % len(MARKS)], ms=4.5,
               label=f"seed {seed}")
        for k, seed in enumerate(own)
    ]  # fmt: skip
    colours = ((look.candidate, "leaves out zero"), (look.faint, "holds zero"))
    return marks + [Line2D([], [], color=one, lw=1.4, label=words) for one, words in colours]


def _draw_pair(
    ax: Axes, rows: list[dict[str, Any]], lines: list[Row], seeds: list[Any], look: Look
) -> None:
    ax.set_facecolor(look.page)
    for k, (_, population) in enumerate(lines):
        if population == SETS[ALL] and k:
            ax.axhline(k - 0.5, color=look.road, lw=0.8, zorder=0)
    ax.axvline(0.0, color=look.edge, lw=1.0, zorder=1)
    for one in rows:
        at = lines.index((str(one["metric"]), str(one["set"])))
        place = seeds.index(one["seed"]) if one["seed"] in seeds else 0
        y = at + 0.24 * (place - (len(seeds) - 1) / 2 if seeds else 0.0)
        clear = one["low"] is not None and (one["low"] > 0.0 or one["high"] < 0.0)
        colour = look.candidate if clear else look.faint
        if one["low"] is not None:
            ax.plot([one["low"], one["high"]], [y, y], color=colour, lw=1.4, zorder=2)
        ax.plot(
            one["point"], y, MARKS[place % len(MARKS)], color=colour, ms=4.5, mec=look.page,
            mew=0.6, zorder=3,
        )  # fmt: skip
    letters = {lines.index((str(one["metric"]), str(one["set"]))): one["verdict"] for one in rows}
    for at, letter in letters.items():
        if letter:
            ax.annotate(
                letter, (1.0, at), (3, 0), xycoords=("axes fraction", "data"),
                textcoords="offset points", fontsize=8, color=look.ink, va="center",
            )  # fmt: skip
    ax.set_yticks(range(len(lines)), [f"{metric}, {where}" for metric, where in lines])
    ax.tick_params(colors=look.ink, labelsize=8, length=2)
    ax.tick_params(axis="y", length=0)
    for side, spine in ax.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(look.edge)


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
