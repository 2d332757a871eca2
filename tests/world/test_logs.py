"""Logs: what is read from a frame, in which precision, and frames with something wrong."""

import json
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput, NavauditError
from navaudit.world.logs import heading_of, read_log
from navaudit.world.trigonometry import HOUSE, LIBM

HEADINGS = json.loads(
    (Path(__file__).parents[1] / "golden" / "navsim_logs" / "headings.json").read_text()
)
FLOAT32 = "2021.05.10.12.10.00_veh-30_00000_00500.pkl"
FLOAT64 = "2021.08.19.12.37.00_veh-30_00027_00527.pkl"


def frame(number=0, **changes):
    """One frame as OpenScene writes it; a change to ``...`` takes the key away."""
    record = {
        "token": f"token{number:011d}",
        "frame_idx": number,
        "timestamp": 1_600_000_000_000_000 + 500_000 * number,
        "log_name": "drive",
        "map_location": "us-ma-boston",
        "ego2global_translation": [3.0, 4.0, 0.5],
        "ego2global_rotation": [1.0, 0.0, 0.0, 0.0],
        "ego_dynamic_state": [5.0, 0.1, -0.2, 0.0],
        "driving_command": np.array([0, 1, 0, 0]),
        "roadblock_ids": ["12", "13"],
        "traffic_lights": [(77, True), ("78", False)],
        "anns": {
            "gt_boxes": np.arange(14, dtype=np.float32).reshape(2, 7),
            "gt_names": np.array(["vehicle", "barrier"]),
            "gt_velocity_3d": np.zeros((2, 3)),
            "instance_tokens": ["i1", "i2"],
            "track_tokens": ["t1", "t2"],
        },
        "cams": {"CAM_F0": {"data_path": "drive/CAM_F0/a.jpg", "cam_intrinsic": np.eye(3)}},
    } | changes
    return {key: value for key, value in record.items() if value is not ...}


def annotations(**changes):
    record = frame()["anns"] | changes
    return {key: value for key, value in record.items() if value is not ...}


@pytest.fixture
def written(tmp_path):
    def write(*frames, name="drive.pkl"):
        path = tmp_path / name
        path.write_bytes(pickle.dumps(list(frames)))
        return path

    return write


@pytest.mark.parametrize(("name", "count", "dtype"), [(FLOAT32, 14, "f4"), (FLOAT64, 17, "f8")])
def test_golden_logs(logs, name, count, dtype):
    with (logs / name).open("rb") as stream:
        records = pickle.load(stream)
    log = read_log(logs / name)
    assert log.name == name.removesuffix(".pkl")
    assert len(log) == count == len(records)
    for one, record in zip(log.frames, records, strict=True):
        assert one.token == record["token"]
        assert one.time_us == record["timestamp"]
        assert one.log == record["log_name"]
        assert one.location == record["map_location"]
        assert one.roadblock == tuple(record["roadblock_ids"])
        assert one.lights == tuple((str(key), red) for key, red in record["traffic_lights"])
        np.testing.assert_array_equal(one.motion, record["ego_dynamic_state"])
        np.testing.assert_array_equal(one.translation_m, record["ego2global_translation"])
        np.testing.assert_array_equal(one.command, record["driving_command"])
        boxes = one.boxes
        assert boxes.box.dtype == boxes.velocity_mps.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(boxes.box, record["anns"]["gt_boxes"])
        np.testing.assert_array_equal(boxes.velocity_mps, record["anns"]["gt_velocity_3d"])
        assert boxes.name == tuple(record["anns"]["gt_names"])
        assert boxes.track == tuple(record["anns"]["track_tokens"])
        assert boxes.instance == tuple(record["anns"]["instance_tokens"])
        assert one.cameras == {}
        assert log.find(one.token) == records.index(record)
    assert log.find("nowhere") is None


@pytest.mark.parametrize("trig", [LIBM, HOUSE], ids=lambda trig: trig.name)
def test_golden_headings_to_the_bit(trig):
    assert len(HEADINGS) > 15
    for *rotation, heading in HEADINGS:
        assert heading_of([float.fromhex(part) for part in rotation], trig) == float.fromhex(
            heading
        )


