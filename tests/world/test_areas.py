"""Areas near a point, against shapely; and which of equally near ones the stock sort puts first."""

import random

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.numerics.polygons import Polygons
from navaudit.world.areas import Areas, first_of_quicksort

whole = st.integers(-12, 12).map(float)


@st.composite
def shapes(draw):
    kind = draw(st.sampled_from(["star", "box", "holed", "two", "empty"]))
    x, y = draw(whole), draw(whole)
    if kind == "empty":
        return shapely.Polygon()
    if kind == "box":
        return shapely.box(x, y, x + 3, y + 2)
    if kind == "holed":
        return shapely.box(x, y, x + 6, y + 6) - shapely.box(x + 2, y + 2, x + 4, y + 4)
    if kind == "two":
        return shapely.MultiPolygon(
            [shapely.box(x, y, x + 1, y + 1), shapely.box(x + 3, y, x + 5, y + 2)]
        )
    angles = np.sort(
        np.array(draw(st.lists(st.floats(0, 6.2), min_size=4, max_size=9, unique=True)))
    )
    radius = np.array(draw(st.lists(st.floats(0.5, 5), min_size=len(angles), max_size=len(angles))))
    ring = np.stack([x + radius * np.cos(angles), y + radius * np.sin(angles)], -1)
    star = shapely.Polygon(ring)
    return star if star.is_valid and star.area > 1e-6 else shapely.box(x, y, x + 1, y + 1)


def areas_of(listed):
    return Areas(tuple(f"a{i}" for i in range(len(listed))), Polygons.of(listed))


@settings(deadline=None, max_examples=150)
@given(st.lists(shapes(), max_size=12), whole, whole, st.sampled_from([0.5, 1.0, 3.0, 10.0]))
def test_in_square_is_the_boxes_intersection(listed, x, y, half):
    square = shapely.box(x - half, y - half, x + half, y + half)
    expected = [i for i, shape in enumerate(listed) if shapely.intersects(shape, square)]
    assert areas_of(listed).in_square(x, y, half).tolist() == expected


@settings(deadline=None, max_examples=150)
@given(st.lists(shapes(), max_size=12), whole, whole)
def test_around_is_containment(listed, x, y):
    point = shapely.Point(x, y)
    expected = [i for i, shape in enumerate(listed) if shapely.contains(shape, point)]
    assert areas_of(listed).around(x, y).tolist() == expected


@settings(deadline=None, max_examples=150)
@given(st.lists(shapes(), min_size=1, max_size=12), whole, whole, st.data())
def test_nearest_has_the_smallest_distance(listed, x, y, data):
    first = data.draw(st.integers(0, len(listed) - 1))
    last = data.draw(st.integers(first + 1, len(listed)))
    distances = shapely.distance(listed, shapely.Point(x, y))
    areas = areas_of(listed)
    if np.isnan(distances[first:last]).all():
        with pytest.raises(BadInput, match="near to"):
            areas.nearest(x, y, first, last)
        return
    row, distance = areas.nearest(x, y, first, last)
    assert first <= row < last
    assert distance == distances[row] == np.nanmin(distances[first:last])
    # so few are sorted by insertion: the first of equals
    assert row == first + int(np.nanargmin(distances[first:last]))


# seed, length, number of different values, and what numpy.argsort(kind="quicksort")[0] of NumPy
# 1.23.4 gives for the list below
SORTED = [
    (0, 33, 9, 2), (1, 1000, 2, 0), (2, 64, 9, 0), (3, 257, 9, 76), (4, 19, 9, 12), (5, 18, 5, 15),
    (6, 40, 9, 39), (7, 33, 2, 32), (8, 257, 9, 165), (9, 1000, 5, 499), (10, 100, 2, 0),
    (11, 33, 2, 16), (12, 1000, 5, 705), (13, 18, 1, 0), (14, 25, 9, 0), (15, 18, 3, 0),
    (16, 18, 3, 15), (17, 257, 9, 192), (18, 100, 5, 78), (19, 100, 9, 0), (20, 257, 2, 0),
    (21, 64, 1, 0), (22, 18, 2, 0), (23, 257, 2, 84),
]  # fmt: skip


@pytest.mark.parametrize(("seed", "length", "values", "first"), SORTED)
def test_the_stock_sort_is_followed(seed, length, values, first):
    draw = random.Random(seed)
    listed = [float(draw.randrange(values)) for _ in range(length)]
    assert first_of_quicksort(np.array(listed)) == first


def test_the_stock_sort_is_not_just_the_first_minimum():
    differ = 0
    for seed, length, values, first in SORTED:
        draw = random.Random(seed)
        listed = [float(draw.randrange(values)) for _ in range(length)]
        differ += first != listed.index(min(listed))
    assert differ > 5


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=300))
def test_one_of_the_smallest_comes_first(values):
    assert values[first_of_quicksort(np.array(values))] == min(values)


@given(st.permutations(range(80)))
def test_without_ties_it_is_the_minimum(values):
    assert first_of_quicksort(np.array(values, dtype=float)) == values.index(0)


def test_ties_among_many_follow_the_sort():
    ring = [shapely.box(10 * i, 0, 10 * i + 5, 5) for i in range(40)]
    shared = ring[:20] + [shapely.box(-20, -20, -10, -10)] * 20
    areas = areas_of(shared)
    row, distance = areas.nearest(-10.0, -5.0)
    assert distance == 5.0
    distances = shapely.distance(shared, shapely.Point(-10, -5))
    assert row == first_of_quicksort(distances)
    assert row != int(np.argmin(distances))


def test_ids_and_polygons_go_together():
    with pytest.raises(BadInput, match="2 ids for 1 polygons"):
        Areas(("a", "b"), Polygons.of([shapely.box(0, 0, 1, 1)]))
