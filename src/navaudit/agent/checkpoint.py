"""Checkpoints in the layout of the released ones: read without running code, written whole.

A checkpoint is what PyTorch Lightning saves: ``state_dict`` with names that begin with
``agent.model.``, ``optimizer_states`` with Adam's moments by number (see `navaudit.agent.slots`),
``epoch``, ``global_step`` and ``loops``. What we write, the stock code loads and continues; we add
one entry of our own, ``navaudit``, with the agent's shape, the provenance and the trainer's notes::

    write_checkpoint(path, agent, adam, Progress(epoch=0, step=240, batch=240, last=True))
    kept = read_checkpoint(path)
    agent = kept.agent()
    adam = make_adam(agent, rate)
    kept.restore(agent, adam)
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PosixPath
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.optim import Adam
from torch.serialization import safe_globals

from navaudit import provenance
from navaudit.agent.backbone import VoVNet
from navaudit.agent.fit import expect_fit
from navaudit.agent.loops import Progress, loops_of
from navaudit.agent.model import Agent
from navaudit.agent.shapes import GTRS_DENSE, AgentShape
from navaudit.agent.slots import PREFIX, slots
from navaudit.errors import BadInput, NavauditError, Refused
from navaudit.scene.whole import whole_file

__all__ = ["Checkpoint", "Progress", "read_checkpoint", "read_encoder", "write_checkpoint"]

LIGHTNING: Final = "2.2.1"
"""The release whose layout is written."""

VOCABULARY: Final = "_trajectory_head.vocab"
OURS: Final = "navaudit"
_DD3D: Final = "img_backbone."
_SCALAR: Final = np.float64(0.0).__reduce__()[0]
_HARMLESS: Final[list[Any]] = [
    PosixPath,
    np.dtype,
    *(type(np.dtype(code)) for code in "?bhilqBHILQefd"),
    (_SCALAR, "numpy.core.multiarray.scalar"),
    (_SCALAR, "numpy._core.multiarray.scalar"),
]
"""What a trainer may have kept beside its weights, on top of what torch allows."""

_MOMENTS: Final = ("exp_avg", "exp_avg_sq")


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What a checkpoint holds; tensors lie in the mapped file until they are used."""

    where: Path
    state: Mapping[str, Tensor]
    """By name, without ``agent.model.``."""
    optimizer: Mapping[str, Any] | None
    """Adam's own state; None where only weights were saved."""
    epoch: int
    step: int
    """Steps of the optimizer."""
    shape: AgentShape
    """As it was written, or of GTRS-Dense where nothing was."""
    notes: Mapping[str, Any] = field(default_factory=dict)
    """What our trainer noted beside it."""

    def agent(self, *, shape: AgentShape | None = None, poses: Tensor | None = None) -> Agent:
        """Build the agent; every stored tensor must fit, and is named if it does not.

        ``poses``, float32 ``[candidate, 40, 3]``, take the place of the stored vocabulary.
        """
        state = dict(self.state)
        if poses is not None:
            state[VOCABULARY] = poses
        vocabulary = state.get(VOCABULARY)
        shape = shape or self.shape
        if vocabulary is not None and vocabulary.ndim == 3:
            shape = replace(shape, candidates=len(vocabulary))
        with torch.device("meta"):
            bare = Agent(shape, torch.empty(shape.candidates, 40, 3))
        expect_fit(state, bare.state_dict(), str(self.where))
        agent = bare.to_empty(device="cpu")
        agent.load_state_dict(state)
        return agent

    def restore(self, agent: Agent, adam: Adam) -> None:
        """Give an optimizer made by `make_adam` its stored moments, rates and counts."""
        if self.optimizer is None:
            raise BadInput(
                "the checkpoint holds weights alone",
                where=str(self.where),
                expected="optimizer_states",
                remedy="continue from one that was saved with its optimizer",
            )
        _expect_moments(self.optimizer, agent, str(self.where))
        adam.load_state_dict(dict(self.optimizer))


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint of the stock code or of ours; no code in it is run."""
    content = _load(path)
    state = _tensors(content.get("state_dict"), path)
    named = {name.removeprefix(PREFIX): one for name, one in state.items()}
    strange = [name for name in state if not name.startswith(PREFIX)]
    if strange or not named:
        raise BadInput(
            f"{len(strange)} of {len(state)} tensors bear other names, such as "
            f"{', '.join(strange[:3])}",
            where=str(path),
            expected=f"names that begin with {PREFIX}",
        )
    ours = content.get(OURS, {})
    states = content.get("optimizer_states") or [None]
    shape = ours.get("shape")
    return Checkpoint(
        where=path,
        state=named,
        optimizer=states[0],
        epoch=_count(content, "epoch", path),
        step=_count(content, "global_step", path),
        shape=AgentShape.from_record(shape, str(path)) if shape else GTRS_DENSE,
        notes=ours.get("notes", {}),
    )


def write_checkpoint(
    path: Path,
    agent: Agent,
    adam: Adam | None,
    at: Progress,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Write a checkpoint, whole or not at all.

    ``notes`` are plain values and tensors that come back from `read_checkpoint`.
    """
    content = {
        "epoch": at.epoch,
        "global_step": at.step,
        "pytorch-lightning_version": LIGHTNING,
        "state_dict": {PREFIX + name: one for name, one in agent.state_dict().items()},
        "loops": loops_of(at),
        "callbacks": {},
        "optimizer_states": [] if adam is None else [adam.state_dict()],
        "lr_schedulers": [],
        OURS: {
            "shape": agent.shape.record(),
            "provenance": {**provenance.here(), "torch": str(torch.__version__)},
            "notes": dict(notes or {}),
        },
    }
    with whole_file(path) as stream:
        torch.save(_told_once(content, {}), stream)


