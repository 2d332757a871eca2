"""Links, baselines, and lookups by id."""

import math

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.numerics.polygons import Polygons
from navaudit.world.network import Blocks, Links, Poses, Ways
from navaudit.world.trigonometry import HOUSE

lists = st.lists(st.lists(st.integers(0, 50), max_size=5), max_size=12)
points = st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3))
lines = st.lists(points, min_size=2, max_size=8).map(np.array)


@given(lists)
def test_links_are_the_lists(given_lists):
    links = Links.of(given_lists)
    assert [links[i].tolist() for i in range(len(links))] == given_lists
    assert not links.row.flags.writeable
    for outside in (-1, len(given_lists)):
        with pytest.raises(IndexError):
            links[outside]


@settings(deadline=None)
@given(st.lists(st.one_of(lines, st.just(np.empty((0, 2)))), max_size=6))
def test_headings_point_at_the_next_vertex(drawn):
    poses = Poses.along(drawn)
    assert len(poses) == len(drawn)
    for i, line in enumerate(drawn):
        length = shapely.LineString(line).length if len(line) else 0.0
        assert poses.length_m[i] == length
        if not length > 0.0:
            with pytest.raises(BadInput, match=f"row {i} has {len(line)} vertices"):
                poses[i]
            continue
        np.testing.assert_array_equal(poses[i][:, :2], line)
        steps = np.diff(line, axis=0)
        expected = [math.atan2(y, x) for x, y in steps]
        np.testing.assert_array_equal(poses[i][:, 2], [*expected, expected[-1]])


@settings(deadline=None)
@given(lines, st.floats(-1e3, 1e3), st.floats(-1e3, 1e3))
def test_nearest_vertex(line, x, y):
    poses = Poses.along([np.array([[9.0, 9.0], [8.0, 8.0]]), line], HOUSE)
    if not poses.length_m[1] > 0.0:
        return
    # the stock expression
    distances = ((line - np.array([[x, y]])) ** 2.0).sum(axis=-1) ** 0.5
    vertex, distance = poses.nearest_vertex(1, x, y)
    assert vertex == np.argmin(distances)
    assert distance == distances[vertex]


def square(x):
    return shapely.box(x, 0, x + 1, 1)


def test_ids_may_recur_between_lanes_and_connectors():
    ways = Ways(
        id=("7", "8", "7"),
        polygons=Polygons.of([square(0), square(1), square(2)]),
        first_connector=2,
        baseline=Poses.along([np.array([[0.0, 0.0], [1.0, 0.0]])] * 3),
        speed_limit_mps=[10.0, np.nan, 5.0],
        block=[0, 0, -1],
        after=Links.of([[2], [], [1]]),
        before=Links.of([[], [2], [0]]),
    )
    assert ways.row[False, "7"] == 0
    assert ways.connector("7") == 2
    assert ways.connector("8") is None
    assert not ways.block.flags.writeable
    blocks = Blocks(
        id=("1", "2", "1", "3"),
        polygons=Polygons.of([square(i) for i in range(4)]),
        first_connector=2,
        ways=Links.of([[]] * 4),
        after=Links.of([[]] * 4),
        before=Links.of([[]] * 4),
    )
    # a roadblock wins over a roadblock connector of the same id, as in the stock route
    assert [blocks.find(key) for key in ("1", "2", "3", "4")] == [0, 1, 3, None]
    assert blocks.in_square(2.0, 0.5, 0.25).tolist() == [1, 2]
