"""Checkpoints: what is saved continues to the bit, what does not fit is named, and no code runs."""

import argparse
import collections
import copy
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from agent.drawn import TINY, agent_of, paths, scenes_of
from agent.needs import torch
from navaudit.agent.backbone import VoVNet
from navaudit.agent.checkpoint import (
    OURS,
    Progress,
    read_checkpoint,
    read_encoder,
    write_checkpoint,
)
from navaudit.agent.model import Agent
from navaudit.agent.shapes import GTRS_DENSE, NARROW, SLIM
from navaudit.agent.slots import PREFIX, make_adam, slots
from navaudit.axes import HEADS
from navaudit.errors import BadInput, Refused

VOCAB = "_trajectory_head.vocab"


def train(agent, adam, steps, seed=0):
    scenes = scenes_of(seed=seed)
    for _ in range(steps):
        adam.zero_grad()
        sum(one.square().mean() for one in agent(*scenes).values()).backward()
        adam.step()


def logits_of(agent):
    with torch.no_grad():
        return agent.eval()(*scenes_of(seed=9))


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in HEADS)


@pytest.fixture(scope="module")
def trained_once():
    agent = agent_of()
    adam = make_adam(agent, 1e-3)
    train(agent, adam, 3)
    return agent, adam


@pytest.fixture
def trained(trained_once):
    """A copy of its own for each test that goes on training."""
    agent, adam = copy.deepcopy(trained_once[0]), trained_once[1].state_dict()
    own = make_adam(agent, 0.0)
    own.load_state_dict(copy.deepcopy(adam))
    return agent, own


@pytest.fixture(scope="module")
def whole(trained_once):
    """What a checkpoint in the released layout holds; to be copied before it is changed."""
    return released(*trained_once)


def released(agent, adam):
    """A checkpoint as Lightning writes it, beside our writer, with what ModelCheckpoint adds."""
    return {
        "epoch": 19,
        "global_step": 4800,
        "pytorch-lightning_version": "2.2.1",
        "state_dict": collections.OrderedDict(
            (PREFIX + name, one) for name, one in agent.state_dict().items()
        ),
        "loops": {"fit_loop": {"state_dict": {}}},
        "callbacks": {
            "ModelCheckpoint{'monitor': 'val/loss_epoch'}": {
                "best_model_score": torch.tensor(3.0),
                "best_model_path": "/exp/epoch=19-step=4800.ckpt",
                "best_k_models": {"a": torch.tensor(3.0)},
                "kth_value": torch.tensor(4.0),
                "dirpath": Path("/exp"),
                "mode": np.float64(0.5),
            }
        },
        "optimizer_states": [adam.state_dict()],
        "lr_schedulers": [],
    }


def save(path, content):
    torch.save(content, path)
    return path


def test_a_checkpoint_in_the_released_layout_goes_on_to_the_bit(tmp_path, trained):
    agent, adam = trained
    kept = read_checkpoint(save(tmp_path / "released.ckpt", released(agent, adam)))
    assert (kept.epoch, kept.step, kept.shape) == (19, 4800, GTRS_DENSE)
    again = kept.agent(shape=TINY)
    assert same(logits_of(agent), logits_of(again))
    second = make_adam(again, 7.0)
    kept.restore(again, second)
    assert [group["lr"] for group in second.param_groups] == [1e-3, 1e-3]
    train(agent, adam, 2, seed=1)
    train(again, second, 2, seed=1)
    assert same(logits_of(agent), logits_of(again))
    # and two more steps did change something
    assert not same(logits_of(kept.agent(shape=TINY)), logits_of(again))


def test_what_is_written_goes_on_to_the_bit(tmp_path, trained):
    agent, adam = trained
    path = tmp_path / "ours.ckpt"
    draws = torch.random.get_rng_state()
    at = Progress(epoch=1, step=3, batch=1, last=False)
    write_checkpoint(path, agent, adam, at, {"arm": "raw", "rng": draws})
    kept = read_checkpoint(path)
    assert (kept.epoch, kept.step, kept.shape) == (1, 3, TINY)
    assert kept.notes["arm"] == "raw"
    assert torch.equal(kept.notes["rng"], draws)
    again = kept.agent()
    second = make_adam(again, 1e-3)
    kept.restore(again, second)
    train(agent, adam, 2, seed=1)
    train(again, second, 2, seed=1)
    assert same(logits_of(agent), logits_of(again))
    for mine, theirs in zip(adam.state.values(), second.state.values(), strict=True):
        assert all(torch.equal(mine[k], theirs[k]) for k in ("step", "exp_avg", "exp_avg_sq"))


