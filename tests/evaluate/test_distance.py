"""Distances to the human against shapely, and what they do not depend on."""

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.evaluate.distance import distances

seeds = st.integers(0, 2**32 - 1)


def drawn(seed, poses=8):
    random = np.random.default_rng(seed)
    steps = random.normal(size=(poses, 3))
    steps[:, 0] += 2.0
    return np.cumsum(steps, axis=0)


@settings(deadline=None)
@given(seeds)
def test_distances_are_those_of_the_definition(seed):
    plan, human = drawn(seed), drawn(seed + 1)
    between = [np.hypot(*(one[:2] - other[:2])) for one, other in zip(plan, human, strict=True)]
    path = shapely.LineString([(0.0, 0.0), *human[:, :2]])
    aside = max(path.distance(shapely.Point(pose[:2])) for pose in plan)
    expected = [np.mean(between), between[-1], aside]
    np.testing.assert_allclose(distances(plan, human), expected, rtol=0, atol=1e-12)


@settings(deadline=None)
@given(seeds)
def test_only_the_shared_times_of_a_fine_plan_are_read(seed):
    plan, human = drawn(seed, 40), drawn(seed + 1)
    assert np.array_equal(distances(plan, human), distances(plan[4::5], human))


@settings(deadline=None)
@given(seeds, st.floats(-3.0, 3.0))
def test_heading_and_orientation_do_not_matter(seed, turn):
    plan, human = drawn(seed), drawn(seed + 1)
    before = distances(plan, human)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    for poses in (plan, human):
        poses[:, :2] = poses[:, :2] @ rotation.T
        poses[:, 2] += turn
    np.testing.assert_allclose(distances(plan, human), before, rtol=0, atol=1e-9)


@settings(deadline=None)
@given(seeds)
def test_nobody_is_farther_from_a_path_than_from_its_points(seed):
    plan, human = drawn(seed), drawn(seed + 1)
    between = np.hypot(*(plan - human)[:, :2].T)
    assert distances(plan, human)[2] <= between.max() + 1e-12


def test_the_human_is_where_the_human_drove():
    human = drawn(5)
    assert distances(human, human).tolist() == [0.0, 0.0, 0.0]


def test_a_standing_human_has_a_path_too():
    plan = np.column_stack([np.arange(1.0, 9.0), np.zeros(8), np.zeros(8)])
    assert distances(plan, np.zeros((8, 3))).tolist() == [4.5, 8.0, 8.0]


@pytest.mark.parametrize("shape", [(16, 3), (8, 2), (0, 3)])
def test_other_samplings_are_refused(shape):
    with pytest.raises(BadInput, match="shape"):
        distances(np.zeros(shape), np.zeros((8, 3)))
