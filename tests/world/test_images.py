"""Camera pictures: found, read, or refused by name."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from navaudit.errors import BadInput, Refused
from navaudit.world.images import FRONT, image_path, read_image
from navaudit.world.logs import Camera, Frame

PIXELS = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)


def seen_through(path, camera="cam_f0"):
    return Frame(
        token="t1", log="drive", location="us-ma-boston", time_us=0, translation_m=np.zeros(3),
        rotation=np.array([1.0, 0, 0, 0]), heading_rad=0.0, motion=np.zeros(4),
        command=np.zeros(4, int), roadblock=(), lights=(), boxes=None,
        cameras={camera: Camera(path, None, None, None, None)},
    )  # fmt: skip


@pytest.fixture
def blobs(tmp_path):
    (tmp_path / "drive" / "CAM_F0").mkdir(parents=True)
    Image.fromarray(PIXELS).save(tmp_path / "drive" / "CAM_F0" / "a.png")
    Image.fromarray(PIXELS).save(tmp_path / "drive" / "CAM_F0" / "a.jpg")
    Image.fromarray(PIXELS[:, :, 0]).save(tmp_path / "drive" / "CAM_F0" / "grey.png")
    return tmp_path


def test_pixels(blobs):
    image = read_image(blobs, seen_through("drive/CAM_F0/a.png"), "cam_f0")
    assert image.dtype == np.uint8
    np.testing.assert_array_equal(image, PIXELS)
    assert not image.flags.writeable


def test_a_jpeg_is_read_as_pillow_reads_it(blobs):
    path = blobs / "drive/CAM_F0/a.jpg"
    with Image.open(path) as image:
        expected = np.array(image)
    read = read_image(blobs, seen_through("drive/CAM_F0/a.jpg"), "cam_f0")
    np.testing.assert_array_equal(read, expected)
    assert read.shape == (4, 6, 3)


def test_the_cameras_of_the_planners():
    assert FRONT == ("cam_l0", "cam_f0", "cam_r0")


def test_a_camera_the_frame_lacks(blobs):
    frame = seen_through("drive/CAM_F0/a.png")
    with pytest.raises(BadInput, match="no picture of cam_l0") as caught:
        read_image(blobs, frame, "cam_l0")
    assert "cam_f0" in caught.value.expected
    with pytest.raises(BadInput, match="no picture") as caught:
        read_image(blobs, replace(frame, cameras={}), "cam_f0")
    assert "none" in caught.value.expected


@pytest.mark.parametrize("path", ["/etc/passwd", "../secret.png", "drive/../../secret.png"])
def test_a_log_cannot_point_outside(blobs, path):
    with pytest.raises(Refused, match="outside"):
        image_path(blobs, seen_through(path), "cam_f0")


def test_missing_broken_and_grey(blobs):
    with pytest.raises(BadInput, match="no such picture") as caught:
        read_image(blobs, seen_through("drive/CAM_F0/b.png"), "cam_f0")
    assert "sensor blobs" in caught.value.remedy
    assert "frame t1" in caught.value.where
    broken = blobs / "drive/CAM_F0/a.png"
    broken.write_bytes(broken.read_bytes()[:50])
    with pytest.raises(BadInput, match="cannot be read"):
        read_image(blobs, seen_through("drive/CAM_F0/a.png"), "cam_f0")
    cut = blobs / "drive/CAM_F0/a.jpg"
    cut.write_bytes(cut.read_bytes()[:-20])
    with pytest.raises(BadInput, match="cannot be read"):
        read_image(blobs, seen_through("drive/CAM_F0/a.jpg"), "cam_f0")
    broken.write_bytes(b"no picture")
    with pytest.raises(BadInput, match="cannot be read"):
        read_image(blobs, seen_through("drive/CAM_F0/a.png"), "cam_f0")
    with pytest.raises(BadInput, match="mode L"):
        read_image(blobs, seen_through("drive/CAM_F0/grey.png"), "cam_f0")