@settings(deadline=None)
@given(st.floats(-3.14, 3.14), st.floats(-0.3, 0.3), st.floats(-0.3, 0.3), st.floats(0.1, 9.0))
def test_heading_is_the_yaw_of_any_size_of_quaternion(yaw, pitch, roll, size):
    def about(axis, angle):
        return [math.cos(angle / 2), *(math.sin(angle / 2) * (i == axis) for i in range(3))]

    def product(a, b):
        w, x, y, z = a
        return [
            w * b[0] - x * b[1] - y * b[2] - z * b[3],
            w * b[1] + x * b[0] + y * b[3] - z * b[2],
            w * b[2] - x * b[3] + y * b[0] + z * b[1],
            w * b[3] + x * b[2] - y * b[1] + z * b[0],
        ]

    # the order in which pyquaternion names the angles: roll outermost, yaw innermost
    rotation = product(product(about(0, roll), about(1, pitch)), about(2, yaw))
    assert heading_of([size * part for part in rotation]) == pytest.approx(yaw, abs=1e-12)


def test_what_is_not_used_may_be_missing_or_strange(written):
    one = frame(
        frame_idx=..., scene_name=object, surplus={"deep": [1, 2]}, anns=..., cams=...,
        roadblock_ids=[], traffic_lights=[],
    )  # fmt: skip
    del one["scene_name"]
    read = read_log(written(one)).frames[0]
    assert read.boxes is None
    assert read.cameras == {}
    assert read.roadblock == ()
    assert read.lights == ()


def test_values_as_real_logs_vary(written):
    one = frame(
        timestamp=np.int64(1_600_000_000_123_457),
        ego2global_translation=np.array([1, 2, 3]),
        ego2global_rotation=np.array([0.6, 0.0, 0.0, 0.8], dtype=np.float32),
        ego_dynamic_state=[np.float64(1), np.float32(2), 3, 4.0],
        driving_command=[1, 0, 0, 0],
        roadblock_ids=[12, np.int64(13)],
        traffic_lights=[[77, np.bool_(True)]],
        anns=annotations(
            gt_names=np.array(["vehicle", "barrier"], dtype=object), instance_tokens=...
        ),
    )
    read = read_log(written(one)).frames[0]
    assert read.time_us == 1_600_000_000_123_457
    assert isinstance(read.time_us, int)
    assert read.roadblock == ("12", "13")
    assert read.lights == (("77", True),)
    assert read.boxes.name == ("vehicle", "barrier")
    assert read.boxes.instance == ("", "")
    assert read.heading_rad == pytest.approx(2 * math.atan2(0.8, 0.6))
    assert read.command.tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize(
    "empty",
    [np.empty((0, 7)), np.empty(0, np.float32), [], np.empty(0, object), np.empty((0, 7), int)],
)
def test_a_frame_without_objects(written, empty):
    anns = {"gt_boxes": empty, "gt_names": [], "gt_velocity_3d": np.empty((0, 3)),
            "instance_tokens": [], "track_tokens": []}  # fmt: skip
    boxes = read_log(written(frame(anns=anns))).frames[0].boxes
    assert boxes.box.shape == (0, 7)
    assert len(boxes) == 0


@pytest.mark.parametrize("shape", [(2, 7), (2,)])
def test_boxes_may_be_kept_as_objects(written, shape):
    boxes = annotations()["gt_boxes"]
    kept = np.empty(shape, object)
    kept[:] = boxes.tolist() if shape == (2, 7) else [*boxes]
    read = read_log(written(frame(anns=annotations(gt_boxes=kept)))).frames[0]
    np.testing.assert_array_equal(read.boxes.box, boxes)


def test_cameras_are_by_lower_case_name(written):
    cams = frame()["cams"] | {"CAM_L0": {}, "CAM_R0": {"data_path": None}}
    cameras = read_log(written(frame(cams=cams))).frames[0].cameras
    assert list(cameras) == ["cam_f0"]
    assert cameras["cam_f0"].path == "drive/CAM_F0/a.jpg"
    np.testing.assert_array_equal(cameras["cam_f0"].intrinsic, np.eye(3))
    assert cameras["cam_f0"].rotation is None


@pytest.mark.parametrize(
    "cams",
    [3, [], "none", np.zeros(2), {"CAM_L0": 3.0}, {"CAM_L0": np.zeros(2)}, {"CAM_L0": ["a.jpg"]},
     {"CAM_L0": {"data_path": 7}}],
)  # fmt: skip
def test_odd_cameras_are_none(written, cams):
    assert read_log(written(frame(cams=cams))).frame(0).cameras == {}


