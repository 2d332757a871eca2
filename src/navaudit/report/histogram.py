"""The histogram of overwritten columns by how many candidates had failed them."""

from __future__ import annotations

from typing import Any, Final

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from navaudit.audit.entries import Histogram
from navaudit.axes import COLUMNS
from navaudit.report.look import LIGHT, Look

SIZE_IN: Final = (7.0, 3.4)


def histogram_of(histogram: Histogram, look: Look = LIGHT) -> Figure:
    """Draw the forgiven columns as bars, and where the middle of the others lies as a dotted line.

    A figure of nothing says so.
    """
    figure = Figure(figsize=SIZE_IN, facecolor=look.page, layout="constrained")
    ax = figure.add_subplot(facecolor=look.page)
    edges, name = histogram.edges, COLUMNS[histogram.column].replace("_", " ")
    ax.bar(
        edges[:-1], histogram.forgiven, width=histogram.edges[1] - histogram.edges[0],
        align="edge", color=look.candidate, edgecolor=look.page, linewidth=0.6,
    )  # fmt: skip
    if histogram.unforgiven_median is not None:
        ax.axvline(histogram.unforgiven_median, color=look.failure, ls=":", lw=1.6)
        ax.annotate(
            f"median where the rule\ndoes not fire: {histogram.unforgiven_median:,}",
            (histogram.unforgiven_median, 1.0), (4, -3), xycoords=("data", "axes fraction"),
            textcoords="offset points", va="top", ha="left", fontsize=8, color=look.failure,
            bbox={"facecolor": look.page, "edgecolor": "none", "pad": 1.5},
        )  # fmt: skip
    if histogram.median is None:
        style: dict[str, Any] = {"ha": "center", "va": "center", "color": look.faint}
        ax.text(0.5, 0.5, "no column was overwritten", transform=ax.transAxes, **style)
    ax.set_xlim(0, int(edges[-1]))
    ax.set_xlabel(f"candidates that failed {name} before the overwrite", color=look.ink, fontsize=9)
    ax.set_ylabel("overwritten columns", color=look.ink, fontsize=9)
    ax.xaxis.set_major_formatter(lambda at, _: f"{int(at):,}")
    ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    ax.yaxis.set_major_formatter(lambda at, _: f"{at:,.0f}")
    ax.tick_params(colors=look.faint, labelsize=8)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(look.edge)
    return figure
