"""Training, from top to bottom: draw, look, ask, step, write down, keep.

A run is a folder::

    log.jsonl       what the run is, then a line a step
    last.ckpt       to go on from
    step-N.ckpt     kept after N steps of the optimizer, counted from the beginning of all training

On a CPU a seed and an arm give the same bytes, also when the run was cut short and went on. A
checkpoint is chosen by its step, never by a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch.optim import Adam

from navaudit import provenance
from navaudit.agent.checkpoint import Checkpoint, Progress, read_checkpoint, write_checkpoint
from navaudit.agent.model import Agent
from navaudit.agent.shapes import SHAPES
from navaudit.agent.slots import make_adam
from navaudit.axes import HEADS
from navaudit.errors import BadInput, Refused
from navaudit.labels.labelset import LabelSet
from navaudit.scene.store import SceneSet
from navaudit.scene.vocabulary import read_vocabulary
from navaudit.scene.whole import held, sweep
from navaudit.train.examples import Example, Examples, collate, read_ahead
from navaudit.train.journal import Journal, differing
from navaudit.train.loss import Whole, terms, total
from navaudit.train.recipe import Recipe
from navaudit.train.schedule import Draw, Schedule

LOG: Final = "log.jsonl"
LAST: Final = "last.ckpt"

Say = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Trained:
    """What a run left."""

    folder: Path
    step: int
    """Of the optimizer, counted from the beginning of all training."""
    checkpoint: Path
    """The last one that was kept."""
    draws: str
    """Digest of all that was drawn; the same for every arm of a seed."""


@dataclass(eq=False)
class _Run:
    """An agent on its way."""

    recipe: Recipe
    told: dict[str, Any]
    agent: Agent
    adam: Adam
    schedule: Schedule
    begun: int
    """Steps of the optimizer before this run."""


def train(
    recipe: Recipe, out: Path, *, resume: Path | None = None, say: Say | None = None
) -> Trained:
    """Train, or go on where a run in this folder was stopped.

    ``resume`` names a checkpoint of the same run to go on from instead of ``last.ckpt``.
    """
    labels, scenes = LabelSet.open(recipe.labels), SceneSet.open(recipe.scenes)
    told = {**recipe.told(), **_inputs(recipe, labels, scenes)}
    with held(out / "lock"):
        sweep(out)
        run = _prepare(recipe, told, labels, out, resume)
        examples = Examples(
            labels, recipe.arm, scenes, recipe.logs, recipe.images, run.agent.shape.image
        )
        journal = Journal(out / LOG, told, run.begun + run.schedule.step)
        try:
            checkpoint = _go(run, examples, out, journal, say or (lambda what, done, total: None))
        finally:
            journal.close()
    return Trained(out, run.begun + run.schedule.step, checkpoint, run.schedule.digest)


def _go(run: _Run, examples: Examples, out: Path, journal: Journal, say: Say) -> Path:
    recipe, schedule = run.recipe, run.schedule
    run.agent.train()
    checkpoint = out / f"step-{run.begun + schedule.step}.ckpt"
    say("", schedule.step, recipe.steps)
    for draw, state, digest, batch in _batches(run, examples):
        found = _step(run, draw, batch)
        done = draw.step + 1
        journal.add({"step": run.begun + done, "loss": found, "draws": digest})
        at = Progress(draw.epoch, run.begun + done, draw.batch + 1, draw.last)
        notes = {"run": run.told, "begun": run.begun, "done": done, "draws": digest,
                 "generator": state}  # fmt: skip
        if done in recipe.save or done == recipe.steps:
            checkpoint = out / f"step-{run.begun + done}.ckpt"
            write_checkpoint(checkpoint, run.agent, run.adam, at, notes)
        if done % recipe.keep_every == 0 or done == recipe.steps:
            write_checkpoint(out / LAST, run.agent, run.adam, at, notes)
        say(f"loss {found['total']:.4f}", done, recipe.steps)
    return checkpoint


def _batches(
    run: _Run, examples: Examples
) -> Iterator[tuple[Draw, torch.Tensor, str, list[Example]]]:
    """Draw the steps that are left; pictures are read ahead, and the state after each is kept."""
    drawn: list[tuple[Draw, torch.Tensor, str]] = []

    def rows() -> Iterator[tuple[int, ...]]:
        while run.schedule.step < run.recipe.steps:
            draw = run.schedule.draw()
            drawn.append((draw, run.schedule.state, run.schedule.digest))
            yield draw.rows

    for batch in read_ahead(examples, rows(), readers=2):
        yield (*drawn.pop(0), batch)


def _step(run: _Run, draw: Draw, batch: list[Example]) -> dict[str, float]:
    """Take one step of the optimizer over a batch, part by part; return the terms of the loss."""
    agent, device = run.agent, run.recipe.device
    whole = Whole.of(torch.from_numpy(np.stack([one.targets.asked for one in batch])))
    kept = None if draw.candidates is None else draw.candidates.to(device)
    poses = agent.vocabulary if kept is None else agent.vocabulary[kept]
    found = dict.fromkeys((*HEADS, "total"), 0.0)
    size = run.recipe.part or len(batch)
    run.adam.zero_grad(set_to_none=True)
    for start in range(0, len(batch), size):
        part = batch[start : start + size]
        image, status, asked = collate(part, draw.candidates, device)
        of_part = terms(agent(image, status, kept), asked, poses, whole)
        loss = total(of_part)
        loss.backward()
        for name, one in (*of_part.items(), ("total", loss)):
            found[name] += float(one)
    if not np.isfinite(found["total"]):
        tokens = ", ".join(one.features.token for one in batch)
        raise BadInput(
            f"the loss is {found['total']}",
            where=f"step {run.begun + draw.step + 1}, tokens {tokens}",
            remedy="lower the rate, or look at these scenes",
        )
    run.adam.step()
    return found


# ------------------------------------------------------------------------------------- beginnings


def _prepare(
    recipe: Recipe, told: dict[str, Any], labels: LabelSet, out: Path, resume: Path | None
) -> _Run:
    last = resume or (out / LAST if (out / LAST).exists() else None)
    if last is not None:
        return _go_on(recipe, told, labels, read_checkpoint(last))
    agent, adam, begun = _begin(recipe)
    return _Run(recipe, told, agent, adam, _schedule(recipe, agent, labels), begun)


def _begin(recipe: Recipe) -> tuple[Agent, Adam, int]:
    """Make the agent that a run begins with, its optimizer, and count the steps behind it."""
    poses = None
    if recipe.vocabulary is not None:
        poses = torch.from_numpy(read_vocabulary(recipe.vocabulary).poses.astype(np.float32))
    if recipe.checkpoint is not None:
        kept = read_checkpoint(recipe.checkpoint)
        agent = kept.agent(poses=poses).to(recipe.device)
        adam = make_adam(agent, recipe.rate)
        if kept.optimizer is not None:
            kept.restore(agent, adam)
        return agent, adam, kept.step
    if recipe.shape not in SHAPES or poses is None:
        raise BadInput(f"there is no shape {recipe.shape!r}", expected=" | ".join(SHAPES))
    shape = SHAPES[recipe.shape]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        agent = Agent(shape, poses).to(recipe.device)
    return agent, make_adam(agent, recipe.rate), 0


def _go_on(recipe: Recipe, told: dict[str, Any], labels: LabelSet, kept: Checkpoint) -> _Run:
    """Take a run up where a checkpoint of it stands."""
    notes = kept.notes
    if notes.get("run") != told:
        said = differing(notes.get("run", {}), told) or "it is of no run of ours"
        raise Refused(
            f"the checkpoint is of another run: {said}",
            where=str(kept.where),
            expected="one of this experiment, arm and seed",
            remedy="continue from it as the agent's checkpoint, or name another folder",
        )
    if notes["done"] > recipe.steps:
        raise Refused(
            f"the checkpoint stands after {notes['done']} steps",
            where=str(kept.where),
            expected=f"at most {recipe.steps}",
            remedy="ask for more steps, or name another folder",
        )
    agent = kept.agent().to(recipe.device)
    adam = make_adam(agent, recipe.rate)
    kept.restore(agent, adam)
    schedule = _schedule(recipe, agent, labels)
    schedule.go_on(notes["done"], notes["generator"], notes["draws"])
    return _Run(recipe, told, agent, adam, schedule, notes["begun"])


def _schedule(recipe: Recipe, agent: Agent, labels: LabelSet) -> Schedule:
    if labels.candidates != agent.shape.candidates:
        raise BadInput(
            f"the labels are of {labels.candidates} candidates",
            where=str(labels.folder),
            expected=f"{agent.shape.candidates}, as many as the agent scores",
            remedy="label the scenes with the agent's vocabulary",
        )
    drawn = agent.shape.candidates if agent.shape.vocabulary_dropout else None
    return Schedule(len(labels), recipe.batch, drawn, recipe.seed)


def _inputs(recipe: Recipe, labels: LabelSet, scenes: SceneSet) -> dict[str, Any]:
    """Digests of what a run learns from."""
    found: dict[str, Any] = {"labels_digest": labels.digest(), "scenes_digest": scenes.digest()}
    if recipe.vocabulary is not None:
        found["vocabulary_digest"] = read_vocabulary(recipe.vocabulary).digest
    if recipe.checkpoint is not None:
        found["checkpoint_digest"] = provenance.digest_file(recipe.checkpoint)
    return found
