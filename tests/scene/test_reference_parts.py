"""What the planner is made of: order, footprints, gaps, corridors, motion, forecast."""

import math
from fractions import Fraction

import numpy as np
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.interpolate import interp1d

from navaudit.errors import BadInput
from navaudit.numerics.polygons import Polygons
from navaudit.scene.corridor import corridor, find_obstacles, grow_trees, paths_beside
from navaudit.scene.footprint import rings_of
from navaudit.scene.forecast import SAMPLES, foresee
from navaudit.scene.gap import gap_within
from navaudit.scene.idm import acceleration, tenth_power, write_pose
from navaudit.scene.nearest import by_distance
from navaudit.scene.scene import BICYCLE, PEDESTRIAN, VEHICLE
from scene.outlooks import GOLDEN, STRAIGHT, Thing, cone, headed, street, walker

# GEOS forms a NaN of a segment without length, and an infinity of one whose square is none
GEOS_WARNS = pytest.mark.filterwarnings("ignore:(invalid value|divide by zero) encountered")

metres = st.floats(-30.0, 30.0)
UTM = np.array([664_430.25, 3_998_765.5])


# ------------------------------------------------------------------------------------- order


def test_equal_distances_come_in_the_order_of_numpys_quicksort():
    with np.load(GOLDEN / "reference" / "ties.npz") as ties:
        count = len(ties.files) // 2
        assert count == 8
        for i in range(count):
            assert by_distance(ties[f"value_{i}"]).tolist() == ties[f"order_{i}"].tolist()


@given(st.lists(st.integers(0, 30).map(float), max_size=120))
@settings(deadline=None)
def test_distances_rise(values):
    order = by_distance(np.array(values, dtype=float))
    assert sorted(order.tolist()) == list(range(len(values)))
    assert (np.diff(np.array(values)[order]) >= 0).all()


@given(st.lists(metres, max_size=60, unique=True))
@settings(deadline=None)
def test_different_distances_leave_no_choice(values):
    assert by_distance(np.array(values)).tolist() == sorted(
        range(len(values)), key=values.__getitem__
    )


# -------------------------------------------------------------------------------------- gaps


def gap(box, shapes, limit=np.inf):
    """Distances of a ring to each of some polygons."""
    packed = Polygons.of(shapes)
    rings = packed.polygon_ring
    return [
        gap_within(limit, box, packed.xy, packed.ring_start, rings[i], rings[i + 1])
        for i in range(len(packed))
    ]


boxes = st.tuples(metres, metres, st.floats(-3.2, 3.2), st.floats(0.0, 9.0), st.floats(0.0, 3.0))


@GEOS_WARNS
@given(boxes, st.lists(boxes, min_size=1, max_size=6))
@settings(deadline=None)
def test_gaps_of_boxes_are_those_of_geos(one, others):
    rings = rings_of(np.array([one, *others])) + UTM
    shapes = list(shapely.polygons(rings))
    assert gap(rings[0], shapes[1:]) == shapely.distance(shapes[0], shapes[1:]).tolist()


@GEOS_WARNS
@example((0.0, 0.0, 0.0, 0.0, 3.4028415493189226e-238), [(0.0, 0.0, 1.0)])
@given(boxes, st.lists(st.tuples(metres, metres, st.floats(0.1, 20.0)), min_size=1, max_size=4))
@settings(deadline=None)
def test_gaps_of_a_box_and_anything_are_those_of_geos(one, rounds):
    ring = rings_of(np.array([one]))[0]
    discs = [shapely.Point(x, y).buffer(r) for x, y, r in rounds]
    holed = [disc.difference(disc.buffer(-0.4)) for disc in discs]
    shapes = [*discs, *holed, shapely.union_all(discs)]
    shapes = [shape for shape in shapes if not shape.is_empty]
    assert gap(ring, shapes) == shapely.distance(shapely.Polygon(ring), shapes).tolist()


@GEOS_WARNS
@given(boxes, boxes, st.floats(0.0, 40.0))
@settings(deadline=None)
def test_a_gap_beyond_the_limit_is_the_limit(one, other, limit):
    rings = rings_of(np.array([one, other]))
    shape = shapely.Polygon(rings[1])
    whole = gap(rings[0], [shape])[0]
    assert gap(rings[0], [shape], limit)[0] == min(whole, limit)


def test_gaps_worked_by_hand():
    ring = rings_of(np.array([[0.0, 0.0, 0.0, 4.0, 2.0]]))[0]
    frame = shapely.box(-9, -9, 9, 9).difference(shapely.box(-5, -5, 5, 5))
    shapes = [shapely.box(5, 4, 6, 6), frame, shapely.box(-9, -9, 9, 9), shapely.box(-1, 0, 1, 0.5)]
    assert gap(ring, shapes) == [math.hypot(3, 3), 3.0, 0.0, 0.0]


# ----------------------------------------------------------------------------------- corridors


