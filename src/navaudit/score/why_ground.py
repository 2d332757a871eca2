"""Where the car left the road, drove against the traffic, touched a red light or strayed."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Final

import numpy as np
import shapely
from numpy.typing import NDArray

from navaudit.axes import CENTRE, CORNERS, DAC, DDC, DT_S, LK, STEPS, TLC
from navaudit.numerics.polyline import distances_to_polyline
from navaudit.scene.scene import (
    CARPARK_AREA,
    DRIVABLE_AREA,
    GROUND_KINDS,
    INTERSECTION,
    LANE,
    LANE_CONNECTOR,
    ROADBLOCK,
    Ground,
)
from navaudit.score.cells import CROSSROADS, DRIVABLE, lies_in
from navaudit.score.direction import (
    TOLERATED_M,
    VIOLATION_M,
    WINDOW,
    oncoming_ways,
    window_way,
)
from navaudit.score.lane import LIMIT_M, PATIENCE_STEPS
from navaudit.score.reason import Reason, Ride, at_s, shorten

Floats = NDArray[np.float64]

WHEELED: Final = (ROADBLOCK, INTERSECTION, CARPARK_AREA, DRIVABLE_AREA)
"""Kinds of ground that a corner may be on."""

SEAM_M: Final = 0.01


class Terrain:
    """The ground of one scene as shapes; distances to it are for explanations only."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    @cached_property
    def shapes(self) -> NDArray[Any]:
        """``[polygon]``, made valid."""
        return np.asarray(shapely.make_valid(np.array(self.ground.polygons.shapes(), object)))

    @cached_property
    def drivable(self) -> NDArray[np.int64]:
        """Indices of the polygons a corner may be on."""
        return np.flatnonzero(np.isin(self.ground.kind, WHEELED))

    @cached_property
    def road(self) -> shapely.Geometry:
        """All drivable polygons in one, its vertices on centimetres.

        Neighbours meet but roughly; without the centimetres their seams would be edges.
        """
        return shapely.union_all(self.shapes[self.drivable], grid_size=SEAM_M)

    def depth_m(self, points: Floats) -> Floats:
        """How far points ``[..., xy]`` are within the road, to a centimetre; negative if off it."""
        if self.road.is_empty:
            return np.full(points.shape[:-1], -np.inf)
        dots = shapely.points(points)
        off = shapely.distance(dots[..., None], self.shapes[self.drivable]).min(axis=-1)
        within = shapely.distance(dots, self.road.boundary)
        return np.asarray(np.where(off > 0.0, -off, within))

    def nearest(self, point: Floats) -> int | None:
        """Index of the drivable polygon nearest to a point ``[xy]``."""
        if not len(self.drivable):
            return None
        gaps = shapely.distance(self.shapes[self.drivable], shapely.Point(point))
        return int(self.drivable[int(np.argmin(gaps))])

    def name(self, polygon: int) -> str:
        """Say what a polygon is."""
        kind = GROUND_KINDS[self.ground.kind[polygon]].replace("_", " ")
        return f"{kind} {shorten(self.ground.id[polygon])}"


def why_ground(ride: Ride, terrain: Terrain) -> Reason:
    """Name the corner that leaves the road first, or the one that comes closest to its edge."""
    points = ride.drive.points[:, :4]
    depth = terrain.depth_m(points)
    step = ride.failed_at(DAC)
    if step is None:
        step, corner = divmod(int(depth.argmin()), depth.shape[1])
        margin = max(float(depth.min()), 0.0)
        told = f"passes: {_corner(corner)} is {margin:.2f} m within the road at {at_s(step)}"
    else:
        cells = ride.course.ground.cells
        out = [k for k in range(4) if not lies_in(cells, DRIVABLE, *points[step, k])]
        corner = min(out, key=lambda k: float(depth[step, k]))
        margin = min(float(depth[step, corner]), 0.0)
        told = f"fails at {at_s(step)}: {_corner(corner)} is {-margin:.2f} m off the road"
    near = terrain.nearest(points[step, corner])
    if near is not None and margin <= 0.0:
        told += f"; nearest is {terrain.name(near)}"
    return Reason(
        DAC, float(ride.scores[DAC]), told, step, "depth of the corner within the road", margin,
        0.0, margin if np.isfinite(margin) else None, "m",
        None if near is None else terrain.ground.id[near], _xy(points[step, corner]),
        {"corner": CORNERS[corner], "corners_m": _plain(depth[step])},
    )  # fmt: skip


def why_direction(ride: Ride, terrain: Terrain) -> Reason:
    """Measure the way against the traffic in the worst second."""
    ways = np.empty(STEPS)
    oncoming_ways(ride.course.ground.cells, ride.drive.points, ride.spare_crossroads, ways)
    windows = np.array([window_way(ways, step) for step in range(STEPS)])
    worst = float(windows.max())
    failed, score = ride.failed_at(DDC), float(ride.scores[DDC])
    bound = VIOLATION_M if score == 0.0 else TOLERATED_M
    step = int(windows.argmax()) if failed is None else failed
    facts: dict[str, Any] = {
        "worst_window_m": worst,
        "worst_window_end_s": round(int(windows.argmax()) * DT_S, 1),
        "tolerated_m": TOLERATED_M,
        "violation_m": VIOLATION_M,
        "total_m": float(ways.sum()),
        "steps": np.flatnonzero(ways > 0.0).tolist(),
    }
    if failed is None:
        told = "passes: keeps to the lanes of the route"
        if worst > 0.0:
            told = f"passes: {worst:.1f} m against the traffic within a second (2 m cost half)"
    else:
        counted = [one for one in facts["steps"] if failed - WINDOW <= one <= failed]
        place = _under(ride.drive.points[counted[-1], CENTRE], terrain)
        grade = "halves" if score > 0.0 else "fails"
        told = (
            f"{grade} at {at_s(failed)}: {worst:.1f} m against the traffic within a second, "
            f"{place} ({TOLERATED_M:.0f} m cost half, {VIOLATION_M:.0f} m all)"
        )
    return Reason(
        DDC, score, told, step if worst > 0.0 else None,
        "way against the traffic within a second", worst, bound, bound - worst, "m",
        None, _xy(ride.drive.points[step, CENTRE]), facts,
    )  # fmt: skip


