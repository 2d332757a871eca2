"""Bad input gives a named error or a defined result, and never a hang."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from navaudit.axes import DAC, DDC, LK, NC, TTC
from navaudit.errors import BadInput
from navaudit.numerics.polygons import Polygons
from navaudit.scene.scene import Ground, Traffic
from navaudit.scene.vocabulary import Vocabulary, read_vocabulary
from navaudit.score.score import Settings, score_human, score_scene
from score import golden

POSES = np.load(golden.HERE / "labels" / "candidates.npy")[:16]


@pytest.fixture(scope="module")
def scene():
    return golden.ours("collide_stopped").scene


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e30])
def test_an_absurd_pose_is_named(value):
    poses = POSES.copy()
    poses[3, 7, 1] = value
    with pytest.raises(BadInput) as caught:
        Vocabulary(poses)
    assert caught.value.where == "candidate 3, pose 7 (t = 0.8 s)"
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("poses", "complaint"),
    [
        (np.zeros((0, 40, 3), np.float32), "empty"),
        (np.zeros((4, 39, 3), np.float32), r"\(4, 39, 3\)"),
        (np.zeros((4, 40, 3), np.int64), "int64"),
    ],
)
def test_a_misshapen_vocabulary_is_refused(poses, complaint):
    with pytest.raises(BadInput, match=complaint):
        Vocabulary(poses)


def test_a_vocabulary_file_is_never_executed(tmp_path):
    path = tmp_path / "v.npy"
    np.save(path, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(BadInput, match="cannot be read") as caught:
        read_vocabulary(path)
    assert caught.value.where == str(path)
    path.write_bytes(b"\x93NUMPY\x01\x00")
    with pytest.raises(BadInput, match="cannot be read"):
        read_vocabulary(path)
    with pytest.raises(BadInput, match="does not exist"):
        read_vocabulary(tmp_path / "none.npy")


def test_the_digest_is_that_of_the_file(tmp_path):
    path = tmp_path / "v.npy"
    np.save(path, POSES)
    data = path.read_bytes()
    blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False)
    assert Vocabulary(POSES).digest == read_vocabulary(path).digest == blob.hexdigest()


def test_an_absurdly_fast_vocabulary_is_scored(scene):
    poses = POSES.copy()
    poses[:, :, 0] = np.linspace(20, 1000, 40)
    poses[1::2, :, 2] = np.linspace(0, 99, 40)
    sheet = score_scene(scene, Vocabulary(poses))
    assert np.isfinite(sheet.columns).all()


def test_a_scene_without_a_centreline_is_refused(scene):
    with pytest.raises(BadInput, match="0 vertices") as caught:
        score_scene(replace(scene, centreline=np.empty((0, 3))), Vocabulary(POSES))
    assert scene.token in str(caught.value.where)


def test_without_ground_everything_is_off_the_road(scene):
    bare = replace(scene, ground=Ground((), np.empty(0), Polygons.of([]), np.empty(0)))
    sheet = score_scene(bare, Vocabulary(POSES))
    assert (sheet.columns[DAC] == 0).all()
    driven = np.hypot(*(POSES[:, -1, :2]).T) > 12
    assert (sheet.columns[DDC][driven] < 1).any()


def test_an_agent_that_is_nowhere_is_named(scene):
    box = scene.traffic.box.copy()
    box[5, 0, 0] = np.nan
    present = scene.traffic.present.copy()
    present[5, 0] = True
    broken = replace(scene, traffic=replace(scene.traffic, box=box, present=present))
    with pytest.raises(BadInput, match=f"{scene.traffic.token[0]} at step 5"):
        score_scene(broken, Vocabulary(POSES))


def test_an_agent_without_size_is_a_point(scene):
    drive = score_scene(scene, Vocabulary(POSES))
    box = np.zeros((41, 1, 5))
    box[:, 0, :2] = scene.ego[:2] + 12.0 * np.array([np.cos(scene.ego[2]), np.sin(scene.ego[2])])
    dot = Traffic(("dot",), np.zeros(1), box, np.ones((41, 1), bool), np.zeros((1, 2)))
    sheet = score_scene(replace(scene, traffic=dot), Vocabulary(POSES))
    assert set(np.unique(sheet.columns[NC])) <= {0.0, 1.0}
    assert (sheet.columns[TTC] <= 1).all()
    assert (sheet.columns[LK] == drive.columns[LK]).all()


@pytest.mark.parametrize(
    "wrong", [{"ddc": "v3"}, {"progress_rule": "best"}, {"solver": "cholesky"}]
)
def test_settings_refuse_what_does_not_exist(wrong):
    with pytest.raises(BadInput, match="does not exist"):
        Settings(**wrong)


def test_a_synthetic_scene_has_no_human():
    scene = golden.ours("synthetic_token").scene
    with pytest.raises(BadInput, match="no human"):
        score_human(scene)


@pytest.mark.parametrize("solver", ["pinv", "pinvh", "solve"])
def test_solvers_of_a_healthy_library_give_the_same_labels(scene, solver):
    closed = score_scene(scene, Vocabulary(POSES))
    other = score_scene(scene, Vocabulary(POSES), Settings(solver=solver))
    np.testing.assert_array_equal(closed.labels(), other.labels())
    np.testing.assert_allclose(closed.progress_m, other.progress_m, atol=1e-8)
