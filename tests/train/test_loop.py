"""Runs, from the outside: what they compute, what they keep, and that they do so again."""

import hashlib
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from agent.needs import torch
from navaudit.agent.checkpoint import read_checkpoint
from navaudit.agent.features import Recordings
from navaudit.agent.model import batch
from navaudit.agent.shapes import SHAPES
from navaudit.agent.slots import make_adam, slots
from navaudit.axes import COLUMNS, HEADS
from navaudit.errors import BadInput
from navaudit.train.loop import train
from navaudit.train.targets import ARMS
from train.small import SCENES, files_of, labels_of, lines_of

RELEASED = dict(zip(HEADS, (3.0, 3.0, 4.0, 2.0, 1.0, 2.0, 3.0, 1.0), strict=True))


@pytest.fixture(scope="module")
def base(small, tmp_path_factory):
    """A checkpoint with moments: three steps, which are one epoch."""
    out = tmp_path_factory.mktemp("base") / "run"
    return train(small.recipe(steps=3, save=(), part=0), out).checkpoint


@pytest.fixture(scope="module")
def runs(small, tmp_path_factory):
    """One run of each arm, and one of another seed."""
    root = tmp_path_factory.mktemp("runs")
    made = {arm: train(small.recipe(arm=arm), root / arm) for arm in ARMS}
    return {**made, "seed 1": train(small.recipe(arm="raw", seed=1), root / "seed1")}


def drawn_by_hand(epoch, seed):
    """Scenes and candidates of every step after an epoch: no code of the trainer's."""
    generator = torch.Generator().manual_seed(seed)
    sampler = torch.utils.data.distributed.DistributedSampler(range(SCENES), 1, 0, seed=seed)
    while True:
        epoch += 1
        sampler.set_epoch(epoch)
        rows = list(sampler)
        for start in range(0, SCENES, 8):
            yield rows[start : start + 8], torch.randperm(24, generator=generator)[:12]


def look(small):
    """Images, status and humans of all scenes, in the order of the labels."""
    world, scenes = small.world, small.world.scenes
    recordings = Recordings(world.logs, world.images, (32, 128))
    features = [recordings.features(scenes.log_of(one), one) for one in small.labels.tokens]
    human = np.stack([scenes.scene(one).human for one in small.labels.tokens])
    return (*batch(features), torch.from_numpy(human.copy()))


def released_loss(agent, seen, values, now, drawn):
    """The released loss over a whole batch, as its formulas have it."""
    image, status, human = (one[now] for one in seen)
    logits = agent(image, status, drawn)
    loss = 0.0
    for head in HEADS[:-1]:
        wanted = torch.from_numpy(values[now][:, COLUMNS.index(head)]).float()[:, drawn]
        term = torch.nn.functional.binary_cross_entropy_with_logits(logits[head], wanted)
        loss = loss + RELEASED[head] * term
    poses = agent.vocabulary[drawn][:, 4::5]
    apart = ((poses[None] - human[:, None]) ** 2).sum((2, 3)) / 0.5
    wanted = (-apart).softmax(1)
    return loss - (wanted * logits["imi"].log_softmax(1)).sum(1).mean()


def moments_of(kept):
    """Both moments and the count of each parameter that has them, in float64."""
    names = slots(kept.agent())
    return {
        names[number]: (one["exp_avg"].double(), one["exp_avg_sq"].double(), int(one["step"]))
        for number, one in kept.optimizer["state"].items()
    }


def expect_moments(found, first, second, noise, name):
    """Gradients agree to float32's rounding, of their own scale and of what cancelled in them."""
    for one, other, scale in ((found[0], first, noise), (found[1], second, noise**2)):
        reach = 1e-4 * float(other.abs().max()) + scale
        assert float((one - other).abs().max()) <= reach, name


def expect_step_of_adam(before, after, gradients, rate):
    """The moments follow from these gradients, and the parameters from the moments, by Adam."""
    was, now = moments_of(before), moments_of(after)
    assert set(now) == set(gradients)
    noise = 1e-6 * max(float(one.abs().max()) for one in gradients.values())
    for name, gradient in gradients.items():
        first, second, count = was[name]
        expect_moments(now[name], 0.9 * first + 0.1 * gradient,
                       0.999 * second + 0.001 * gradient**2, noise, name)  # fmt: skip
        first, second, counted = now[name]
        assert counted == count + 1
        move = rate * (first / (1 - 0.9**counted))
        move /= (second / (1 - 0.999**counted)).sqrt() + 1e-8
        wanted = before.state[name].double() - move
        apart = (after.state[name].double() - wanted).abs()
        assert bool((apart <= 1e-5 * move.abs() + 1e-7 * wanted.abs() + 1e-12).all()), name


