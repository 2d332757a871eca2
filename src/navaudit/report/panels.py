"""One scene before and after the overwrite, from above: candidates coloured by pass and fail."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import matplotlib.patheffects as effects
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from navaudit.audit.table import Table
from navaudit.axes import COLUMNS, HEADING, X, Y
from navaudit.report.birdseye import draw_candidates, draw_drivers, draw_scene
from navaudit.report.furniture import draw_scale
from navaudit.report.look import LIGHT, Look
from navaudit.report.stage import spread_out
from navaudit.report.view import View, frame
from navaudit.rollout.rollout import desire_candidates, simulate
from navaudit.scene.scene import Scene
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.score import Settings
from navaudit.vehicle import REAR_AXLE_TO_CENTRE_M

Floats = NDArray[np.float64]
Halves = NDArray[np.float16]

NAME: Final = "before_and_after"
SIZE_IN: Final = (9.4, 5.0)
LOOK: Final = replace(LIGHT, candidate="#008060", human="#7a3ea8")
"""As the page's browser of scenes colours what passes, and the human."""

_BOXES: Final = ((0.01, 0.07, 0.485, 0.80), (0.505, 0.07, 0.485, 0.80))


def panels_of(
    scene: Scene,
    vocabulary: Vocabulary,
    raw: Halves,
    published: Halves,
    column: int,
    settings: Settings,
    look: Look = LOOK,
) -> tuple[Figure, Table]:
    """Draw one column of a scene under both labels ``[column, candidate]``; and what is drawn."""
    chosen = spread_out(vocabulary)
    desired = desire_candidates(scene, vocabulary.take(chosen))
    states = simulate(scene.ego, desired, settings.solver).states
    ahead = np.stack([np.cos(states[..., HEADING]), np.sin(states[..., HEADING])], axis=-1)
    paths = states[..., (X, Y)] + REAR_AXLE_TO_CENTRE_M * ahead
    view = View.of(scene)
    before, after = (labels[column].astype(np.float64) for labels in (raw, published))
    figure = Figure(figsize=SIZE_IN, facecolor=look.page)
    name = COLUMNS[column].replace("_", " ")
    for box, labels, words in zip(
        _BOXES, (before, after), ("Before the overwrite", "After it"), strict=True
    ):
        ax = figure.add_axes(box)
        _draw(ax, scene, paths, labels[chosen], view, look)
        failing = int((labels < 1.0).sum())
        said = f"{failing:,} of {len(labels):,} candidates fail {name}"
        ax.set_title(f"{words}: {said}", fontsize=9, color=look.ink, loc="left")
    figure.text(
        0.01, 0.945, f"Scene {scene.token}: the human scores zero in {name}", fontsize=11,
        weight="bold", color=look.ink,
    )  # fmt: skip
    figure.legend(
        handles=_legend(look, bool((before == 0.5).any())), loc="lower left",
        bbox_to_anchor=(0.005, 0.0), ncols=6, fontsize=8, frameon=False, labelcolor=look.ink,
    )  # fmt: skip
    return figure, _table(scene, column, chosen, view.place(paths[:, -1]), before, after)


def _draw(ax: Axes, scene: Scene, paths: Floats, values: Floats, view: View, look: Look) -> None:
    draw_scene(ax, scene, view, look=look, drivers=False)
    # what is rare lies on top, or nobody would see it
    up = 1.0 if 2 * int((values == 1.0).sum()) > len(values) else -1.0
    order = np.argsort(-up * values, kind="stable")
    colours = [_colour(value, look) for value in values[order]]
    draw_candidates(ax, paths[order], view, look, colours=colours, lw=0.8, alpha=0.55)
    draw_drivers(ax, scene, view, look)
    # over the candidates, which lie where the human does
    for line in ax.lines[-1:] if scene.human is not None else ():
        line.set_zorder(9)
        line.set_path_effects([effects.withStroke(linewidth=3.6, foreground=look.page)])
    frame(ax, view.place(paths).reshape(-1, 2), 4.0, 24.0, 90.0)
    draw_scale(ax, look)


def _colour(value: float, look: Look) -> str:
    if value == 1.0:
        return look.candidate
    return look.failure if value == 0.0 else look.pedestrian


def _legend(look: Look, halves: bool) -> list[Any]:
    half = ((look.pedestrian, "half", "-"),) if halves else ()
    lines: tuple[tuple[str, str, Any], ...] = (
        (look.candidate, "candidate that passes", "-"),
        *half,
        (look.failure, "candidate that fails", "-"),
        (look.human, "human", "-"),
        (look.reference, "reference planner", (0, (1.2, 1.6))),
        (look.centreline, "centreline", (0, (7, 3))),
    )
    return [
        Line2D([], [], color=colour, lw=1.8, ls=style, label=words)
        for colour, words, style in lines
    ]


def _table(
    scene: Scene,
    column: int,
    chosen: NDArray[np.int64],
    ends: Floats,
    before: Floats,
    after: Floats,
) -> Table:
    rows = [
        (int(row), float(ends[k, 0]), float(ends[k, 1]), float(before[row]), float(after[row]))
        for k, row in enumerate(chosen)
    ]
    return Table(
        NAME,
        f"Candidates of scene {scene.token} from above, before and after the overwrite of "
        f"{COLUMNS[column].replace('_', ' ')}.",
        ("candidate", "ends right (m)", "ends ahead (m)", "before", "after"),
        tuple(rows),
    )
