"""Attention, decoder and heads: against plain softmax, against torch's own, and by laws."""

import resource
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.drawn import TINY, agent_of, paths, scenes_of
from agent.needs import torch
from navaudit.agent.decoder import Decoder, VocabularyEncoder, attend
from navaudit.agent.features import Features
from navaudit.agent.model import Agent, batch
from navaudit.axes import HEADS
from navaudit.errors import BadInput


def plainly(query, key, value, heads):
    """Attention in float64, by the definition."""
    out = []
    for q, k, v in zip(
        *(one.double().chunk(heads, -1) for one in (query, key, value)), strict=True
    ):
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        out.append(scores.softmax(-1) @ v)
    return torch.cat(out, -1)


@given(
    st.integers(1, 3), st.integers(1, 70), st.integers(1, 70), st.sampled_from([(8, 1), (64, 2)]),
    st.floats(0.01, 1.0), st.integers(0, 99),
)  # fmt: skip
@settings(max_examples=40, deadline=None)
def test_attention_is_a_softmax(count, asking, looked_at, size, scale, seed):
    width, heads = size
    rng = torch.Generator().manual_seed(seed)
    q, k, v = (
        scale * torch.randn(count, n, width, generator=rng) for n in (asking, looked_at, looked_at)
    )
    assert (attend(q, k, v, heads) - plainly(q, k, v, heads)).abs().max() < 1e-6


def test_attention_at_the_released_width():
    rng = torch.Generator().manual_seed(0)
    q, k, v = (torch.randn(1, n, 256, generator=rng) for n in (600, 1500, 1500))
    assert (attend(q, k, v, 8) - plainly(q, k, v, 8)).abs().max() < 1e-6


def test_attention_holds_no_scores_of_all_pairs():
    x = torch.randn(1, 16_384, 8)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    attend(x, x, x, 1)
    # the scores would be a gigabyte
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000


def test_the_decoder_is_torchs():
    torch.manual_seed(1)
    theirs = torch.nn.TransformerDecoder(
        torch.nn.TransformerDecoderLayer(32, 4, 20, dropout=0.0, batch_first=True), 3
    )
    for one in theirs.parameters():
        torch.nn.init.normal_(one, std=0.3)
    ours = Decoder(32, 4, 20, 3)
    ours.load_state_dict(theirs.state_dict())
    assert list(ours.state_dict()) == list(theirs.state_dict())
    x, memory = torch.randn(2, 11, 32), torch.randn(2, 7, 32)
    assert torch.allclose(ours(x, memory), theirs(x, memory), atol=1e-5)


def test_the_vocabulary_encoder_is_what_is_said_of_it():
    torch.manual_seed(2)
    encoder = VocabularyEncoder(16, 2).double()
    x = torch.randn(1, 9, 16, dtype=torch.float64)

    def normal(x):
        return (x - x.mean(-1, keepdim=True)) / (
            x.var(-1, keepdim=True, unbiased=False) + 1e-5
        ).sqrt()

    q, k, v, out = (p.weight.T for p in (
        encoder.self_attn.to_q, encoder.self_attn.to_k, encoder.self_attn.to_v,
        encoder.self_attn.to_out,
    ))  # fmt: skip
    y = normal(x + plainly(x @ q, x @ k, x @ v, 2) @ out)
    inner = (y @ encoder.linear1.weight.T + encoder.linear1.bias).clamp(min=0)
    expected = normal(y + inner @ encoder.linear2.weight.T + encoder.linear2.bias)
    assert torch.allclose(encoder(x), expected, atol=1e-12)


@pytest.fixture(scope="module")
def agent():
    return agent_of()


def test_every_head_scores_every_candidate(agent):
    logits = agent(*scenes_of())
    assert tuple(logits) == HEADS
    for one in logits.values():
        assert one.shape == (2, 24)
        assert one.dtype == torch.float32
        assert one.std() > 0.0


