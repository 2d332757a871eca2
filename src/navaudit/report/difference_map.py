"""Where labels differ between processors: scenes along, columns down, a panel an environment."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

from navaudit.audit.processed import PUBLISHED
from navaudit.audit.table import Table
from navaudit.axes import COLUMNS, SHORT
from navaudit.report.look import LIGHT, Look
from navaudit.report.saved import save_figure

NAME: Final = "difference_map"
BINS: Final = 160
"""Scenes are put together until there are at most so many."""

_WIDE_IN, _REST_IN, _TALL_IN, _LOW_IN = 7.4, 0.7, 1.75, 0.55

LEAST_PERCENT: Final = 0.01
"""Where colours begin; less looks like this, and nothing like nothing."""


def write_difference_map(
    folder: Path, names: Sequence[str], differing: NDArray[np.int64], candidates: int
) -> tuple[Path, ...]:
    """Write the map and its data.

    ``differing [token, environment, reading, column]`` counts entries unlike the reference's, which
    is the first of ``names``.
    """
    data = difference_table(names, differing, candidates)
    return save_figure(folder, difference_map(data), data)


def difference_table(names: Sequence[str], differing: NDArray[np.int64], candidates: int) -> Table:
    """What the map shows: a row an environment, a run of scenes and a column."""
    tokens = len(differing)
    edges = np.unique(np.linspace(0, tokens, min(tokens, BINS) + 1).astype(np.int64))
    starts, lengths = edges[:-1], np.diff(edges)
    sums = np.add.reduceat(differing[:, :, PUBLISHED], starts, axis=0)
    percent = 100.0 * sums / (lengths[:, None, None] * candidates)
    rows = [
        (name, int(first), int(length), SHORT[column], float(percent[k, environment, column]))
        for environment, name in enumerate(names)
        if environment
        for k, (first, length) in enumerate(zip(starts, lengths, strict=True))
        for column in range(len(COLUMNS))
    ]
    return Table(
        NAME,
        f"Percent of published entries unlike those of {names[0]}, scene by scene.",
        ("environment", "first scene", "scenes", "column", "percent"),
        tuple(rows),
    )


def difference_map(data: Table, look: Look = LIGHT) -> Figure:
    """Draw a map of the rows of `difference_table`; a map of nothing says so."""
    names = list(dict.fromkeys(str(row[0]) for row in data.rows))
    differ = {str(row[0]) for row in data.rows if row[4]}
    tall = [_TALL_IN if name in differ else _LOW_IN for name in names] or [_LOW_IN]
    figure = Figure(
        figsize=(_WIDE_IN, _REST_IN + sum(tall)), facecolor=look.page, layout="constrained"
    )
    axes = figure.subplots(len(tall), 1, squeeze=False, sharex=True, height_ratios=tall)[:, 0]
    hues = [look.route, look.candidate, look.failure]
    tint = LinearSegmentedColormap.from_list("differs", hues)
    norm = LogNorm(LEAST_PERCENT, 100.0)
    drawn = None
    for ax, name in zip(axes, names, strict=False):
        values, ends = _grid(data, name)
        shown = np.ma.masked_where(values == 0.0, np.maximum(values, LEAST_PERCENT))
        drawn = ax.pcolormesh(ends, np.arange(len(SHORT) + 1), shown.T, cmap=tint, norm=norm)
        ax.set_facecolor(look.road)
        shows = SHORT if name in differ else ()
        ax.set_yticks(np.arange(len(shows)) + 0.5, shows)
        ax.set_ylim(len(SHORT), 0)
        ax.set_title(_title(name, values, data), fontsize=9, color=look.ink, loc="left")
        ax.tick_params(colors=look.ink, labelsize=7, length=2)
    for ax in axes:
        for spine in ax.spines.values():
            spine.set_color(look.edge)
    axes[-1].set_xlabel("scenes, in the order of the labels", fontsize=9, color=look.ink)
    axes[-1].xaxis.get_major_locator().set_params(integer=True)
    if drawn is None:
        nothing: dict[str, Any] = {"ha": "center", "va": "center", "color": look.faint}
        axes[0].text(0.5, 0.5, "only the reference was run", **nothing)
    if drawn is None or not differ:
        return figure
    bar = figure.colorbar(drawn, ax=list(axes), pad=0.015, aspect=30)
    bar.set_label("percent of entries that differ", fontsize=8, color=look.ink)
    bar.ax.tick_params(colors=look.ink, labelsize=7)
    return figure


def _grid(data: Table, name: str) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Percent ``[run of scenes, column]`` and the edges of the runs."""
    own = [row for row in data.rows if row[0] == name]
    values = np.array([row[4] for row in own], float).reshape(-1, len(SHORT))
    firsts = np.array([row[1] for row in own[:: len(SHORT)]], np.int64)
    last = own[-1]
    return values, np.append(firsts, int(str(last[1])) + int(str(last[2])))


def _title(name: str, values: NDArray[np.float64], data: Table) -> str:
    if not values.any():
        return f"{name}: no entry differs"
    return f"{name}: {np.count_nonzero(values.any(axis=1))} of {len(values)} runs of scenes differ"