class Stock(torch.nn.Module):
    """Names the stock code loads strictly: the agent in the trainer's module, the model in it."""

    def __init__(self, agent):
        super().__init__()
        self.agent = torch.nn.Module()
        self.agent.model = agent


def test_what_is_written_is_in_the_released_layout(tmp_path, trained):
    agent, adam = trained
    path = tmp_path / "ours.ckpt"
    write_checkpoint(path, agent, adam, Progress(epoch=1, step=6, batch=3, last=True))
    content = torch.load(path, weights_only=True)
    assert set(content) - {OURS} == set(released(agent, adam))
    theirs = agent_of(seed=5)
    Stock(theirs).load_state_dict(content["state_dict"], strict=True)
    assert same(logits_of(agent), logits_of(theirs))
    [state] = content["optimizer_states"]
    make_adam(theirs, 0.0).load_state_dict(state)
    without = [k for k, name in enumerate(slots(agent)) if k not in state["state"]]
    assert len(without) == 62
    fit = content["loops"]["fit_loop"]
    steps = fit["epoch_loop.automatic_optimization.optim_progress"]["optimizer"]["step"]
    assert steps == {
        "total": {"ready": 6, "completed": 6},
        "current": {"ready": 3, "completed": 3},
    }
    assert fit["epoch_loop.batch_progress"]["is_last_batch"] is True
    assert fit["epoch_loop.batch_progress"]["current"]["processed"] == 3
    assert fit["epoch_progress"]["total"] == {
        "ready": 2, "completed": 1, "started": 2, "processed": 2,
    }  # fmt: skip
    assert set(content["loops"]) == {"fit_loop", "validate_loop", "test_loop", "predict_loop"}


def test_the_same_weights_make_the_same_file(tmp_path, trained):
    agent, adam = trained
    at = Progress(epoch=0, step=3, batch=3, last=True)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_checkpoint(tmp_path / name / "x.ckpt", agent, adam, at)
    one, other = ((tmp_path / name / "x.ckpt").read_bytes() for name in ("a", "b"))
    assert one == other


def test_a_vocabulary_of_ones_own_takes_the_place_of_the_stored_one(tmp_path, whole):
    kept = read_checkpoint(save(tmp_path / "c", whole))
    own = paths(7, seed=3)
    other = kept.agent(shape=TINY, poses=own)
    assert torch.equal(other.vocabulary, own)
    assert logits_of(other)["imi"].shape == (2, 7)
    assert torch.equal(kept.agent(shape=TINY).vocabulary, paths(24))
    assert not other.vocabulary.requires_grad


def spoilt(whole, change):
    content = copy.deepcopy(whole)
    change(content)
    return content


def rename(state, old, new):
    state[PREFIX + new] = state.pop(PREFIX + old)