def test_what_no_image_enters_can_be_kept(agent):
    scenes = scenes_of()
    with torch.no_grad():
        embedded = agent.embed()
        kept, fresh = agent(*scenes, embedded=embedded), agent(*scenes)
    assert all(torch.equal(kept[name], fresh[name]) for name in HEADS)


def test_training_and_evaluation_compute_the_same(agent):
    scenes = scenes_of()
    state = torch.random.get_rng_state()
    trained, tested = agent.train()(*scenes), agent.eval()(*scenes)
    assert all(torch.equal(trained[name], tested[name]) for name in HEADS)
    assert torch.equal(state, torch.random.get_rng_state())


def test_some_candidates_score_as_if_there_were_no_others(agent):
    chosen = torch.tensor([20, 3, 4, 11])
    fewer = Agent(replace(TINY, candidates=4), agent.vocabulary[chosen].detach().clone())
    state = agent.state_dict()
    state["_trajectory_head.vocab"] = fewer.state_dict()["_trajectory_head.vocab"]
    fewer.load_state_dict(state)
    scenes = scenes_of()
    some, alone, all_ = agent(*scenes, chosen), fewer(*scenes), agent(*scenes)
    for name in HEADS:
        assert torch.equal(some[name], alone[name])
        # and that is another score than among all
        assert not torch.allclose(some[name], all_[name][:, chosen], atol=1e-4)


def test_the_order_of_candidates_is_only_their_order(agent):
    order = torch.randperm(24, generator=torch.Generator().manual_seed(3))
    scenes = scenes_of()
    straight, mixed = agent(*scenes), agent(*scenes, order)
    for name in HEADS:
        assert torch.allclose(straight[name][:, order], mixed[name], atol=1e-5)


def test_each_scene_stands_for_itself(agent):
    image, status = scenes_of()
    both = agent(image, status)
    for k in range(2):
        alone = agent(image[k : k + 1], status[k : k + 1])
        assert all(torch.allclose(both[n][k], alone[n][0], atol=1e-5) for n in HEADS)


def test_image_and_status_both_matter(agent):
    image, status = scenes_of()
    one, other = scenes_of(seed=1)
    base = agent(image, status)
    for changed in (agent(one, status), agent(image, other)):
        assert all(not torch.allclose(changed[n], base[n], atol=1e-4) for n in HEADS)


def test_image_tokens_run_along_the_rows():
    shape = replace(TINY, image=(64, 96))
    agent = agent_of(shape)
    image, _ = scenes_of(shape, 1)
    seen = agent.downscale_layer(agent.encoder(image))
    assert tuple(seen.shape) == (1, 16, 2, 3)
    tokens = agent._look(image)
    for row in range(2):
        for column in range(3):
            place = agent._keyval_embedding.weight[3 * row + column]
            assert torch.equal(tokens[0, 3 * row + column], seen[0, :, row, column] + place)


def test_features_become_a_batch():
    rng = np.random.default_rng(0)
    features = [
        Features(f"t{k}", rng.integers(0, 256, (32, 128, 3), np.uint8), rng.normal(size=8))
        for k in range(3)
    ]
    image, status = batch(features)
    assert image.dtype == status.dtype == torch.float32
    assert tuple(image.shape) == (3, 3, 32, 128)
    assert image.is_contiguous()
    for k, one in enumerate(features):
        expected = one.image.transpose(2, 0, 1).astype(np.float32) / np.float32(255)
        assert np.array_equal(image[k].numpy(), expected)
        assert np.array_equal(status[k].numpy(), one.status)


def test_a_vocabulary_or_image_of_another_size_is_refused(agent):
    with pytest.raises(BadInput, match=r"\(23, 40, 3\)"):
        Agent(TINY, paths(23))
    with pytest.raises(BadInput, match="float64"):
        Agent(TINY, paths(24).double())
    with pytest.raises(BadInput, match=r"\(1, 3, 32, 64\)"):
        agent(torch.zeros(1, 3, 32, 64), torch.zeros(1, 8))
