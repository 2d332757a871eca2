"""Logs: the keys and types of real ones, and the same drive read back."""

from itertools import pairwise

import numpy as np
import pytest
import yaml

from navaudit.world import pickles
from navaudit.world.logs import read_log
from navaudit.world.town.angles import heading_of
from navaudit.world.town.cameras import MOUNTS
from navaudit.world.town.frames import JITTER_US, name_log
from navaudit.world.town.outings import FIRST_STEP, FRAMES


@pytest.fixture(scope="module")
def logs(small):
    paths = sorted((small / "navsim_logs" / "town").glob("*.pkl"))
    return {path.stem: pickles.read(path, pickles.LOG) for path in paths}


def test_frames_have_the_golden_keys_in_their_order(logs, golden_frames):
    for frames in logs.values():
        assert len(frames) == FRAMES
        for frame in frames:
            assert list(frame) == list(golden_frames[0])
            assert list(frame["cams"]) == list(golden_frames[0]["cams"])
            assert list(frame["anns"]) == list(golden_frames[0]["anns"])


def test_values_are_of_the_golden_types_and_shapes(logs, golden_frames):
    golden = golden_frames[3]
    for frames in logs.values():
        for key, value in frames[3].items():
            if isinstance(value, np.ndarray):
                assert value.dtype == golden[key].dtype, key
                assert value.shape == golden[key].shape, key
            elif key not in {"sample_prev", "sample_next"}:
                assert type(value) is type(golden[key]), key
        for key, value in frames[3]["anns"].items():
            assert type(value) is type(golden["anns"][key])
        assert frames[3]["anns"]["gt_boxes"].shape[1] == 7
        assert frames[3]["anns"]["gt_names"].dtype == golden["anns"]["gt_names"].dtype


def test_frames_are_half_a_second_apart_give_or_take(logs):
    spans = []
    for frames in logs.values():
        time = np.array([frame["timestamp"] for frame in frames])
        assert np.abs(np.diff(time) - 500_000).max() <= 2 * JITTER_US
        spans += (time[3:] - time[:-3] > 1_500_000).tolist()
    # both lengths of the history that the stock scorer samples occur: 14 and 15 states
    assert 0.2 < np.mean(spans) < 0.8


def test_every_frame_has_a_route_that_leads_on(small, logs, town_of):
    names = {town_of(41, k).place.location: town_of(41, k) for k in range(4)}
    for frames in logs.values():
        town = names[frames[0]["map_location"]]
        links = {(str(c.start.group), str(c.group)) for j in town.junctions for c in j.connectors}
        links |= {(str(c.group), str(c.end.group)) for j in town.junctions for c in j.connectors}
        for frame in frames:
            route = frame["roadblock_ids"]
            assert len(route) >= 3
            assert set(pairwise(route)) <= links


def test_poses_velocities_and_accelerations_agree(logs):
    for frames in logs.values():
        where = np.array([frame["ego2global_translation"][:2] for frame in frames])
        way = np.array([frame["ego2global"][:2, 0] for frame in frames])
        motion = np.array([frame["ego_dynamic_state"] for frame in frames])
        time_s = np.array([frame["timestamp"] for frame in frames]) * 1e-6
        step = np.diff(where, axis=0)
        travelled = np.sqrt((step**2).sum(axis=1)) / np.diff(time_s)
        assert travelled == pytest.approx((motion[1:, 0] + motion[:-1, 0]) / 2, abs=0.35)
        change = np.diff(motion[:, 0]) / np.diff(time_s)
        assert change == pytest.approx((motion[1:, 2] + motion[:-1, 2]) / 2, abs=0.8)
        assert np.abs(motion[:, 1]).max() < 0.1
        turned = np.diff(np.unwrap(heading_of(way))) / np.diff(time_s)
        assert motion[1:-1, 3] == pytest.approx(
            (turned[1:] + turned[:-1]) / 2 * motion[1:-1, 0], abs=0.8
        )


def test_rotations_are_unit_quaternions_of_the_heading(logs):
    for frames in logs.values():
        for frame in frames:
            w, x, y, z = frame["ego2global_rotation"]
            assert (x, y) == (0.0, 0.0)
            assert w * w + z * z == pytest.approx(1.0, abs=1e-11)
            assert w * w - z * z == pytest.approx(frame["ego2global"][0, 0], abs=1e-11)
            assert 2 * w * z == pytest.approx(frame["ego2global"][1, 0], abs=1e-11)


