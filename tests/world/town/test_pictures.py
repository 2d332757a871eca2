"""Camera files: perspective is right, and what a scene contains can be seen."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from navaudit.errors import BadInput
from navaudit.world.images import FRONT, read_image
from navaudit.world.logs import read_log
from navaudit.world.town.actors import standing
from navaudit.world.town.cameras import MOUNTS, mount
from navaudit.world.town.curves import left_of
from navaudit.world.town.moments import moment, stack_tracks
from navaudit.world.town.outings import FIRST_STEP
from navaudit.world.town.paint import MOODS, paint
from navaudit.world.town.posts import LAMPS
from navaudit.world.town.scenery import ASPHALT, dress
from navaudit.world.town.signals import RED, Signals

CAMERAS = mount(1.0)
F0 = CAMERAS[0]


def test_the_cameras_look_ahead_left_and_right():
    for camera in CAMERAS:
        bearing, _ = MOUNTS[camera.name]
        view = camera.rotation[:, 2]
        assert np.degrees(np.arctan2(view[1], view[0])) == pytest.approx(bearing)
        # the image's right is to the right of the view, its down is down
        assert camera.rotation[:, 0] == pytest.approx([view[1], -view[0], 0.0])
        assert camera.rotation[:, 1] == pytest.approx([0.0, 0.0, -1.0])


@given(st.floats(5.0, 80.0), st.floats(-0.5, 0.5), st.floats(0.0, 3.0))
def test_points_ahead_project_as_through_a_pinhole(depth, slope, height):
    point = F0.place_m + np.array([depth, depth * slope, height - F0.place_m[2]])
    pixel = F0.project(F0.seen_from(point[None]))[0]
    assert pixel[0] == pytest.approx(960.0 - 1545.0 * slope, abs=1e-6)
    assert pixel[1] == pytest.approx(560.0 + 1545.0 * (1.54 - height) / depth, abs=1e-6)


@settings(deadline=None)
@given(st.sampled_from([0.25, 0.5, 0.75]), st.floats(4, 60), st.floats(-20, 20), st.floats(0, 3))
def test_a_smaller_image_is_the_same_view(scale, x, y, z):
    for large, small in zip(CAMERAS, mount(scale), strict=True):
        seen = large.seen_from(np.array([[x, y, z]]))
        if seen[0, 2] > 1.0:
            assert small.project(seen) == pytest.approx(large.project(seen) * scale)


@pytest.mark.parametrize("scale", [0.0, -1.0, 0.3, 0.125, 2.0, float("nan")])
def test_scales_with_broken_crop_margins_are_refused(scale):
    with pytest.raises(BadInput, match="camera scale"):
        mount(scale)


def test_pictures_exist_for_scenes_and_only_for_them(small):
    tokens = (small / "splits/train_test_split/scene_filter/town.yaml").read_text()
    found = 0
    for path in (small / "navsim_logs" / "town").glob("*.pkl"):
        for frame in read_log(path).frames:
            for camera in FRONT:
                file = small / "sensor_blobs" / "town" / frame.cameras[camera].path
                assert file.exists() == (f"'{frame.token}'" in tokens)
                found += file.exists()
    assert found == 16 * 3
    assert len(list((small / "sensor_blobs").rglob("*.*"))) - found <= 2


def test_pictures_read_back_and_are_no_two_alike(small):
    seen = set()
    blobs = small / "sensor_blobs" / "town"
    for path in (small / "navsim_logs" / "town").glob("*.pkl"):
        for frame in read_log(path).frames:
            for camera in FRONT:
                if (blobs / frame.cameras[camera].path).exists():
                    pixels = read_image(blobs, frame, camera)
                    assert pixels.shape == (270, 480, 3)
                    assert pixels.std() > 15.0
                    seen.add(pixels.tobytes())
    assert len(seen) == 16 * 3


@pytest.fixture(scope="module")
def scene(outings_of):
    """A moment of a drive, and its town's scenery."""
    outing = outings_of(5, 8)[0]
    drive, step = outing.drive, FIRST_STEP + 5 * outing.frames[0]
    now = moment(drive, stack_tracks(drive), step)
    return drive, step, now, dress(5, outing.errand.place, drive.network.town)


def look(drive, step, scenery, extra=(), signals=None):
    """The front picture with only the given actors, on a clear day."""
    changed = object.__new__(type(drive))
    for name, value in vars(drive).items():
        object.__setattr__(changed, name, value)
    object.__setattr__(changed, "actors", tuple(extra))
    if signals is not None:
        object.__setattr__(changed, "signals", signals)
    now = moment(changed, stack_tracks(changed), step)
    return np.asarray(paint((F0,), changed, now, scenery, MOODS[0])[0]).astype(int)