MISFITS = {
    "missing": (lambda s: s.pop(PREFIX + "downscale_layer.bias"), "missing: downscale_layer.bias"),
    "unexpected": (
        lambda s: s.update({PREFIX + "extra": torch.zeros(2)}),
        r"unexpected: extra float32 \[2\]",
    ),
    "renamed": (
        lambda s: rename(s, "_status_encoding.bias", "_status.bias"),
        r"missing: _status_encoding.bias float32 \[16\]\n    unexpected: _status.bias",
    ),
    "shape": (
        lambda s: s.update({PREFIX + "downscale_layer.bias": torch.zeros(17)}),
        r"downscale_layer.bias is float32 \[17\], not float32 \[16\]",
    ),
    "dtype": (
        lambda s: s.update({PREFIX + "downscale_layer.bias": torch.zeros(16).half()}),
        r"downscale_layer.bias is float16 \[16\], not float32",
    ),
    "not finite": (
        lambda s: s.update({PREFIX + "downscale_layer.bias": torch.full((16,), torch.nan)}),
        "not finite stand in downscale_layer.bias",
    ),
    "no vocabulary": (lambda s: s.pop(PREFIX + VOCAB), f"missing: {VOCAB}"),
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_is_named(tmp_path, whole, name):
    change, message = MISFITS[name]
    content = spoilt(whole, lambda content: change(content["state_dict"]))
    kept = read_checkpoint(save(tmp_path / "c", content))
    with pytest.raises(BadInput, match=message) as caught:
        kept.agent(shape=TINY)
    assert str(tmp_path / "c") in caught.value.where


def test_a_checkpoint_of_another_agent_is_refused(tmp_path, whole):
    kept = read_checkpoint(save(tmp_path / "c", whole))
    with pytest.raises(BadInput, match="of the stored tensors are not as wanted"):
        kept.agent()


WRAPPED = {
    "spread": lambda name: "module." + name,
    "spread within": lambda name: name.replace(PREFIX, PREFIX + "module."),
    "compiled": lambda name: name.replace(PREFIX, PREFIX + "_orig_mod."),
    "compiled in part": lambda name: name.replace("transformer.", "transformer._orig_mod."),
    "sharded": lambda name: "_forward_module." + name,
}


@pytest.mark.parametrize("name", WRAPPED)
def test_names_of_wrappers_are_read_as_the_agents_own(tmp_path, whole, name):
    plain = read_checkpoint(save(tmp_path / "plain", whole))
    content = {**whole, "state_dict": {WRAPPED[name](k): v for k, v in whole["state_dict"].items()}}
    wrapped = read_checkpoint(save(tmp_path / "wrapped", content))
    assert list(wrapped.state) == list(plain.state)
    assert same(*(logits_of(one.agent(shape=TINY)) for one in (plain, wrapped)))


def test_a_tensor_that_is_there_under_two_names_is_refused(tmp_path, whole):
    def change(content):
        state = content["state_dict"]
        state[PREFIX + "module.downscale_layer.bias"] = state[PREFIX + "downscale_layer.bias"]

    with pytest.raises(BadInput, match="there twice"):
        read_checkpoint(save(tmp_path / "c", spoilt(whole, change)))


def test_a_checkpoint_without_its_vocabulary_asks_for_it(tmp_path, whole):
    content = spoilt(whole, lambda content: content["state_dict"].pop(PREFIX + VOCAB))
    kept = read_checkpoint(save(tmp_path / "c", content))
    with pytest.raises(BadInput, match=f"missing: {VOCAB}") as caught:
        kept.agent(shape=TINY)
    assert "--vocabulary" in caught.value.remedy
    stored = read_checkpoint(save(tmp_path / "whole", whole)).agent(shape=TINY)
    again = kept.agent(shape=TINY, poses=stored.vocabulary.detach())
    assert same(logits_of(stored), logits_of(again))


@pytest.mark.parametrize("shape", [NARROW, SLIM, GTRS_DENSE], ids=lambda shape: shape.name)
def test_a_shape_is_told_by_the_weights_where_our_entry_was_dropped(tmp_path, shape):
    with torch.device("meta"):
        bare = Agent(replace(shape, candidates=3), torch.empty(3, 40, 3))
    tensors = {
        name: torch.empty(one.shape, dtype=one.dtype)
        for name, one in bare.state_dict().items()
        if "_embedding" in name or "downscale" in name
    }
    content = {"state_dict": {PREFIX + name: one for name, one in tensors.items()}}
    assert read_checkpoint(save(tmp_path / "c", content)).shape == shape


def shuffle(optimizer):
    optimizer["param_groups"][0]["params"].reverse()


def widen(optimizer):
    optimizer["state"][0]["exp_avg"] = torch.zeros(3)


def renumber(optimizer):
    optimizer["state"][10_000] = optimizer["state"].pop(0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (shuffle, "the optimizer counts"),
        (widen, r"_keyval_embedding.weight, exp_avg is float32 \[3\]"),
        (renumber, "the optimizer has moments of 10000"),
    ],
)
def test_moments_of_other_parameters_are_refused(tmp_path, whole, change, message):
    content = spoilt(whole, lambda content: change(content["optimizer_states"][0]))
    kept = read_checkpoint(save(tmp_path / "c", content))
    agent = kept.agent(shape=TINY)
    with pytest.raises(BadInput, match=message):
        kept.restore(agent, make_adam(agent, 1e-3))


