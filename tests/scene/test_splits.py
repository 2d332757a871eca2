"""Scenes of a split: one order, NAVSIM's cutting, and nothing missing in silence."""

import pickle
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.scene.filters import SceneFilter
from navaudit.scene.splits import Pick, scenes_of, select
from navaudit.world.logs import Frame, Log

ZERO_S = 1_600_000_000


def record(log, number, start_s=0, route=True):
    return {
        "token": token(log, number),
        "timestamp": (ZERO_S + start_s) * 1_000_000 + 500_000 * number,
        "log_name": log,
        "map_location": "us-ma-boston",
        "ego2global_translation": [0.0, 0.0, 0.0],
        "ego2global_rotation": [1.0, 0.0, 0.0, 0.0],
        "ego_dynamic_state": [0.0, 0.0, 0.0, 0.0],
        "driving_command": [1, 0, 0, 0],
        "roadblock_ids": ["1"] if route else [],
        "traffic_lights": [],
    }


def token(log, number):
    return f"{log}-{number:03d}"


@pytest.fixture
def folder(tmp_path):
    def write(*logs):
        drives = [(name, [record(name, i, start) for i in range(n)]) for name, n, start in logs]
        random.Random(5).shuffle(drives)
        for name, frames in drives:
            (tmp_path / f"{name}.pkl").write_bytes(pickle.dumps(frames))
        return tmp_path

    return write


def log_of(length, without_route=()):
    empty = np.zeros(0)
    frames = [
        Frame(
            token=token("a", i), log="a", location="x", time_us=i, translation_m=empty,
            rotation=empty, heading_rad=0.0, motion=empty, command=empty,
            roadblock=() if i in without_route else ("1",), lights=(), boxes=None, cameras={},
        )
        for i in range(length)
    ]  # fmt: skip
    return Log("a", tuple(frames))


def as_stock(log, scene_filter):
    """Cut as navsim's loader cuts: slices of the list of frames, then conditions on them."""
    frames, size, picked = list(log.frames), scene_filter.num_frames, []
    for start in range(0, len(frames), scene_filter.interval):
        window = frames[start : start + size]
        now = window[scene_filter.num_history_frames - 1 :][:1]
        if len(window) < size or not now:
            continue
        if scene_filter.has_route and not now[0].roadblock:
            continue
        if scene_filter.tokens is not None and now[0].token not in scene_filter.tokens:
            continue
        picked.append(now[0].token)
    return picked


@settings(deadline=None, max_examples=200)
@given(
    st.integers(0, 40),
    st.sets(st.integers(0, 39)),
    st.integers(1, 6),
    st.integers(0, 12),
    st.sampled_from([None, 1, 2, 5]),
    st.booleans(),
    st.one_of(st.none(), st.sets(st.integers(0, 45))),
)
def test_scenes_are_cut_as_stock_cuts_them(length, roadless, history, future, interval, route, few):
    scene_filter = SceneFilter(
        num_history_frames=history,
        num_future_frames=future,
        frame_interval=interval,
        has_route=route,
        tokens=None if few is None else tuple(token("a", i) for i in sorted(few)),
    )
    log = log_of(length, roadless)
    picks = scenes_of(log, scene_filter)
    assert [pick.token for pick in picks] == as_stock(log, scene_filter)
    assert all(log.frames[pick.frame].token == pick.token for pick in picks)
    assert list(picks) == sorted(picks)


def test_the_order_is_log_name_then_time(folder):
    # the log that is first by name was driven last
    found = select(
        folder(("b", 15, 0), ("c", 14, 100), ("a", 16, 200)), SceneFilter(frame_interval=1)
    )
    assert [pick.token for pick in found.picks] == [
        "a-003", "a-004", "a-005", "b-003", "b-004", "c-003",
    ]  # fmt: skip
    assert found.picks[0] == Pick("a", (ZERO_S + 200) * 1_000_000 + 1_500_000, "a-003", 3)
    assert found.complete
    assert found.require_complete() is found


