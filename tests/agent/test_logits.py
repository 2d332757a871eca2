"""Logits on disk: the agent's own, however often the work was cut short, and refused when other."""

import json
import pickle
from dataclasses import replace

import numpy as np
import pytest
import xarray

from agent.drawn import paths
from agent.needs import torch
from navaudit.agent import logits as logits_module
from navaudit.agent.checkpoint import read_checkpoint
from navaudit.agent.computing import Computing
from navaudit.agent.features import Recordings
from navaudit.agent.logit_store import LogitStore
from navaudit.agent.logit_tree import SHARD, shard_path
from navaudit.agent.logits import Job, make_logits
from navaudit.agent.model import batch
from navaudit.agent.planning import choose, make_plans
from navaudit.agent.predictions import read_predictions
from navaudit.axes import HEADS
from navaudit.errors import BadInput, Refused
from navaudit.scene.vocabulary import Vocabulary


def job_of(world, **changes):
    return Job(world.checkpoint, world.scenes, world.logs, world.images, **changes)


@pytest.fixture(scope="module")
def made(recorded_world, tmp_path_factory):
    return make_logits(tmp_path_factory.mktemp("logits") / "L", job_of(recorded_world))


def directly(world, token, poses=None):
    """The logits of one token, computed here: ``[head, candidate]``."""
    agent = read_checkpoint(world.checkpoint).agent(poses=poses)
    recordings = Recordings(world.logs, world.images, agent.shape.image)
    with torch.no_grad():
        logits = agent(*batch([recordings.features(world.scenes.log_of(token), token)]))
    return np.stack([logits[name][0].numpy() for name in HEADS])


def files_of(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "work" not in path.parts
    }


def test_the_store_holds_what_the_agent_says(recorded_world, made):
    scenes = recorded_world.scenes
    assert made.tokens == scenes.tokens
    assert made.logs == tuple(scenes.log_of(token) for token in scenes.tokens)
    assert len(made) == 20 > SHARD
    assert made.candidates == 24
    for token in (scenes.tokens[k] for k in (0, 15, 16, 19)):
        assert np.array_equal(made.of(token), directly(recorded_world, token))
    assert len({made.of(token).tobytes() for token in made.tokens}) == 20


def test_a_head_is_read_across_tokens(made):
    by_token = np.stack([made.of(token) for token in made.tokens])
    for k, name in enumerate(HEADS):
        assert np.array_equal(made.head(name), by_token[:, k])
        rows = [rows for rows, _ in made.stretches(name)]
        assert rows == [slice(0, 16), slice(16, 20)]
    with pytest.raises(BadInput, match="no head 'comfort'"):
        made.head("comfort")


def test_xarray_opens_it(made):
    with xarray.open_zarr(made.folder) as opened:
        assert opened["logits"].dims == ("token", "head", "candidate")
        assert opened["logits"].dtype == np.float32
        assert tuple(opened["head"].values) == HEADS
        assert tuple(opened["token"].values) == made.tokens
        assert tuple(opened["log"].values) == made.logs
        assert tuple(opened["features"].values) == made.features
        lane = opened["logits"].sel(head="lane_keeping").values
        assert np.array_equal(lane, made.head("lane_keeping"))


def test_it_says_what_it_is_made_from(recorded_world, made):
    assert made.settings["precision"] == "float32"
    assert made.settings["scenes"] == recorded_world.scenes.digest()
    recordings = Recordings(recorded_world.logs, recorded_world.images, (32, 128))
    token = made.tokens[17]
    assert made.features[17] == recordings.features("log1", token).digest
    assert {"torch", "processor", "threads", "code"} <= set(made.provenance)
    assert pickle.loads(pickle.dumps(made)).digest() == made.digest()


def test_threads_that_read_change_nothing(recorded_world, made, tmp_path):
    again = make_logits(tmp_path / "L", job_of(recorded_world, computing=Computing(readers=3)))
    assert files_of(again.folder) == files_of(made.folder)


def test_scenes_at_once_are_computed_as_one_by_one(recorded_world, made, tmp_path):
    again = make_logits(tmp_path / "L", job_of(recorded_world, computing=Computing(batch=5)))
    for name in HEADS:
        assert np.allclose(again.head(name), made.head(name), atol=1e-5)


