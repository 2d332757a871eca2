"""Training, from top to bottom: draw, look, ask, step, write down, keep.

A run is a folder::

    log.jsonl       what the run is, then a line a step
    last.ckpt       to go on from
    step-N.ckpt     kept after N steps of the optimizer, counted from the beginning of all training

On a CPU a seed and an arm give the same bytes by the same number of threads, also when the run was
cut short and went on. A checkpoint is chosen by its step, never by a score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from navaudit.agent.backbone import settle
from navaudit.agent.checkpoint import Progress, write_checkpoint
from navaudit.axes import HEADS
from navaudit.errors import BadInput
from navaudit.labels.labelset import LabelSet
from navaudit.scene.store import SceneSet
from navaudit.scene.whole import held, sweep
from navaudit.train.begin import LAST, Run, kept_at, prepare, told_of
from navaudit.train.examples import Example, Examples, collate, read_ahead, spread
from navaudit.train.journal import LOG, Journal
from navaudit.train.loss import Whole, terms, total
from navaudit.train.recipe import Recipe
from navaudit.train.schedule import Draw

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


def train(
    recipe: Recipe, out: Path, *, resume: Path | None = None, say: Say | None = None
) -> Trained:
    """Train, or go on where a run in this folder was stopped.

    ``resume`` names a checkpoint of the same run to go on from instead of ``last.ckpt``.
    """
    labels, scenes = LabelSet.open(recipe.labels), SceneSet.open(recipe.scenes)
    say = say or (lambda what, done, total: None)
    with held(out / "lock"), _threads(recipe):
        sweep(out)
        run = prepare(recipe, told_of(recipe, labels, scenes), labels, out, resume)
        if run.forgetful:
            say("the checkpoint holds weights alone, so Adam begins anew", 0, recipe.steps)
        # a hundred thousand take minutes
        say(f"looking up {len(labels):,} scenes", run.schedule.step, recipe.steps)
        examples = Examples(
            labels, recipe.arm, scenes, recipe.logs, recipe.images, run.agent.shape.image
        )
        if run.unsettled:
            settle(run.agent.encoder, spread(examples, recipe.device))
        journal = Journal(out / LOG, run.told, run.begun + run.schedule.step)
        try:
            _go(run, examples, out, journal, say)
        finally:
            journal.close()
    step = run.begun + run.schedule.step
    return Trained(out, step, kept_at(out, step), run.schedule.digest)


@contextmanager
def _threads(recipe: Recipe) -> Iterator[None]:
    """Let torch compute by so many threads while the block runs."""
    before = torch.get_num_threads()
    torch.set_num_threads(recipe.threads or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _go(run: Run, examples: Examples, out: Path, journal: Journal, say: Say) -> None:
    recipe = run.recipe
    run.agent.train()
    run.agent.encoder.recompute = recipe.recompute
    say("", run.schedule.step, recipe.steps)
    for draw, state, digest, batch in _batches(run, examples):
        found = _step(run, draw, batch)
        done = draw.step + 1
        journal.add({"step": run.begun + done, "loss": found, "draws": digest})
        last = done == recipe.steps
        wanted = [kept_at(out, run.begun + done)] if last or done in recipe.save else []
        wanted += [out / LAST] if last or done % recipe.keep_every == 0 else []
        if wanted:
            journal.settle()
        for path in wanted:
            at = Progress(draw.epoch, run.begun + done, draw.batch + 1, draw.last)
            notes = {"run": run.told, "begun": run.begun, "done": done, "epoch": run.schedule.first,
                     "draws": digest, "generator": state}  # fmt: skip
            write_checkpoint(path, run.agent, run.adam, at, notes)
        say(f"loss {found['total']:.4f}", done, recipe.steps)


def _batches(
    run: Run, examples: Examples
) -> Iterator[tuple[Draw, torch.Tensor, str, list[Example]]]:
    """Draw the steps that are left; pictures are read ahead, and the state after each is kept."""
    drawn: list[tuple[Draw, torch.Tensor, str]] = []

    def rows() -> Iterator[tuple[int, ...]]:
        while run.schedule.step < run.recipe.steps:
            draw = run.schedule.draw()
            drawn.append((draw, run.schedule.state, run.schedule.digest))
            yield draw.rows

    for batch in read_ahead(examples, rows(), run.recipe.readers):
        yield (*drawn.pop(0), batch)


def _step(run: Run, draw: Draw, batch: list[Example]) -> dict[str, float]:
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
        _expect_finite(float(loss.detach()), run.begun + draw.step + 1, part)
        loss.backward()
        for name, one in (*of_part.items(), ("total", loss)):
            found[name] += float(one.detach())
    run.adam.step()
    return found


def _expect_finite(loss: float, step: int, part: Sequence[Example]) -> None:
    if not np.isfinite(loss):
        tokens = ", ".join(one.features.token for one in part)
        raise BadInput(
            f"the loss is {loss}",
            where=f"step {step}, tokens {tokens}",
            remedy="lower the rate, or look at these scenes",
        )