def test_objects_keep_their_size_and_move_as_their_velocity_says(logs):
    for frames in logs.values():
        tracks = {}
        for k, frame in enumerate(frames):
            pose, anns = frame["ego2global"][:2], frame["anns"]
            count = len(anns["track_tokens"])
            assert len(set(anns["track_tokens"])) == len(set(anns["instance_tokens"])) == count
            box = anns["gt_boxes"].astype(np.float64)
            assert (box[:, 2] * 2 == pytest.approx(box[:, 5])) or count == 0
            for n, track in enumerate(anns["track_tokens"]):
                velocity = pose[:, :2] @ anns["gt_velocity_3d"][n, :2]
                xy = pose[:, :2] @ box[n, :2] + pose[:, 3]
                state = (xy, velocity, tuple(box[n, 3:6]), anns["gt_names"][n])
                tracks.setdefault(track, {})[k] = state
        assert len(tracks) > 20
        for states in tracks.values():
            assert len({state[2:] for state in states.values()}) == 1
            for k, (xy, velocity, *_) in states.items():
                if k + 1 in states:
                    after = states[k + 1]
                    assert after[0] - xy == pytest.approx((velocity + after[1]) / 4, abs=0.45)


def test_lights_name_connectors_of_the_map_and_change(logs, town_of):
    names = {town_of(41, k).place.location: town_of(41, k) for k in range(4)}
    changed = 0
    for frames in logs.values():
        town = names[frames[0]["map_location"]]
        connectors = {c.fid for j in town.junctions for c in j.connectors}
        history = {}
        for frame in frames:
            fids = [fid for fid, _ in frame["traffic_lights"]]
            assert len(set(fids)) == len(fids) > 0
            assert set(fids) <= connectors
            for fid, red in frame["traffic_lights"]:
                assert type(red) is bool
                history.setdefault(fid, set()).add(red)
        changed += sum(len(seen) == 2 for seen in history.values())
    assert changed > 0


@pytest.mark.slow
def test_commands_are_one_hot_and_all_three_occur(large):
    seen = set()
    for path in (large / "navsim_logs" / "town").glob("*.pkl"):
        for frame in pickles.read(path, pickles.LOG):
            assert frame["driving_command"].sum() == 1
            seen.add(int(frame["driving_command"].argmax()))
    assert seen == {0, 1, 2}


def test_cameras_are_calibrated_and_name_their_files(logs):
    for log, frames in logs.items():
        paths = [one["cams"][name]["data_path"] for one in frames for name in MOUNTS]
        assert len(set(paths)) == len(paths)
        assert all(path.startswith(f"{log}/CAM_") and path.endswith(".jpg") for path in paths)
        for name in MOUNTS:
            rotation = frames[0]["cams"][name]["sensor2lidar_rotation"]
            assert rotation @ rotation.T == pytest.approx(np.eye(3), abs=1e-9)
            assert np.linalg.det(rotation) == pytest.approx(1.0)
            assert frames[0]["cams"][name]["cam_intrinsic"][0, 0] == 1545.0 * 0.25


def test_the_houses_reader_reads_them(small):
    for path in (small / "navsim_logs" / "town").glob("*.pkl"):
        log = read_log(path)
        assert len(log) == FRAMES
        assert log.name == path.stem


def test_splits_name_logs_and_tokens_that_exist(small, logs):
    folder = small / "splits" / "train_test_split"
    parts = {}
    for name in ("town", "towntrain", "towntest"):
        split = yaml.safe_load((folder / f"{name}.yaml").read_text())
        assert split == {"defaults": [{"scene_filter": name}], "data_split": "town"}
        parts[name] = yaml.safe_load((folder / "scene_filter" / f"{name}.yaml").read_text())
        assert parts[name]["num_history_frames"] == 4
        assert parts[name]["num_future_frames"] == 10
    assert sorted(parts["town"]["log_names"]) == sorted(logs)
    tokens = {frame["token"]: k for frames in logs.values() for k, frame in enumerate(frames)}
    chosen = parts["town"]["tokens"]
    assert len(chosen) == len(set(chosen)) == 16
    assert all(3 <= tokens[token] < FRAMES - 10 for token in chosen)
    assert parts["towntrain"]["tokens"] + parts["towntest"]["tokens"] == chosen


def test_names_are_drawn_from_seed_and_index():
    one = name_log(3, 8)
    assert vars(one) == vars(name_log(3, 8))
    assert len({name_log(3, k).log for k in range(200)}) == 200
    assert one.step[0] == pytest.approx(FIRST_STEP, abs=0.01)
    assert all(len(token) == 16 for token in one.frames)
