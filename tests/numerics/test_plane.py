"""Orientation and segments: exact where coordinates allow, and always the answer of GEOS."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.numerics.plane import (
    orientation,
    orientations,
    segments_touch,
    touching_boxes,
    touching_segments,
)

UTM = np.array([6.6e5, 4.7e6])
CASES = 60_000


def exact_terms(a: tuple, b: tuple, p: tuple) -> tuple[Fraction, Fraction]:
    """Return the two products whose difference tells the side, without rounding."""
    (ax, ay), (bx, by), (px, py) = ((Fraction(v[0]), Fraction(v[1])) for v in (a, b, p))
    return (bx - ax) * (py - ay), (by - ay) * (px - ax)


def exact_side(a: tuple, b: tuple, p: tuple) -> int:
    left, right = exact_terms(a, b, p)
    return (left > right) - (left < right)


def nudged(rng: np.random.Generator, xy: npt.NDArray, ulps: int = 2) -> npt.NDArray:
    """Move every coordinate but zero by up to a few units in the last place."""
    steps = np.where(xy == 0.0, 0, rng.integers(-ulps, ulps + 1, xy.shape))
    for k in range(1, ulps + 1):
        xy = np.where(steps >= k, np.nextafter(xy, np.inf), xy)
        xy = np.where(steps <= -k, np.nextafter(xy, -np.inf), xy)
    return xy


def drawn(kind: str, rng: np.random.Generator, *shape: int) -> npt.NDArray:
    """Draw points ``[*shape, xy]`` of one kind of world."""
    if kind == "plain":
        return rng.uniform(-10.0, 10.0, (*shape, 2))
    if kind == "utm":
        return rng.uniform(-10.0, 10.0, (*shape, 2)) + UTM
    if kind == "grid":
        return rng.integers(0, 4, (*shape, 2)).astype(float)
    if kind == "last bits":
        return rng.integers(0, 6, (*shape, 2)) * 2.0**-30 + UTM
    if kind == "huge and tiny":
        return rng.choice([-1.0, 0.0, 1.0, 3.0], (*shape, 2)) * 10.0 ** rng.integers(
            -9, 10, (*shape, 2)
        )
    # differences are not representable, so the twofold arithmetic itself rounds
    return rng.uniform(-1.0, 1.0, (*shape, 2)) * 10.0 ** rng.integers(-30, 30, (*shape, 2))


KINDS = ["plain", "utm", "grid", "last bits", "huge and tiny", "all scales"]


def near_ties(kind: str, rng: np.random.Generator) -> tuple[npt.NDArray, npt.NDArray]:
    """Return segments ``[case, end, xy]`` where the second starts on or just off the first."""
    a = drawn(kind, rng, CASES, 2)
    b = drawn(kind, rng, CASES, 2)
    along = rng.choice([0.0, 0.25, 0.5, 1.0, -0.5, 1 / 3, 0.1], (CASES, 1))
    b[:, 0] = nudged(rng, a[:, 0] + along * (a[:, 1] - a[:, 0]))
    collinear = rng.random(CASES) < 0.2
    b[collinear, 1] = (2.0 * b[:, 0] - a[:, 0])[collinear]
    return a, b


def geos_touch(a: npt.NDArray, b: npt.NDArray) -> npt.NDArray:
    """Ask prepared linestrings, which know what to do with segments without length."""
    first = shapely.linestrings(a)
    shapely.prepare(first)
    return shapely.intersects(first, shapely.linestrings(b))


@pytest.mark.parametrize("kind", KINDS)
def test_segments_touch_as_in_geos(kind: str) -> None:
    rng = np.random.default_rng(5)
    a, b = drawn(kind, rng, CASES, 2), drawn(kind, rng, CASES, 2)
    expected = geos_touch(a, b)
    assert 0.02 < expected.mean() < 0.98
    np.testing.assert_array_equal(touching_segments(a, b), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_segments_that_just_touch_or_just_miss_do_as_in_geos(kind: str) -> None:
    a, b = near_ties(kind, np.random.default_rng(6))
    expected = geos_touch(a, b)
    assert 0.02 < expected.mean() < 0.98
    np.testing.assert_array_equal(touching_segments(a, b), expected)
    np.testing.assert_array_equal(touching_segments(b, a), expected)
    # not the same as `expected` at all scales: twofold arithmetic may round either way
    turned = a[:, ::-1]
    np.testing.assert_array_equal(touching_segments(turned, b), geos_touch(turned, b))


def near_collinear(kind: str) -> tuple[npt.NDArray, list[tuple[tuple, tuple, tuple]]]:
    """Return orientations and the points they are of."""
    a, b = near_ties(kind, np.random.default_rng(7))
    a, b = a[:3000], b[:3000]
    triples = zip(a[:, 0], a[:, 1], b[:, 0], strict=True)
    return orientations(a[:, 0], a[:, 1], b[:, 0]), [tuple(map(tuple, t)) for t in triples]


@pytest.mark.parametrize("kind", ["utm", "last bits"])
def test_orientation_on_a_map_is_exact(kind: str) -> None:
    sides, triples = near_collinear(kind)
    expected = [exact_side(*triple) for triple in triples]
    assert set(expected) == {-1, 0, 1}
    np.testing.assert_array_equal(sides, expected)


@pytest.mark.parametrize("kind", ["plain", "grid", "huge and tiny", "all scales"])
def test_orientation_elsewhere_errs_only_by_the_rounding_of_twofold_numbers(kind: str) -> None:
    sides, triples = near_collinear(kind)
    for side, triple in zip(sides, triples, strict=True):
        left, right = exact_terms(*triple)
        if abs(left - right) > (abs(left) + abs(right)) / 2**98:
            assert side == exact_side(*triple)


def test_a_point_one_ulp_off_a_long_edge_is_seen() -> None:
    half = np.array([500.0, 250.0])
    a, middle, b = UTM, UTM + half, UTM + 2 * half
    above = np.array([middle[0], np.nextafter(middle[1], np.inf)])
    np.testing.assert_array_equal(
        orientations(a, b, [middle, above, 2 * middle - above]), [0, 1, -1]
    )


map_numbers = st.integers(-(2**20), 2**20).map(lambda k: k * 2.0**-10)
map_points = st.tuples(map_numbers, map_numbers)
few_points = st.tuples(st.integers(-2, 2).map(float), st.integers(-2, 2).map(float))
points = map_points | few_points


@settings(deadline=None, max_examples=300)
@given(points, points, points)
def test_orientation_is_exact_antisymmetric_and_cyclic(a: tuple, b: tuple, p: tuple) -> None:
    side = orientation(*a, *b, *p)
    assert side == exact_side(a, b, p)
    assert side == -orientation(*b, *a, *p) == orientation(*p, *a, *b)
    moved = [(x + 2.0**19, y - 2.0**22) for x, y in (a, b, p)]
    assert side == orientation(*moved[0], *moved[1], *moved[2])


@settings(deadline=None, max_examples=300)
@given(points, points, points, points)
def test_segments_touch_whatever_their_order(a: tuple, b: tuple, c: tuple, d: tuple) -> None:
    expected = geos_touch(np.array([a, b]), np.array([c, d]))
    for s, t in (((a, b), (c, d)), ((b, a), (c, d)), ((c, d), (b, a)), ((d, c), (a, b))):
        assert segments_touch(*s[0], *s[1], *t[0], *t[1]) == expected


def test_doors_broadcast() -> None:
    assert orientations([0, 0], [1, 0], np.ones((3, 4, 2))).shape == (3, 4)
    assert touching_segments(np.zeros((5, 1, 2, 2)), np.zeros((3, 2, 2))).shape == (5, 3)
    assert touching_boxes(np.zeros((0, 4, 2)), np.zeros((1, 4, 2))).shape == (0,)


def test_doors_refuse_other_shapes_and_non_finite_coordinates() -> None:
    with pytest.raises(BadInput, match=r"points has shape \(3,\)"):
        orientations([0, 0], [1, 0], [1, 2, 3])
    with pytest.raises(BadInput, match=r"a holds nan") as caught:
        touching_segments([[0, 0], [0, np.nan]], [[0, 0], [1, 1]])
    assert caught.value.where == "a[1, 1]"
