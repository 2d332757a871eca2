"""The image encoder: timm's bit for bit, and its statistics stay."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from agent.drawn import TINY
from agent.needs import torch
from navaudit.agent.backbone import SettledNorm, VoVNet, settle

BESIDE = Path(__file__).with_name("beside_timm.py")
MAP = Path(__file__).parents[3] / "shared" / "spec" / "gtrs_to_timm_vovnet_map.json"
PREFIX = "agent.model._backbone.image_encoder."


@pytest.fixture(scope="module")
def beside_timm():
    if find_spec("timm") is None:
        pytest.skip("timm is not installed: pip install 'navaudit[test]'")
    run = subprocess.run([sys.executable, BESIDE], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_it_is_the_network_of_timm_with_excitation_everywhere(beside_timm):
    assert [one["size"] for one in beside_timm["sizes"]] == [[128, 512], [96, 160]]
    for one in beside_timm["sizes"]:
        rows, columns = one["size"]
        assert one["shapes"] == [
            [1, 768, rows // 16, columns // 16],
            [1, 1024, rows // 32, columns // 32],
        ]
        assert one["spread"] > 0.1
        assert one["equal"] == [True, True]


def test_timm_lacks_twelve_excitations(beside_timm):
    lacking = {1: range(2), 2: range(8), 3: range(2)}
    assert set(beside_timm["absent"]) == {
        f"stages.{stage}.blocks.{block}.attn.fc.{kind}"
        for stage, blocks in lacking.items()
        for block in blocks
        for kind in ("weight", "bias")
    }


@pytest.mark.skipif(not MAP.is_file(), reason="the list of timm's names is not at hand")
def test_names_follow_the_list(beside_timm):
    rows = json.loads(MAP.read_text())
    assert {row["gtrs"].removeprefix(PREFIX): row["timm"] for row in rows} == beside_timm["names"]
    assert {row["gtrs"].removeprefix(PREFIX): row["dd3d"] for row in rows} == {
        name: f"img_backbone.{name}" for name in beside_timm["names"]
    }


@pytest.fixture
def encoder():
    torch.manual_seed(0)
    return VoVNet(TINY.backbone)


def images(count=3, size=(32, 96)):
    return torch.rand(count, 3, *size, generator=torch.Generator().manual_seed(0))


def test_statistics_stay_from_the_start(encoder):
    before = {name: one.clone() for name, one in encoder.state_dict().items()}
    encoder(images())
    assert all(torch.equal(one, before[name]) for name, one in encoder.state_dict().items())


def test_training_moves_no_statistics_and_changes_no_output(encoder):
    settle(encoder, images())
    before = {name: one.clone() for name, one in encoder.state_dict().items()}
    trained = encoder.train()(images())
    assert all(not one.training for one in encoder.modules() if isinstance(one, SettledNorm))
    assert encoder.training
    assert all(torch.equal(one, before[name]) for name, one in encoder.state_dict().items())
    assert torch.equal(trained, encoder.eval()(images()))
    trained.sum().backward()
    assert all(one.grad is not None for one in encoder.parameters())


def test_settled_layers_have_the_scale_of_their_images(encoder):
    many = images(4, (128, 160))
    settle(encoder, many)
    seen = {}
    for name, one in encoder.named_modules():
        if isinstance(one, SettledNorm):
            # what follows writes over it
            one.register_forward_hook(lambda *now, name=name: seen.update({name: now[2].clone()}))
    encoder(many)
    assert len(seen) == 3 + 5 * 3
    for out in seen.values():
        flat = out.transpose(0, 1).flatten(1)
        assert flat.mean(1).abs().max() < 0.05
        # a channel that is zero everywhere stays so
        assert (((flat.std(1) - 1.0).abs() < 0.05) | (flat.std(1) < 1e-2)).all()


def test_each_image_stands_for_itself(encoder):
    both = encoder(images(2))
    for k in range(2):
        assert torch.allclose(both[k : k + 1], encoder(images(2)[k : k + 1]), atol=1e-5)


def test_what_is_computed_again_is_the_same(encoder):
    encoder.train()
    grads = []
    for encoder.recompute in (False, True):
        encoder.zero_grad()
        encoder(images()).square().sum().backward()
        grads.append([one.grad for one in encoder.parameters()])
    assert all(torch.equal(*pair) for pair in zip(*grads, strict=True))