def test_weights_alone_cannot_be_continued(tmp_path, whole):
    content = spoilt(whole, lambda content: content.pop("optimizer_states"))
    kept = read_checkpoint(save(tmp_path / "c", content))
    agent = kept.agent(shape=TINY)
    with pytest.raises(BadInput, match="weights alone"):
        kept.restore(agent, make_adam(agent, 1e-3))


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.update(optimizer_states=[3]),
        lambda content: content.update(optimizer_states={}),
        lambda content: content["optimizer_states"].append({}),
        lambda content: content["optimizer_states"][0].pop("param_groups"),
        lambda content: content["optimizer_states"][0]["state"][0].pop("exp_avg_sq"),
        lambda content: content["optimizer_states"][0]["state"][0].update(exp_avg=1.0),
    ],
)
def test_what_is_no_state_of_adam_is_said_to_be_none(tmp_path, whole, change):
    path = save(tmp_path / "c", spoilt(whole, change))
    with pytest.raises(BadInput, match="optimizer_states is not the state of one Adam"):
        read_checkpoint(path)


KEPT_BESIDE = """
import argparse, collections, datetime, enum, functools, sys, types, typing
import numpy as np, torch

def settle(place, kind):
    for stop in range(1, place.count(".") + 2):
        name = ".".join(place.split(".")[:stop])
        sys.modules.setdefault(name, types.ModuleType(name))
    kind.__module__ = place
    setattr(sys.modules[place], kind.__name__, kind)
    return kind

class DictConfig:
    def __init__(self): self._content = {"lr": 2e-4}
    def __setstate__(self, state): open("ran", "w")
class AttributeDict(dict): pass
class Trajectory:
    def __reduce__(self): return Trajectory, (40,)
class Kind(enum.Enum): EGO = "ego"

settle("omegaconf.dictconfig", DictConfig)
settle("pytorch_lightning.utilities.parsing", AttributeDict)
settle("navsim.common.dataclasses", Trajectory)
settle("navsim.common.enums", Kind)
content = torch.load(sys.argv[1], weights_only=False)
content.update(
    hyper_parameters=DictConfig(), hparams_name="kwargs",
    datamodule=AttributeDict(batch_size=22), arguments=argparse.Namespace(seed=0),
)
content["callbacks"]["Timer"] = {
    "time_elapsed": datetime.timedelta(seconds=3), "seen": collections.defaultdict(list, a=[1]),
    "last": collections.deque([1, 2], maxlen=4), "counts": collections.Counter("aab"),
    "scores": np.arange(3.0), "plan": Trajectory(), "kind": Kind.EGO, "any": typing.Any,
    "make": functools.partial(int, base=2), "places": {1, 2}, "inf": float("inf"),
}
content["loops"]["fit_loop"]["epoch_progress"] = Trajectory()
torch.save(content, sys.argv[2])
"""
"""Saves a checkpoint again with what trainers keep, of classes that this process alone knows."""


