"""Boxes: vehicles that overlap, graze by an ulp, share corners or have no extent."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from navaudit.numerics.plane import (
    BOUNDARY,
    INSIDE,
    OUTSIDE,
    boxes_touch,
    point_in_box,
    segment_touches_box,
    touching_boxes,
    touching_segments_and_boxes,
)

CASES = 40_000
UTM = np.array([6.6e5, 4.7e6])


def corners(
    centre: npt.NDArray, heading: npt.NDArray, length: npt.NDArray, width: npt.NDArray
) -> npt.NDArray:
    """Return ``[box, corner, xy]`` from front left to front right, as vehicles are stored."""
    ahead = np.stack([np.cos(heading), np.sin(heading)], axis=-1) * (length / 2)[:, None]
    left = np.stack([-np.sin(heading), np.cos(heading)], axis=-1) * (width / 2)[:, None]
    sides = [ahead + left, left - ahead, -ahead - left, ahead - left]
    return np.stack([centre + side for side in sides], axis=1)


def vehicles(rng: np.random.Generator, origin: npt.NDArray, reach: float = 4.0) -> npt.NDArray:
    return corners(
        rng.uniform(-reach, reach, (CASES, 2)) + origin,
        rng.uniform(-np.pi, np.pi, CASES),
        rng.uniform(0.5, 12.0, CASES),
        rng.uniform(0.3, 3.0, CASES),
    )


def off_by_ulps(rng: np.random.Generator, xy: npt.NDArray) -> npt.NDArray:
    return xy + rng.integers(-2, 3, xy.shape) * np.spacing(np.abs(xy))


def grazing(rng: np.random.Generator, origin: npt.NDArray) -> tuple[npt.NDArray, npt.NDArray]:
    """Return pairs where a corner of the second lies on an edge of the first, give or take."""
    a, b = vehicles(rng, origin), vehicles(rng, origin)
    each = np.arange(CASES)
    i, k = rng.integers(0, 4, CASES), rng.integers(0, 4, CASES)
    along = rng.choice([0.0, 1.0, 0.5, 0.3, -0.1], CASES)[:, None]
    on_edge = a[each, i] + along * (a[each, (i + 1) % 4] - a[each, i])
    b += (on_edge - b[each, k])[:, None]
    b[each, k] = on_edge
    return a, np.where((each % 2 == 0)[:, None, None], b, off_by_ulps(rng, b))


def neighbours(rng: np.random.Generator, origin: npt.NDArray) -> tuple[npt.NDArray, npt.NDArray]:
    """Return pairs that share an edge line: one vehicle and its copy, one length or width on."""
    a = vehicles(rng, origin)
    step = np.where(rng.random(CASES)[:, None] < 0.5, a[:, 0] - a[:, 1], a[:, 0] - a[:, 3])
    b = a + step[:, None]
    return a, np.where(rng.random(CASES)[:, None, None] < 0.5, b, off_by_ulps(rng, b))


def geos_touch(a: npt.NDArray, b: npt.NDArray) -> npt.NDArray:
    first = shapely.polygons(a)
    shapely.prepare(first)
    return shapely.intersects(first, shapely.polygons(b))


def assert_like_geos(a: npt.NDArray, b: npt.NDArray) -> None:
    expected = geos_touch(a, b)
    assert 0.02 < expected.mean() < 0.98
    np.testing.assert_array_equal(touching_boxes(a, b), expected)
    np.testing.assert_array_equal(touching_boxes(b, a), expected)
    np.testing.assert_array_equal(touching_boxes(np.roll(a, 1, axis=1), b), expected)
    # away from a map, a tie may round otherwise for edges that run backwards, there as here
    backwards = b[:, ::-1]
    np.testing.assert_array_equal(touching_boxes(a, backwards), geos_touch(a, backwards))


@pytest.mark.parametrize("origin", [np.zeros(2), UTM], ids=["origin", "utm"])
@pytest.mark.parametrize("seed", [1, 2])
def test_vehicles_touch_as_in_geos(origin: npt.NDArray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert_like_geos(vehicles(rng, origin, 9.0), vehicles(rng, origin, 9.0))


@pytest.mark.parametrize("origin", [np.zeros(2), UTM], ids=["origin", "utm"])
@pytest.mark.parametrize("pairs", [grazing, neighbours])
def test_vehicles_that_graze_do_as_in_geos(pairs, origin: npt.NDArray) -> None:
    assert_like_geos(*pairs(np.random.default_rng(3), origin))


@pytest.mark.parametrize("length", [0.0, 1e-12, 4.0])
@pytest.mark.parametrize("width", [0.0, 1e-12, 1.0])
def test_vehicles_without_extent_touch_as_prepared_geos_says(length: float, width: float) -> None:
    rng = np.random.default_rng(4)
    a = vehicles(rng, UTM)
    each = np.arange(CASES)
    centre = off_by_ulps(rng, (a[each, each % 4] + a[each, (each + 1) % 4]) / 2)
    heading = rng.choice([0.0, np.pi / 2, 0.7, 2.0], CASES)
    b = corners(centre, heading, np.full(CASES, length), np.full(CASES, width))
    expected = geos_touch(a, b)
    assert expected.any()
    np.testing.assert_array_equal(touching_boxes(a, b), expected)
    np.testing.assert_array_equal(touching_boxes(b, a), expected)
    bumpers = a[:, [0, 3]]
    prepared = shapely.linestrings(bumpers)
    shapely.prepare(prepared)
    np.testing.assert_array_equal(
        touching_segments_and_boxes(bumpers, b), shapely.intersects(prepared, shapely.polygons(b))
    )


def bumper_cases(origin: npt.NDArray) -> tuple[npt.NDArray, npt.NDArray]:
    """Return front edges ``[case, end, xy]`` of vehicles and the vehicles they graze."""
    boxes, others = grazing(np.random.default_rng(5), origin)
    more_boxes, more_others = neighbours(np.random.default_rng(6), origin)
    bumpers = np.concatenate([others, more_others])[:, [0, 3]]
    return bumpers, np.concatenate([boxes, more_boxes])


@pytest.mark.parametrize("origin", [np.zeros(2), UTM], ids=["origin", "utm"])
def test_bumpers_touch_vehicles_as_in_geos(origin: npt.NDArray) -> None:
    bumpers, boxes = bumper_cases(origin)
    prepared = shapely.linestrings(bumpers)
    shapely.prepare(prepared)
    expected = shapely.intersects(prepared, shapely.polygons(boxes))
    assert 0.02 < expected.mean() < 0.98
    np.testing.assert_array_equal(touching_segments_and_boxes(bumpers, boxes), expected)


def test_bumpers_on_a_map_touch_vehicles_as_in_unprepared_geos() -> None:
    """The stock scorer asks this way; at the origin, GEOS 3.14 and 3.11 differ on one in 1e5."""
    bumpers, boxes = bumper_cases(UTM)
    expected = shapely.intersects(shapely.linestrings(bumpers), shapely.polygons(boxes))
    np.testing.assert_array_equal(touching_segments_and_boxes(bumpers, boxes), expected)


def is_spike_called_rectangle(boxes: npt.NDArray) -> npt.NDArray:
    """Tell the folded corners ``a b c b`` along the axes, which GEOS takes for full rectangles."""
    shapes = shapely.polygons(boxes)
    low, high = boxes.min(axis=1, keepdims=True), boxes.max(axis=1, keepdims=True)
    at_corner = ((boxes == low) | (boxes == high)).all(axis=(1, 2))
    return at_corner & (shapely.area(shapes) == 0.0) & (low != high).all(axis=(1, 2))


@pytest.mark.parametrize("step", [1.0, 2.0**-30])
def test_four_corners_of_any_shape_touch_as_in_geos(step: float) -> None:
    """Crossed, folded and collapsed boxes on a small grid; all kinds of ties occur."""
    rng = np.random.default_rng(7)
    a, b = (rng.integers(0, 6, (CASES, 4, 2)) * step + UTM for _ in range(2))
    a += np.where(rng.random(CASES) < 0.5, 3.0 * step, 0.0)[:, None, None]
    plain = ~(is_spike_called_rectangle(a) | is_spike_called_rectangle(b))
    assert 0.9 < plain.mean() < 1.0
    a, b = a[plain], b[plain]
    expected = geos_touch(a, b)
    assert 0.02 < expected.mean() < 0.98
    np.testing.assert_array_equal(touching_boxes(a, b), expected)


def test_point_in_box_tells_boundary_from_inside() -> None:
    square = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]])
    assert point_in_box(1.0, 1.0, square) == INSIDE
    assert point_in_box(2.0, 1.0, square) == BOUNDARY
    assert point_in_box(0.0, 0.0, square) == BOUNDARY
    assert point_in_box(np.nextafter(2.0, 3.0), 1.0, square) == OUTSIDE


grid = st.integers(-8, 8).map(lambda k: k / 4)
vertex = st.tuples(grid, grid)
quadrilateral = st.tuples(vertex, vertex, vertex, vertex).map(np.array)


@settings(deadline=None, max_examples=400)
@given(quadrilateral, quadrilateral, vertex, vertex, st.integers(0, 3))
def test_touching_is_symmetric_and_blind_to_order_and_place(
    a: npt.NDArray, b: npt.NDArray, p: tuple, q: tuple, turn: int
) -> None:
    touches = boxes_touch(a, b)
    assert touches == boxes_touch(b, a)
    assert touches == boxes_touch(np.roll(a, turn, axis=0), np.ascontiguousarray(b[::-1]))
    assert touches == boxes_touch(a + UTM, b + UTM)
    meets = segment_touches_box(*p, *q, a)
    assert meets == segment_touches_box(*q, *p, np.roll(a, turn, axis=0))
    assume(not is_spike_called_rectangle(np.array([a, b])).any())
    assert touches == geos_touch(a[None], b[None])[0]
