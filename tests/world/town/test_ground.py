"""The ground of a town: lanes meet, polygons fit together without gaps, every way leads on."""

import numpy as np
import pytest
import shapely

from navaudit.world.town.curves import lengths, size, tangents
from navaudit.world.town.ground import PLACES
from navaudit.world.town.layers import LAYERS, rows

TOWNS = [(seed, index) for seed in (0, 3) for index in range(len(PLACES))]


@pytest.fixture(params=TOWNS, ids=lambda pair: f"seed{pair[0]}-{PLACES[pair[1]].location}")
def town(request, town_of):
    return town_of(*request.param)


def strips(town):
    lanes = [lane for group in town.groups for lane in group.lanes]
    return lanes, [one for junction in town.junctions for one in junction.connectors]


def test_every_road_joins_two_junctions_of_three_or_four_arms(town):
    assert {len(junction.arms) for junction in town.junctions} == {3, 4}
    assert sum(len(junction.arms) for junction in town.junctions) == 2 * len(town.streets.roads)


def test_lanes_are_as_wide_as_real_ones(town):
    lanes, _ = strips(town)
    for lane in lanes:
        width = size(lane.left.line_m - lane.right.line_m)
        assert 3.2 < width.min() <= width.max() < 3.75
        assert 1 <= len([one for one in lanes if one.group == lane.group]) <= 2


def test_baselines_have_vertices_about_a_metre_apart(town):
    for strip in [*strips(town)[0], *strips(town)[1]]:
        step = size(np.diff(strip.baseline_m, axis=0))
        assert 0.8 < step.min() <= step.max() < 1.3


def test_bends_can_be_driven(town):
    for strip, least_m in [(one, 30.0) for one in strips(town)[0]] + [
        (one, 6.0) for one in strips(town)[1]
    ]:
        along = tangents(strip.baseline_m)
        turn = np.abs(along[:-1, 0] * along[1:, 1] - along[:-1, 1] * along[1:, 0])
        assert (turn[1:-1] / np.diff(lengths(strip.baseline_m))[1:-1]).max() < 1.0 / least_m


def test_connectors_begin_and_end_exactly_where_their_lanes_do(town):
    for one in strips(town)[1]:
        for mine, start, end in [
            (one.baseline_m, one.start.baseline_m, one.end.baseline_m),
            (one.left.line_m, one.start.left.line_m, one.end.left.line_m),
            (one.right.line_m, one.start.right.line_m, one.end.right.line_m),
        ]:
            assert (mine[0] == start[-1]).all()
            assert (mine[-1] == end[0]).all()


def test_connectors_leave_and_enter_in_the_lanes_direction(town):
    for one in strips(town)[1]:
        along = tangents(one.baseline_m)
        assert (along[0] * tangents(one.start.baseline_m)[-1]).sum() > 0.985
        assert (along[-1] * tangents(one.end.baseline_m)[0]).sum() > 0.985


def test_every_lane_leads_on_and_is_led_to(town):
    lanes, connectors = strips(town)
    every = {lane.fid for lane in lanes}
    assert {one.start.fid for one in connectors} == every
    assert {one.end.fid for one in connectors} == every
    assert {one.turn for one in connectors} == {"left", "straight", "right"}


def test_drivable_polygons_fit_without_gap_or_overlap(town):
    polygons = [shapely.Polygon(one.ring_m) for one in (*town.groups, *town.junctions)]
    assert all(polygon.is_valid for polygon in polygons)
    union = shapely.union_all(polygons)
    assert union.geom_type == "Polygon"
    assert sum(one.area for one in polygons) == pytest.approx(union.area, abs=1e-6)


def test_lanes_and_connectors_lie_in_their_groups_and_junctions(town):
    lanes, _ = strips(town)
    groups = {one.fid: shapely.Polygon(one.ring_m).buffer(1e-5) for one in town.groups}
    assert all(groups[lane.group].covers(shapely.Polygon(lane.ring_m)) for lane in lanes)
    for junction in town.junctions:
        ground = shapely.Polygon(junction.ring_m).buffer(1e-5)
        for one in junction.connectors:
            polygon = shapely.Polygon(one.ring_m)
            assert polygon.is_valid
            assert ground.covers(polygon)
        for arm in junction.arms:
            assert ground.covers(shapely.Polygon(arm.stop_ring_m))


def test_adjacent_lanes_share_their_boundary(town):
    for group in town.groups:
        for left, right in zip(group.lanes[:-1], group.lanes[1:], strict=True):
            assert left.right is right.left
    for along, against in zip(town.groups[::2], town.groups[1::2], strict=True):
        assert along.lanes[0].left.fid == against.lanes[0].left.fid


def test_opposite_arms_share_a_phase_and_crossing_ones_do_not(town):
    for junction in town.junctions:
        phases = [arm.phase for arm in junction.arms]
        assert sorted(phases) in ([0, 0, 1], [0, 0, 1, 1])
        for one in junction.connectors:
            start, end = (junction.arms[k] for k in one.arms)
            assert (one.turn == "straight") <= (start.phase == end.phase)


def test_car_parks_lie_clear_of_the_roads(town):
    ground = shapely.union_all(
        [shapely.Polygon(one.ring_m) for one in (*town.groups, *town.junctions)]
    )
    assert town.carparks
    for park in town.carparks:
        yard = shapely.Polygon(park.ring_m)
        assert yard.is_valid
        assert not yard.intersects(ground)
        assert shapely.Polygon(park.driveway_ring_m).buffer(0.1).intersects(ground)
        assert all(yard.covers(shapely.Point(bay)) for bay in park.bays_m)


def test_ids_are_unique_within_each_layer(town):
    made = rows(town)
    assert list(made) == [layer.name for layer in LAYERS]
    for name, features in made.items():
        fids = [row[0] for row in features]
        assert fids == sorted(set(fids)), name


def test_towns_differ_by_seed_and_by_place(town_of):
    lines = {town_of(s, k).streets.junctions_m.tobytes() for s, k in TOWNS}
    assert len(lines) == len(TOWNS)
