"""Camera images: the town in perspective, far things first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from PIL import Image, ImageDraw

from navaudit.world.town.bodies import body
from navaudit.world.town.cameras import Camera
from navaudit.world.town.chance import stream
from navaudit.world.town.curves import Array
from navaudit.world.town.drive import Drive
from navaudit.world.town.moments import Moment, turn_into
from navaudit.world.town.posts import light_posts
from navaudit.world.town.scenery import Scenery
from navaudit.world.town.solids import SUN, Colour, Solid

NEAR_M: Final = 0.4
"""What is nearer to the camera is cut away."""
GROUND_M: Final = 110.0
SOLID_M: Final = 130.0
"""How far the ground's paint and solid things are drawn."""
HAZE_M: Final = 320.0


@dataclass(frozen=True)
class Mood:
    """Light and weather."""

    zenith: Colour
    horizon: Colour
    earth: Colour
    light: float


MOODS: Final = (
    Mood((96, 144, 205), (196, 214, 228), (104, 112, 82), 1.0),
    Mood((128, 146, 166), (204, 208, 210), (100, 106, 84), 0.9),
    Mood((170, 176, 182), (198, 200, 200), (92, 96, 80), 0.82),
    Mood((70, 88, 130), (226, 178, 138), (86, 84, 66), 0.72),
)


def mood_of(seed: int, log: int) -> Mood:
    """Draw the weather of a log."""
    return MOODS[int(stream(seed, "scenery", 1000, log).integers(len(MOODS)))]


@dataclass(frozen=True, eq=False)
class _Sight:
    """A camera on the human's car at a moment."""

    camera: Camera
    now: Moment
    mood: Mood
    eye_m: Array
    """``[2]`` in the town's frame."""
    view: Array
    """``[2]`` horizontal direction of the view, in the town's frame."""

    def project(self, xyz_m: Array) -> Array:
        """Town points ``[vertex, 3]`` to the camera's frame: right, down and depth."""
        ego = np.empty_like(xyz_m)
        ego[:, :2] = self.now.into_ego(xyz_m[:, :2])
        ego[:, 2] = xyz_m[:, 2]
        return self.camera.seen_from(ego)

    def within(self, xy_m: Array, reach_m: Array | float, far_m: float) -> Array:
        """Distances of things in sight; infinite for the others."""
        gap = xy_m - self.eye_m
        depth = gap[:, 0] * self.view[0] + gap[:, 1] * self.view[1]
        aside = np.abs(gap[:, 1] * self.view[0] - gap[:, 0] * self.view[1])
        away = np.sqrt((gap * gap).sum(axis=1))
        # the image spans 0.62 of the depth to either side
        seen = (depth > -np.asarray(reach_m)) & (aside < 0.66 * depth + np.asarray(reach_m) * 1.25)
        return np.where(seen & (away - reach_m < far_m), away, np.inf)

    def hazed(self, colour: Colour, away_m: float, light: float) -> Colour:
        """A colour seen from a distance, in a light."""
        clear = 1.0 / (1.0 + (away_m / HAZE_M) * (away_m / HAZE_M) * 2.0)
        lit = self.mood.light * light
        r, g, b = (
            int(min(255.0, part * lit) * clear + haze * (1.0 - clear))
            for part, haze in zip(colour, self.mood.horizon, strict=True)
        )
        return r, g, b


def paint(
    cameras: tuple[Camera, ...], drive: Drive, now: Moment, scenery: Scenery, mood: Mood
) -> list[Image.Image]:
    """Paint what the cameras on the human's car see."""
    x, y = now.heading.tolist()
    turn = np.array([[x, -y], [y, x]])
    posts = light_posts(drive.network.town, drive.signals, now)
    moving = [*_actors(now, drive), *posts]
    images = []
    for camera in cameras:
        eye = now.xy_m + turn[:, 0] * camera.place_m[0] + turn[:, 1] * camera.place_m[1]
        view = turn[:, 0] * camera.rotation[0, 2] + turn[:, 1] * camera.rotation[1, 2]
        images.append(_paint(_Sight(camera, now, mood, eye, view), scenery, moving))
    return images


def _paint(sight: _Sight, scenery: Scenery, moving: list[Solid]) -> Image.Image:
    camera = sight.camera
    image = _backdrop(camera.size_px, int(camera.intrinsic[1, 2]), sight.mood).copy()
    draw = ImageDraw.Draw(image)
    _paint_ground(draw, sight, scenery)
    solids = [*_near(sight, scenery), *moving]
    away = sight.within(np.array([one.xy_m for one in solids]).reshape(-1, 2), 12.0, SOLID_M)
    for k in np.argsort(-away, kind="stable").tolist():
        if away[k] < np.inf:
            _paint_solid(draw, sight, solids[k], float(away[k]))
    return image


