"""Split files: composed as Hydra composes them, checked as NAVSIM checks them."""

import pytest

from navaudit.errors import BadInput
from navaudit.scene.filters import SceneFilter, read_either, read_filter, read_split

FILTER = """
_target_: navsim.common.dataclasses.SceneFilter
_convert_: 'all'
num_history_frames: 4
num_future_frames: 10
frame_interval: 1
has_route: true
max_scenes: null
log_names:
- '2021.10.05.07.49.39_veh-52_00934_01406'
tokens:
- '0dc54a8c8203567b'
- "13310ca9a7715154"
"""
SPLIT = "defaults:\n  - scene_filter: few\n\ndata_split: trainval\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "scene_filter").mkdir()

    def write(scene_filter=FILTER, split=SPLIT):
        (tmp_path / "scene_filter" / "few.yaml").write_text(scene_filter)
        (tmp_path / "mine.yaml").write_text(split)
        return tmp_path

    return write


def test_a_split_and_its_filter(folder):
    split = read_split(folder(), "mine")
    assert (split.name, split.data_split) == ("mine", "trainval")
    assert split.scene_filter == SceneFilter(
        frame_interval=1,
        log_names=("2021.10.05.07.49.39_veh-52_00934_01406",),
        tokens=("0dc54a8c8203567b", "13310ca9a7715154"),
    )
    assert split.scene_filter == read_filter(folder() / "scene_filter" / "few.yaml")


def test_defaults_are_navsims():
    scene_filter = SceneFilter()
    assert (scene_filter.num_history_frames, scene_filter.num_future_frames) == (4, 10)
    assert scene_filter.has_route
    assert scene_filter.num_frames == scene_filter.interval == 14
    assert SceneFilter(frame_interval=1).interval == 1


def test_the_splits_own_keys_win(folder):
    own = SPLIT + "scene_filter:\n  max_scenes: 3\n  has_route: false\nreactive_all_mapping: []\n"
    scene_filter = read_split(folder(split=own), "mine").scene_filter
    assert scene_filter.max_scenes == 3
    assert not scene_filter.has_route
    assert scene_filter.tokens


@pytest.mark.parametrize("key", ["scene_filter", "override scene_filter", "/a/scene_filter"])
def test_ways_to_name_the_filter(folder, key):
    own = f"defaults:\n- _self_\n- other: x\n- {key}: few\ndata_split: test\n"
    assert read_split(folder(split=own), "mine").data_split == "test"


def test_synthetic_tokens_are_kept(folder):
    more = "include_synthetic_scenes: true\nsynthetic_scene_tokens: ['23f7036e1626247d5']\n"
    scene_filter = read_split(folder(FILTER + more), "mine").scene_filter
    assert scene_filter.include_synthetic_scenes
    assert scene_filter.synthetic_scene_tokens == ("23f7036e1626247d5",)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("num_history_frames: 0", "num_history_frames is 0"),
        ("num_future_frames: -1", "num_future_frames is -1"),
        ("frame_interval: 0", "frame_interval is 0"),
        ("frame_interval: 1.5", "frame_interval is 1.5"),
        ("max_scenes: true", "max_scenes is True"),
        ("log_names: one", "log_names is 'one'"),
        ("tokens: [1234567890123456]", "tokens holds 1234567890123456, a int"),
        ("tokens: [123456789.5]", "tokens holds 123456789.5, a float"),
        ("max_scene: 3", "a key 'max_scene'"),
    ],
)
def test_contradictions_are_refused_at_birth(folder, line, says):
    key = line.split(":")[0]
    kept = FILTER.partition(f"\n{key}:")[0]
    with pytest.raises(BadInput, match=says) as caught:
        read_split(folder(kept + "\n" + line + "\n"), "mine")
    assert "scene filter few" in caught.value.where


@pytest.mark.parametrize(
    ("split", "says"),
    [
        ("data_split: test\n", "defaults are None"),
        ("defaults: [scene_filter]\ndata_split: test\n", "defaults are"),
        (
            "defaults:\n- scene_filter: few\n- scene_filter: many\ndata_split: test\n",
            "defaults are",
        ),
        ("defaults:\n- scene_filter: few\n", "no data_split"),
        ("- scene_filter: few\n", "holds list"),
        ("a: [", "cannot be read"),
        ("defaults:\n- scene_filter: many\ndata_split: test\n", "cannot be read"),
    ],
)
def test_broken_split_files(folder, split, says):
    with pytest.raises(BadInput, match=says):
        read_split(folder(split=split), "mine")


def test_either_kind_of_file_is_read(folder):
    splits = folder()
    split = read_split(splits, "mine")
    assert read_either(splits / "mine.yaml") == (split.scene_filter, split.data_split)
    assert read_either(splits / "scene_filter" / "few.yaml") == (split.scene_filter, None)


def test_a_split_away_from_its_filters_is_told_so(folder, tmp_path):
    alone = tmp_path / "alone" / "mine.yaml"
    alone.parent.mkdir()
    alone.write_text((folder() / "mine.yaml").read_text())
    with pytest.raises(BadInput, match="this is a split") as caught:
        read_either(alone)
    assert caught.value.expected == str(alone.parent / "scene_filter")
    assert "train_test_split" in caught.value.remedy


def test_an_unknown_split_names_the_known_ones(folder):
    with pytest.raises(BadInput, match="no split 'yours'") as caught:
        read_split(folder(), "yours")
    assert "mine" in caught.value.expected


def test_yaml_runs_no_code(folder):
    with pytest.raises(BadInput, match="cannot be read"):
        read_split(folder(FILTER + "max_scenes: !!python/object/apply:os.getpid []\n"), "mine")