def _under(point: Floats, terrain: Terrain) -> str:
    """Say on which lanes a point ``[xy]`` is."""
    ground = terrain.ground
    here = np.flatnonzero(ground.polygons.contain(point))
    lanes = [one for one in here if ground.kind[one] in (LANE, LANE_CONNECTOR)]
    if lanes:
        return f"on {terrain.name(int(lanes[0]))}, not of the route"
    return "on no lane" if np.isin(ground.kind[here], WHEELED).any() else "off the road"


def why_lights(ride: Ride) -> Reason:
    """Name the red connector the car touches first, or the one it comes closest to."""
    lights, points = ride.scene.lights, ride.drive.points[:, :4]
    step, score = ride.failed_at(TLC), float(ride.scores[TLC])
    if not lights.red.any():
        return Reason(TLC, score, "passes: no light shows red", measure="gap to a red connector")
    shapes = np.asarray(shapely.make_valid(np.array(lights.polygons.shapes(), object)))
    if step is None:
        gaps = shapely.distance(shapely.polygons(points)[:, None], shapes[None])
        step, light = (int(i) for i in np.argwhere(lights.red)[gaps[lights.red].argmin()])
        margin = float(gaps[step, light])
        told = f"passes: {margin:.2f} m from red connector {_light(ride, light)} at {at_s(step)}"
    else:
        touched = lights.red[step] & lights.polygons.touch_boxes(points[step])
        light = int(np.flatnonzero(touched)[0])
        margin = -_reach_m(shapes[light], points[step])
        told = f"fails at {at_s(step)}: touches connector {_light(ride, light)} while it is red"
        told += f", {-margin:.2f} m into it"
    nearest = shapely.shortest_line(shapes[light], shapely.Polygon(points[step]))
    return Reason(
        TLC, score, told, step, "gap to a red connector", margin, 0.0, margin, "m",
        lights.connector[light], _xy(shapely.get_coordinates(nearest)[0]),
        {"red_from_s": round(int(lights.red[:, light].argmax()) * DT_S, 1)},
    )  # fmt: skip


def _reach_m(shape: shapely.Geometry, box: Floats) -> float:
    """How deep a box ``[4, xy]`` reaches into a shape: of its corners, the deepest."""
    dots = shapely.points(box)
    depths = shapely.distance(dots, shape.boundary)[shapely.contains(shape, dots)]
    return float(depths.max(initial=0.0))


def why_lane(ride: Ride) -> Reason:
    """Measure how far off the centreline the car stays for two seconds on end.

    What decides is the smallest distance within any twenty counted steps on end: the largest of
    these against the limit.
    """
    centre = ride.drive.points[:, CENTRE]
    far = distances_to_polyline(centre, ride.course.line.line)
    cells = ride.course.ground.cells
    counted = np.array([s for s in range(STEPS) if not lies_in(cells, CROSSROADS, *centre[s])], int)
    failed, score = ride.failed_at(LK), float(ride.scores[LK])
    widest = float(far[counted].max(initial=0.0))
    facts: dict[str, Any] = {"counted_steps": len(counted), "widest_m": widest}
    if len(counted) < PATIENCE_STEPS:
        told = f"passes: only {len(counted)} steps count, the others are within intersections"
        return Reason(LK, score, told, measure="distance off the centreline", facts=facts)
    ends = counted[PATIENCE_STEPS - 1 :]
    mildest = np.lib.stride_tricks.sliding_window_view(far[counted], PATIENCE_STEPS).min(axis=1)
    value, run = float(mildest.max()), _longest(far[counted] > LIMIT_M)
    facts |= {"longest_run_steps": run, "patience_steps": PATIENCE_STEPS}
    step = int(ends[mildest.argmax()]) if failed is None else failed
    window = counted[np.searchsorted(counted, step) + 1 - PATIENCE_STEPS :][:PATIENCE_STEPS]
    facts["steps"] = window.tolist()
    long = f"for {run} steps on end ({PATIENCE_STEPS} fail)"
    if failed is None:
        told = f"passes: at most {widest:.2f} m off the centreline"
        told += f", more than {LIMIT_M} m {long}" if run else ""
    else:
        told = f"fails at {at_s(step)}: more than {LIMIT_M} m off the centreline {long}"
        told += f", at most {widest:.2f} m"
    return Reason(
        LK, score, told, step, "least distance off the centreline in the worst two seconds",
        value, LIMIT_M, LIMIT_M - value, "m", None, _xy(centre[step]), facts,
    )  # fmt: skip


def _longest(flags: NDArray[np.bool_]) -> int:
    """Length of the longest run.

    >>> _longest(np.array([True, False, True, True]))
    2
    """
    run = best = 0
    for flag in flags.tolist():
        run = run + 1 if flag else 0
        best = max(best, run)
    return best


def _light(ride: Ride, light: int) -> str:
    return shorten(ride.scene.lights.connector[light])


def _corner(corner: int) -> str:
    return f"the {CORNERS[corner].replace('_', ' ')} corner"


def _xy(point: Floats) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _plain(values: Floats) -> list[float | None]:
    return [float(one) if np.isfinite(one) else None for one in values]