def _told_once(value: Any, texts: dict[str, str]) -> Any:
    """Return equal plain values, of which no two containers are one and all equal texts are.

    The bytes of a file follow from which objects in it are the same one, and an optimizer that was
    restored shares others than one that was not.
    """
    if isinstance(value, str):
        return texts.setdefault(value, value)
    if isinstance(value, dict):
        return {_told_once(key, texts): _told_once(one, texts) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_told_once(one, texts) for one in value)
    return value


def read_encoder(path: Path, encoder: VoVNet) -> None:
    """Give an encoder the weights of DD3D (``dd3d_det_final.pth``) that the agents began with."""
    content = _load(path)
    state = _tensors(content.get("state_dict", content), path)
    own = {name.split(_DD3D, 1)[1]: one for name, one in state.items() if _DD3D in name}
    expect_fit(own, encoder.state_dict(), str(path))
    encoder.load_state_dict(own)


def _load(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise BadInput("there is no such checkpoint", where=str(path), expected="a file")
    try:
        mapped = zipfile.is_zipfile(path)
        with safe_globals(_HARMLESS):
            content = torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except MemoryError:
        raise
    except Exception as error:  # torch raises whatever its reader met
        raise _unreadable(path, error) from error
    if not isinstance(content, dict):
        raise BadInput(
            f"the file holds a {type(content).__name__}",
            where=str(path),
            expected="a checkpoint: a dictionary with state_dict",
        )
    return content


def _unreadable(path: Path, error: Exception) -> NavauditError:
    text = str(error)
    asked = re.search(r"GLOBAL (\S+)", text)
    if asked:
        return Refused(
            f"the checkpoint asks for {asked[1]}, which weights have no use for",
            where=str(path),
            expected="tensors, numbers, text and containers of them",
            remedy="save it again without that, where you trust its author",
        )
    first = text.strip().splitlines()[0] if text.strip() else type(error).__name__
    return BadInput(
        f"the checkpoint cannot be read: {first:.200}",
        where=str(path),
        expected="a whole file that torch has saved",
        remedy="fetch it again",
    )


def _tensors(value: Any, path: Path) -> dict[str, Tensor]:
    if not isinstance(value, Mapping):
        raise BadInput(
            "the file has no state_dict", where=str(path), expected="a Lightning checkpoint"
        )
    wrong = [name for name, one in value.items() if not isinstance(one, Tensor)]
    if wrong:
        raise BadInput(
            f"state_dict holds something else than tensors: {', '.join(map(str, wrong[:5]))}",
            where=str(path),
        )
    return dict(value)


def _count(content: Mapping[str, Any], key: str, path: Path) -> int:
    value = content.get(key, 0)
    if type(value) is not int or value < 0:
        raise BadInput(f"{key} is {value!r:.40}", where=str(path), expected="a whole number")
    return value


def _expect_moments(optimizer: Mapping[str, Any], agent: Agent, where: str) -> None:
    """Refuse Adam's state where a number does not mean the parameter that it means here."""
    names = slots(agent)
    numbers = [number for group in optimizer["param_groups"] for number in group["params"]]
    if numbers != list(range(len(names))):
        raise BadInput(
            f"the optimizer counts {len(numbers)} parameters",
            where=where,
            expected=f"numbers 0 to {len(names) - 1}, in this order",
        )
    parameters = dict(agent.named_parameters())
    moments, wanted = {}, {}
    for number, one in optimizer["state"].items():
        for kind in _MOMENTS:
            moments[f"{names[number]}, {kind}"] = one[kind]
            wanted[f"{names[number]}, {kind}"] = parameters[names[number]]
    expect_fit(moments, wanted, where)
