"""Agents of the town: labels of their own candidates, four arms, and what their heads say.

Torch is imported where it is needed, so that the rest runs without it.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

import numpy as np

from navaudit.demo.step import NARROW, Demo, Facts
from navaudit.labels.generate import Job, generate
from navaudit.labels.labelset import LabelSet
from navaudit.labels.work import Processes
from navaudit.scene.vocabulary import Vocabulary, read_vocabulary
from navaudit.scene.whole import put
from navaudit.score.score import Settings as Scoring

ARMS: Final = {"A": "published", "M": "masked", "P": "raw", "L": "pass-lk"}
"""Letter of each arm, and the policy that it learns from."""

BASE: Final = "base"
"""The agent that every arm continues: it has learnt from published labels."""

_VOCABULARY: Final = "narrow/vocabulary.npy"
_LABELS: Final = "narrow/labels"
_SCALE: Final = 16
"""Candidates of the paper's vocabulary for each of the agent's."""


def label_narrow(demo: Demo) -> Facts:
    """Take every so many candidates of the town's for the agent's own, and label the scenes."""
    whole = demo.vocabulary()
    some = whole.take(slice(0, None, len(whole) // NARROW))
    data = io.BytesIO()
    np.save(data, some.poses)
    put(demo.at(_VOCABULARY), data.getvalue())
    made = generate(
        demo.at(_LABELS),
        Job(demo.scenes(), some, Scoring()),
        executor=Processes(demo.workers),
        say=lambda one: demo.say(one.what, one.scenes + one.kept, one.scenes_in_all),
    )
    return {"candidates": made.candidates, "tokens": len(made), "digest": made.digest()}


def train_base(demo: Demo) -> Facts:
    """Train an agent from its first weights under published labels, as the released ones were."""
    size = demo.settings
    trained = _train(demo, BASE, "published", 0, size.base_steps)
    return {"arm": "published", "steps": size.base_steps, "draws": trained}


def train_arms(demo: Demo) -> Facts:
    """Continue the agent under four policies; arms of a seed see the same scenes and candidates."""
    size = demo.settings
    draws: dict[str, str] = {}
    for name, (policy, seed) in arms_of(demo).items():
        draws[name] = _train(demo, name, policy, seed, size.arm_steps)
    seeds = {seed: {draws[name] for name, (_, own) in arms_of(demo).items() if own == seed}
             for seed in size.seeds}  # fmt: skip
    return {
        "runs": ", ".join(draws),
        "steps": size.arm_steps,
        "same_draws_in_every_arm": all(len(one) == 1 for one in seeds.values()),
    }


def arms_of(demo: Demo) -> dict[str, tuple[str, int]]:
    """Policy and seed of every run, by its name; the all-pass arm has the first seed alone."""
    first = demo.settings.seeds[0]
    return {
        f"{letter}{seed}": (policy, seed)
        for letter, policy in ARMS.items()
        for seed in demo.settings.seeds
        if letter != "L" or seed == first
    }


def runs_of(demo: Demo) -> list[str]:
    """Name every agent: the base first."""
    return [BASE, *arms_of(demo)]


def checkpoint_of(demo: Demo, name: str) -> Path:
    """Return the last checkpoint of a run."""
    size = demo.settings
    step = size.base_steps + (0 if name == BASE else size.arm_steps)
    return demo.at("agents") / name / f"step-{step}.ckpt"


def plan(demo: Demo) -> Facts:
    """Let every agent say what it thinks of every candidate, and choose one in every scene."""
    from navaudit.agent.computing import Computing  # noqa: PLC0415
    from navaudit.agent.logits import Job as LogitJob  # noqa: PLC0415
    from navaudit.agent.planning import make_plans  # noqa: PLC0415

    town, scenes = demo.at("town"), demo.scenes()
    chosen: dict[str, Any] = {}
    names = runs_of(demo)
    for k, name in enumerate(names):
        job = LogitJob(
            checkpoint_of(demo, name),
            scenes,
            town / "navsim_logs" / "town",
            town / "sensor_blobs" / "town",
            computing=Computing(batch=8, readers=demo.workers),
        )
        made = make_plans(
            demo.at("plans") / f"{name}.pkl",
            job,
            logits=demo.at("logits") / name,
            heads=False,
            say=lambda what, done, total, k=k: demo.say(what, k * total + done, len(names) * total),
        )
        chosen[name] = len(set(made.chosen.values()))
    return {"agents": len(names), "scenes": len(scenes), "different_choices": chosen}


def probe(demo: Demo) -> Facts:
    """Ask how well the lane-keeping head still orders candidates where the rule fired."""
    from navaudit.agent.logit_store import LogitStore  # noqa: PLC0415
    from navaudit.probe.models import read_models  # noqa: PLC0415
    from navaudit.probe.probe import probe as read_probe  # noqa: PLC0415
    from navaudit.probe.question import Question  # noqa: PLC0415
    from navaudit.report.probed import write_probe  # noqa: PLC0415

    usual, size = Question(), demo.settings
    question = Question(
        caliper=usual.caliper // _SCALE,
        width=usual.width // _SCALE,
        resamples=size.resamples,
    )
    labels = LabelSet.open(demo.at(_LABELS))
    logits = {name: LogitStore.open(demo.at("logits") / name) for name in runs_of(demo)}
    found = read_probe(logits.pop(BASE), labels, question, say=demo.say)
    others = {f"town_{name}": store for name, store in logits.items()}
    models = read_models(found, "town", others, labels, say=demo.say)
    numbers = write_probe(demo.at("probe"), found, "town", models)
    wanted = ("town_T_lk_auc", "town_matched_lk_auc", "town_PA_R1_min", "town_PA_R1_max")
    return {name: numbers[name] for name in wanted if name in numbers}


def _train(demo: Demo, name: str, policy: str, seed: int, steps: int) -> str:
    """Train one agent; return the digest of what was drawn."""
    from navaudit.train.loop import train  # noqa: PLC0415
    from navaudit.train.recipe import read_recipe  # noqa: PLC0415

    path = demo.at("agents") / f"{'base' if name == BASE else 'arms'}.toml"
    put(path, _recipe(demo, name == BASE).encode())
    recipe = read_recipe(path, {"arm": policy, "seed": seed, "steps": steps})
    names = runs_of(demo)
    done = train(
        recipe,
        demo.at("agents") / name,
        say=lambda what, at, of: demo.say(f"{name}: {what}", *_share(names, name, at, of)),
    )
    return done.draws


def _share(names: list[str], name: str, at: int, of: int) -> tuple[int, int]:
    """How much of all arms is done; the base is alone."""
    if name == BASE:
        return at, of
    return (names.index(name) - 1) * of + at, (len(names) - 1) * of


def _recipe(demo: Demo, base: bool) -> str:
    """Write the experiment down as a person would."""
    size = demo.settings
    steps = size.base_steps if base else size.arm_steps
    agent = (
        'shape = "narrow"\nvocabulary = "../narrow/vocabulary.npy"'
        if base
        else f'checkpoint = "base/step-{size.base_steps}.ckpt"'
    )
    command = (
        "navaudit train base.toml --out base"
        if base
        else "navaudit train arms.toml --arm raw --seed 0 --out P0"
    )
    return f"""\
name = "{"a narrow agent of the town" if base else "four arms of the town"}"
command = "{command}"
cost = "{"two minutes" if base else "half a minute"} on two cores"
expects = "nothing but that it can be done; see the comparison"

[agent]
{agent}

[data]
labels = "../{_LABELS}"
scenes = "../scenes"
logs = "../town/navsim_logs/town"
images = "../town/sensor_blobs/town"

[training]
arm = "published"
seed = 0
steps = {steps}
batch = {size.batch}
rate = {size.rate}
keep_every = 10
"""


def narrow_vocabulary(demo: Demo) -> Vocabulary:
    """Read the agent's own vocabulary."""
    return read_vocabulary(demo.at(_VOCABULARY))
