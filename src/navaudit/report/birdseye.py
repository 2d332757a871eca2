"""A scene from above: its ground, its lights, who is there, and where cars drive."""

from __future__ import annotations

from typing import Any, Final

import matplotlib.patheffects as effects
import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from numpy.typing import ArrayLike, NDArray
from shapely.geometry.polygon import orient

from navaudit.report.look import LIGHT, Look
from navaudit.report.view import View
from navaudit.rollout.rollout import desire_human, desire_reference
from navaudit.scene.scene import (
    BICYCLE,
    CARPARK_AREA,
    INTERSECTION,
    LANE,
    LANE_CONNECTOR,
    Ground,
    Scene,
)
from navaudit.score.contact import box_corners
from navaudit.score.course import ego_points
from navaudit.score.why_ground import Terrain
from navaudit.score.why_traffic import stood_in

Floats = NDArray[np.float64]

HALF_SECOND: Final = 5
"""Steps between two boxes of a driven car."""
LABELS_APART_M: Final = 1.5
"""Seconds closer together than this are not written."""


def draw_scene(
    ax: Axes, scene: Scene, view: View, step: int = 0, look: Look = LIGHT, drivers: bool = True
) -> None:
    """Draw the ground, the lights and the agents of a scene at a step, and the car at t = 0.

    ``drivers`` adds the human's and the reference's path.  The axes keep their limits.
    """
    ax.set_facecolor(look.page)
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_color(look.edge)
    draw_ground(ax, scene.ground, view, look)
    line = view.place(scene.centreline[:, :2])
    ax.plot(*line.T, color=look.centreline, lw=1.2, ls=(0, (7, 3)), zorder=4)
    draw_lights(ax, scene, view, step, look)
    draw_agents(ax, scene, view, step, look)
    if drivers:
        draw_drivers(ax, scene, view, look)
    draw_agent(ax, view.place(ego_points(scene.ego)[:4]), look.car, look)


def draw_ground(ax: Axes, ground: Ground, view: View, look: Look) -> None:
    """Draw what a car may drive on, tinted by kind, and the lanes; those of the route in blue."""
    terrain = Terrain(ground)
    surface(ax, terrain.road, view, fill=look.road, edge="none", zorder=0)
    for kind, fill in ((CARPARK_AREA, look.carpark), (INTERSECTION, look.crossing)):
        surface(
            ax, shapely.union_all(terrain.shapes[ground.kind == kind]), view, fill=fill, zorder=1
        )
    lanes = np.isin(ground.kind, (LANE, LANE_CONNECTOR))
    routed = shapely.union_all(terrain.shapes[lanes & ground.on_route])
    surface(ax, routed, view, fill=look.route, zorder=1.5)
    plain = ground.kind == LANE
    outlines = [view.place(ring) for shape in terrain.shapes[plain] for ring in _rings(shape)]
    ax.add_collection(LineCollection(outlines, colors=look.lane_line, lw=1.0, zorder=2))
    surface(ax, terrain.road, view, fill="none", edge=look.edge, lw=1.1, zorder=2.5)


def draw_lights(ax: Axes, scene: Scene, view: View, step: int, look: Look) -> None:
    """Hatch the connectors that show red at a step."""
    shapes = scene.lights.polygons.shapes()
    for light in np.flatnonzero(scene.lights.red[step]):
        surface(
            ax, shapely.make_valid(shapes[light]), view, fill=to_rgba(look.red_light, 0.16),
            edge=to_rgba(look.red_light, 0.75), lw=1.0, hatch="////", zorder=3,
        )  # fmt: skip


def draw_agents(ax: Axes, scene: Scene, view: View, step: int, look: Look) -> None:
    """Draw every agent at a step with a tick ahead, and faintly where it was and will be.

    Those the car stands in at t = 0 are not replayed for the score: they are drawn hollow.
    """
    traffic, gone = scene.traffic, stood_in(scene)
    corners = view.place(box_corners(traffic.box))
    for agent in range(len(traffic)):
        colour = look.of_kind(int(traffic.kind[agent]))
        here = corners[:, agent][traffic.present[:, agent]]
        steps = np.flatnonzero(traffic.present[:, agent])
        middle = here.mean(axis=1)
        if traffic.kind[agent] <= BICYCLE and len(middle) > 1:
            _fading(ax, middle[steps <= step], colour, "-", 0.55)
            _fading(ax, middle[steps >= step], colour, (0, (1, 1.6)), 0.75)
        if traffic.present[step, agent] and gone[agent]:
            box = corners[step, agent][None]
            boxes(ax, box, edge=colour, fill="none", lw=1.2, zorder=8, ls=(0, (2, 2)))
        elif traffic.present[step, agent]:
            moves = bool(traffic.kind[agent] <= BICYCLE)
            draw_agent(ax, corners[step, agent], colour, look, tick=moves)


def draw_agent(ax: Axes, box: Floats, colour: str, look: Look, tick: bool = True) -> None:
    """Draw one box ``[4, xy]`` of the picture, with a tick ahead if it can move."""
    boxes(ax, box[None], edge=look.ink, fill=colour, lw=0.7, zorder=8)
    if not tick:
        return
    front, middle = (box[0] + box[3]) / 2, box.mean(axis=0)
    ahead = np.array([middle, front])
    ax.plot(*ahead.T, color=look.page, lw=1.3, zorder=8.1, solid_capstyle="butt")