def test_each_of_ten_steps_is_that_of_an_adam_written_by_hand(small, base, tmp_path):
    recipe = small.recipe(checkpoint=base, steps=10, part=0, save=tuple(range(1, 11)), seed=5)
    done = train(recipe, tmp_path / "run")
    assert done.step == 13
    before, seen = read_checkpoint(base), look(small)
    values, _ = labels_of(small.labels, "published")
    for step, (now, drawn) in zip(range(4, 14), drawn_by_hand(before.epoch, 5), strict=False):
        agent = before.agent().train()
        loss = released_loss(agent, seen, values, now, drawn)
        loss.backward()
        gradients = {
            name: one.grad.double()
            for name, one in agent.named_parameters()
            if one.grad is not None
        }
        after = read_checkpoint(done.folder / f"step-{step}.ckpt")
        expect_step_of_adam(before, after, gradients, rate=1e-3)
        told = lines_of(done.folder)[step - 4]["loss"]["total"]
        assert told == pytest.approx(loss.item(), rel=1e-5)
        before = after


def test_parts_make_the_steps_of_the_whole_batch(small, base, tmp_path):
    made = []
    for part in (0, 1, 3):
        out = tmp_path / str(part)
        train(small.recipe(checkpoint=base, arm="masked", part=part, save=(1,)), out)
        made.append((lines_of(out), moments_of(read_checkpoint(out / "step-4.ckpt"))))
    noise = 1e-6 * max(float(one[0].abs().max()) for one in made[0][1].values())
    for lines, moments in made[1:]:
        for one, other in zip(lines, made[0][0], strict=True):
            assert one["draws"] == other["draws"]
            # noise around zero becomes whole steps, but of parameters that decide nothing
            assert one["loss"] == pytest.approx(other["loss"], rel=1e-4)
        for name, (first, second, _) in made[0][1].items():
            expect_moments(moments[name], first, second, noise, name)


def test_all_arms_of_a_seed_see_the_same_and_other_seeds_do_not(runs):
    draws = {name: [one["draws"] for one in lines_of(run.folder)] for name, run in runs.items()}
    assert len(draws["raw"]) == 6
    assert all(draws[arm] == draws["published"] for arm in ARMS)
    assert not set(draws["seed 1"]) & set(draws["raw"])
    assert {run.draws for name, run in runs.items() if name in ARMS} == {draws["raw"][-1]}
    first = {name: lines_of(run.folder)[0]["loss"]["imi"] for name, run in runs.items()}
    assert len({first[arm] for arm in ARMS}) == 1


def test_arms_learn_different_things(runs):
    digests = {arm: runs[arm].checkpoint.read_bytes() for arm in ARMS}
    assert len(set(digests.values())) == len(ARMS)


def test_a_checkpoint_is_kept_at_the_steps_asked_for(runs):
    names = {"lock", "log.jsonl", "last.ckpt", "step-2.ckpt", "step-6.ckpt"}
    assert {name: set(files_of(run.folder)) for name, run in runs.items()} == dict.fromkeys(
        runs, names
    )
    kept = read_checkpoint(runs["raw"].folder / "step-2.ckpt")
    assert (kept.step, kept.epoch) == (2, 0)
    assert kept.notes["draws"] == lines_of(runs["raw"].folder)[1]["draws"]


def test_what_is_frozen_stays_and_what_learns_moves(small, runs):
    before = read_checkpoint(small.world.checkpoint).state
    after = read_checkpoint(runs["raw"].checkpoint).state
    unused = ("_tf_decoder", "_agent_head", "_query_embedding", "_trajectory_head.vocab")
    statistics = ("running_mean", "running_var", "num_batches_tracked")
    for name, one in after.items():
        still = name.startswith(unused) or name.endswith(statistics)
        assert torch.equal(one, before[name]) == still, name


def test_moments_are_kept_for_what_learns_alone(runs):
    kept = read_checkpoint(runs["raw"].checkpoint)
    agent = kept.agent()
    unused = ("_tf_decoder", "_agent_head", "_query_embedding", "_trajectory_head.vocab")
    with_moments = {slots(agent)[number] for number in kept.optimizer["state"]}
    assert with_moments == {one for one in slots(agent) if not one.startswith(unused)}
    kept.restore(agent, make_adam(agent, 1.0))


def test_a_continued_optimizer_keeps_its_own_rate(small, base, tmp_path):
    recipe = small.recipe(checkpoint=base, steps=1, save=(), rate=0.5)
    kept = read_checkpoint(train(recipe, tmp_path / "run").checkpoint)
    assert [group["lr"] for group in kept.optimizer["param_groups"]] == [1e-3, 1e-3]


def test_epochs_and_steps_are_counted_on(small, base, tmp_path):
    done = train(small.recipe(checkpoint=base, steps=4, save=(1,)), tmp_path / "run")
    assert [one["step"] for one in lines_of(done.folder)] == [4, 5, 6, 7]
    told = {}
    for step in (4, 7):
        kept = read_checkpoint(done.folder / f"step-{step}.ckpt")
        told[step] = (kept.step, kept.epoch)
    assert told == {4: (4, 1), 7: (7, 2)}


