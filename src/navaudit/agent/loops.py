"""How far training is, as Lightning writes it down, so that the stock trainer can go on from there.

The trainer reads its step from its loops, not from ``global_step``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from navaudit.errors import BadInput

_READY: Final = ("ready", "completed")
_STARTED: Final = (*_READY, "started")
_PROCESSED: Final = (*_STARTED, "processed")


@dataclass(frozen=True)
class Progress:
    """How far training is."""

    epoch: int
    """Index of the epoch that the last step was in, from 0."""
    step: int
    """Steps of the optimizer since the beginning."""
    batch: int
    """Steps since the beginning of that epoch."""
    last: bool
    """Whether that epoch is done."""

    def __post_init__(self) -> None:
        if not 0 <= self.batch <= self.step or self.epoch < 0:
            raise BadInput(f"progress is {self}", expected="no more steps in the epoch than in all")


def loops_of(at: Progress) -> dict[str, Any]:
    """Return the entry ``loops`` of a checkpoint."""
    begun, done = at.epoch + 1, at.epoch
    steps = _pair(_READY, at.step, at.batch)
    fit = {
        "state_dict": {},
        "epoch_loop.state_dict": {"_batches_that_stepped": at.step},
        "epoch_loop.batch_progress": {
            **_pair(_PROCESSED, at.step, at.batch),
            "is_last_batch": at.last,
        },
        "epoch_loop.scheduler_progress": _pair(_READY, 0, 0),
        "epoch_loop.automatic_optimization.state_dict": {},
        "epoch_loop.automatic_optimization.optim_progress": {
            "optimizer": {"step": steps, "zero_grad": _pair(_STARTED, at.step, at.batch)}
        },
        "epoch_loop.manual_optimization.state_dict": {},
        "epoch_loop.manual_optimization.optim_step_progress": _pair(_READY, 0, 0),
        "epoch_loop.val_loop.state_dict": {},
        "epoch_loop.val_loop.batch_progress": _no_batches(),
        "epoch_progress": _epochs(begun, done, at.last),
    }
    aside = {"state_dict": {}, "batch_progress": _no_batches()}
    return {"fit_loop": fit, "validate_loop": aside, "test_loop": aside, "predict_loop": aside}


def _pair(kinds: tuple[str, ...], total: int, current: int) -> dict[str, dict[str, int]]:
    return {"total": dict.fromkeys(kinds, total), "current": dict.fromkeys(kinds, current)}


def _no_batches() -> dict[str, Any]:
    return {**_pair(_PROCESSED, 0, 0), "is_last_batch": False}


def _epochs(begun: int, done: int, last: bool) -> dict[str, dict[str, int]]:
    # a checkpoint is written before its epoch counts as completed
    processed = begun if last else done
    count = {"ready": begun, "completed": done, "started": begun, "processed": processed}
    return {"total": count, "current": dict(count)}