def draw_drivers(ax: Axes, scene: Scene, view: View, look: Look) -> None:
    """Draw the paths of the human and of the reference."""
    reference = view.place(desire_reference(scene)[0, :, :2])
    ax.plot(*reference.T, color=look.reference, lw=1.6, ls=(0, (1.2, 1.6)), zorder=6)
    if scene.human is not None:
        human = view.place(desire_human(scene)[0, :, :2])
        ax.plot(
            *human.T, color=look.human, lw=2.0, zorder=6, marker="o", ms=4.0,
            markevery=HALF_SECOND, mec=look.page, mew=0.6,
        )  # fmt: skip


def draw_candidates(
    ax: Axes,
    paths: ArrayLike,
    view: View,
    look: Look = LIGHT,
    colours: list[Any] | None = None,
    lw: float = 0.8,
    alpha: float = 0.5,
) -> None:
    """Draw many paths ``[candidate, step, xy]`` of the map as thin lines.

    ``colours`` has one for each, the candidate's own if not given.
    """
    lines = list(view.place(paths))
    ax.add_collection(
        LineCollection(lines, colors=colours or [look.candidate], lw=lw, alpha=alpha, zorder=6.5)
    )


def draw_drive(
    ax: Axes, points: Floats, view: View, look: Look = LIGHT, until: int | None = None
) -> None:
    """Draw one driven path ``[step, 5, xy]`` and the car every half second, with whole seconds.

    After the step ``until`` the path is thin.
    """
    placed = view.place(points)
    last = len(placed) - 1 if until is None else until
    centre = placed[:, 4]
    ax.plot(*centre[last:].T, color=look.candidate, lw=1.0, alpha=0.6, zorder=7)
    ax.plot(*centre[: last + 1].T, color=look.candidate, lw=2.2, zorder=7)
    labelled = centre[0]
    for step in range(HALF_SECOND, len(placed), HALF_SECOND):
        faded = step > last
        boxes(
            ax, placed[None, step, :4], edge=to_rgba(look.candidate, 0.35 if faded else 0.9),
            fill=to_rgba(look.candidate, 0.03 if faded else 0.10), lw=0.9, zorder=7.2,
        )  # fmt: skip
        apart = np.hypot(*(centre[step] - labelled)) > LABELS_APART_M
        if step % (2 * HALF_SECOND) == 0 and apart:
            labelled = centre[step]
            label(
                ax, centre[step], f"{step // (2 * HALF_SECOND)} s", look.candidate, look, size=7.5
            )


def label(ax: Axes, at: Floats, text: str, colour: str, look: Look, size: float = 8.0) -> None:
    """Write a word into the picture that stays legible over whatever is below."""
    halo = [effects.withStroke(linewidth=2.5, foreground=look.page)]
    x, y = at
    ax.text(
        x, y, text, color=colour, fontsize=size, path_effects=halo, ha="center", va="center",
        zorder=10, clip_on=True,
    )  # fmt: skip


def point_out(ax: Axes, at: Floats, text: str, look: Look) -> None:
    """Write beside a place of the picture, with a line to it."""
    plate = {"facecolor": look.page, "alpha": 0.85, "edgecolor": "none", "pad": 1.5}
    x, y = float(at[0]), float(at[1])
    ax.annotate(
        text, (x, y), (16, 14), color=look.ink, textcoords="offset points", fontsize=9,
        weight="bold", zorder=12, bbox=plate,
        arrowprops={"arrowstyle": "-", "color": look.ink, "lw": 0.6},
    )  # fmt: skip


def boxes(
    ax: Axes, corners: Floats, edge: Any, fill: Any, lw: float, zorder: float, ls: Any = "-"
) -> None:
    """Draw boxes ``[box, corner, xy]`` of the picture."""
    look: dict[str, Any] = {"edgecolors": [edge], "facecolors": [fill], "linestyles": [ls]}
    drawn = PolyCollection(list(corners), linewidths=lw, zorder=zorder, joinstyle="miter", **look)
    ax.add_collection(drawn)


def surface(
    ax: Axes, shape: shapely.Geometry, view: View, fill: Any, edge: Any = "none", lw: float = 0.0,
    zorder: float = 0.0, hatch: str | None = None,
) -> None:  # fmt: skip
    """Draw a polygon of the map, holes and all."""
    rings = _rings(shape)
    if not rings:
        return
    outline = Outline.make_compound_path(*(Outline(view.place(r), closed=True) for r in rings))
    patch = PathPatch(outline, facecolor=fill, edgecolor=edge, linewidth=lw, zorder=zorder)
    if hatch:
        patch.set_hatch(hatch)
    ax.add_patch(patch)


def _rings(shape: shapely.Geometry) -> list[Floats]:
    """Shells counter-clockwise and holes clockwise, ``[vertex, xy]`` each."""
    parts = [part for part in shapely.get_parts(shape) if isinstance(part, shapely.Polygon)]
    found = []
    for part in parts:
        if not part.is_empty:
            turned = orient(part)
            found += [shapely.get_coordinates(r) for r in (turned.exterior, *turned.interiors)]
    return found


def _fading(ax: Axes, line: Floats, colour: str, style: Any, alpha: float) -> None:
    if len(line) > 1:
        ax.plot(*line.T, color=to_rgba(colour, alpha), lw=1.5, ls=style, zorder=5)
