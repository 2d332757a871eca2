"""Marks on a picture from above: where a drive fails, and at what."""

from __future__ import annotations

from typing import Any

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from numpy.typing import NDArray

from navaudit.axes import CENTRE, DAC, DDC, FRONT_LEFT, FRONT_RIGHT, LK, NC, STEPS, TLC, TTC
from navaudit.report.birdseye import boxes, point_out
from navaudit.report.look import DARK, Look
from navaudit.report.view import View
from navaudit.scene.scene import Scene
from navaudit.score.contact import box_corners
from navaudit.score.reason import Reason
from navaudit.score.why_ground import Terrain

Floats = NDArray[np.float64]


def mark_failure(
    ax: Axes, scene: Scene, points: Floats, view: View, failure: Reason, look: Look,
    strong: bool = True, measured: bool = False,
) -> None:  # fmt: skip
    """Highlight the car ``points`` ``[step, 5, xy]`` where a column fails, and what it fails at.

    ``strong`` fills the car and shows what it heads for; ``measured`` writes how far it is off.
    """
    step = failure.step or 0
    placed = view.place(points)
    edge, fill = look.failure, to_rgba(look.failure, 0.30 if strong else 0.0)
    if failure.column in (DDC, LK):
        along = placed[list(failure.facts.get("steps", ())), CENTRE]
        ax.plot(*along.T, color=look.failure, lw=6, alpha=0.5, zorder=6.9, solid_capstyle="round")
    boxes(ax, placed[None, step, :4], edge=edge, fill=fill, lw=2.2 if strong else 1.2, zorder=9)
    if failure.column == TTC and strong:
        ahead = view.place(failure.facts["projected_xy_m"])
        boxes(ax, ahead[None], edge=edge, fill="none", lw=1.5, zorder=9, ls=(0, (3, 2)))
        _ring_agent(ax, scene, failure, view, look)
    if failure.column == NC:
        _ring_agent(ax, scene, failure, view, look)
    if failure.column in (DAC, TLC) and failure.where is not None:
        at = view.place(failure.where)
        ax.plot(*at, marker="o", ms=9, mfc="none", mec=look.failure, mew=2.0, zorder=9.5)
    if not measured or failure.where is None:
        return
    if failure.column == LK:
        line = shapely.LineString(scene.centreline[:, :2])
        off_m = shapely.distance(line, shapely.Point(failure.where))
        _measure(ax, line, failure.where, off_m, view, look)
    if failure.column == DAC:
        _measure(ax, Terrain(scene.ground).road, failure.where, failure.value, view, look)


def subject_box(scene: Scene, reason: Reason) -> Floats | None:
    """Corners ``[4, xy]`` of the object a reason names, at the step it is about."""
    if reason.column not in (NC, TTC) or reason.subject is None:
        return None
    agent = scene.traffic.token.index(reason.subject)
    step = min(int(reason.facts.get("later_step", reason.step or 0)), STEPS - 1)
    return np.asarray(box_corners(scene.traffic.box)[step, agent])


def _ring_agent(ax: Axes, scene: Scene, reason: Reason, view: View, look: Look) -> None:
    """Draw a thick edge round the object a reason names."""
    box = subject_box(scene, reason)
    if box is None:
        return
    kind = scene.traffic.kind[scene.traffic.token.index(reason.subject or "")]
    fill = to_rgba(look.of_kind(int(kind)), 0.5)
    boxes(ax, view.place(box)[None], edge=look.failure, fill=fill, lw=2.2, zorder=9.1)


def _measure(
    ax: Axes, shape: shapely.Geometry, point: tuple[float, float], value: float | None,
    view: View, look: Look,
) -> None:  # fmt: skip
    """Draw the way from a shape to a point of the map, and write how long it is."""
    if shape.is_empty or value is None:
        return
    way = view.place(shapely.get_coordinates(shapely.shortest_line(shape, shapely.Point(point))))
    ax.plot(*way.T, color=look.ink, lw=1.4, zorder=9.6)
    point_out(ax, way.mean(axis=0), f"{abs(value):.2f} m", look)


def draw_badges(
    ax: Axes,
    points: Floats,
    view: View,
    failures: tuple[Reason, ...],
    numbers: dict[int, int],
    look: Look,
) -> None:
    """Number the failures beside the path; those close together stand in a row."""
    placed = view.place(points)
    west, east = ax.get_xlim()
    gap = (east - west) / 26
    groups: list[tuple[int, list[int]]] = []
    for failure in failures:
        step = failure.step or 0
        way = placed[step, CENTRE] - placed[groups[-1][0], CENTRE] if groups else [np.inf, 0.0]
        if np.hypot(*way) < 1.3 * gap:
            groups[-1][1].append(numbers[failure.column])
        else:
            groups.append((step, [numbers[failure.column]]))
    for step, listed in groups:
        right = placed[step, FRONT_RIGHT] - placed[step, FRONT_LEFT]
        right = right / np.hypot(*right)
        for k, number in enumerate(listed):
            # clear of the car's box
            badge(ax, placed[step, CENTRE] + right * (1.6 + gap * (0.8 + k)), number, look)


def badge(ax: Axes, at: Floats, number: int, look: Look, size: float = 9.0) -> None:
    """Draw a number in a disc."""
    disc: dict[str, Any] = {"boxstyle": "circle,pad=0.25", "facecolor": look.failure}
    disc["edgecolor"] = look.page
    x, y = at
    ax.text(
        x, y, str(number), color=DARK.page if look is DARK else "#ffffff", fontsize=size,
        weight="bold", ha="center", va="center", bbox=disc, zorder=12, clip_on=True,
    )  # fmt: skip