@lru_cache(maxsize=16)
def _backdrop(size_px: tuple[int, int], horizon_px: int, mood: Mood) -> Image.Image:
    """Sky and bare earth; the cameras look level, so the horizon is the centre row."""
    width, height = size_px
    share = np.clip(np.arange(height) / horizon_px, 0.0, 1.0)[:, None]
    rows = np.array(mood.zenith) * (1.0 - share) + np.array(mood.horizon) * share
    below = np.clip((np.arange(height) - horizon_px) / (0.22 * height), 0.0, 1.0)[:, None]
    earth = np.array(mood.horizon) * (1.0 - below) + np.array(mood.earth) * mood.light * below
    rows[horizon_px:] = earth[horizon_px:]
    column = np.round(rows).astype(np.uint8)[:, None, :]
    return Image.fromarray(np.repeat(column, width, axis=1))


def _paint_ground(draw: ImageDraw.ImageDraw, sight: _Sight, scenery: Scenery) -> None:
    away = sight.within(scenery.centre_m, scenery.reach_m, GROUND_M)
    chosen = np.flatnonzero(away < np.inf).tolist()
    if not chosen:
        return
    rings = [scenery.paints[k].ring_m for k in chosen]
    counts = np.array([len(ring) for ring in rings])
    flat = np.zeros((int(counts.sum()), 3))
    flat[:, :2] = np.concatenate(rings)
    seen = sight.project(flat)
    first = 0
    for k, count in zip(chosen, counts.tolist(), strict=True):
        colour = sight.hazed(scenery.paints[k].colour, float(away[k]), 1.0)
        _fill(draw, sight.camera, seen[first : first + count], colour)
        first += count


def _near(sight: _Sight, scenery: Scenery) -> Iterator[Solid]:
    away = sight.within(scenery.solid_xy_m, 14.0, SOLID_M)
    for k in np.flatnonzero(away < np.inf).tolist():
        yield scenery.solids[k]


def _actors(now: Moment, drive: Drive) -> Iterator[Solid]:
    x, y = now.heading.tolist()
    back = np.array([x, -y])
    for n, k in enumerate(now.seen.tolist()):
        # from the human's frame to the town's again
        xy = now.xy_m + turn_into(now.box_xy_m[n], back)
        way = turn_into(now.box_way[n], back)
        yield body(drive.actors[k], int(now.time_s * 10.0), xy, way, float(now.braking[n]))


def _paint_solid(draw: ImageDraw.ImageDraw, sight: _Sight, solid: Solid, away_m: float) -> None:
    eye = (*sight.eye_m.tolist(), float(sight.camera.place_m[2]))
    shown = [
        face
        for face in solid.faces
        if sum(n * (e - float(p)) for n, e, p in zip(face.normal, eye, face.xyz_m[0], strict=True))
        > 0.0
    ]
    if not shown:
        return
    seen = sight.project(np.concatenate([face.xyz_m for face in shown]))
    first = 0
    for face in shown:
        count = len(face.xyz_m)
        colour = face.colour
        if not face.glows:
            facing = sum(n * s for n, s in zip(face.normal, SUN, strict=True))
            colour = sight.hazed(face.colour, away_m, 0.78 + 0.3 * facing)
        _fill(draw, sight.camera, seen[first : first + count], colour)
        first += count


def _fill(draw: ImageDraw.ImageDraw, camera: Camera, seen_m: Array, colour: Colour) -> None:
    """Fill a polygon given in the camera's frame, cut off near the camera."""
    depth = seen_m[:, 2]
    if depth.min() < NEAR_M:
        seen_m = _cut(seen_m)
        if len(seen_m) < 3:
            return
    pixels = camera.project(seen_m)
    width, height = camera.size_px
    low, high = pixels.min(axis=0), pixels.max(axis=0)
    if high[0] < 0 or low[0] > width or high[1] < 0 or low[1] > height:
        return
    draw.polygon(np.round(pixels, 2).ravel().tolist(), fill=colour)


def _cut(seen_m: Array) -> Array:
    """The part of a polygon beyond the near plane."""
    kept: list[Array] = []
    before = seen_m[-1]
    for vertex in seen_m:
        if (vertex[2] < NEAR_M) != (before[2] < NEAR_M):
            share = (NEAR_M - before[2]) / (vertex[2] - before[2])
            kept.append(before + (vertex - before) * share)
        if vertex[2] >= NEAR_M:
            kept.append(vertex)
        before = vertex
    return np.array(kept)