def test_a_corridor_is_as_wide_as_the_car_and_ends_square():
    path = paths_beside(STRAIGHT)[0]
    shape = corridor(path, 21.0, 63.0)
    # from the first vertex beyond to the last before, and half a width on
    assert np.allclose(shape.bounds, (25.0 - 1.1485, -1.1485, 60.0 + 1.1485, 1.1485))
    assert math.isclose(shape.area, 2.297 * (35.0 + 2.297))


def test_a_corridor_between_two_vertices_is_cut_to_length():
    path = paths_beside(headed([[0.0, 0.0], [50.0, 0.0]]))[0]
    assert np.allclose(corridor(path, 10.0, 30.0).bounds[::2], (10.0 - 1.1485, 30.0 + 1.1485))
    # past the end a square is left
    assert np.allclose(corridor(path, 60.0, 90.0).bounds, (48.8515, -1.1485, 51.1485, 1.1485))


def test_paths_run_beside_the_centreline():
    bend = headed([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0]])
    middle, right, left = paths_beside(bend)
    assert np.allclose(middle.line, bend[:, :2])
    assert np.allclose(right.line, [[0, -1], [11, 0], [11, 10]])
    assert np.allclose(left.line, [[0, 1], [9, 0], [9, 10]])
    assert np.allclose(left.measures, [0.0, math.hypot(9, 1), math.hypot(9, 1) + 10.0])


def test_headings_of_a_path_do_not_jump():
    circle = np.linspace(0.0, 4.0 * math.pi, 60)
    line = headed(np.column_stack([np.cos(circle), np.sin(circle)]) * 20.0)
    assert np.abs(np.diff(paths_beside(line)[0].heading)).max() < 0.3


def test_obstacles_are_found_in_the_order_of_the_tree_and_where_their_middle_is():
    things = [Thing(90.0, 0.0, token="far"), Thing(50.0, 0.5, token="near"), Thing(70.0, 9.0)]
    forecast = foresee(street(things))
    path = paths_beside(STRAIGHT)[0]
    shapes = [corridor(path, 20.0, 120.0)]
    trees = grow_trees(forecast.shapes())
    found = find_obstacles([path], shapes, trees, forecast.token, ())[0]
    names = [forecast.token[i] for i in found.shape[found.start[3] : found.start[4]]]
    order = trees[3].query(shapes[0], predicate="intersects")
    assert names == [forecast.token[i] for i in order]
    assert sorted(names) == ["far", "near"]
    places = dict(zip(names, found.along_m[found.start[3] : found.start[4]], strict=True))
    assert math.isclose(places["far"], 90.0)
    assert math.isclose(places["near"], 50.0)
    ignoring = find_obstacles([path], shapes, trees, forecast.token, {"near"})[0]
    assert len(ignoring.shape) == SAMPLES


def test_of_shapes_with_one_name_the_last_stands_for_all():
    things = [Thing(90.0, 0.0, token="same"), Thing(50.0, 0.0, token="same")]
    forecast = foresee(street(things))
    assert forecast.token == ("same", "same")
    path = paths_beside(STRAIGHT)[0]
    trees = grow_trees(forecast.shapes())
    found = find_obstacles([path], [corridor(path, 20.0, 120.0)], trees, forecast.token, ())[0]
    assert len(found.shape) == SAMPLES
    assert np.allclose(found.along_m, 90.0)


# -------------------------------------------------------------------------------------- motion


@given(st.floats(-20.0, 20.0, allow_subnormal=False))
@settings(deadline=None)
def test_a_tenth_power_is_rounded_once(x):
    exact = Fraction(x) ** 10
    if exact == 0 or exact > Fraction(1, 2**900):
        assert tenth_power(x) == float(exact)


def test_powers_out_of_range_go_to_infinity():
    assert tenth_power(math.inf) == math.inf
    assert tenth_power(-1e40) == math.inf
    assert math.isnan(tenth_power(math.nan))


@given(st.floats(0.0, 30.0), st.floats(0.0, 200.0), st.floats(0.0, 30.0), st.floats(1.0, 30.0))
@settings(deadline=None)
def test_acceleration_is_bounded_and_falls_with_nearness(speed, ahead, leading, wanted):
    motion = np.array([10.0, speed])
    rates = [
        acceleration(motion, np.array([10.0 + gap, leading, 0.0]), wanted)
        for gap in (ahead + 5.0, ahead)
    ]
    assert -3.0 <= rates[1] <= 1.5
    wish = 1.0 + 1.5 * speed + speed * (speed - leading) / (2.0 * math.sqrt(4.5))
    if wish > 0.0:
        assert rates[1] <= rates[0]


