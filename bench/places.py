"""Scenes and candidates that figures are taken on: golden ones, a town's, and a very full one.

Golden scenes are those of ``../shared/golden`` where the folder is at hand, else of
``tests/golden``. The town is written anew for each run, from a seed.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from navaudit.axes import HEADING, X, Y
from navaudit.numerics.polygons import Polygons
from navaudit.scene.filters import read_split
from navaudit.scene.from_logs import FromLogs
from navaudit.scene.prepare import prepare
from navaudit.scene.scene import Ground, Scene, Traffic
from navaudit.scene.stock import index_caches, read_scene
from navaudit.scene.vocabulary import Vocabulary, read_vocabulary
from navaudit.score.referee import score_proposals
from navaudit.world.town.build import Settings, write_town

ROOT: Final = Path(__file__).parents[1]
SHARED: Final = ROOT.parent / "shared"
CANDIDATES: Final = 16_384
SEED: Final = 7

FULL: Final = (150, 60, 2)
"""Polygons, agents and red lights of the very full scene."""


def scenes(most: int | None = None) -> list[Scene]:
    """Golden scenes, as many as are at hand, or the first of them."""
    for folder in (SHARED / "golden" / "metric_cache", ROOT / "tests" / "golden" / "metric_cache"):
        if folder.exists():
            caches = index_caches(folder)
            return [read_scene(caches[token]) for token in sorted(caches)[:most]]
    raise SystemExit("no golden metric caches are at hand")


def vocabulary(count: int = CANDIDATES) -> tuple[Vocabulary, str]:
    """The published vocabulary where it is at hand, else drives drawn at random."""
    published = SHARED / "data" / "vocabulary_16384_estimated.npy"
    if published.exists():
        poses = np.resize(read_vocabulary(published).poses, (count, 40, 3))
        return Vocabulary(poses), f"{count} candidates of the released vocabulary"
    rng = np.random.default_rng(0)
    speed = np.maximum(
        rng.uniform(-1, 15, (count, 1)) + rng.normal(0, 0.1, (count, 40)).cumsum(1), 0
    )
    heading = rng.normal(0, 0.01, (count, 40)).cumsum(axis=1)
    moves = 0.1 * speed * np.stack((np.cos(heading), np.sin(heading)))
    poses = np.stack((*moves.cumsum(axis=-1), heading), axis=-1).astype(np.float32)
    return Vocabulary(poses), f"{count} candidates drawn at random"


@cache
def town(count: int) -> Path:
    """Write a town of so many scenes, without images, for as long as this process runs."""
    folder = Path(tempfile.mkdtemp(prefix="navaudit-bench-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    write_town(folder / "town", Settings(count, SEED, cameras=False, vocabulary_size=64))
    return folder / "town"


def from_town(folder: Path) -> FromLogs:
    """What makes the scenes of a town."""
    split = read_split(folder / "splits" / "train_test_split", "town")
    return FromLogs(
        logs=folder / "navsim_logs" / "town",
        maps=folder / "maps",
        judge=score_proposals,
        scene_filter=split.scene_filter,
    )


@cache
def town_scenes(count: int = 24) -> tuple[Scene, ...]:
    """The scenes of a town."""
    folder = town(count)
    return tuple(prepare(folder.parent / "scenes", from_town(folder)))


def full_scene(among: Sequence[Scene]) -> Scene:
    """The busiest of these scenes at red lights, laid over itself until it is as full as `FULL`.

    Copies are turned by quarters and moved on by 15 m each.
    """
    polygons, agents, lights = FULL
    fitting = [one for one in among if len(one.lights) == lights]
    scene = max(fitting, key=lambda one: (len(one.traffic), len(one.ground), one.token))
    return replace(scene, ground=_paved(scene, polygons), traffic=_peopled(scene, agents))


def _turned(xy: np.ndarray, scene: Scene, copy: int) -> np.ndarray:
    here = scene.ego[[X, Y]]
    east, north = (xy - here)[..., 0], (xy - here)[..., 1]
    for _ in range(copy % 4):
        east, north = -north, east
    return here + np.stack([east + 15.0 * copy, north], axis=-1)


def _paved(scene: Scene, wanted: int) -> Ground:
    ground, copies = scene.ground, -(-wanted // len(scene.ground))
    shapes = ground.polygons
    rings, parts = len(shapes.ring_start) - 1, len(ground)
    all_of = Polygons(
        np.concatenate([_turned(shapes.xy, scene, k) for k in range(copies)]),
        np.append(*_shifted(shapes.ring_start, copies, len(shapes.xy))),
        np.append(*_shifted(shapes.polygon_ring, copies, rings)),
        np.tile(shapes.ring_is_hole, copies),
    )
    on_route = np.tile(ground.on_route, copies) & (np.arange(copies * parts) < parts)
    names = tuple(f"{name}.{k}" if k else name for k in range(copies) for name in ground.id)
    kind = np.tile(ground.kind, copies)[:wanted]
    return Ground(names[:wanted], kind, all_of.take(range(wanted)), on_route[:wanted])


def _shifted(starts: np.ndarray, copies: int, by: int) -> tuple[np.ndarray, int]:
    return (starts[:-1] + by * np.arange(copies)[:, None]).ravel(), by * copies


def _peopled(scene: Scene, wanted: int) -> Traffic:
    traffic, copies = scene.traffic, -(-wanted // len(scene.traffic))
    boxes = []
    for k in range(copies):
        box = np.array(traffic.box)
        box[..., :2] = _turned(box[..., :2], scene, k)
        box[..., HEADING] = (box[..., HEADING] + k * np.pi / 2 + np.pi) % (2 * np.pi) - np.pi
        boxes.append(box)
    return Traffic(
        tuple(f"{name}.{k}" if k else name for k in range(copies) for name in traffic.token)[
            :wanted
        ],
        np.tile(traffic.kind, copies)[:wanted],
        np.concatenate(boxes, axis=1)[:, :wanted],
        np.tile(traffic.present, (1, copies))[:, :wanted],
        np.tile(traffic.velocity_mps, (copies, 1))[:wanted],
    )
