"""The vocabulary: drivable, varied, no row twice, the same from the same seed."""

import numpy as np
import pytest

from navaudit.errors import BadInput
from navaudit.scene.vocabulary import Vocabulary
from navaudit.world.town.chance import stream
from navaudit.world.town.vocabulary import (
    FASTEST_MPS,
    LARGEST,
    SHARPEST,
    SIDEWAYS_MPS2,
    build_vocabulary,
    driven,
    sampled,
)

SIZE = 1024


@pytest.fixture(scope="module")
def parts(outings_of):
    return [driven(one.drive) for one in outings_of(5, 8)]


@pytest.fixture(scope="module")
def poses(parts):
    return build_vocabulary(7, SIZE, parts)


def motion(poses):
    """Speeds ``[row, step]`` and turns ``[row, step]``, the first from standing at the origin."""
    full = np.concatenate([np.zeros((len(poses), 1, 3)), poses], axis=1).astype(np.float64)
    step = np.diff(full, axis=1)
    return np.sqrt((step[..., :2] ** 2).sum(axis=2)) / 0.1, step[..., 2], full


def test_shape_dtype_and_rows(poses):
    assert poses.shape == (SIZE, 40, 3)
    assert poses.dtype == np.float32
    assert np.isfinite(poses).all()
    assert len(np.unique(poses.reshape(SIZE, -1), axis=0)) == SIZE
    assert not poses[0].any()
    assert len(Vocabulary(poses)) == SIZE


def test_rows_can_be_driven(poses):
    speed, turn, full = motion(poses)
    assert speed.max() < FASTEST_MPS + 0.6
    assert np.abs(np.diff(speed, axis=1)).max() / 0.1 < 8.5
    assert np.abs(turn / 0.1 * speed).max() < 5.5
    # a car moves the way it points
    heading = full[:, :-1, 2] + turn / 2
    along = np.diff(full[..., 0], axis=1) * np.cos(heading) + np.diff(
        full[..., 1], axis=1
    ) * np.sin(heading)
    assert along == pytest.approx(speed * 0.1, abs=0.02)


def test_rows_cover_stopping_going_straight_and_turning(poses):
    speed, _, _ = motion(poses)
    end = poses[:, -1]
    straight = (np.abs(end[:, 1]) < 1.0) & (np.abs(end[:, 2]) < 0.1)
    assert (speed[:, -1] < 0.1).sum() > 10
    assert straight.mean() > 0.1
    assert (straight & (end[:, 0] > 45)).any()
    assert (straight & (end[:, 0] < 5)).any()
    assert (end[:, 2] > 1.0).mean() > 0.02
    assert (end[:, 2] < -1.0).mean() > 0.02
    assert (speed[:, -1] - speed[:, 0] > 3).any()
    assert (speed[:, 0] - speed[:, -1] > 5).any()


def test_whatever_is_driven_has_a_row_close_by(poses, parts):
    asked = np.concatenate(parts)[::5]
    gaps = ((asked[:, None, 9::10, :2] - poses[None, :, 9::10, :2]) ** 2).sum(axis=3)
    nearest = np.sqrt(gaps.mean(axis=2).min(axis=1))
    assert np.median(nearest) < 0.6
    assert np.quantile(nearest, 0.95) < 1.6


def test_sampled_cars_keep_their_bounds():
    sample = sampled(stream(2, "vocabulary"), 4000)
    speed, turn, _ = motion(sample)
    assert speed.max() <= FASTEST_MPS + 1e-9
    # chords are shorter than the arcs the speed was driven on
    assert np.abs(turn).max() <= SHARPEST * FASTEST_MPS * 0.1
    assert np.abs(turn / 0.1 * speed).max() <= SIDEWAYS_MPS2 + 1e-6
    moving = speed > 0.5
    assert np.abs(turn[moving] / (speed[moving] * 0.1)).max() <= SHARPEST * 1.01


def test_the_same_seed_gives_the_same_rows(poses, parts):
    assert (build_vocabulary(7, SIZE, parts) == poses).all()
    assert (build_vocabulary(8, SIZE, parts) != poses).any()


@pytest.mark.parametrize("size", [0, 1, LARGEST + 1])
def test_odd_sizes_are_refused(size):
    with pytest.raises(BadInput, match=f"vocabulary size is {size}"):
        build_vocabulary(7, size, [])


@pytest.mark.parametrize("size", [2, 3, 7, 100])
def test_any_other_size_is_met(size):
    assert build_vocabulary(1, size, []).shape == (size, 40, 3)


@pytest.mark.slow
def test_the_largest_is_whole(parts):
    poses = build_vocabulary(7, LARGEST, parts)
    assert len(np.unique(poses.reshape(LARGEST, -1), axis=0)) == LARGEST