def test_less_precise_only_where_asked(recorded_world, made, tmp_path):
    coarse = make_logits(
        tmp_path / "L", job_of(recorded_world, computing=Computing(precision="bfloat16"))
    )
    for name in HEADS:
        apart = np.abs(coarse.head(name) - made.head(name)).max()
        assert 0.0 < apart < 0.1
    with pytest.raises(BadInput, match="precision is 'int8'"):
        Computing(precision="int8")


def test_numerics_are_put_back():
    places = (torch.backends.cudnn.conv, torch.backends.cuda.matmul, torch.backends.mkldnn.matmul)
    before = [one.fp32_precision for one in places]
    with Computing().numerics():
        assert [one.fp32_precision for one in places] == ["ieee"] * 3
        assert not torch.is_grad_enabled()
        assert not torch.is_autocast_enabled("cpu")
    with Computing(precision="tf32").numerics():
        assert [one.fp32_precision for one in places[:2]] == ["tf32"] * 2
    assert [one.fp32_precision for one in places] == before


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_a_device_that_is_not_there_is_said_to_be_missing():
    with pytest.raises(BadInput, match="no CUDA device"):
        Computing(device="cuda")
    with pytest.raises(BadInput, match="device is 'tpu'"):
        Computing(device="tpu")


class Cut(Exception):  # noqa: N818
    """The power goes."""


def cut_after(monkeypatch, shards):
    """Let the work end without warning once it has written some shards."""
    whole = logits_module.Draft.add

    def add(self, shard, *rest):
        if shard >= shards:
            raise Cut
        whole(self, shard, *rest)

    monkeypatch.setattr(logits_module.Draft, "add", add)


def test_work_that_was_cut_short_goes_on(recorded_world, made, tmp_path, monkeypatch):
    folder, job = tmp_path / "L", job_of(recorded_world)
    with monkeypatch.context() as patch:
        cut_after(patch, 1)
        with pytest.raises(Cut):
            make_logits(folder, job)
    with pytest.raises(BadInput, match="not finished"):
        LogitStore.open(folder)
    first = shard_path(folder, 0).stat().st_mtime_ns
    told = []
    again = make_logits(folder, job, say=lambda *what: told.append(what))
    assert told[0] == ("", 16, 20)
    assert told[-1] == (made.tokens[-1], 20, 20)
    assert shard_path(folder, 0).stat().st_mtime_ns == first
    assert files_of(folder) == files_of(made.folder)
    assert again.digest() == made.digest()


def test_a_damaged_shard_of_unfinished_work_is_made_again(
    recorded_world, made, tmp_path, monkeypatch
):
    folder, job = tmp_path / "L", job_of(recorded_world)
    with monkeypatch.context() as patch:
        cut_after(patch, 1)
        with pytest.raises(Cut):
            make_logits(folder, job)
    whole = shard_path(folder, 0).read_bytes()
    shard_path(folder, 0).write_bytes(whole[:-7])
    make_logits(folder, job)
    assert files_of(folder) == files_of(made.folder)


