"""What each step sees: laws of the schedule, and likeness to a distributed sampler."""

import numpy as np
import pytest

from agent.needs import torch
from navaudit.errors import BadInput
from navaudit.train.schedule import Schedule

SIZES = [(1, 1), (5, 1), (5, 5), (5, 9), (20, 8), (96, 16), (7, 3)]


def draws(schedule, count):
    return [schedule.draw() for _ in range(count)]


@pytest.mark.parametrize(("scenes", "batch"), SIZES)
@pytest.mark.parametrize("seed", [0, 3])
def test_an_epoch_is_a_permutation_whose_last_batch_may_be_short(scenes, batch, seed):
    schedule = Schedule(scenes, batch, 10, seed)
    each = schedule.steps_an_epoch
    assert each == int(np.ceil(scenes / batch))
    for epoch in range(3):
        some = draws(schedule, each)
        assert [one.epoch for one in some] == [epoch] * each
        assert [one.batch for one in some] == list(range(each))
        assert [one.last for one in some] == [False] * (each - 1) + [True]
        assert [len(one.rows) for one in some[:-1]] == [batch] * (each - 1)
        assert sorted(row for one in some for row in one.rows) == list(range(scenes))
    assert schedule.step == 3 * each


@pytest.mark.parametrize("ranks", [1, 4])
def test_batches_are_those_of_a_distributed_sampler(ranks):
    # scenes of a step: what all ranks read at that step; 24 divides by the ranks
    scenes, each, seed = 24, 2, 5
    schedule = Schedule(scenes, ranks * each, None, seed, epoch=7)
    sampler = torch.utils.data.distributed.DistributedSampler
    samplers = [
        sampler(range(scenes), num_replicas=ranks, rank=rank, shuffle=True, seed=seed)
        for rank in range(ranks)
    ]
    for epoch in (7, 8):
        for one in samplers:
            one.set_epoch(epoch)
        orders = [list(one) for one in samplers]
        for start in range(0, scenes // ranks, each):
            wanted = {row for order in orders for row in order[start : start + each]}
            assert set(schedule.draw().rows) == wanted


def test_half_of_the_candidates_are_drawn_by_one_permutation_a_step():
    schedule, generator = Schedule(4, 2, 11, 3), torch.Generator().manual_seed(3)
    for draw in draws(schedule, 6):
        assert draw.candidates.tolist() == torch.randperm(11, generator=generator)[:5].tolist()
    assert torch.equal(schedule.state, generator.get_state())


def test_where_none_are_dropped_none_are_drawn():
    schedule = Schedule(4, 2, None, 3)
    before = schedule.state
    assert [one.candidates for one in draws(schedule, 3)] == [None] * 3
    assert torch.equal(schedule.state, before)


def test_the_digest_tells_seeds_batches_epochs_and_candidates_apart():
    made = {
        "same": [Schedule(9, 4, 12, 0), Schedule(9, 4, 12, 0)],
        "other": [Schedule(9, 4, 12, 1), Schedule(9, 3, 12, 0), Schedule(8, 4, 12, 0),
                  Schedule(9, 4, 10, 0), Schedule(9, 4, None, 0), Schedule(9, 4, 12, 0, epoch=1)],
    }  # fmt: skip
    for one in (*made["same"], *made["other"]):
        draws(one, 2)
    assert made["same"][0].digest == made["same"][1].digest
    digests = {one.digest for one in (made["same"][0], *made["other"])}
    assert len(digests) == len(made["other"]) + 1
    before = made["same"][0].digest
    made["same"][0].draw()
    assert made["same"][0].digest != before


@pytest.mark.parametrize("at", [1, 3, 4, 7])
def test_a_schedule_goes_on_as_if_nothing_had_happened(at):
    whole = Schedule(7, 3, 12, 2, epoch=1)
    all_of_them = draws(whole, 9)
    first = Schedule(7, 3, 12, 2, epoch=1)
    draws(first, at)
    second = Schedule(7, 3, 12, 2, epoch=1)
    second.go_on(at, first.state, first.digest)
    for one, other in zip(all_of_them[at:], draws(second, 9 - at), strict=True):
        assert (one.step, one.epoch, one.rows) == (other.step, other.epoch, other.rows)
        assert torch.equal(one.candidates, other.candidates)
    assert second.digest == whole.digest


def test_draws_leave_torchs_own_generator_alone():
    before = torch.get_rng_state()
    draws(Schedule(9, 4, 12, 0), 5)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize(("scenes", "batch"), [(0, 4), (4, 0)])
def test_nothing_to_draw_is_refused(scenes, batch):
    with pytest.raises(BadInput, match=f"{scenes} scenes in batches of {batch}"):
        Schedule(scenes, batch, 4, 0)
