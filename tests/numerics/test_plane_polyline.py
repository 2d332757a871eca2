"""Distance to a line and length along it: equal to GEOS to the last bit."""

from __future__ import annotations

import platform

import numpy as np
import numpy.typing as npt
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.numerics.polyline import (
    distance_to_polyline,
    distances_to_polyline,
    farther_than,
    length_along,
    lengths_along,
    vertex_measures,
)

UTM = np.array([6.6e5, 4.7e6])
# GEOS 3.11 divides by the length of segments that have none, and goes on with the NaN
pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")

FUSES = platform.machine() not in ("x86_64", "AMD64")
"""Whether the GEOS of this machine may have been compiled to fused multiply-adds."""


def assert_same_bits(actual: npt.NDArray, desired: npt.NDArray) -> None:
    if FUSES:
        np.testing.assert_allclose(actual, desired, rtol=1e-12, atol=1e-9)
    else:
        np.testing.assert_array_equal(actual, desired)


def road(rng: np.random.Generator, kind: str) -> npt.NDArray:
    """Draw a line ``[vertex, xy]`` of about sixty vertices."""
    if kind == "lane":
        heading = np.cumsum(rng.normal(0.0, 0.1, 60))
        step = rng.uniform(0.2, 2.0, 60)[:, None]
        return UTM + np.cumsum(step * np.stack([np.cos(heading), np.sin(heading)], -1), axis=0)
    if kind == "joined lanes":
        # a centreline is a concatenation of baselines, so joints are repeated points
        return np.repeat(road(rng, "lane"), rng.choice([1, 1, 1, 2, 3], 60), axis=0)
    if kind == "grid":
        return rng.integers(0, 6, (60, 2)).astype(float)
    if kind == "last bits":
        return rng.integers(0, 6, (60, 2)) * 2.0**-30 + UTM
    if kind == "huge and tiny":
        return rng.uniform(-1.0, 1.0, (60, 2)) * 10.0 ** rng.integers(-9, 10, (60, 1))
    return np.cumsum(rng.normal(size=(60, 2)), axis=0)


KINDS = ["lane", "joined lanes", "grid", "last bits", "huge and tiny", "wandering"]


def awkward_points(rng: np.random.Generator, line: npt.NDArray, count: int) -> npt.NDArray:
    """Return points near the line, on it, at equal distance of two segments, and an ulp off."""
    k = rng.integers(0, len(line) - 1, count)
    j = rng.integers(0, len(line) - 1, count)
    start, step = line[k], line[k + 1] - line[k]
    along = rng.choice([0.0, 1.0, 0.5, 1 / 3, -0.2, 1.1], (count, 1))
    across = np.stack([-step[:, 1], step[:, 0]], -1)
    on_line = start + along * step
    beside = on_line + rng.choice([-1.0, 0.5, 0.01], (count, 1)) * across
    between = (line[k] + line[j]) / 2
    near = on_line + rng.normal(size=(count, 2)) * 3.0
    exact = np.concatenate([on_line, beside, between, near])
    steps = rng.integers(-2, 3, exact.shape)
    return np.concatenate([exact, exact + steps * np.spacing(np.abs(exact))])


@pytest.mark.parametrize("kind", KINDS)
def test_distance_and_length_are_those_of_geos(kind: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        line = road(rng, kind)
        points = awkward_points(rng, line, 500)
        shape, dots = shapely.LineString(line), shapely.points(points)
        assert_same_bits(distances_to_polyline(points, line), shapely.distance(dots, shape))
        assert_same_bits(lengths_along(points, line), shapely.line_locate_point(shape, dots))


@pytest.mark.parametrize("kind", KINDS)
def test_farther_than_is_the_comparison_with_the_distance(kind: str) -> None:
    rng = np.random.default_rng(2)
    line = road(rng, kind)
    last = len(line) - 1
    for x, y in awkward_points(rng, line, 60):
        distance = distance_to_polyline(x, y, line, 0, last)
        for limit in (0.5, distance, np.nextafter(distance, np.inf), np.nextafter(distance, -1)):
            assert farther_than(limit, x, y, line, 0, last) == (distance > limit)


def test_segments_far_away_are_passed_over_without_changing_a_bit() -> None:
    """Long thin zigzags, where the bounds of a segment say least about its distance."""
    rng = np.random.default_rng(3)
    for scale in (1e-6, 1.0, 1e6):
        line = np.stack([rng.uniform(-1, 1, 200) * scale, np.linspace(0, 1e-7, 200) * scale], -1)
        points = rng.uniform(-1, 1, (4000, 2)) * scale * [1.0, 1e-7]
        shape, dots = shapely.LineString(line), shapely.points(points)
        assert_same_bits(distances_to_polyline(points, line), shapely.distance(dots, shape))
        assert_same_bits(lengths_along(points, line), shapely.line_locate_point(shape, dots))


def test_the_first_of_equally_near_segments_wins() -> None:
    line = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0], [0.0, 0.0]])
    assert lengths_along([2.0, 2.0], line) == 2.0
    assert lengths_along([0.0, 0.0], line) == 0.0
    assert lengths_along([2.0, 2.0], line[::-1]) == 2.0