def test_the_filters_order_of_tokens_does_not_matter(folder):
    logs = folder(("a", 20, 0), ("b", 20, 0))
    tokens = ["b-004", "a-007", "a-003", "b-003"]
    expected = ["a-003", "a-007", "b-003", "b-004"]
    for seed in range(4):
        random.Random(seed).shuffle(tokens)
        found = select(logs, SceneFilter(frame_interval=1, tokens=tuple(tokens)))
        assert [pick.token for pick in found.picks] == expected


def test_logs_are_filtered_by_the_name_of_their_file(folder):
    logs = folder(("a", 14, 0), ("b", 14, 0), ("c", 14, 0))
    found = select(logs, SceneFilter(log_names=("c", "a")))
    assert [pick.log for pick in found.picks] == ["a", "c"]
    found = select(logs, SceneFilter(log_names=("z", "c", "y")))
    assert [pick.log for pick in found.picks] == ["c"]
    assert found.missing_logs == ("y", "z")
    with pytest.raises(BadInput, match="2 logs are missing; 1 scenes are there") as caught:
        found.require_complete()
    assert "log y; log z" in caught.value.where


def test_each_missing_token_says_why(folder, tmp_path):
    logs = folder(("a", 20, 0), ("b", 20, 0))
    frames = [record("c", i, route=i != 3) for i in range(14)]
    (logs / "c.pkl").write_bytes(pickle.dumps(frames))
    tokens = ("a-003", "a-001", "a-015", "b-010", "c-003", "nowhere")
    found = select(logs, SceneFilter(tokens=tokens, frame_interval=2))
    assert [pick.token for pick in found.picks] == ["a-003"]
    assert found.missing_tokens == {
        "a-001": "only 1 frames before it in log a",
        "a-015": "only 4 frames after it in log a",
        "b-010": "only 9 frames after it in log b",
        "c-003": "no route in log c",
        "nowhere": "in none of the logs read",
    }
    assert not found.complete
    with pytest.raises(BadInput, match="5 tokens and 0 logs are missing") as caught:
        found.require_complete()
    assert "a-015 (only 4 frames after it in log a)" in caught.value.where
    found = select(logs, SceneFilter(tokens=("a-004",), frame_interval=2))
    assert found.missing_tokens == {"a-004": "no scene begins there with frame_interval 2"}


def test_max_scenes_takes_the_first_of_the_order(folder):
    logs = folder(("a", 15, 50), ("b", 15, 0), ("c", 15, 0))
    every = SceneFilter(frame_interval=1)
    whole = select(logs, every).picks
    assert len(whole) == 6
    for count in range(1, 8):
        assert select(logs, replace(every, max_scenes=count)).picks == whole[:count]
    # a log that is not needed is not read
    (logs / "c.pkl").write_bytes(b"rubbish")
    assert select(logs, replace(every, max_scenes=4)).picks == whole[:4]


def test_what_max_scenes_leaves_out_is_not_missing(folder):
    logs = folder(("a", 15, 0), ("b", 15, 0))
    some = SceneFilter(frame_interval=1, max_scenes=1, tokens=("a-003", "a-004", "b-003", "a-000"))
    found = select(logs, some)
    assert [pick.token for pick in found.picks] == ["a-003"]
    assert found.missing_tokens == {"a-000": "only 0 frames before it in log a"}


def test_synthetic_scenes_count_as_missing(folder):
    logs = folder(("a", 14, 0))
    names = {"synthetic_scene_tokens": ("23f7036e1626247d5",)}
    assert select(logs, SceneFilter(**names)).complete
    found = select(logs, SceneFilter(include_synthetic_scenes=True, **names))
    assert found.missing_tokens == {"23f7036e1626247d5": "a synthetic scene"}


def test_a_token_stands_once(folder):
    logs = folder(("a", 14, 0))
    (logs / "b.pkl").write_bytes((logs / "a.pkl").read_bytes())
    with pytest.raises(BadInput, match="token a-003 stands twice") as caught:
        select(logs, SceneFilter())
    assert caught.value.where == "logs a and b"


def test_no_logs_at_all(tmp_path):
    with pytest.raises(BadInput, match="no logs") as caught:
        select(tmp_path, SceneFilter())
    assert str(tmp_path) in caught.value.where
    with pytest.raises(BadInput, match="no logs"):
        select(tmp_path / "nowhere", SceneFilter())