def place(drive, now, kind, ahead, left, token="0001aaaaaaaaaaaa", size=(4.5, 1.9, 1.5)):
    spot = now.xy_m + now.heading * ahead + left_of(now.heading) * left
    return standing(token, (kind, size), spot, now.heading, len(drive.u_m))


def test_the_road_ahead_is_asphalt(scene):
    drive, step, _, scenery = scene
    nobody = place(drive, scene[2], "traffic_cone", -30.0, 0.0, size=(0.4, 0.4, 0.7))
    image = look(drive, step, scenery, [nobody])
    just_ahead = image[950:1050, 700:900].reshape(-1, 3)
    near = np.abs(just_ahead - np.array(ASPHALT)).max(axis=1) < 25
    assert near.mean() > 0.6


def test_a_car_is_painted_where_its_box_projects(scene):
    drive, step, now, scenery = scene
    nobody = place(drive, now, "traffic_cone", -30.0, 0.0, size=(0.4, 0.4, 0.7))
    empty = look(drive, step, scenery, [nobody])
    car = place(drive, now, "vehicle", 16.0, 0.0)
    image = look(drive, step, scenery, [car])
    rows, columns = np.nonzero((image != empty).any(axis=2))
    corners = np.array([[16.0 - 2.25, y, z] for y in (-0.95, 0.95) for z in (0.02, 1.5)])
    pixels = F0.project(F0.seen_from(corners))
    assert columns.min() == pytest.approx(pixels[:, 0].min(), abs=6)
    assert columns.max() == pytest.approx(pixels[:, 0].max(), abs=6)
    assert rows.max() == pytest.approx(pixels[:, 1].max(), abs=6)
    assert rows.min() == pytest.approx(560 + 1545 * 0.04 / 14.0, abs=12)


def test_nearer_things_hide_farther_ones(scene):
    drive, step, now, scenery = scene
    white = place(drive, now, "vehicle", 12.0, 0.0, token="0000aaaaaaaaaaaa")
    black = place(drive, now, "vehicle", 22.0, 0.0, token="0001aaaaaaaaaaaa")
    alone = look(drive, step, scenery, [white])
    both = look(drive, step, scenery, [black, white])
    rows, columns = slice(600, 690), slice(880, 1040)
    assert (alone[rows, columns] == both[rows, columns]).all()


def test_brake_lamps_light_up(scene):
    drive, step, now, scenery = scene
    calm = place(drive, now, "vehicle", 14.0, 0.0)
    braking = type(calm)(*[getattr(calm, name) for name in
                           ("token", "kind", "size_m", "xy_m", "heading", "velocity_mps")],
                         calm.braking + 2.0)  # fmt: skip
    dark, lit = (look(drive, step, scenery, [one]) for one in (calm, braking))
    brighter = (lit[..., 0] - dark[..., 0]) > 80
    assert brighter.sum() > 100
    assert not (lit != dark)[~brighter].any() or ((lit != dark).any(axis=2) & ~brighter).sum() < 60


@pytest.mark.parametrize(
    "kind", ["pedestrian", "bicycle", "traffic_cone", "barrier", "czone_sign", "generic_object"]
)
def test_every_kind_of_object_can_be_seen(scene, kind):
    drive, step, now, scenery = scene
    hidden = place(drive, now, kind, -30.0, 0.0, size=(1.0, 0.6, 1.4))
    shown = place(drive, now, kind, 10.0, 0.5, size=(1.0, 0.6, 1.4))
    changed = (look(drive, step, scenery, [hidden]) != look(drive, step, scenery, [shown])).any(
        axis=2
    )
    assert changed.sum() > 900
    assert changed[:, 700:1100].sum() == changed.sum()


def test_lit_lamps_change_with_the_signals(scene):
    drive, step, now, scenery = scene
    nobody = place(drive, now, "traffic_cone", -30.0, 0.0, size=(0.4, 0.4, 0.7))
    counts = {}
    for offset in range(0, 36, 9):
        signals = Signals((float(offset),) * len(drive.network.town.junctions))
        image = look(drive, step, scenery, [nobody], signals)
        for which, colour in LAMPS:
            exact = (image == np.array(colour)).all(axis=2).sum()
            counts.setdefault(which, []).append(int(exact))
    assert max(counts[RED]) > 0
    for shown in counts.values():
        assert max(shown) == 0 or min(shown) < max(shown)


def test_painting_is_repeatable_and_encodes_alike(scene, tmp_path):
    drive, _, now, scenery = scene
    for name in ("a.jpg", "b.jpg"):
        paint((F0,), drive, now, scenery, MOODS[1])[0].save(tmp_path / name, quality=88)
    assert (tmp_path / "a.jpg").read_bytes() == (tmp_path / "b.jpg").read_bytes()
    with Image.open(tmp_path / "a.jpg") as image:
        assert image.size == (1920, 1080)
