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

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import torch
from torch import Tensor
from torch.optim import Adam

from navaudit import provenance
from navaudit.agent.backbone import VoVNet
from navaudit.agent.fit import expect_fit
from navaudit.agent.loops import Progress, loops_of
from navaudit.agent.model import Agent
from navaudit.agent.saved import read_saved
from navaudit.agent.shapes import GTRS_DENSE, SHAPES, AgentShape
from navaudit.agent.slots import PREFIX, slots
from navaudit.errors import BadInput
from navaudit.scene.whole import whole_file

__all__ = ["Checkpoint", "Progress", "read_checkpoint", "read_encoder", "write_checkpoint"]

LIGHTNING: Final = "2.2.1"
"""The release whose layout is written."""

VOCABULARY: Final = "_trajectory_head.vocab"
OURS: Final = "navaudit"
_DD3D: Final = "img_backbone."
_MOMENTS: Final = ("exp_avg", "exp_avg_sq")
_TELLING: Final = ("_keyval_embedding.weight", "downscale_layer.weight")
_WRAPPERS: Final = frozenset({"module", "_orig_mod", "_forward_module"})
"""What modules put into names that spread a module over processes, or compile it."""


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
    """As it was written, or the one that the weights fit; GTRS-Dense where none does."""
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
        if vocabulary is None:
            raise BadInput(
                f"missing: {VOCABULARY}, the candidates",
                where=str(self.where),
                expected="a checkpoint with its vocabulary, or a vocabulary beside it",
                remedy="give the one that it was trained with: --vocabulary, or vocabulary in the "
                "[agent] of an experiment",
            )
        if vocabulary.ndim == 3:
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
    content = read_saved(path)
    state = _unwrapped(_tensors(content.get("state_dict"), path), path)
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
    shape = ours.get("shape")
    return Checkpoint(
        where=path,
        state=named,
        optimizer=_optimizer(content.get("optimizer_states"), path),
        epoch=_count(content, "epoch", path),
        step=_count(content, "global_step", path),
        shape=AgentShape.from_record(shape, str(path)) if shape else _fitting(named),
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
    content = read_saved(path)
    state = _tensors(content.get("state_dict", content), path)
    own = {name.split(_DD3D, 1)[1]: one for name, one in state.items() if _DD3D in name}
    expect_fit(own, encoder.state_dict(), str(path))
    encoder.load_state_dict(own)


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


def _unwrapped(state: dict[str, Tensor], path: Path) -> dict[str, Tensor]:
    """Take what wrappers added out of the names; no parameter of an agent is named like one."""
    own = {
        ".".join(part for part in name.split(".") if part not in _WRAPPERS): one
        for name, one in state.items()
    }
    if len(own) != len(state):
        raise BadInput(
            "some tensors are there twice: by their own names, and by those of a wrapper",
            where=str(path),
            expected="every tensor once",
        )
    return own


def _fitting(state: Mapping[str, Tensor]) -> AgentShape:
    """Tell a shape by two of the weights, where a trainer has dropped our entry."""
    looks = [tuple(state[name].shape) if name in state else None for name in _TELLING]
    for shape in SHAPES.values():
        tokens, width, seen = shape.image_tokens, shape.width, shape.backbone.outer[-1]
        if looks == [(tokens, width), (width, seen, 1, 1)]:
            return shape
    return GTRS_DENSE


def _count(content: Mapping[str, Any], key: str, path: Path) -> int:
    value = content.get(key, 0)
    if type(value) is not int or value < 0:
        raise BadInput(f"{key} is {value!r:.40}", where=str(path), expected="a whole number")
    return value


def _optimizer(value: Any, path: Path) -> dict[str, Any] | None:
    """Return the state of the one optimizer; None where none was saved."""
    if value is None or value == []:
        return None
    if not isinstance(value, list) or len(value) != 1 or not _is_adams(value[0]):
        raise BadInput(
            "optimizer_states is not the state of one Adam",
            where=str(path),
            expected="one dictionary of param_groups, and by number step, exp_avg and exp_avg_sq",
        )
    return dict(value[0])


def _is_adams(state: object) -> bool:
    if not isinstance(state, dict) or not {"param_groups", "state"} <= set(state):
        return False
    groups, moments = state["param_groups"], state["state"]
    if not isinstance(groups, list) or not isinstance(moments, dict):
        return False
    return all(
        isinstance(one, dict) and isinstance(one.get("params"), list) for one in groups
    ) and all(
        isinstance(one, dict)
        and "step" in one
        and all(isinstance(one.get(kind), Tensor) for kind in _MOMENTS)
        for one in moments.values()
    )


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
    strange = [number for number in optimizer["state"] if number not in range(len(names))]
    if strange:
        raise BadInput(
            f"the optimizer has moments of {strange[0]!r:.40}",
            where=where,
            expected=f"of numbers from 0 to {len(names) - 1}",
        )
    parameters = dict(agent.named_parameters())
    moments, wanted = {}, {}
    for number, one in optimizer["state"].items():
        for kind in _MOMENTS:
            moments[f"{names[number]}, {kind}"] = one[kind]
            wanted[f"{names[number]}, {kind}"] = parameters[names[number]]
    expect_fit(moments, wanted, where)
