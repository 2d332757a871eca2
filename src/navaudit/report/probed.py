"""A probe on disk: its tables, its figures with their data beside them, and its numbers.

::

    probe.md                         every table to read
    <table>.csv                      one table, unrounded; probe_scenes.csv has every scene
    probe_auc.png, .svg, .csv        scenes by the head's AUC, forgiven against matched
    probe_failing.png, .svg, .csv    the failing count before and after matching
    numbers.json                     every number by name, and numbers.trace.json
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from navaudit.audit.table import Table
from navaudit.probe.arms import model_cautions, model_findings, model_tables
from navaudit.probe.contrasts import AUC, CHANCE
from navaudit.probe.models import Models
from navaudit.probe.named import findings, prefix_of
from navaudit.probe.probe import Probe
from navaudit.probe.tables import auc_table, every_scene, failing_table, tables
from navaudit.probe.telling import lead, sentences
from navaudit.report.look import LIGHT, Look
from navaudit.report.saved import save_figure
from navaudit.report.tabled import Results, write_results

SIZE_IN: Final = (7.0, 3.4)
WIDE_IN: Final = (9.0, 3.4)

Floats = NDArray[np.float64]


def write_probe(
    folder: Path, found: Probe, prefix: str | None = None, models: Models | None = None
) -> dict[str, str]:
    """Write everything a probe found, the numbers last; return them.

    ``prefix`` is how the names of numbers begin; see `navaudit.probe.named`.
    """
    write_figures(folder, found)
    return write_results(folder, results_of(found, prefix or prefix_of(found), models))


def results_of(found: Probe, prefix: str, models: Models | None = None) -> Results:
    """Put together what is written of a probe, and of further models beside it."""
    said, shown = [lead(found), *sentences(found)], tables(found)
    numbers = findings(found, prefix)
    if models is not None:
        said += model_cautions(models)
        shown += model_tables(models)
        numbers += model_findings(models)
    return Results(
        command="navaudit probe",
        title="What a head still knows where the rule fired",
        said=said,
        tables=shown,
        findings=numbers,
        inputs={**found.record, "models": {} if models is None else dict(models.record)},
        long=[every_scene(found)],
        lead=lead(found),
    )


def write_figures(folder: Path, found: Probe) -> None:
    """Write both figures as SVG and PNG, and their data as CSV."""
    drawn = ((auc_table(found), auc_figure), (failing_table(found), failing_figure))
    for table, figure_of in drawn:
        save_figure(folder, figure_of(found), table)


def auc_figure(found: Probe, look: Look = LIGHT) -> Figure:
    """Draw the AUC of the pairs' forgiven scenes and of their partners, and all forgiven ones.

    Each group is a share of its own scenes; dotted lines are medians. A figure of no pairs says so.
    """
    figure = Figure(figsize=SIZE_IN, facecolor=look.page, layout="constrained")
    ax = figure.add_subplot(facecolor=look.page)
    edges, shares = _shares(auc_table(found))
    styles = (
        ("forgiven", look.faint, "none", "--"),
        ("forgiven, matched", look.failure, look.failure, "-"),
        ("unforgiven, matched", look.candidate, look.candidate, "-"),
    )
    for name, line, fill, dash in styles:
        _outline(ax, edges, shares[name], (name, line, fill, dash))
        group = found.contrasts.groups.get(name)
        if group is not None and fill != "none":
            ax.axvline(group.medians[AUC].point, color=line, ls=":", lw=1.6)
    ax.axvline(CHANCE, color=look.edge, lw=0.8, zorder=0, label="chance")
    if not found.pairing.treatment.size:
        _say_nothing(ax, "no pairs of scenes", look)
    ax.set_xlim(0.0, 1.0)
    named = found.question.head.replace("_", " ")
    _finish(ax, f"AUC of the {named} head within a scene", look)
    ax.set_ylabel("share of scenes, %", color=look.ink, fontsize=9)
    dotted = Line2D([], [], color=look.ink, ls=":", lw=1.6, label="median")
    _say_which(figure, ax, look, [dotted])
    return figure


def failing_figure(found: Probe, look: Look = LIGHT) -> Figure:
    """Draw how many candidates fail the column, of all scenes and of the pairs, side by side."""
    figure = Figure(figsize=WIDE_IN, facecolor=look.page, layout="constrained")
    before, after = figure.subplots(1, 2, sharey=True)
    edges, shares = _shares(failing_table(found))
    pairs = found.pairing
    panels = (
        (before, "before matching", ("forgiven", "unforgiven"), pairs.before),
        (after, "after matching", ("forgiven, matched", "unforgiven, matched"), pairs.after),
    )
    for ax, title, (there, here), balance in panels:
        ax.set_facecolor(look.page)
        _outline(ax, edges, shares[there], (there, look.failure, look.failure, "-"))
        _outline(ax, edges, shares[here], (here, look.candidate, look.candidate, "-"))
        told = "" if balance is None else f": standardized difference {balance:.3f}"
        ax.set_title(title + told, fontsize=9, color=look.ink, loc="left")
        ax.set_xlim(0, float(edges[-1]))
        named = found.column
        _finish(ax, f"candidates that fail {named}", look)
        ax.xaxis.set_major_formatter(lambda at, _: f"{int(at):,}")
    # the axis is one, and the first panel alone must not end it
    most = max(float(share.max()) for share in shares.values())
    before.set_ylim(0.0, 1.05 * max(most, 1.0))
    if not pairs.treatment.size:
        _say_nothing(after, "no pairs of scenes", look)
    before.set_ylabel("share of scenes, %", color=look.ink, fontsize=9)
    _say_which(figure, before, look)
    return figure


def _shares(table: Table) -> tuple[Floats, dict[str, Floats]]:
    """Edges of the bins, and each group's share of its own scenes in percent; nothing is zero."""
    values = np.array(table.rows, float)
    counts = values[:, 2:]
    shares = 100.0 * counts / np.maximum(counts.sum(axis=0), 1.0)
    names = table.columns[2:]
    return np.append(values[:, 0], values[-1, 1]), dict(zip(names, shares.T, strict=True))


def _outline(ax: Axes, edges: Floats, share: Floats, style: tuple[str, str, str, str]) -> None:
    name, line, fill, dash = style
    ax.stairs(share, edges, color=line, lw=1.4, ls=dash, label=name)
    if fill != "none":
        ax.stairs(share, edges, color=fill, alpha=0.22, fill=True)


def _say_which(figure: Figure, ax: Axes, look: Look, others: Sequence[Any] = ()) -> None:
    """Name what is drawn above all axes, where it hides nothing."""
    handles = [*ax.get_legend_handles_labels()[0], *others]
    figure.legend(
        handles=handles, loc="outside upper left", ncols=len(handles), fontsize=8, frameon=False,
        labelcolor=look.ink,
    )  # fmt: skip


def _say_nothing(ax: Axes, words: str, look: Look) -> None:
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": look.faint}
    ax.text(0.5, 0.5, words, transform=ax.transAxes, **style)


def _finish(ax: Axes, label: str, look: Look) -> None:
    ax.set_xlabel(label, color=look.ink, fontsize=9)
    ax.set_ylim(bottom=0.0)
    ax.tick_params(colors=look.faint, labelsize=8)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(look.edge)
