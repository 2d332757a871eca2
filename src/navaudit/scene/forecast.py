"""What the planner expects: all it sees at t = 0 goes on as it goes, lights stay red.

The forecast is a row of *samples* 0.2 s apart; a step of 0.1 s reads the sample at or before it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
import shapely
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import DT_S, HEADING, STEPS, X, Y
from navaudit.errors import BadInput
from navaudit.numerics.angles import atan2_of, cos_of, hypot_of, sin_of, wrap_by_atan2_of
from navaudit.numerics.polygons import Polygons
from navaudit.scene.footprint import rings_of, write_car
from navaudit.scene.memory import RED_LIGHT
from navaudit.scene.nearest import by_distance
from navaudit.scene.outlook import Outlook, Sighting
from navaudit.scene.scene import BICYCLE, PEDESTRIAN, VEHICLE, Traffic
from navaudit.vehicle import REAR_AXLE_TO_CENTRE_M

Floats = NDArray[np.float64]

SAMPLE_STEPS: Final = 2
"""Steps from sample to sample."""
SAMPLES: Final = 26
"""Samples of the forecast: 0 to 5 s."""
SIGHT_M: Final = 100.0
"""Objects whose centre is farther from the car's are not seen."""
NEAREST: Final = ((VEHICLE, 50), (PEDESTRIAN, 25), (BICYCLE, 10))
"""How many of each kind of agent are kept, in the order in which the forecast lists them."""
NEAREST_STATICS: Final = 50
"""How many static objects are kept; they come first."""


@dataclass(frozen=True, eq=False)
class Forecast:
    """Objects and red lights over five seconds; in the stock order objects come before lights."""

    objects: Sighting
    """Those that are kept, at t = 0: statics, vehicles, pedestrians, bicycles, each by distance."""
    way_mps: Floats
    """``[object, xy]``: how the forecast moves each, along its box or straight back."""
    ring: Floats
    """``[sample, object, 5, xy]``: closed rings of the boxes."""
    light: tuple[str, ...]
    """Token of each red light."""
    light_polygons: Polygons

    def __post_init__(self) -> None:
        count = len(self.objects)
        object.__setattr__(self, "way_mps", frozen(self.way_mps, np.float64, (count, 2)))
        object.__setattr__(self, "ring", frozen(self.ring, np.float64, (SAMPLES, count, 5, 2)))

    @property
    def token(self) -> tuple[str, ...]:
        """Tokens of the objects, then of the lights."""
        return self.objects.token + self.light

    def shapes(self) -> NDArray[np.object_]:
        """Polygons ``[sample, object or light]`` as shapely has them."""
        objects = shapely.polygons(self.ring)
        lights = np.empty((SAMPLES, len(self.light)), dtype=object)
        lights[:] = self.light_polygons.shapes()
        return np.concatenate([objects, lights], axis=1)

    def traffic(self) -> Traffic:
        """Return the objects at the 41 steps of a rollout, as replayed traffic is handed over."""
        objects = self.objects
        box = np.repeat(objects.box[None], STEPS, axis=0)
        box[:, :, :2] += _times_s(STEPS)[:, None, None] * self.way_mps
        present = np.ones((STEPS, len(objects)), np.bool_)
        return Traffic(objects.token, objects.kind, box, present, objects.velocity_mps)


def foresee(outlook: Outlook, without: Collection[str] = ()) -> Forecast:
    """Forecast a scene, leaving out tracks with these tokens."""
    seen = outlook.objects
    rows = _nearest(outlook.ego, seen, without)
    objects = Sighting(
        tuple(seen.token[i] for i in rows), seen.kind[rows], seen.box[rows], seen.velocity_mps[rows]
    )
    way = _ways(objects)
    _expect_ways(way, objects, outlook)
    ring = rings_of(objects.box) + _times_s(2 * SAMPLES)[::2, None, None, None] * way[:, None]
    light = tuple(f"{RED_LIGHT}_{one}" for one in outlook.red)
    return Forecast(objects, way, ring, light, outlook.red_polygons)


def _expect_ways(way: Floats, objects: Sighting, outlook: Outlook) -> None:
    lost = np.flatnonzero(~np.isfinite(way).all(axis=1))
    if len(lost):
        # shapely refuses the polygons that stock would make of it (pdm_observation.py:154-195)
        raise BadInput(
            f"velocity of track {objects.token[lost[0]]} at t = 0 is not finite",
            where=f"token {outlook.token}",
            expected="a number, for an agent among those that are forecast",
            remedy="leave the scene out, or mend its log",
        )


def _times_s(steps: int) -> Floats:
    """Time of the sample that each of so many steps reads."""
    return (np.arange(steps) // SAMPLE_STEPS * SAMPLE_STEPS).astype(np.float64) * DT_S


def _nearest(ego: Floats, seen: Sighting, without: Collection[str]) -> NDArray[np.int64]:
    centre = ego[[X, Y]] + REAR_AXLE_TO_CENTRE_M * np.array(
        [cos_of(ego[HEADING]), sin_of(ego[HEADING])]
    )
    away = seen.box[:, :2] - centre
    known = ~np.array([token in without for token in seen.token], np.bool_)
    kept = np.flatnonzero(known & ~(hypot_of(away[:, 1], away[:, 0]) > SIGHT_M))
    away_m = np.sqrt(away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1])
    groups = [(kept[seen.kind[kept] > BICYCLE], NEAREST_STATICS)]
    groups += [(kept[seen.kind[kept] == kind], most) for kind, most in NEAREST]
    return np.concatenate([rows[by_distance(away_m[rows])[:most]] for rows, most in groups])


def _ways(objects: Sighting) -> Floats:
    """Velocity ``[object, xy]`` of the forecast; a box that moves backward is turned round."""
    velocity, heading = objects.velocity_mps, objects.box[:, 2]
    speed = hypot_of(velocity[:, 1], velocity[:, 0])
    course = atan2_of(velocity[:, 1], velocity[:, 0])
    forward = np.abs(wrap_by_atan2_of(heading - course)) < np.pi / 2
    facing = np.where(forward, heading, wrap_by_atan2_of(heading + np.pi))
    way = np.column_stack([cos_of(facing) * speed, sin_of(facing) * speed])
    return np.where((objects.kind <= BICYCLE)[:, None], way, 0.0)


def met_at_start(ego: Floats, forecast: Forecast, tree: shapely.STRtree) -> tuple[str, ...]:
    """Tokens of what the car touches at t = 0, of lights only those it stands wholly in.

    ``tree`` holds the shapes of the first sample.
    """
    ring = np.empty((5, 2))
    write_car(ego[X], ego[Y], ego[HEADING], ring)
    car = shapely.Polygon(ring)
    hits = tree.query(car, predicate="intersects")
    objects = len(forecast.objects)
    return tuple(
        forecast.token[hit]
        for hit in hits
        if hit < objects or shapely.within(car, tree.geometries[hit])
    )
