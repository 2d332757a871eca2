"""What an agent sees: cropped, stitched and halved to the bit, with the status of the log."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.agent.features import box_mean, see, status_of, stitch
from navaudit.errors import BadInput

SCALES = {"full": 4, "three quarters": 3, "half": 2, "quarter": 1}


def pictures(quarters=1, seed=0):
    rng = np.random.default_rng(seed)
    size = (270 * quarters, 480 * quarters, 3)
    return tuple(rng.integers(0, 256, size, np.uint8) for _ in range(3))


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**31))
@settings(max_examples=50, deadline=None)
def test_halving_is_the_integer_mean_of_four(rows, columns, seed):
    pixels = np.random.default_rng(seed).integers(0, 256, (2 * rows, 2 * columns, 3), np.uint8)
    out = box_mean(pixels)
    assert out.dtype == np.uint8
    assert out.shape == (rows, columns, 3)
    for i in range(rows):
        for j in range(columns):
            for c in range(3):
                a, b, d, e = (int(pixels[2 * i + y, 2 * j + x, c]) for y in (0, 1) for x in (0, 1))
                assert out[i, j, c] == (a + b + d + e + 2) >> 2


def test_halving_rounds_as_stated_for_every_sum():
    # 0 to 1020: every sum that four bytes can have
    total = np.arange(1021)
    four = np.stack([np.minimum(np.maximum(total - 255 * k, 0), 255) for k in range(4)])
    pixels = four.reshape(2, 2, -1).transpose(0, 2, 1).reshape(2, -1, 1).astype(np.uint8)
    assert np.array_equal(box_mean(pixels)[0, :, 0], (total + 2) >> 2)
    # what a rounded mean of floats would give differs at no sum but the halves, which go up
    assert np.array_equal(box_mean(pixels)[0, :, 0], np.floor(total / 4 + 0.5))


def test_full_pictures_are_cropped_as_stock_does():
    left, front, right = pictures(4)
    stitched = stitch((left, front, right))
    assert stitched.shape == (1024, 4096, 3)
    assert np.array_equal(stitched[:, :1088], left[28:-28, 416:-416])
    assert np.array_equal(stitched[:, 1088:3008], front[28:-28])
    assert np.array_equal(stitched[:, 3008:], right[28:-28, 416:-416])
    seen = see((left, front, right), (512, 2048))
    assert np.array_equal(seen, box_mean(stitched))


@pytest.mark.parametrize("name", SCALES)
def test_smaller_pictures_are_cropped_by_the_same_share(name):
    quarters = SCALES[name]
    seen = see(pictures(quarters), (128 * quarters, 512 * quarters))
    assert seen.shape == (128 * quarters, 512 * quarters, 3)
    assert np.array_equal(seen, box_mean(stitch(pictures(quarters))))


def test_pictures_of_larger_pixels_are_seen_alike():
    small = pictures(1)
    large = tuple(np.kron(one, np.ones((4, 4, 1), np.uint8)) for one in small)
    assert np.array_equal(see(large, (128, 512)), see(small, (128, 512)))


REFUSED = {
    "another proportion": (lambda p: tuple(one[:, :470] for one in p), "470 by 270"),
    "another size": (lambda p: (p[0], p[1][::2, ::2], p[2]), "240 by 135"),
    "half margins": (lambda p: tuple(one[:135, :240] for one in p), "240 by 135"),
    "black": (lambda p: (np.zeros_like(p[0]), *p[1:]), "cam_l0 is black"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_pictures_that_stock_could_not_use_are_refused(name):
    change, message = REFUSED[name]
    with pytest.raises(BadInput, match=message) as caught:
        see(change(pictures(1)), (128, 512), "frame t1")
    assert caught.value.where == "frame t1"


@pytest.mark.parametrize("image", [(256, 1024), (96, 384), (128, 256)])
def test_an_image_that_halving_does_not_reach_is_refused(image):
    with pytest.raises(BadInput, match="480 by 270 pixels do not halve"):
        see(pictures(1), image)


def test_a_black_front_picture_is_a_night():
    left, front, right = pictures(1)
    assert see((left, np.zeros_like(front), right), (128, 512)).any()


@pytest.fixture(scope="module")
def world(recorded_world):
    return recorded_world


def test_status_is_command_and_motion_of_the_log(world):
    from navaudit.agent.features import Recordings
    from navaudit.world.logs import read_log

    recordings = Recordings(world.logs, world.images, (32, 128))
    log = read_log(world.logs / "log0.pkl")
    for k, frame in enumerate(log.frames[:5]):
        status = recordings.features("log0", frame.token).status
        assert status.dtype == np.float32
        assert status[:4].tolist() == np.eye(4)[k % 4].tolist()
        assert np.array_equal(status[4:], frame.motion.astype(np.float32))
        assert np.array_equal(status, status_of(frame))


def test_each_scene_is_seen_by_its_own_pictures(world):
    from PIL import Image

    from navaudit.agent.features import Recordings

    recordings = Recordings(world.logs, world.images, (32, 128))
    digests = set()
    # from one log to the other and back
    for token in (world.scenes.tokens[k] for k in (0, 19, 3)):
        seen = recordings.features(world.scenes.log_of(token), token)
        own = tuple(
            np.array(Image.open(world.picture(token, name)))
            for name in ("CAM_L0", "CAM_F0", "CAM_R0")
        )
        assert seen.token == token
        assert np.array_equal(seen.image, see(own, (32, 128)))
        assert not seen.image.flags.writeable
        digests.add(seen.digest)
    assert len(digests) == 3


def test_scenes_of_other_logs_are_named(world, tmp_path):
    from navaudit.agent.features import Recordings

    recordings = Recordings(world.logs, world.images, (32, 128))
    with pytest.raises(BadInput, match="the log of scene abc is not there") as caught:
        recordings.features("log9", "abc")
    assert "log9.pkl" in caught.value.where
    with pytest.raises(BadInput, match="no frame abc"):
        recordings.features("log0", "abc")
