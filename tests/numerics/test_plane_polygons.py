"""Packed polygons: holes, parts, shared vertices, and points a hair from the boundary."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from navaudit.errors import BadInput
from navaudit.numerics.plane import BOUNDARY, INSIDE, OUTSIDE, point_in_rings, rings_touch
from navaudit.numerics.polygons import Polygons

UTM = np.array([6.6e5, 4.7e6])
EAST, LANE = np.array([20.0, 0.0]), np.array([0.0, 3.5])
ORIGINS = pytest.mark.parametrize("origin", [np.zeros(2), UTM], ids=["origin", "utm"])


def star(rng: np.random.Generator, centre: npt.NDArray, radius: float, arms: int) -> npt.NDArray:
    """Return the open ring of a star-shaped polygon, neither convex nor regular."""
    turn = np.sort(rng.uniform(0.0, 2 * np.pi, arms))
    reach = radius * rng.uniform(0.3, 1.0, arms)
    return centre + reach[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=-1)


def town(rng: np.random.Generator, origin: npt.NDArray, count: int = 24) -> list[shapely.Geometry]:
    """Draw stars, rings with holes, pairs of parts, lanes side by side, and broken polygons."""
    shapes: list[shapely.Geometry] = []
    for k in range(count):
        centre = origin + rng.uniform(-8.0, 8.0, 2)
        ring = star(rng, centre, 6.0, int(rng.integers(3, 30)))
        if k % 6 == 0:
            shapes.append(shapely.Polygon(ring))
        elif k % 6 == 1:
            around = centre + 7.0 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
            shapes.append(shapely.Polygon(around, [ring, around[0] + 0.01 * (around - centre + 8)]))
        elif k % 6 == 2:
            shapes.append(shapely.MultiPolygon([[ring, []], [ring + EAST, []]]))
        elif k % 6 == 3:
            edge = np.stack([np.linspace(-9, 9, 10), rng.uniform(-1, 1, 10)], axis=-1) + centre
            shapes.append(shapely.Polygon(np.concatenate([edge, edge[::-1] + LANE])))
            shapes.append(shapely.Polygon(np.concatenate([edge, edge[::-1] - LANE])))
        elif k % 6 == 4:
            shapes.append(shapely.Polygon(rng.permutation(ring)))
        else:
            repeated = np.repeat(ring, rng.integers(1, 3, len(ring)), axis=0)
            shapes.append(shapely.Polygon(repeated[::-1]))
    return shapes


def awkward_points(
    rng: np.random.Generator, polygons: Polygons, origin: npt.NDArray, count: int
) -> npt.NDArray:
    """Return points in the open, on vertices, level with vertices, on edges, and an ulp off."""
    vertices = polygons.xy[rng.integers(0, len(polygons.xy) - 1, count)]
    others = polygons.xy[rng.integers(0, len(polygons.xy) - 1, count)]
    k = rng.integers(0, len(polygons.xy) - 1, count)
    along = rng.choice([0.5, 0.25, 1 / 3, 0.9], (count, 1))
    on_edge = polygons.xy[k] + along * (polygons.xy[k + 1] - polygons.xy[k])
    level = np.stack([others[:, 0], vertices[:, 1]], axis=-1)
    exact = np.concatenate([vertices, on_edge, level])
    steps = rng.integers(-2, 3, exact.shape)
    inexact = exact + steps * np.spacing(np.abs(exact))
    return np.concatenate([origin + rng.uniform(-16, 16, (count, 2)), exact, inexact])


def prepared(shapes: list[shapely.Geometry]) -> npt.NDArray:
    copies = np.array(shapes, dtype=object)
    shapely.prepare(copies)
    return copies


@ORIGINS
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_points_lie_where_geos_says(origin: npt.NDArray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    shapes = town(rng, origin)
    polygons = Polygons.of(shapes)
    points = awkward_points(rng, polygons, origin, 1000)
    places = polygons.locate(points)
    assert set(np.unique(places)) == {OUTSIDE, BOUNDARY, INSIDE}
    x, y = points.T
    inside = shapely.contains_xy(prepared(shapes)[:, None], x, y)
    met = shapely.intersects_xy(prepared(shapes)[:, None], x, y)
    assert_array_equal(polygons.contain(points), inside)
    assert_array_equal(places, np.where(inside, INSIDE, np.where(met, BOUNDARY, OUTSIDE)))


@pytest.mark.parametrize("step", [1.0, 2.0**-30])
def test_points_of_a_grid_lie_where_geos_says(step: float) -> None:
    """Rings through grid points only: every point is level with vertices and most are ties."""
    rng = np.random.default_rng(4)
    shapes = [
        shapely.Polygon(rng.integers(0, 7, (rng.integers(3, 9), 2)) * step + UTM)
        for _ in range(2000)
    ]
    points = np.stack(np.meshgrid(range(-1, 8), range(-1, 8)), axis=-1).reshape(-1, 2) * step + UTM
    x, y = points.T
    inside = shapely.contains_xy(prepared(shapes)[:, None], x, y)
    met = shapely.intersects_xy(prepared(shapes)[:, None], x, y)
    spike = shapely.area(shapes) == 0.0  # GEOS takes some of these for full rectangles
    expected = np.where(inside, INSIDE, np.where(met, BOUNDARY, OUTSIDE))
    assert_array_equal(Polygons.of(shapes).locate(points)[~spike], expected[~spike])


@ORIGINS
def test_polygons_touch_as_in_geos(origin: npt.NDArray) -> None:
    shapes = town(np.random.default_rng(5), origin, 90)
    # fillings of holes, and triangles that share vertices with what they are cut from
    shapes += [
        shapely.Polygon(hole) for shape in shapes[1::7] for hole in getattr(shape, "interiors", [])
    ]
    shapes += [shapely.Polygon(shapely.get_coordinates(shape)[:3]) for shape in shapes[::6]]
    expected = shapely.intersects(prepared(shapes)[:, None], np.array(shapes)[None, :])
    polygons = Polygons.of(shapes)
    assert 0.1 < expected.mean() < 0.99
    assert_array_equal(polygons.touch(polygons), expected)


@ORIGINS
def test_boxes_and_segments_touch_polygons_as_in_geos(origin: npt.NDArray) -> None:
    rng = np.random.default_rng(6)
    shapes = town(rng, origin)
    polygons = Polygons.of(shapes)
    points = awkward_points(rng, polygons, origin, 250)
    heading = rng.uniform(-np.pi, np.pi, len(points))
    ahead = np.stack([np.cos(heading), np.sin(heading)], axis=-1) * rng.uniform(
        0, 3, (len(points), 1)
    )
    left = np.stack([-np.sin(heading), np.cos(heading)], axis=-1)
    # the front left corner is the awkward one
    boxes = np.stack([points, points - ahead, points - ahead - left, points - left], axis=1)
    expected = shapely.intersects(prepared(shapes)[:, None], shapely.polygons(boxes))
    assert 0.02 < expected.mean() < 0.98
    assert_array_equal(polygons.touch_boxes(boxes), expected)
    segments = boxes[:, [0, 3]]
    expected = shapely.intersects(prepared(shapes)[:, None], shapely.linestrings(segments))
    assert 0.02 < expected.mean() < 0.98
    assert_array_equal(polygons.touch_segments(segments), expected)


def test_a_polygon_in_a_hole_touches_only_when_it_reaches_the_rim() -> None:
    block = shapely.box(0, 0, 10, 10).difference(shapely.box(4, 4, 6, 6))
    inner = [
        shapely.box(4.5, 4.5, 5.5, 5.5),
        shapely.box(4.5, 4.5, 6, 5.5),
        shapely.box(4, 4, 6, 6),
    ]
    touched = Polygons.of([block]).touch(Polygons.of(inner))
    assert_array_equal(touched, [[False, True, True]])
    boxes = np.array([shapely.get_coordinates(shape)[:4] for shape in inner])
    assert_array_equal(Polygons.of([block]).touch_boxes(boxes), touched)
    assert_array_equal(Polygons.of(inner).contain([5.0, 5.0]), [True, True, True])
    assert_array_equal(
        Polygons.of([block]).contain([[5.0, 5.0], [4.0, 5.0], [3.0, 5.0]]), [[0, 0, 1]]
    )


def test_polygons_that_share_one_vertex_touch() -> None:
    a, b = shapely.box(0, 0, 1, 1), shapely.box(1, 1, 2, 2)
    off = shapely.box(np.nextafter(1.0, 2.0), 1, 2, 2)
    assert_array_equal(Polygons.of([a]).touch(Polygons.of([b, off])), [[True, False]])


# ------------------------------------------------------------------------------------- packing


def test_packing_keeps_every_bit_and_the_order_of_vertices() -> None:
    shapes = town(np.random.default_rng(7), UTM)
    back = Polygons.of(shapes).shapes()
    assert [shape.wkb for shape in back] == [shape.wkb for shape in shapes]


def test_polygons_may_be_empty_and_sets_too() -> None:
    square = shapely.box(0, 0, 1, 1)
    polygons = Polygons.of([shapely.Polygon(), square, shapely.MultiPolygon(), square])
    assert len(polygons) == 4
    assert [shape.is_empty for shape in polygons.shapes()] == [True, False, True, False]
    assert_array_equal(polygons.contain([0.5, 0.5]), [False, True, False, True])
    assert_array_equal(polygons.touch(polygons)[0], [False] * 4)
    assert_array_equal(polygons.bounds[1], [0, 0, 1, 1])
    assert polygons.bounds[0, 0] == np.inf
    nothing = Polygons.of([])
    assert len(nothing) == 0
    assert nothing.shapes() == []
    assert nothing.contain(np.zeros((3, 2))).shape == (0, 3)
    assert polygons.touch(nothing).shape == (4, 0)
    assert len(nothing.take([])) == 0


def test_take_picks_repeats_and_reorders() -> None:
    shapes = [*town(np.random.default_rng(8), UTM), shapely.Polygon()]
    wanted = [5, -1, 0, 0, 2, 1]
    taken = Polygons.of(shapes).take(wanted)
    assert [s.wkb for s in taken.shapes()] == [shapes[i].wkb for i in wanted]
    assert_array_equal(taken.bounds, Polygons.of(shapes).bounds[wanted])
    with pytest.raises(BadInput, match="polygons 0 to 99 are asked for"):
        taken.take([0, 99])


def test_arrays_are_read_only_copies() -> None:
    xy = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]])
    polygons = Polygons(xy, np.array([0, 4]), np.array([0, 1]), np.array([False]))
    xy[0] = 9.0
    assert polygons.xy[0, 0] == 0.0
    for array in (polygons.xy, polygons.ring_start, polygons.polygon_ring, polygons.bounds):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"xy": np.zeros((4, 3))}, "xy has shape"),
        ({"xy": np.array([[0, 0], [1, 0], [np.inf, 1], [0, 0]])}, "xy holds inf"),
        ({"xy": np.array([[0, 0], [1, 0], [1, 1], [0, 1]])}, "a ring runs from"),
        ({"ring_start": np.array([0, 3])}, r"ring_start is \[0 3\]"),
        ({"ring_start": np.array([0, 4, 4]), "polygon_ring": np.array([0, 2])}, "ring_is_hole has"),
        ({"polygon_ring": np.array([1, 1])}, r"polygon_ring is \[1 1\]"),
        ({"ring_is_hole": np.array([False, True])}, "ring_is_hole has shape"),
    ],
)
def test_fields_that_contradict_each_other_are_refused(changed: dict, message: str) -> None:
    fields = {
        "xy": np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 0.0]]),
        "ring_start": np.array([0, 4]),
        "polygon_ring": np.array([0, 1]),
        "ring_is_hole": np.array([False]),
    }
    with pytest.raises(BadInput, match=message):
        Polygons(**(fields | changed))


def test_other_shapes_are_refused() -> None:
    with pytest.raises(BadInput, match="shape is a LineString") as caught:
        Polygons.of([shapely.box(0, 0, 1, 1), shapely.LineString([(0, 0), (1, 1)])])
    assert caught.value.where == "shapes[1]"


# ---------------------------------------------------------------------------------- properties


grid = st.integers(-6, 6).map(lambda k: k / 2)
vertex = st.tuples(grid, grid)
ring = st.lists(vertex, min_size=3, max_size=8)


@settings(deadline=None, max_examples=300)
@given(ring, vertex, st.integers(0, 7), st.sampled_from([0.0, 1.0]))
def test_a_ring_may_start_anywhere_and_run_either_way(
    vertices: list, point: tuple, turn: int, far: float
) -> None:
    def place(open_ring: list) -> int:
        xy = np.array([*open_ring, open_ring[0]]) + far * UTM
        x, y = point + far * UTM
        return point_in_rings(x, y, xy, np.array([0, len(xy)]), 0, 1)

    turn %= len(vertices)
    expected = place(vertices)
    assert place(vertices[turn:] + vertices[:turn]) == expected
    assert place(vertices[::-1]) == expected


@settings(deadline=None, max_examples=300)
@given(st.lists(ring, min_size=2, max_size=2), st.lists(ring, min_size=1, max_size=2))
def test_touching_polygons_do_so_whatever_their_order(a: list, b: list) -> None:
    def packed(rings: list, step: int) -> tuple:
        closed = [np.array([*r, r[0]])[::step] for r in rings[::step]]
        starts = np.cumsum([0, *(len(r) for r in closed)])
        return np.concatenate(closed), starts, 0, len(rings)

    touches = rings_touch(*packed(a, 1), *packed(b, 1))
    assert touches == rings_touch(*packed(b, 1), *packed(a, 1))
    assert touches == rings_touch(*packed(a, -1), *packed(b, -1))