OTHERS = {
    "batch": {"computing": Computing(batch=2)},
    "precision": {"computing": Computing(precision="bfloat16")},
    "vocabulary": {"vocabulary": Vocabulary(paths(24, seed=8).numpy())},
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_folder_of_other_settings_is_refused(recorded_world, made, name):
    with pytest.raises(Refused, match=f"{name} is .* there, and .* is asked for"):
        make_logits(made.folder, job_of(recorded_world, **OTHERS[name]))


def test_a_folder_of_something_else_is_refused(recorded_world, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(Refused, match="something else than logits"):
        make_logits(tmp_path, job_of(recorded_world))
    assert (tmp_path / "mine.txt").read_text() == "mine"


def test_other_candidates_can_be_scored(recorded_world, tmp_path):
    own = paths(9, seed=5)
    job = job_of(recorded_world, vocabulary=Vocabulary(own.numpy()))
    made = make_logits(tmp_path / "L", job)
    assert made.candidates == 9
    token = made.tokens[4]
    assert np.array_equal(made.of(token), directly(recorded_world, token, own))


@pytest.fixture
def lacking(recorded_world, tmp_path):
    """A world that lacks two pictures, and where they should be."""
    from agent.recorded import World

    root = tmp_path / "lacking"
    root.mkdir()
    for name in ("scenes", "navsim_logs", "tiny.ckpt"):
        (root / name).symlink_to(recorded_world.root / name)
    whole = recorded_world.images
    for path in whole.rglob("*.png"):
        target = root / "sensor_blobs" / "mini" / path.relative_to(whole)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.symlink_to(path)
    return World(root)


def test_scenes_that_cannot_be_seen_are_in_the_ledger_and_tried_again(lacking, made, tmp_path):
    tokens = lacking.scenes.tokens
    gone = [lacking.picture(tokens[2]), lacking.picture(tokens[18], "CAM_R0")]
    targets = [path.resolve() for path in gone]
    for path in gone:
        path.unlink()
    told = []
    job = job_of(lacking)
    part = make_logits(tmp_path / "L", job, say=lambda *what: told.append(what[0]))
    assert [one.token for one in part.failures] == [tokens[2], tokens[18]]
    assert len([one for one in told if one.startswith("failed: token ")]) == 2
    assert part.tokens == tuple(one for one in tokens if one not in (tokens[2], tokens[18]))
    assert part.head("imi").shape == (18, 24)
    assert np.array_equal(part.head("imi")[-1], made.head("imi")[-1])
    assert np.array_equal(part.of(tokens[17]), made.of(tokens[17]))
    with pytest.raises(BadInput, match=f"no logits of {tokens[2]}") as caught:
        part.of(tokens[2])
    assert "no such picture" in caught.value.remedy
    with xarray.open_zarr(part.folder) as opened:
        assert np.isnan(opened["logits"].values[2]).all()
    for path, target in zip(gone, targets, strict=True):
        path.symlink_to(target)
    whole = make_logits(tmp_path / "L", job)
    assert whole.failures == ()
    assert files_of(whole.folder) == files_of(made.folder)


def test_seeing_nothing_at_all_is_an_error(recorded_world, tmp_path):
    job = replace(job_of(recorded_world), images=tmp_path)
    with pytest.raises(BadInput, match="no scene could be seen; of the first: there is no such"):
        make_logits(tmp_path / "L", job)


def test_damage_is_found(made, tmp_path):
    import shutil

    folder = tmp_path / "L"
    shutil.copytree(made.folder, folder)
    path = shard_path(folder, 0)
    data = bytearray(path.read_bytes())
    data[5] ^= 1
    path.write_bytes(data)
    store = LogitStore.open(folder)
    with pytest.raises(BadInput, match="damaged: head no_at_fault_collisions of its token 0"):
        store.of(store.tokens[0])
    assert store.of(store.tokens[1]).shape == (8, 24)
    path.unlink()
    with pytest.raises(BadInput, match="a shard cannot be opened"):
        store.head("imi")
    (folder / "zarr.json").write_text("{}")
    with pytest.raises(BadInput, match="not a store of logits"):
        LogitStore.open(folder)
    with pytest.raises(BadInput, match="no such folder"):
        LogitStore.open(tmp_path / "nowhere")


def test_plans_are_the_candidates_that_the_rule_chooses(recorded_world, made, tmp_path):
    path = tmp_path / "plans.pkl"
    planned = make_plans(path, job_of(recorded_world))
    poses = read_checkpoint(recorded_world.checkpoint).agent().vocabulary.numpy()
    read = read_predictions(path)
    assert list(read) == list(made.tokens)
    for token in made.tokens:
        logits = dict(zip(HEADS, torch.from_numpy(made.of(token).copy()), strict=True))
        assert planned.chosen[token] == int(choose(logits))
        assert np.array_equal(read[token], poses[planned.chosen[token]])
    assert len(set(planned.chosen.values())) > 1
    assert sorted(one.name for one in tmp_path.iterdir()) == ["plans.pkl", "plans.pkl.json"]
    told = json.loads((tmp_path / "plans.pkl.json").read_text())
    assert told["chosen"] == planned.chosen
    assert told["settings"] == json.loads(json.dumps(made.settings))


def test_kept_logits_are_planned_from(recorded_world, made, tmp_path, monkeypatch):
    monkeypatch.setattr(logits_module, "_compute", None)
    planned = make_plans(
        tmp_path / "p.pkl", job_of(recorded_world), logits=made.folder, heads=False
    )
    assert len(planned.chosen) == 20
    assert (tmp_path / "p.pkl").stat().st_size < 20_000
    assert LogitStore.open(made.folder).digest() == made.digest()
