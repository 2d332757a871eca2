"""Small scene sets, plans and runs to evaluate and compare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from navaudit.agent.predictions import Plan
from navaudit.axes import LK, PDM, STATE
from navaudit.evaluate.judge import Judged
from navaudit.evaluate.run import Run
from navaudit.evaluate.scored import Scored
from navaudit.scene.store import complete_set, log_path, open_folder, write_log
from score.worlds import street

HERE = Path(__file__).parents[1] / "golden"
SHARED = Path(__file__).parents[3] / "shared"

START_US = 1_620_000_000_123_456
HALF_S = 500_000


def token(number):
    return f"{number:016x}"


def scene_at(number, log, time_us, speed_mps=8.0):
    """A car on a street; ``number`` is its token."""
    world = replace(street().driving(speed_mps), token=token(number), time_us=time_us)
    return replace(world.scene(), log=log)


def scene_set(folder, logs, failures=()):
    """A set of scenes; ``logs`` is log name to (number, time in us) of each scene."""
    settings = {"source": "tests"}
    open_folder(folder, settings, {"navaudit": "0"})
    for log, frames in logs.items():
        scenes = [scene_at(number, log, START_US + time_us) for number, time_us in frames]
        write_log(log_path(folder, log), log, {}, scenes)
    return complete_set(folder, settings, {"navaudit": "0"}, sorted(logs), failures)


def straight_plan(speed_mps=8.0, poses=40, aside_m=0.0):
    """A plan straight ahead, moving aside at constant pace."""
    every_s = 4.0 / poses
    times_s = every_s * np.arange(1, poses + 1)
    side = aside_m * times_s / 4.0
    table = np.stack([speed_mps * times_s, side, np.zeros(poses)], axis=1)
    return Plan(table.astype(np.float32), every_s)


def cheap_judge(scene, plan, settings):
    """Stands in for the engine where only the bookkeeping is tested; refuses a plan with x < 0."""
    x = float(plan.poses[-1, 0])
    if x < 0.0:
        raise ValueError(f"cannot judge {x}")
    share = x / 100.0
    states = np.zeros((41, len(STATE)))
    states[:, 5] = share
    human = np.ones(PDM)
    human[LK] = float(int(scene.token, 16) % 2)
    return Judged(np.full(PDM, share), human, np.full(3, x), states)


def scored(name, tokens, logs, components, comfort, human=None, distance=None, **more):
    """A run as it is compared, from its components."""
    tokens = tuple(tokens)
    run = Run(
        tokens=tokens,
        logs=tuple(logs),
        time_us=np.arange(len(tokens)),
        components=components,
        human=np.ones((len(tokens), PDM)) if human is None else human,
        comfort=comfort,
        distance=np.zeros((len(tokens), 3)) if distance is None else distance,
        settings={"ddc": "v2.1"},
    )
    one = Scored(
        name=name,
        tokens=tokens,
        valid=run.valid,
        scores={"off": run.score("off"), "on": run.score("on")},
        notes=(),
        logs=run.logs,
        human=run.human,
        distance=run.distance,
        settings=run.settings,
    )
    return replace(one, **more)


def random_components(random, count):
    """Components ``[token, component]`` as scorers give them."""
    table = (random.random((count, PDM)) < 0.8).astype(float)
    table[:, 4] = random.random(count)
    for column in (0, 2):
        table[random.random(count) < 0.05, column] = 0.5
    return table


def random_comfort(random, count):
    return np.where(random.random(count) < 0.2, np.nan, (random.random(count) < 0.6) * 1.0)


def random_human(random, count):
    """Human values: zeros here and there, progress and comfort never."""
    table = np.where(random.random((count, PDM)) < 0.1, 0.0, 1.0)
    table[:, [4, 7]] = 1.0
    table[random.random(count) < 0.1, 2] = 0.5
    return table