@given(
    st.lists(st.tuples(metres, metres), min_size=2, max_size=12),
    st.integers(0, 11),
    st.lists(st.floats(-5.0, 300.0), max_size=8),
)
@settings(deadline=None)
def test_poses_are_those_of_scipy(vertices, twice, places):
    """Also where a vertex recurs: the interval before it serves it."""
    line = headed(np.array(vertices) + UTM)
    line = np.insert(line, twice % len(line), line[twice % len(line)], axis=0)
    path = paths_beside(line)[0]
    length = path.measures[-1]
    if not length > 1e-5:
        return
    columns = np.column_stack([path.line, path.heading])
    expected = interp1d(path.measures, columns, axis=0)
    for place in [*places, *path.measures.tolist()]:
        pose = np.empty(3)
        write_pose(path, place, pose)
        x, y, heading = expected(np.clip(place, 1e-5, length))
        assert pose[:2].tolist() == [x, y]
        assert math.isclose(math.cos(pose[2] - heading), 1.0)
        assert -math.pi <= pose[2] <= math.pi


def test_what_is_no_number_becomes_nothing():
    path = paths_beside(STRAIGHT)[0]
    pose = np.ones(3)
    write_pose(path, math.nan, pose)
    assert pose.tolist() == [0.0, 0.0, 0.0]


# ------------------------------------------------------------------------------------ forecast


def test_only_so_many_of_each_kind_are_kept_and_statics_come_first():
    places = [(20.0 + 0.5 * i, 8.0) for i in range(60)]
    things = [Thing(x, y, token=f"v{i}") for i, (x, y) in enumerate(places)]
    things += [walker(x, -y, 0.0, 1.0, token=f"p{i}") for i, (x, y) in enumerate(places)]
    things += [Thing(x, 12.0, kind=BICYCLE, token=f"b{i}") for i, (x, y) in enumerate(places)]
    things += [cone(x, -12.0, token=f"c{i}") for i, (x, y) in enumerate(places)]
    forecast = foresee(street(things, lights=[("7", shapely.box(0, 0, 1, 1))]))
    assert (
        "".join(name[0] for name in forecast.token)
        == "c" * 50 + "v" * 50 + "p" * 25 + "b" * 10 + "r"
    )
    assert forecast.token[-1] == "red_light_7"
    distances = np.hypot(forecast.objects.box[:, 0] - 21.461, forecast.objects.box[:, 1])
    for kind in (VEHICLE, PEDESTRIAN, BICYCLE):
        assert (np.diff(distances[forecast.objects.kind == kind]) >= 0).all()


def test_sight_ends_at_a_hundred_metres_from_the_middle():
    middle = 20.0 + 1.461
    things = [Thing(middle + 100.0, 0.0, token="in"), Thing(middle + 100.001, 0.0, token="out")]
    assert foresee(street(things)).token == ("in",)


def test_remembered_tracks_leave_their_place_to_others():
    things = [Thing(20.0 + i, 8.0, token=f"v{i}") for i in range(52)]
    kept = foresee(street(things), {"v0", "v1"}).token
    assert len(kept) == 50
    assert not {"v0", "v1"} & {*kept}


@pytest.mark.parametrize("heading", [0.0, 1.0, 3.0, -2.5])
@pytest.mark.parametrize("speed", [3.0, -3.0, 0.0])
def test_objects_go_on_along_their_boxes(heading, speed):
    seen = Thing(60.0, 2.0, heading=heading, speed=speed)
    forecast = foresee(street([seen]))
    way = np.array([math.cos(heading), math.sin(heading)]) * speed
    moved = forecast.ring[:, 0] - forecast.ring[0, 0]
    times = 0.2 * np.arange(SAMPLES)
    assert np.allclose(moved, (times[:, None] * way)[:, None], atol=1e-9)


def test_an_object_that_slips_sideways_moves_along_its_box():
    outlook = street([Thing(60.0, 2.0)])
    velocity = np.array([[2.0, 1.5]])
    object.__setattr__(outlook.objects, "velocity_mps", velocity)
    assert np.allclose(foresee(outlook).way_mps, [[2.5, 0.0]])


def test_an_agent_without_velocity_is_refused_where_it_would_be_forecast():
    near = street([Thing(60.0, 2.0, token="near")])
    far = street([Thing(160.0, 2.0, token="far")])
    for outlook in (near, far):
        object.__setattr__(outlook.objects, "velocity_mps", np.array([[np.nan, 0.0]]))
    with pytest.raises(BadInput, match="velocity of track near"):
        foresee(near)
    assert foresee(far).token == ()


def test_statics_stay():
    forecast = foresee(street([cone(60.0, 2.0, speed=4.0)]))
    assert np.array_equal(forecast.ring, np.repeat(forecast.ring[:1], SAMPLES, axis=0))


def test_replayed_traffic_holds_each_sample_for_two_steps():
    forecast = foresee(street([Thing(60.0, 2.0, heading=0.3, speed=5.0), cone(50.0, 2.0)]))
    traffic = forecast.traffic()
    assert traffic.present.all()
    assert np.array_equal(traffic.box[1::2], traffic.box[:-1:2])
    for step in (0, 7, 40):
        shapes = shapely.polygons(rings_of(traffic.box[step]))
        middles = shapely.get_coordinates(shapely.centroid(shapes))
        same = shapely.get_coordinates(shapely.centroid(shapely.polygons(forecast.ring[step // 2])))
        assert np.allclose(middles, same, rtol=0, atol=1e-9)