def test_it_is_said_where_adam_begins_anew(small, base, tmp_path):
    content = torch.load(base, weights_only=True)
    content["optimizer_states"] = []
    torch.save(content, tmp_path / "weights.ckpt")
    said = {}
    for name, path in {"weights": tmp_path / "weights.ckpt", "whole": base}.items():
        said[name] = []
        recipe = small.recipe(checkpoint=path, steps=1, save=())
        done = train(recipe, tmp_path / name, say=lambda *told, to=said[name]: to.append(told[0]))
        counts = {
            int(one["step"]) for one in read_checkpoint(done.checkpoint).optimizer["state"].values()
        }
        assert counts == {1 if name == "weights" else 4}
    anew = "the checkpoint holds weights alone, so Adam begins anew"
    assert anew in said["weights"]
    assert anew not in said["whole"]


def test_a_shape_beside_a_checkpoint_says_whether_candidates_are_dropped(
    small, base, tmp_path, monkeypatch
):
    """The weights cannot: those of Hydra-MDP are named and shaped like those of GTRS-Dense."""
    steady = replace(read_checkpoint(base).shape, name="steady", vocabulary_dropout=False)
    monkeypatch.setitem(SHAPES, "steady", steady)
    recipe = small.recipe(checkpoint=base, shape="steady", steps=2, save=())
    done = train(recipe, tmp_path / "run")
    assert read_checkpoint(done.checkpoint).shape == steady
    # what the log tells of is scenes alone
    rows, digest = drawn_by_hand(0, recipe.seed), hashlib.sha256(b"").digest()
    for now, _ in islice(rows, 2):
        digest = hashlib.sha256(digest + ",".join(map(str, now)).encode() + b";").digest()
    assert done.draws == digest.hex()
    with pytest.raises(BadInput, match="there is no shape 'none'"):
        train(small.recipe(checkpoint=base, shape="none"), tmp_path / "none")


@pytest.mark.parametrize("change", ["recompute", "readers"])
def test_what_decides_nothing_changes_no_byte(small, runs, tmp_path, change):
    recipe = small.recipe(arm="raw", **{change: {"recompute": True, "readers": 5}[change]})
    train(recipe, tmp_path / "run")
    assert files_of(tmp_path / "run") == files_of(runs["raw"].folder)


def test_examples_that_do_not_fit_in_memory_change_no_byte(small, runs, tmp_path, monkeypatch):
    monkeypatch.setattr("navaudit.train.examples._KEPT", 30_000)
    train(small.recipe(arm="raw"), tmp_path / "run")
    assert files_of(tmp_path / "run") == files_of(runs["raw"].folder)


def test_an_agent_that_begins_anew_is_settled_and_seeded(small, tmp_path):
    vocabulary = tmp_path / "v.npy"
    np.save(vocabulary, read_checkpoint(small.world.checkpoint).agent().vocabulary.numpy())
    anew = {"checkpoint": None, "shape": "slim", "vocabulary": vocabulary, "steps": 1, "save": ()}
    made = {}
    for name, change in {"one": {}, "raw": {"arm": "raw"}, "seed": {"seed": 1}}.items():
        made[name] = train(small.recipe(**{**anew, **change}), tmp_path / name)
    states = {name: read_checkpoint(run.checkpoint).state for name, run in made.items()}
    means = [name for name in states["one"] if name.endswith("running_mean")]
    for name in means:
        assert float(states["one"][name].abs().max()) > 0.0
        assert torch.equal(states["one"][name], states["raw"][name])
    assert any(not torch.equal(states["one"][name], states["seed"][name]) for name in means)


def test_a_loss_that_is_no_number_names_step_and_tokens(small, base, tmp_path):
    kept = torch.load(base, weights_only=True)
    weight = kept["state_dict"]["agent.model._trajectory_head.heads.imi.4.weight"]
    weight.fill_(3e38)
    broken = tmp_path / "broken.ckpt"
    torch.save(kept, broken)
    with pytest.raises(BadInput, match=r"the loss is (nan|inf)") as caught:
        train(small.recipe(checkpoint=broken), tmp_path / "run")
    step, _, tokens = caught.value.where.partition(", tokens ")
    assert step == "step 4"
    assert len(tokens.split(", ")) == 3
    assert set(tokens.split(", ")) <= set(small.labels.tokens)
    assert not (tmp_path / "run" / "last.ckpt").exists()


def test_torchs_threads_are_as_before(small, tmp_path):
    before = torch.get_num_threads()
    with pytest.raises(BadInput, match="device is 'tpu'"):
        train(small.recipe(threads=before + 1, device="tpu"), tmp_path / "run")
    assert torch.get_num_threads() == before
