"""The picture of an explanation: the drive from above, its worst moment close up, every reason."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.typing import NDArray

from navaudit.axes import CENTRE, DAC, DDC, DT_S, LK, NC, SHORT, STEPS, TLC, TTC
from navaudit.errors import BadInput
from navaudit.report.birdseye import boxes, draw_drive, draw_scene, point_out
from navaudit.report.furniture import Sight, draw_north, draw_scale, legend_of
from navaudit.report.look import LIGHT, Look
from navaudit.report.marks import draw_badges, mark_failure, subject_box
from navaudit.report.view import View, frame
from navaudit.report.wording import draw_table, gravest, headline
from navaudit.scene.scene import Scene
from navaudit.score.explain import Explanation
from navaudit.score.reason import Reason, shorten

Floats = NDArray[np.float64]

SIZE_IN: Final = (13.0, 8.4)
MAP_BOX: Final = (0.015, 0.125, 0.575, 0.765)
CLOSE_BOX: Final = (0.605, 0.545, 0.38, 0.32)
TABLE_BOX: Final = (0.605, 0.015, 0.38, 0.51)
WIDEST_M: Final = 160.0
DPI: Final = 130
HAIR_M: Final = 0.6
"""A corner this close to the edge of the road is looked at through a glass."""

PHRASES: Final = {
    NC: ("{:.2f} m into it", "{:.2f} m away"),
    TTC: ("{:.2f} m into it", "{:.2f} m away"),
    DAC: ("{:.2f} m off the road", "{:.2f} m within the road"),
    TLC: ("{:.2f} m into the red", "{:.2f} m before the red"),
}
"""How far from the bound, when it fails and when it passes."""


def picture_of(
    scene: Scene, explanation: Explanation, look: Look = LIGHT, north_up: bool = False
) -> Figure:
    """Draw an explanation; save it with `write_picture`."""
    view = View.of(scene, north_up)
    numbers = {one.column: k + 1 for k, one in enumerate(explanation.driven.failures)}
    focus = focus_of(explanation)
    figure = Figure(figsize=SIZE_IN, facecolor=look.page)
    _write_head(figure, scene, explanation, look)
    road = figure.add_axes(MAP_BOX)
    _draw_map(road, scene, explanation, view, focus, numbers, look)
    if focus is not None:
        _draw_close_up(figure.add_axes(CLOSE_BOX), scene, explanation, view, focus, numbers, look)
    draw_table(figure.add_axes(TABLE_BOX), explanation, numbers, look)
    figure.legend(
        handles=legend_of(scene, look, sight=Sight.of(road, view)), loc="lower left",
        bbox_to_anchor=(0.01, 0.008), ncols=5, fontsize=8, frameon=False, labelcolor=look.ink,
        handlelength=2.4, columnspacing=1.4,
    )  # fmt: skip
    return figure


def focus_of(explanation: Explanation) -> Reason | None:
    """Return the reason to look at closely: the gravest failure, else the closest call."""
    failed = tuple(one for one in explanation.driven.failures if one.where is not None)
    if failed:
        return gravest(failed)
    reasons = (explanation.driven.reasons[one] for one in (NC, DAC, TLC))
    calls = [one for one in reasons if one.where is not None and one.margin is not None]
    return min(calls, key=lambda one: one.margin or 0.0, default=None)


def write_picture(figure: Figure, path: Path) -> Path:
    """Save a figure as PNG or SVG, whole or not at all; the same figure gives the same bytes."""
    kind = path.suffix.lower().lstrip(".")
    if kind not in ("png", "svg"):
        raise BadInput(f"a picture cannot be {path.suffix or path.name}", expected=".png or .svg")
    stamp: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    part = path.with_name(f".{path.name}.part")
    with mpl.rc_context({"svg.hashsalt": "navaudit", "hatch.linewidth": 0.6}):
        colour = figure.get_facecolor()
        figure.savefig(part, format=kind, dpi=DPI, facecolor=colour, metadata=stamp)
    os.replace(part, path)
    return path


def _write_head(figure: Figure, scene: Scene, explanation: Explanation, look: Look) -> None:
    settings = explanation.settings
    below = (
        f"candidate {explanation.candidate} in scene {scene.token}, {scene.log}, {scene.location}"
        f"   (ddc {settings.ddc}, progress {settings.progress_rule}, solver {settings.solver})"
    )
    colour = look.failure if explanation.driven.failures else look.ink
    style: dict[str, Any] = {"va": "center", "ha": "left"}
    figure.text(0.015, 0.962, headline(explanation), size=14, weight="bold", color=colour, **style)
    figure.text(0.015, 0.922, below, fontsize=9, color=look.faint, **style)


def _draw_map(
    ax: Axes, scene: Scene, explanation: Explanation, view: View, focus: Reason | None,
    numbers: dict[int, int], look: Look,
) -> None:  # fmt: skip
    shown = 0 if focus is None or focus.step is None else focus.step
    points, failures = explanation.driven.points, explanation.driven.failures
    frame(ax, _worth_showing(explanation, view, focus), 6.0, 34.0, WIDEST_M)
    draw_scene(ax, scene, view, shown, look)
    last = max((one.step or 0 for one in failures), default=STEPS - 1)
    draw_drive(ax, points, view, look, until=last)
    for failure in failures:
        mark_failure(ax, scene, points, view, failure, look, strong=failure is focus)
    draw_badges(ax, points, view, failures, numbers, look)
    draw_scale(ax, look)
    draw_north(ax, view, look)
    ax.annotate(
        f"others at {shown * DT_S:.1f} s; their past is solid, their future dotted", (0.98, 0.02),
        xycoords="axes fraction", ha="right", va="bottom", fontsize=8, color=look.faint, zorder=11,
        bbox={"facecolor": look.page, "alpha": 0.8, "edgecolor": "none", "pad": 2.0},
    )  # fmt: skip


def _worth_showing(explanation: Explanation, view: View, focus: Reason | None) -> Floats:
    """Points of the picture that the map must hold."""
    last = max((one.step or 0 for one in explanation.driven.failures), default=STEPS - 1)
    parts = [view.place(explanation.driven.points[: max(last, 1) + 1]).reshape(-1, 2)]
    if explanation.human is not None:
        parts.append(view.place(explanation.human.points).reshape(-1, 2))
    if focus is not None and focus.where is not None:
        parts.append(view.place(focus.where)[None])
    points = np.concatenate(parts)
    return points[np.abs(points).max(axis=1) < WIDEST_M]


def _draw_close_up(
    ax: Axes, scene: Scene, explanation: Explanation, view: View, focus: Reason,
    numbers: dict[int, int], look: Look,
) -> None:  # fmt: skip
    points, step = explanation.driven.points, focus.step or 0
    placed = view.place(points)
    around = _close_to(scene, points, view, focus)
    least = 7.5
    if focus.column == DAC and focus.where is not None and abs(focus.margin or 0.0) < HAIR_M:
        around, least = view.place(focus.where)[None], 3.0
    frame(ax, around, 1.0, least, 60.0)
    later = min(int(focus.facts.get("later_step", step)), STEPS - 1)
    draw_scene(ax, scene, view, later, look, drivers=False)
    ax.plot(*placed[:, CENTRE].T, color=look.candidate, lw=1.6, zorder=7)
    if focus.fails:
        mark_failure(ax, scene, points, view, focus, look, measured=True)
    else:
        fill = to_rgba(look.candidate, 0.2)
        boxes(ax, placed[None, step, :4], edge=look.candidate, fill=fill, lw=2.0, zorder=9)
    subject = subject_box(scene, focus)
    if subject is not None:
        point_out(ax, view.place(subject).mean(axis=0), shorten(focus.subject or ""), look)
    draw_scale(ax, look)
    number = numbers.get(focus.column, "closest call")
    ax.set_title(
        f"{number}: {SHORT[focus.column]} at {focus.time_s} s, {_how_far(focus)}", loc="left",
        fontsize=10, color=look.failure if focus.fails else look.ink, pad=4,
    )  # fmt: skip


def _close_to(scene: Scene, points: Floats, view: View, focus: Reason) -> Floats:
    """Points of the picture that the close-up must hold."""
    parts = [view.place(points[focus.step or 0])]
    if "projected_xy_m" in focus.facts:
        parts.append(view.place(focus.facts["projected_xy_m"]))
    subject = subject_box(scene, focus)
    if subject is not None:
        parts.append(view.place(subject))
    elif focus.where is not None:
        parts.append(view.place(focus.where)[None])
    return np.concatenate(parts)


def _how_far(focus: Reason) -> str:
    value = abs(focus.value or 0.0)
    if focus.column == DDC:
        return f"{value:.1f} m against the traffic within a second"
    if focus.column == LK:
        return f"{focus.facts['longest_run_steps']} steps on end off the centreline"
    failing, passing = PHRASES.get(focus.column, ("", ""))
    return (failing if focus.fails else passing).format(value)
