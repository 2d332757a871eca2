"""Where a run begins: with a checkpoint of others, with drawn weights, or where it was stopped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch.optim import Adam

from navaudit import provenance
from navaudit.agent.checkpoint import Checkpoint, read_checkpoint, read_encoder
from navaudit.agent.computing import Computing
from navaudit.agent.model import Agent
from navaudit.agent.shapes import SHAPES, AgentShape
from navaudit.agent.slots import make_adam
from navaudit.errors import BadInput, Refused
from navaudit.labels.labelset import LabelSet
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import Vocabulary, read_vocabulary
from navaudit.train.journal import differing
from navaudit.train.recipe import Recipe
from navaudit.train.schedule import Schedule

LAST: Final = "last.ckpt"


@dataclass(eq=False)
class Run:
    """An agent on its way."""

    recipe: Recipe
    told: dict[str, Any]
    """What the run is: a run of anything else is another."""
    agent: Agent
    adam: Adam
    schedule: Schedule
    begun: int
    """Steps of the optimizer before this run."""
    unsettled: bool
    """Whether the image encoder's weights are drawn, and its statistics not yet measured."""
    forgetful: bool = False
    """Whether a checkpoint is continued that held weights alone, so that Adam begins anew."""


def kept_at(out: Path, step: int) -> Path:
    """Return the checkpoint that is kept after so many steps of all training."""
    return out / f"step-{step}.ckpt"


def told_of(recipe: Recipe, labels: LabelSet, scenes: SceneSet) -> dict[str, Any]:
    """Say what a run is: its settings, and digests of what it learns from."""
    device = Computing(recipe.device).kind
    found: dict[str, Any] = {
        **recipe.told(),
        "device": device,
        "threads": torch.get_num_threads() if device == "cpu" else 0,
        "labels_digest": labels.digest(),
        "scenes_digest": scenes.digest(),
    }
    if recipe.vocabulary is not None:
        found["vocabulary_digest"] = read_vocabulary(recipe.vocabulary).digest
    for name in ("checkpoint", "encoder"):
        path = getattr(recipe, name)
        if path is not None:
            found[f"{name}_digest"] = provenance.digest_file(_expect_file(name, path))
    return found


def prepare(
    recipe: Recipe, told: dict[str, Any], labels: LabelSet, out: Path, resume: Path | None
) -> Run:
    """Begin a run, or take it up from ``resume`` or the last checkpoint in its folder."""
    last = resume or (out / LAST if (out / LAST).exists() else None)
    if last is not None:
        return _go_on(recipe, told, labels, out, read_checkpoint(last))
    return _begin(recipe, told, labels)


def _begin(recipe: Recipe, told: dict[str, Any], labels: LabelSet) -> Run:
    poses = None
    if recipe.vocabulary is not None:
        poses = torch.from_numpy(read_vocabulary(recipe.vocabulary).poses.astype(np.float32))
    if recipe.checkpoint is not None:
        kept = read_checkpoint(recipe.checkpoint)
        shape = None if recipe.shape is None else _shape_of(recipe)
        agent = kept.agent(shape=shape, poses=poses).to(recipe.device)
        adam = make_adam(agent, recipe.rate)
        if kept.optimizer is not None:
            kept.restore(agent, adam)
        # epochs are counted on; one that was cut short is not taken up again
        epoch = kept.epoch + 1 if kept.step else 0
        schedule = _schedule(recipe, agent, labels, epoch)
        forgetful = kept.optimizer is None
        return Run(recipe, told, agent, adam, schedule, kept.step, False, forgetful)
    agent = _drawn(recipe, poses).to(recipe.device)
    if recipe.encoder is not None:
        read_encoder(recipe.encoder, agent.encoder)
    schedule = _schedule(recipe, agent, labels, 0)
    adam = make_adam(agent, recipe.rate)
    return Run(recipe, told, agent, adam, schedule, 0, unsettled=recipe.encoder is None)


def _shape_of(recipe: Recipe) -> AgentShape:
    if recipe.shape not in SHAPES:
        raise BadInput(f"there is no shape {recipe.shape!r}", expected=" | ".join(SHAPES))
    return SHAPES[recipe.shape]


def _drawn(recipe: Recipe, poses: torch.Tensor | None) -> Agent:
    """Make an agent of this vocabulary, whose weights are drawn from the seed."""
    assert poses is not None, "the recipe has a vocabulary"
    shape = replace(_shape_of(recipe), candidates=len(poses))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        return Agent(shape, poses)


def _go_on(
    recipe: Recipe, told: dict[str, Any], labels: LabelSet, out: Path, kept: Checkpoint
) -> Run:
    """Take a run up where a checkpoint of it stands."""
    notes, where = kept.notes, str(kept.where)
    if notes.get("run") != told:
        said = differing(notes["run"], told) if "run" in notes else "it is of no run of ours"
        raise Refused(
            f"the checkpoint is of another run: {said}",
            where=where,
            expected="one of this experiment, arm and seed",
            remedy="name another folder, or remove this one; to continue an agent under other "
            "settings, name it as the experiment's checkpoint",
        )
    begun, done = notes["begun"], notes["done"]
    if done > recipe.steps:
        raise Refused(
            f"the checkpoint stands after {done} steps",
            where=where,
            expected=f"at most {recipe.steps}",
            remedy="ask for more steps, or name another folder",
        )
    _expect_kept(recipe, (out, kept.where.parent), begun, done)
    agent = kept.agent().to(recipe.device)
    adam = make_adam(agent, recipe.rate)
    kept.restore(agent, adam)
    schedule = _schedule(recipe, agent, labels, notes["epoch"])
    schedule.go_on(done, notes["generator"], notes["draws"])
    return Run(recipe, told, agent, adam, schedule, begun, unsettled=False)


def _expect_kept(recipe: Recipe, folders: tuple[Path, Path], begun: int, done: int) -> None:
    """Refuse to go on past a step whose checkpoint is asked for and was not kept.

    ``folders`` are that of the run, and the one where it was before.
    """
    for step in sorted({*recipe.save, recipe.steps}):
        places = [kept_at(one, begun + step) for one in folders]
        if step <= done and not any(one.exists() for one in places[: 1 + (step < recipe.steps)]):
            raise Refused(
                f"the run stands after {done} steps, and no checkpoint was kept after {step}",
                where=str(folders[1]),
                expected=str(places[0]),
                remedy="name another folder, or go on from an earlier checkpoint",
            )


def _schedule(recipe: Recipe, agent: Agent, labels: LabelSet, epoch: int) -> Schedule:
    candidates = agent.shape.candidates
    remedy = "label the scenes with the agent's vocabulary"
    if labels.candidates != candidates:
        raise BadInput(
            f"the labels are of {labels.candidates} candidates",
            where=str(labels.folder),
            expected=f"{candidates}, as many as the agent scores",
            remedy=remedy,
        )
    mine = {Vocabulary(agent.vocabulary.detach().cpu().numpy()).digest}
    if recipe.vocabulary is not None:
        mine.add(read_vocabulary(recipe.vocabulary).digest)
    theirs = labels.settings.get("vocabulary")
    if theirs is not None and theirs not in mine:
        raise BadInput(
            f"the labels are of another vocabulary: {theirs}",
            where=str(labels.folder),
            expected=" or ".join(sorted(mine)),
            remedy=remedy,
        )
    drawn = candidates if agent.shape.vocabulary_dropout else None
    return Schedule(len(labels), recipe.batch, drawn, recipe.seed, epoch)


def _expect_file(name: str, path: Path) -> Path:
    if not path.is_file():
        raise BadInput(f"the {name} does not exist", where=str(path))
    return path
