"""What stands round a picture from above: scale, north, legend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from numpy.typing import NDArray

from navaudit.report.look import Look
from navaudit.report.view import View
from navaudit.scene.scene import BICYCLE, CARPARK_AREA, INTERSECTION, PEDESTRIAN, VEHICLE, Scene
from navaudit.score.why_ground import Terrain
from navaudit.score.why_traffic import stood_in

BARS_M: Final = (1, 2, 5, 10, 20, 50, 100)


def draw_scale(ax: Axes, look: Look) -> None:
    """Draw a bar of a round number of metres, about a fifth of the picture wide."""
    west, east = ax.get_xlim()
    south, north = ax.get_ylim()
    length = max((one for one in BARS_M if one <= (east - west) / 4), default=BARS_M[0])
    x, y = west + 0.03 * (east - west), south + 0.03 * (north - south)
    plate = {"facecolor": look.page, "alpha": 0.8, "edgecolor": "none", "pad": 2.0}
    ax.plot([x, x + length], [y, y], color=look.ink, lw=3, zorder=11, solid_capstyle="butt")
    ax.annotate(
        f"{length} m", (x + length / 2, y), (0, 4), textcoords="offset points", ha="center",
        va="bottom", color=look.ink, fontsize=8, zorder=11, bbox=plate,
    )  # fmt: skip


def draw_north(ax: Axes, view: View, look: Look) -> None:
    """Draw an arrow to the north in the upper right corner."""
    way = np.array([-np.sin(view.turn_rad), np.cos(view.turn_rad)])
    at = np.array([0.94, 0.93])
    shape = np.array([ax.get_position().width, ax.get_position().height])
    step = 0.032 * way * shape.min() / shape
    arrow = {"arrowstyle": "-|>", "color": look.faint, "lw": 1.2}
    ax.annotate(
        "", at + step, at - step, xycoords="axes fraction", textcoords="axes fraction",
        arrowprops=arrow, zorder=11,
    )  # fmt: skip
    ax.annotate(
        "N", at + 1.6 * step, xycoords="axes fraction", color=look.faint, fontsize=8,
        ha="center", va="center", zorder=11,
    )  # fmt: skip


@dataclass(frozen=True)
class Sight:
    """How much of a scene a picture shows."""

    view: View
    frame: shapely.Polygon
    """In the picture's metres."""

    @classmethod
    def of(cls, ax: Axes, view: View) -> Sight:
        """Take the frame that the axes have now."""
        (west, east), (south, north) = ax.get_xlim(), ax.get_ylim()
        return cls(view, shapely.box(west, south, east, north))

    def shows(self, shapes: NDArray[Any]) -> NDArray[np.bool_]:
        """Tell of each shape of the map whether some of it is in the picture."""
        return np.asarray(
            shapely.intersects(shapely.transform(shapes, self.view.place), self.frame)
        )


def legend_of(
    scene: Scene, look: Look, drive: bool = True, sight: Sight | None = None
) -> list[Any]:
    """Handles for what a picture of this scene shows, or of all of it."""
    handles: list[Any] = []
    if drive:
        handles.append(Line2D([], [], color=look.candidate, lw=2.2, label="candidate, driven"))
        fill, edge = to_rgba(look.failure, 0.35), look.failure
        handles.append(Patch(facecolor=fill, edgecolor=edge, lw=2, label="where it fails"))
    if scene.human is not None:
        handles.append(
            Line2D([], [], color=look.human, lw=2, marker="o", ms=4, label="human, logged")
        )
    handles += [
        Line2D([], [], color=look.reference, lw=1.6, ls=(0, (1.2, 1.6)), label="reference planner"),
        Line2D([], [], color=look.centreline, lw=1.2, ls=(0, (7, 3)), label="centreline"),
        Patch(facecolor=look.route, edgecolor="none", label="lane of the route"),
        Patch(facecolor=look.road, edgecolor=look.edge, label="drivable"),
    ]
    return handles + _kinds(scene, look, sight)


def _kinds(scene: Scene, look: Look, sight: Sight | None) -> list[Any]:
    ground = scene.ground.kind[_seen(Terrain(scene.ground).shapes, sight)]
    connectors = np.array(scene.lights.polygons.shapes(), object)
    lights = scene.lights.red.any(axis=0) & _seen(connectors, sight)
    near = _seen_agents(scene, sight)
    traffic = scene.traffic.kind[near]
    handles: list[Any] = []
    if (ground == INTERSECTION).any():
        handles.append(Patch(facecolor=look.crossing, edgecolor=look.edge, label="intersection"))
    if (ground == CARPARK_AREA).any():
        handles.append(Patch(facecolor=look.carpark, edgecolor=look.edge, label="car park"))
    if lights.any():
        fill, edge = to_rgba(look.red_light, 0.16), look.red_light
        red = Patch(facecolor=fill, edgecolor=edge, hatch="////", label="connector at red")
        handles.append(red)
    for kind, name in ((VEHICLE, "vehicle"), (PEDESTRIAN, "pedestrian"), (BICYCLE, "bicycle")):
        if (traffic == kind).any():
            handles.append(Patch(facecolor=look.of_kind(kind), edgecolor=look.ink, label=name))
    if (traffic > BICYCLE).any():
        handles.append(Patch(facecolor=look.thing, edgecolor=look.ink, label="static object"))
    if stood_in(scene)[near].any():
        hollow: dict[str, Any] = {
            "facecolor": "none",
            "edgecolor": look.faint,
            "linestyle": (0, (2, 2)),
        }
        handles.append(Patch(**hollow, label="not replayed: in the car at 0 s"))
    return handles


def _seen(shapes: NDArray[Any], sight: Sight | None) -> NDArray[np.bool_]:
    return np.ones(len(shapes), bool) if sight is None else sight.shows(shapes)


def _seen_agents(scene: Scene, sight: Sight | None) -> NDArray[np.bool_]:
    """Agents ``[agent]`` that come into the picture at some step."""
    traffic = scene.traffic
    if sight is None:
        return np.ones(len(traffic), bool)
    reach = traffic.box[..., 3] / 2
    round_them = shapely.buffer(shapely.points(traffic.box[..., :2]), reach)
    return np.asarray((traffic.present & sight.shows(round_them)).any(axis=0))