def test_a_line_without_length_is_a_point() -> None:
    line = np.array([[1.0, 2.0], [1.0, 2.0]])
    np.testing.assert_array_equal(distances_to_polyline([[4.0, 6.0], [1.0, 2.0]], line), [5.0, 0.0])
    np.testing.assert_array_equal(lengths_along([[4.0, 6.0], [1.0, 2.0]], line), [0.0, 0.0])


def test_a_range_of_segments_is_a_shorter_line_with_the_same_measures() -> None:
    rng = np.random.default_rng(4)
    line = road(rng, "wandering")
    measures = vertex_measures(line)
    part = shapely.LineString(line[10:31])
    for x, y in awkward_points(rng, line[10:31], 50):
        dot = shapely.Point(x, y)
        np.testing.assert_allclose(
            length_along(x, y, line, measures, 10, 30) - measures[10],
            shapely.line_locate_point(part, dot),
            rtol=0,
            atol=1e-12,
        )
        assert_same_bits(
            np.array(distance_to_polyline(x, y, line, 10, 30)), shapely.distance(part, dot)
        )
    assert distance_to_polyline(0.0, 0.0, line, 5, 5) == np.inf
    assert length_along(0.0, 0.0, line, measures, 5, 5) == -1.0


numbers = st.integers(-(2**16), 2**16).map(lambda k: k * 2.0**-6) | st.integers(-2, 2).map(float)
vertices = st.tuples(numbers, numbers)


@settings(deadline=None, max_examples=300)
@given(st.lists(vertices, min_size=2, max_size=6), vertices, st.sampled_from([0.0, 1.0]))
def test_any_line_and_point_agree_with_geos(line: list, point: tuple, far: float) -> None:
    xy, p = np.array(line) + far * UTM, np.array(point) + far * UTM
    shape, dot = shapely.LineString(xy), shapely.Point(p)
    distance = distances_to_polyline(p, xy)
    assert_same_bits(distance, np.array(shapely.distance(shape, dot)))
    assert_same_bits(lengths_along(p, xy), np.array(shapely.line_locate_point(shape, dot)))
    # the same segments backwards, the same point; the foot may round elsewhere
    backwards = distances_to_polyline(p, xy[::-1])
    np.testing.assert_allclose(backwards, distance, rtol=1e-9, atol=1e-9)


def test_doors_keep_the_shape_of_points() -> None:
    line = [[0, 0], [1, 0]]
    assert distances_to_polyline(np.zeros((3, 4, 2)), line).shape == (3, 4)
    assert lengths_along(np.zeros((0, 2)), line).shape == (0,)
    assert distances_to_polyline([1, 1], line).shape == ()


@pytest.mark.parametrize(
    ("points", "line", "message"),
    [
        ([[0, 0, 0]], [[0, 0], [1, 0]], "points has shape"),
        ([[0, np.nan]], [[0, 0], [1, 0]], "points holds nan"),
        ([[0, 0]], [[0, 0]], "line has shape"),
        ([[0, 0]], [[[0, 0], [1, 0]]], "line has shape"),
        ([[0, 0]], [[0, 0], [-np.inf, 0]], "line holds -inf"),
    ],
)
def test_doors_refuse_what_is_not_a_line(points: list, line: list, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        distances_to_polyline(points, line)
    with pytest.raises(BadInput, match=message):
        lengths_along(points, line)
