"""The pictures of the documentation's gallery: ``python -m bench.gallery``.

Eight scenes of a town from above, of each fault that a human of the town commits at least one, and
what three cars see. The town is drawn from a seed, so the same pictures come out again.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

import matplotlib as mpl
import numpy as np
from bench.places import ROOT, SEED, from_town
from matplotlib.figure import Figure
from PIL import Image

from navaudit.agent.features import stitch
from navaudit.axes import COLUMNS, PDM, X, Y
from navaudit.report.birdseye import draw_scene
from navaudit.report.explained import write_picture
from navaudit.report.furniture import Sight, draw_north, draw_scale, legend_of
from navaudit.report.look import LIGHT
from navaudit.report.report import worth_a_look
from navaudit.report.view import View, frame
from navaudit.rollout.rollout import desire_human
from navaudit.scene.prepare import prepare
from navaudit.scene.scene import Scene
from navaudit.scene.store import SceneSet
from navaudit.score.forgive import forgiven_columns
from navaudit.score.score import score_human
from navaudit.world.images import FRONT, read_image
from navaudit.world.logs import read_log
from navaudit.world.town.build import Settings, write_town

IMAGES: Final = ROOT / "docs" / "images"
SCENES: Final = 160
SHOWN: Final = 8
SEEN: Final = 3
SIZE_IN: Final = (5.0, 4.6)
MAP_BOX: Final = (0.02, 0.12, 0.96, 0.8)
WIDE: Final = 1_600
"""Columns of a stitched picture."""


def main() -> None:
    """Draw a town, and the pictures."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "town"
        write_town(folder, Settings(SCENES, SEED, camera_scale=0.5, vocabulary_size=64))
        scenes = prepare(Path(place) / "scenes", from_town(folder))
        human = np.stack([score_human(scene).columns[:, 0] for scene in scenes])
        IMAGES.mkdir(parents=True, exist_ok=True)
        for number, row in enumerate(worth_showing(scenes, human), 1):
            scene = scenes.scene(scenes.tokens[row])
            path = IMAGES / f"scene-{number}.png"
            write_picture(from_above(scene, human[row]), path)
            with Image.open(path) as picture:
                picture.convert("RGB").quantize(128).save(path)
            print(path.relative_to(ROOT), said_of(human[row]).replace("\n", " "))
        for number, row in enumerate(worth_seeing(scenes), 1):
            path = IMAGES / f"cameras-{number}.jpg"
            seen(folder, scenes, scenes.tokens[row]).save(path, quality=85)
            print(path.relative_to(ROOT))


def from_above(scene: Scene, human: np.ndarray) -> Figure:
    """A scene with what its human scores zero on."""
    with mpl.rc_context({"font.size": 8}):
        figure = Figure(figsize=SIZE_IN, facecolor=LIGHT.page)
        ax, view = figure.add_axes(MAP_BOX), View.of(scene)
        frame(ax, view.place(desire_human(scene)[0, :, :2]), 10.0, 50.0, 110.0)
        # at the first moment a light is red, if one ever is
        draw_scene(ax, scene, view, int(scene.lights.red.any(axis=1).argmax()))
        draw_scale(ax, LIGHT)
        draw_north(ax, view, LIGHT)
        figure.text(0.02, 0.96, said_of(human), size=9, weight="bold", va="center", color=LIGHT.ink)
        figure.legend(
            handles=legend_of(scene, LIGHT, drive=False, sight=Sight.of(ax, view)),
            loc="lower left", ncols=4, bbox_to_anchor=(0.005, 0.0), fontsize=6.5, frameon=False,
            handlelength=2.0, columnspacing=1.2,
        )  # fmt: skip
    return figure


def said_of(human: np.ndarray) -> str:
    """What the rule forgives in a scene."""
    fired = np.flatnonzero(forgiven_columns(human))
    names = [COLUMNS[one].replace("_", " ") for one in fired if one != PDM]
    return "forgiven: " + ",\n".join(names) if names else "the human fails nothing"


def worth_showing(scenes: SceneSet, human: np.ndarray) -> list[int]:
    """Scenes of each fault in turn, one of a log, and one without a fault."""
    queue = [int(row) for row in worth_a_look(human, len(scenes))]
    plain = next(row for row in range(len(scenes)) if row not in queue[:-1])
    chosen: dict[str, int] = {}
    for row in queue:
        chosen.setdefault(scenes.log_of(scenes.tokens[row]), row)
    return [*list(chosen.values())[: SHOWN - 1], plain]


def worth_seeing(scenes: SceneSet) -> list[int]:
    """Scenes with the most around the car, one of a log."""
    around = []
    for row, scene in enumerate(scenes):
        ahead = scene.traffic.box[0, :, :2] - scene.ego[[X, Y]]
        near = (np.hypot(*ahead.T) < 40.0) & scene.traffic.present[0]
        around.append((int(near.sum()) + 5 * len(scene.lights), row))
    chosen: list[int] = []
    logs: set[str] = set()
    for _, row in sorted(around, reverse=True):
        log = scenes.log_of(scenes.tokens[row])
        if log not in logs and len(chosen) < SEEN:
            chosen.append(row)
            logs.add(log)
    return chosen


def seen(folder: Path, scenes: SceneSet, token: str) -> Image.Image:
    """What the three front cameras see, stitched as the agent has it."""
    log = read_log(folder / "navsim_logs" / "town" / f"{scenes.log_of(token)}.pkl")
    row = log.find(token)
    assert row is not None
    blobs = folder / "sensor_blobs" / "town"
    left, front, right = (read_image(blobs, log.frame(row), camera) for camera in FRONT)
    picture = Image.fromarray(stitch((left, front, right)))
    return picture.resize((WIDE, WIDE * picture.height // picture.width))


if __name__ == "__main__":
    main()
