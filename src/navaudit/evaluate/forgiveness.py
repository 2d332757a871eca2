"""Which forgiveness a run's scores carry, once the humans are known.

Where a human scored zero, a forgiven component is 1 without exception, while a planner's own one
often is not. Driving direction is left aside: whether a human fails it hangs on its body.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import DDC
from navaudit.errors import BadInput
from navaudit.evaluate.epdms import BLIND, EC, aggregate, forgiven
from navaudit.evaluate.scored import AS_SCORED, Scored
from navaudit.score.forgive import forgiven_columns

Floats = NDArray[np.float64]

ENOUGH: Final = 20
"""Components on which humans fail that it takes to tell."""

PLAIN: Final = 0.1
"""Share of them below 1 from which on a file cannot have been forgiven."""


def with_humans(run: Scored, human: Floats) -> Scored:
    """Return the run with all that human values ``[token, component]`` add to it.

    A file that cannot say its switch gets it, where the humans tell; a switch that somebody stated
    and the humans contradict is refused; and ON is made where OFF is known.
    """
    return _forgiving(_settled(run, human), human)


def _settled(run: Scored, human: Floats) -> Scored:
    if len(run.scores) != 1:
        return run
    ((mode, score),) = run.scores.items()
    failed, below = _failed(score, human, run.valid)
    if failed < ENOUGH:
        return run
    told = "on" if below == 0 else "off" if below > PLAIN * failed else mode
    said = f"{below} of {failed} components on which the human fails are below 1"
    if mode == "on" and told == "off":
        raise BadInput(
            f"run {run.name} is said to have forgiveness, and {said}",
            expected="1, wherever the human fails",
            remedy="say that it is off, or give the human values of its scenes",
        )
    if mode == "off" and told == "on":
        note = f"it is said to be without forgiveness, yet {said}"
        return replace(run, notes=(*run.notes, note))
    if mode != AS_SCORED or told == AS_SCORED:
        return run
    note = f"{said}: it is {told.upper()}"
    return replace(run, scores={told: score}, notes=(*run.notes, note))


def _failed(score: Floats, human: Floats, valid: NDArray[np.bool_]) -> tuple[int, int]:
    """How many components the human fails, and how many of these are below 1 in the run."""
    columns = [column for column in range(EC) if column not in (*BLIND, DDC)]
    fails = forgiven_columns(human[:, columns]) & valid[:, None]
    below = fails & (score[:, columns] < 1.0)
    return int(fails.sum()), int(below.sum())


def _forgiving(run: Scored, human: Floats) -> Scored:
    if "on" in run.scores or "off" not in run.scores:
        return run
    off = run.scores["off"]
    if np.isnan(off[run.valid, :EC]).any():
        return run
    shown = forgiven(off[:, :EC], human)
    on = np.column_stack([shown, off[:, EC], aggregate(shown, off[:, EC])])
    note = "ON is made of its components and the human values"
    return replace(run, scores={**run.scores, "on": on}, notes=(*run.notes, note))
