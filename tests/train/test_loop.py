"""Runs, from the outside: what they compute, what they keep, and that they do so again."""

import numpy as np
import pytest

from agent.needs import torch
from navaudit.agent.checkpoint import read_checkpoint
from navaudit.agent.features import Recordings
from navaudit.agent.model import batch
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


def by_hand(small, base, seed, steps):
    """Continue a checkpoint under published labels by formulas: no code of the trainer's."""
    kept = read_checkpoint(base)
    agent = kept.agent().train()
    moments = {
        slots(agent)[number]: [one["exp_avg"].clone(), one["exp_avg_sq"].clone(), int(one["step"])]
        for number, one in kept.optimizer["state"].items()
    }
    seen = look(small)
    values, _ = labels_of(small.labels, "published")
    generator = torch.Generator().manual_seed(seed)
    sampler = torch.utils.data.distributed.DistributedSampler(range(SCENES), 1, 0, seed=seed)
    rows, epoch = [], kept.epoch
    for _ in range(steps):
        if not rows:
            epoch += 1
            sampler.set_epoch(epoch)
            rows = list(sampler)
        now, rows = rows[:8], rows[8:]
        drawn = torch.randperm(24, generator=generator)[:12]
        agent.zero_grad(set_to_none=True)
        released_loss(agent, seen, values, now, drawn).backward()
        step_by_hand(agent, moments, rate=1e-3)
    return agent


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


def step_by_hand(agent, moments, rate):
    with torch.no_grad():
        for name, parameter in agent.named_parameters():
            if parameter.grad is None:
                assert name not in moments
                continue
            gradient = parameter.grad.double()
            first, second, count = moments.get(name, [torch.zeros_like(parameter)] * 2 + [0])
            first = 0.9 * first.double() + 0.1 * gradient
            second = 0.999 * second.double() + 0.001 * gradient**2
            count += 1
            moments[name] = [first, second, count]
            first, second = first / (1 - 0.9**count), second / (1 - 0.999**count)
            parameter.sub_((rate * first / (second.sqrt() + 1e-8)).float())


def went_the_same_way(before, one, other):
    """Whether all parameters moved alike, but for the noise that Adam makes steps of.

    Gradients that are zero but for rounding become whole steps. Two biases have no others and are
    left out: that of attention's keys, which moves all scores alike, and the last before a softmax.
    """
    moved = 0
    for name, start in before.items():
        if not start.is_floating_point() or name.endswith("imi.4.bias"):
            continue
        keys = slice(len(start) // 3, 2 * len(start) // 3)
        ways = [(end - start).double() for end in (one[name], other[name])]
        if name.endswith("in_proj_bias"):
            for way in ways:
                way[keys] = 0.0
        length = float(ways[1].norm())
        assert float((ways[0] - ways[1]).norm()) <= 0.05 * length, name
        moved += length > 0.0
    return moved > 100


def test_ten_steps_are_those_of_an_adam_written_by_hand(small, base, tmp_path):
    recipe = small.recipe(checkpoint=base, steps=10, part=0, save=(), seed=5)
    done = train(recipe, tmp_path / "run")
    mine = read_checkpoint(done.checkpoint).agent()
    theirs = by_hand(small, base, seed=5, steps=10)
    before = read_checkpoint(base).state
    assert went_the_same_way(before, mine.state_dict(), theirs.state_dict())
    assert done.step == 13


def test_parts_make_the_steps_of_the_whole_batch(small, base, tmp_path):
    made = []
    for part in (0, 1, 3):
        recipe = small.recipe(checkpoint=base, arm="masked", part=part)
        done = train(recipe, tmp_path / str(part))
        made.append((lines_of(tmp_path / str(part)), read_checkpoint(done.checkpoint).state))
    for lines, state in made[1:]:
        for one, other in zip(lines, made[0][0], strict=True):
            assert one["draws"] == other["draws"]
            assert one["loss"] == pytest.approx(other["loss"], rel=1e-5)
        assert went_the_same_way(read_checkpoint(base).state, state, made[0][1])


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
