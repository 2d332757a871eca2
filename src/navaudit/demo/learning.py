"""Agents of the town: labels of their own candidates, four arms, and what their heads say.

Torch is imported where it is needed, so that the rest runs without it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from navaudit.demo.abreast import let_go, side_by_side
from navaudit.demo.ground import prepare_scenes
from navaudit.demo.step import NARROW, Demo, Facts, Say, Settings
from navaudit.labels.generate import Job, generate
from navaudit.labels.labelset import LabelSet
from navaudit.labels.work import Processes
from navaudit.report.tabled import write_results
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import read_vocabulary
from navaudit.scene.whole import put
from navaudit.score.score import Settings as Scoring
from navaudit.world.town.build import Settings as TownSettings
from navaudit.world.town.build import write_town

ARMS: Final = {"A": "published", "M": "masked", "P": "raw", "L": "pass-lk"}
"""Letter of each arm, and the policy that it learns from."""

BASE: Final = "base"
"""The agent that every arm continues: it has learnt from published labels."""

TRAIN: Final = "towntrain"
"""The split that agents learn from, and are looked at on."""

_TOWN: Final = "narrow/town"
_VOCABULARY: Final = f"{_TOWN}/vocabulary_{NARROW}.npy"
_LABELS: Final = "narrow/labels"
SCENES: Final = "narrow/scenes"
"""Of that split."""
_KEEP_EVERY: Final = 50
_SCALE: Final = 16
"""Candidates of the paper's vocabulary for each of the agent's."""


def label_narrow(demo: Demo) -> Facts:
    """Draw a small vocabulary of the same town, and label the scenes of its training split."""
    size = demo.settings
    town = TownSettings(size.scenes, size.seed, cameras=False, vocabulary_size=NARROW)
    write_town(demo.at(_TOWN), town, demo.say)
    scenes = prepare_scenes(demo, TRAIN, demo.at(SCENES))
    made = generate(
        demo.at(_LABELS),
        Job(scenes, read_vocabulary(demo.at(_VOCABULARY)), Scoring()),
        executor=Processes(demo.workers),
        say=lambda one: demo.say(one.what, one.scenes + one.kept, one.scenes_in_all),
    )
    return {"candidates": made.candidates, "tokens": len(made), "digest": made.digest()}


def train_base(demo: Demo) -> Facts:
    """Train an agent from its first weights under published labels, as the released ones were."""
    size = demo.settings
    train_run(demo.folder, size, BASE, demo.say)
    return {"arm": "published", "steps": size.base_steps, "scenes_at_once": size.batch}


def train_arms(demo: Demo) -> Facts:
    """Continue the agent under four policies; arms of a seed see the same scenes and candidates.

    Runs stand side by side in processes of one thread each.
    """
    from navaudit.report.curves import write_curves  # noqa: PLC0415

    names = list(arms_of(demo.settings))
    draws = side_by_side(demo, names, partial(_continue, demo.folder, demo.settings))
    agents = demo.at("agents")
    write_curves(demo.at("trained"), {name: agents / name for name in sorted(names, key=_by_seed)})
    by_seed = {seed: {draws[name] for name, (_, own) in arms_of(demo.settings).items()
                      if own == seed} for seed in demo.settings.seeds}  # fmt: skip
    return {
        "runs": ", ".join(names),
        "steps": demo.settings.arm_steps,
        "same_draws_in_every_arm": all(len(one) == 1 for one in by_seed.values()),
    }


def arms_of(size: Settings) -> dict[str, tuple[str, int]]:
    """Policy and seed of every run, by its name; the all-pass arm has the first seed alone."""
    first = size.seeds[0]
    return {
        f"{letter}{seed}": (policy, seed)
        for letter, policy in ARMS.items()
        for seed in size.seeds
        if letter != "L" or seed == first
    }


def runs_of(size: Settings) -> list[str]:
    """Name every agent: the base first."""
    return [BASE, *arms_of(size)]


def checkpoint_of(folder: Path, size: Settings, name: str) -> Path:
    """Return the last checkpoint of a run."""
    step = size.base_steps + (0 if name == BASE else size.arm_steps)
    return folder / "agents" / name / f"step-{step}.ckpt"


def _by_seed(name: str) -> tuple[str, int]:
    """Runs seed after seed, in the order of the arms."""
    return name[1:], list(ARMS).index(name[0])


def plan(demo: Demo) -> Facts:
    """Let every agent say what it thinks of every candidate, and choose one in every scene."""
    names = runs_of(demo.settings)
    chosen = side_by_side(demo, names, partial(_plan, demo.folder, demo.settings))
    return {"agents": len(names), "different_choices": {name: int(chosen[name]) for name in names}}


def probe(demo: Demo) -> Facts:
    """Ask how well the lane-keeping head still orders candidates where the rule fired."""
    from navaudit.agent.logit_store import LogitStore  # noqa: PLC0415
    from navaudit.probe.models import read_models  # noqa: PLC0415
    from navaudit.probe.probe import probe as read_probe  # noqa: PLC0415
    from navaudit.probe.question import Question  # noqa: PLC0415
    from navaudit.report.probed import results_of, write_figures  # noqa: PLC0415

    usual, size = Question(), demo.settings
    question = Question(
        caliper=usual.caliper // _SCALE,
        width=usual.width // _SCALE,
        resamples=size.resamples,
    )
    labels = LabelSet.open(demo.at(_LABELS))
    logits = {name: LogitStore.open(demo.at("logits") / name) for name in runs_of(demo.settings)}
    found = read_probe(logits.pop(BASE), labels, question, say=demo.say)
    others = {f"town_{name}": store for name, store in logits.items()}
    models = read_models(found, "town", others, labels, say=demo.say)
    results, out = results_of(found, "town", models), demo.at("probe")
    flat = {one.name: one.text for one in results.findings}
    write_figures(out, found)
    numbers = write_results(out, replace(results, lead="\n".join([results.lead, *_by_arm(flat)])))
    wanted = ("town_T_lk_auc", "town_matched_lk_auc", "town_PA_R1_min", "town_PA_R1_max")
    return {name: numbers[name] for name in wanted if name in numbers}


def _by_arm(numbers: dict[str, str]) -> list[str]:
    """Say how well every arm orders lane keeping where the rule fired, by its seeds."""
    read = {
        letter: [
            numbers[name] for name in sorted(numbers) if re.fullmatch(rf"town_{letter}\d_R1", name)
        ]
        for letter in ARMS
    }
    said = [
        f"{', '.join(values)} under {ARMS[letter]} labels"
        for letter, values in read.items()
        if values
    ]
    told = f"That is the agent that every arm continues. Afterwards it is {'; '.join(said)}."
    return [told] if said else []


def train_run(folder: Path, size: Settings, name: str, say: Say) -> str:
    """Train one agent, or go on with it; return the digest of what was drawn."""
    from navaudit.train.loop import train  # noqa: PLC0415
    from navaudit.train.recipe import read_recipe  # noqa: PLC0415

    path = folder / "agents" / ("base.toml" if name == BASE else "arms.toml")
    put(path, _recipe(size, name == BASE).encode())
    policy, seed = arms_of(size).get(name, ("published", 0))
    recipe = read_recipe(path, {"arm": policy, "seed": seed})
    return train(recipe, path.parent / name, say=say).draws


def _continue(folder: Path, size: Settings, name: str, say: Say) -> str:
    """Train one arm; return the digest of what was drawn."""
    let_go(folder / "agents" / name / "lock")
    return train_run(folder, size, name, say)


def _plan(folder: Path, size: Settings, name: str, say: Say) -> str:
    """Write one agent's logits and plans; return how many different candidates it chose."""
    from navaudit.agent.computing import Computing  # noqa: PLC0415
    from navaudit.agent.logits import Job as LogitJob  # noqa: PLC0415
    from navaudit.agent.planning import make_plans  # noqa: PLC0415

    let_go(folder / "logits" / name / "lock")
    job = LogitJob(
        checkpoint_of(folder, size, name),
        SceneSet.open(folder / SCENES),
        folder / "town" / "navsim_logs" / "town",
        folder / "town" / "sensor_blobs" / "town",
        computing=Computing(batch=16, readers=1, threads=1),
    )
    path = folder / "plans" / f"{name}.pkl"
    made = make_plans(path, job, logits=folder / "logits" / name, heads=False, say=say)
    return str(len(set(made.chosen.values())))


def _recipe(size: Settings, base: bool) -> str:
    """Write the experiment down as a person would."""
    if base:
        about = f"""\
name = "base"
command = "navaudit train base.toml --out base"
cost = "a minute on one core"
expects = "lane keeping is ordered on scenes the rule leaves alone, and not on forgiven ones"

[agent]
shape = "slim"
vocabulary = "../{_VOCABULARY}"
"""
    else:
        about = f"""\
name = "arms"
command = "navaudit train arms.toml --arm ARM --seed SEED --out RUN"
cost = "half a minute on one core, for each arm and seed"
expects = "the raw arm orders lane keeping on forgiven scenes, the published arm does not"

[agent]
checkpoint = "base/step-{size.base_steps}.ckpt"
"""
    return f"""{about}
[data]
labels = "../{_LABELS}"
scenes = "../{SCENES}"
logs = "../town/navsim_logs/town"
images = "../town/sensor_blobs/town"

[training]
arm = "published"
seed = 0
steps = {size.base_steps if base else size.arm_steps}
batch = {size.batch}
rate = {size.rate}
keep_every = {_KEEP_EVERY}
threads = 1
"""