def test_what_trainers_keep_beside_weights_is_not_needed(tmp_path, whole, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = save(tmp_path / "plain.ckpt", whole)
    run = [sys.executable, "-c", KEPT_BESIDE, "plain.ckpt", "full.ckpt"]
    subprocess.run(run, check=True, cwd=tmp_path)
    plain, full = read_checkpoint(path), read_checkpoint(tmp_path / "full.ckpt")
    assert {"omegaconf", "pytorch_lightning", "navsim"}.isdisjoint(sys.modules)
    assert not (tmp_path / "ran").exists()
    assert (full.epoch, full.step) == (19, 4800)
    agents = [one.agent(shape=TINY) for one in (plain, full)]
    assert same(*map(logits_of, agents))
    for kept, agent in zip((plain, full), agents, strict=True):
        adam = make_adam(agent, 0.0)
        kept.restore(agent, adam)
        train(agent, adam, 1)
    assert same(*map(logits_of, agents))


def test_a_husk_among_the_weights_is_refused(tmp_path, whole):
    def change(content):
        content["state_dict"][PREFIX + "downscale_layer.bias"] = argparse.Namespace()

    path = save(tmp_path / "c", spoilt(whole, change))
    with pytest.raises(BadInput, match=r"something else than tensors: agent\.model\.downscale"):
        read_checkpoint(path)


class Evil:
    """Would run a command, were it unpickled."""

    def __reduce__(self):
        return os.system, ("touch evil",)


def test_code_in_a_checkpoint_is_refused_and_not_run(tmp_path, whole, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = save(tmp_path / "c", spoilt(whole, lambda content: content.update(x=Evil())))
    with pytest.raises(Refused, match=r"asks for \w+\.system"):
        read_checkpoint(path)
    assert not (tmp_path / "evil").exists()


class Sly(Evil):
    """Would write a file, by a name that no list of torch's blocks."""

    def __reduce__(self):
        return shutil.copy, ("c", "evil")


def test_names_of_unknown_origin_are_refused(tmp_path, whole, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = save(tmp_path / "c", spoilt(whole, lambda content: content.update(x=Sly())))
    with pytest.raises(Refused, match=r"asks for shutil\.copy"):
        read_checkpoint(path)
    assert not (tmp_path / "evil").exists()


def test_a_broken_file_is_said_to_be_one(tmp_path, whole):
    data = save(tmp_path / "c", whole).read_bytes()
    broken = {
        "cut": data[: len(data) // 2],
        "empty": b"",
        "text": b"<html>not found</html>",
        "another array": b"\x93NUMPY" + data[:200],
    }
    for name, data in broken.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadInput, match="cannot be read") as caught:
            read_checkpoint(tmp_path / name)
        assert str(tmp_path / name) in caught.value.where
        # nobody is told to read it in a way that runs code
        assert "weights_only" not in str(caught.value)
    with pytest.raises(BadInput, match="no such checkpoint"):
        read_checkpoint(tmp_path / "nowhere")


STRANGE = {
    "a list": ([1], "holds a list"),
    "no weights": ({"epoch": 1}, "no state_dict"),
    "other names": ({"state_dict": {"model.x": torch.zeros(1)}}, "1 of 1 tensors bear other names"),
    "no tensors": ({"state_dict": {PREFIX + "x": 3}}, "something else than tensors: agent.model.x"),
    "half an epoch": ({"state_dict": {PREFIX + "x": torch.zeros(1)}, "epoch": 0.5}, "epoch is 0.5"),
    "no shape": (
        {"state_dict": {PREFIX + "x": torch.zeros(1)}, OURS: {"shape": {"name": "x"}}},
        "shape lacks or mistypes",
    ),
}


@pytest.mark.parametrize("name", STRANGE)
def test_another_file_is_not_taken_for_a_checkpoint(tmp_path, name):
    content, message = STRANGE[name]
    with pytest.raises(BadInput, match=message):
        read_checkpoint(save(tmp_path / "c", content))


def test_an_unfinished_checkpoint_is_none(tmp_path, trained, monkeypatch):
    agent, adam = trained

    def fail(content, stream):
        stream.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch, "save", fail)
    with pytest.raises(BadInput, match="No space left"):
        write_checkpoint(tmp_path / "c", agent, adam, Progress(0, 3, 3, True))
    assert list(tmp_path.iterdir()) == []


def test_the_encoder_starts_from_dd3d(tmp_path):
    torch.manual_seed(1)
    theirs, ours = VoVNet(TINY.backbone), VoVNet(TINY.backbone)
    state = {f"img_backbone.{name}": one for name, one in theirs.state_dict().items()}
    state["pts_bbox_head.weight"] = torch.zeros(1)
    read_encoder(save(tmp_path / "dd3d.pth", {"state_dict": state}), ours)
    assert all(
        torch.equal(one, theirs.state_dict()[name]) for name, one in ours.state_dict().items()
    )
    del state["img_backbone.stem.stem_1/norm.bias"]
    with pytest.raises(BadInput, match=r"missing: stem\.stem_1/norm\.bias"):
        read_encoder(save(tmp_path / "dd3d.pth", {"state_dict": state}), ours)


def test_progress_that_cannot_be_is_refused():
    with pytest.raises(BadInput, match="progress is Progress"):
        Progress(epoch=0, step=2, batch=3, last=True)