@pytest.mark.parametrize("mount", ["left", [[1.0], [1.0, 2.0]], {}])
def test_an_odd_mount_is_none(written, mount):
    cams = {"CAM_F0": {"data_path": "a.jpg", "cam_intrinsic": mount}}
    camera = read_log(written(frame(cams=cams))).frame(0).cameras["cam_f0"]
    assert (camera.path, camera.intrinsic) == ("a.jpg", None)


def test_everything_is_read_only(written):
    read = read_log(written(frame())).frames[0]
    arrays = [read.translation_m, read.rotation, read.motion, read.command, read.boxes.box,
              read.boxes.velocity_mps, read.cameras["cam_f0"].intrinsic]  # fmt: skip
    assert not any(array.flags.writeable for array in arrays)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"log_name": None}, "no log_name"),
        ({"map_location": ""}, "map_location is ''"),
        ({"ego2global_translation": [1.0, 2.0]}, "ego2global_translation"),
        ({"ego2global_translation": 3.0}, "ego2global_translation"),
        ({"ego2global_rotation": [1.0, 0.0, math.nan, 0.0]}, "ego2global_rotation"),
        ({"ego_dynamic_state": ["a", 0, 0, 0]}, "ego_dynamic_state"),
        ({"ego_dynamic_state": ...}, "no ego_dynamic_state"),
        ({"driving_command": [0, 1, 0]}, "driving_command"),
        ({"driving_command": 1}, "driving_command"),
        ({"driving_command": [0, [1], 0, 0]}, "driving_command"),
        ({"roadblock_ids": "12"}, "roadblock_ids is '12'"),
        ({"traffic_lights": [77]}, "traffic_lights holds 77"),
        ({"traffic_lights": [(77, np.zeros(2))]}, "a light's state is array"),
        ({"anns": 3}, "anns is 3"),
        ({"anns": annotations(gt_boxes=[[1.0] * 7, [1.0] * 6])}, r"gt_boxes has shape \(\)"),
        ({"anns": annotations(track_tokens=["t1"])}, "'track_tokens': 1"),
        ({"anns": annotations(gt_boxes=...)}, "no gt_boxes"),
        ({"anns": annotations(gt_boxes=np.zeros((2, 6)))}, r"shape \(2, 6\)"),
        ({"anns": annotations(gt_boxes=np.zeros((2, 7), int))}, "dtype int64"),
        ({"anns": annotations(gt_velocity_3d=np.zeros((2, 2)))}, "gt_velocity_3d"),
    ],
)
def test_a_bad_frame_is_named_where_it_is_needed(written, changes, says):
    path = written(frame(0), frame(1), frame(2, **changes), frame(3))
    log = read_log(path)
    assert [log.frame(at).time_us for at in (0, 1, 3)] == [
        one.time_us for one in log.frames[:2]
    ] + [log.frames[3].time_us]
    assert log.find(frame(2)["token"]) == 2
    for _ in range(2):
        with pytest.raises(BadInput, match=says) as caught:
            log.frame(2)
        assert f"{path}, frame 2" in caught.value.where


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"token": ...}, "no token"),
        ({"token": 7}, "token is 7"),
        ({"timestamp": "noon"}, "timestamp is 'noon'"),
        ({"timestamp": math.nan}, "timestamp is nan"),
    ],
)
def test_a_frame_without_a_name_or_a_time_spoils_its_log(written, changes, says):
    path = written(frame(0), frame(1), frame(2, **changes))
    with pytest.raises(BadInput, match=says) as caught:
        read_log(path)
    assert f"{path}, frame 2" in caught.value.where


@pytest.mark.parametrize("content", [{"frames": []}, [3], "log"])
def test_a_log_is_a_list_of_dictionaries(tmp_path, content):
    path = tmp_path / "a.pkl"
    path.write_bytes(pickle.dumps(content))
    with pytest.raises(BadInput, match="is a "):
        read_log(path)


def test_time_rises(written):
    assert len(read_log(written())) == 0
    with pytest.raises(BadInput, match="follows"):
        read_log(written(frame(1), frame(1, token="another")))
    with pytest.raises(BadInput, match="follows"):
        read_log(written(frame(1), frame(0)))


def test_broken_files(tmp_path, written):
    with pytest.raises(BadInput, match="does not exist"):
        read_log(tmp_path / "none.pkl")
    path = written(frame(0))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(NavauditError):
        read_log(path)
