"""Routes on maps drawn by hand: correction, start, centreline, and ids that coincide."""

import math

import numpy as np
import pytest
import shapely

from navaudit.errors import BadInput
from navaudit.scene.correction import Pose, corrected, known_blocks
from navaudit.scene.route import find_route, route_lanes
from navaudit.world.trigonometry import HOUSE, LIBM
from scene.streets import Sketch, chain, lane


def correct(map_, route, x, y, heading=0.0):
    rows = corrected(map_, known_blocks(map_, route), Pose(x, y, heading), LIBM)
    return [map_.blocks.id[row] for row in rows]


def route_at(map_, route, x, y, heading=0.0):
    return find_route(map_, route, Pose(x, y, heading), map_.drivable(x, y))


# ------------------------------------------------------------------------------ correction


def test_a_whole_route_stays_as_it_is():
    town = chain(4).map()
    whole = ["1", "101", "2", "102", "3"]
    assert correct(town, whole, 5.0, 0.0) == whole


def test_a_route_that_starts_later_is_led_back_to_the_ego():
    town = chain(5).map()
    route = ["3", "103", "4"]
    assert correct(town, route, 5.0, 0.0) == ["1", "101", "2", "102", *route]


def test_the_way_back_has_fifteen_blocks_at_most():
    town = chain(12).map()
    # 1, 101, ..., 108, 9 are seventeen, 2, 102, ..., 9 are fifteen
    assert correct(town, ["9"], 35.0, 0.0)[0] == "2"
    assert correct(town, ["9"], 5.0, 0.0)[0] == "1"  # by the search ahead, which may be longer
    assert len(correct(town, ["9"], 5.0, 0.0)) == 17


def test_ahead_is_searched_for_the_first_three_blocks():
    # a detour from 1 meets the route at its third block only; nothing leads to its first
    sketch = chain(4)
    sketch.block("9", l9=lane((40, 40), (60, 40)))
    sketch.joint("109", "9", "2", c109=("9", "2"))
    town = sketch.map()
    assert correct(town, ["9", "109", "2", "102", "3"], 5.0, 0.0) == ["1", "101", "2", "102", "3"]
    assert correct(town, ["9", "109", "9", "2"], 5.0, 0.0) == ["1", "101", "2"]
    sketch.block("8", l8=lane((0, 40), (20, 40)))
    sketch.joint("108", "8", "9", c108=("8", "9"))
    far = ["8", "108", "9", "109", "2", "102", "3"]
    assert correct(sketch.map(), far, 5.0, 0.0) == far


def test_what_cannot_be_reached_is_left_alone():
    sketch = chain(3)
    sketch.block("9", l9=lane((0, 200), (20, 200)))
    assert correct(sketch.map(), ["9"], 5.0, 0.0) == ["9"]


def test_gaps_are_filled_where_a_link_exists():
    town = chain(6).map()
    assert correct(town, ["1", "3", "6"], 5.0, 0.0) == [
        "1", "101", "2", "102", "3", "103", "4", "104", "5", "105", "6",
    ]  # fmt: skip
    # backward there is no link, and what is not linked stays
    assert correct(town, ["1", "4", "2"], 5.0, 0.0) == [
        "1", "101", "2", "102", "3", "103", "4", "2",
    ]  # fmt: skip


def ring(overlap_m):
    """A street whose second connector crosses the first at right angles, ``overlap_m`` wide."""
    sketch = Sketch()
    sketch.block("1", l1=lane((-20, 0), (-10, 0)))
    sketch.block("2", l2=lane((10, 0), (30, 0), (30, 40), (0, 40), (0, 12)))
    sketch.block("3", l3=lane((0, -12), (0, -30)))
    sketch.joint("101", "1", "2", c101=("1", "2"))
    sketch.joint("102", "2", "3", c102=("2", "3"))
    crossing = shapely.box(-overlap_m / 2, -12, overlap_m / 2, 12)
    sketch.shapes[True, "102"] = crossing
    return sketch.map()


@pytest.mark.parametrize(("width_m", "cut"), [(2.0, True), (0.28, False), (0.29, True)])
def test_a_loop_is_cut_before_the_connector_that_closes_it(width_m, cut):
    # the connectors share 3.5 m times the width, and more than a square metre counts
    whole = ["1", "101", "2", "102", "3"]
    assert correct(ring(width_m), whole, -15.0, 0.0) == (whole[:3] if cut else whole)


def test_a_connector_that_comes_again_closes_a_loop():
    sketch = Sketch()
    sketch.block("1", l1=lane((0, 0), (20, 0)))
    sketch.block("2", l2=lane((40, 20), (40, 40)))
    sketch.block("3", l3=lane((20, 60), (0, 60)))
    for begin, end in (("1", "2"), ("2", "3"), ("3", "1")):
        sketch.joint("10" + begin, begin, end, **{f"c10{begin}": (begin, end)})
    # once round and on: 2 to 1 by way of 3, 1 to 3 by way of 2
    filled = ["2", "102", "3", "103", "1", "101", "2", "102", "3"]
    assert correct(sketch.map(), ["2", "1", "3"], 40.0, 25.0, math.pi / 2) == filled[:7]


# ------------------------------------------------------------- which block the ego stands on


def side_by_side():
    """Two roads one metre apart, against each other, and a third that crosses them."""
    sketch = Sketch()
    sketch.block("1", l1=lane((0, 0), (10, 0), (20, 0), (30, 0)))
    sketch.block("2", l2=lane((30, 1), (20, 1), (10, 1), (0, 1)))
    sketch.block("3", l3=lane((10, -20), (10, -2), (10, 20)))
    return sketch


@pytest.mark.parametrize(
    ("route", "heading", "starts"),
    [
        (["1"], 0.0, "1"),
        (["2"], math.pi, "2"),
        (["3"], math.pi / 2, "3"),
        (["1", "3"], 0.7, "1"),  # still within an eighth of a turn
    ],
)
def test_the_block_that_heads_like_the_ego_is_its_own(route, heading, starts):
    town = side_by_side().map()
    assert correct(town, route, 10.0, 0.4, heading)[0] == starts


def test_blocks_on_the_route_are_preferred_to_nearer_ones():
    sketch = Sketch()
    sketch.block("1", l1=lane((0, 0), (10, 0), (20, 0)))
    sketch.block("2", l2=lane((0, 1.5), (10, 1.5), (20, 1.5)))
    town = sketch.map()
    for y in (-0.5, 0.2, 1.4):
        assert correct(town, ["1"], 10.0, y) == ["1"]
        assert correct(town, ["2"], 10.0, y) == ["2"]


def test_far_from_every_block_the_nearest_of_either_layer_are_candidates():
    town = chain(3).map()
    # nearest are roadblock 2 and connector 101; the connector's end is the nearer vertex
    assert correct(town, ["3"], 31.0, 30.0) == ["2", "102", "3"]
    assert correct(town, ["3"], 26.0, 30.0)[0] in ("101", "2")


def test_an_unknown_block_is_named():
    town = chain(2).map()
    with pytest.raises(BadInput, match="names block 77") as caught:
        route_at(town, ["1", "77"], 5.0, 0.0)
    assert "us-ma-boston" in caught.value.where
    with pytest.raises(BadInput, match="no blocks"):
        route_at(town, [], 5.0, 0.0)


# ------------------------------------------------------------------------------------ lanes


def test_a_repeated_block_counts_once():
    town = chain(3).map()
    route = route_at(town, ["1", "101", "1", "2", "2"], 5.0, 0.0)
    assert route.given == ("1", "101", "2")
    assert route.lane == ("1", "101", "2")
    assert [town.blocks.id[row] for row in route.block] == ["1", "101", "2"]


def colliding():
    """Blocks, lanes and their connectors all count from 1."""
    sketch = Sketch()
    sketch.block("1", l1=lane((0, 0), (20, 0)))
    sketch.block("2", l2=lane((30, 0), (50, 0)))
    sketch.block("3", l3=lane((60, 0), (80, 0)))
    sketch.joint("1", "1", "2", c2=("1", "2"))
    sketch.joint("9", "2", "3", c8=("2", "3"))
    return sketch


def test_an_id_of_two_layers_means_the_roadblock():
    town = colliding().map()
    assert known_blocks(town, ["1", "9"]) == [0, 4]


def test_the_later_of_two_ways_with_one_id_takes_the_place_of_the_first():
    town = colliding().map()
    lanes = route_lanes(town, [1, 0, 3])  # lane 2, lane 1, connector 2
    assert list(lanes) == ["2", "1"]
    assert lanes["2"] == town.ways.connector("2")


def test_a_connector_that_shares_an_id_turns_into_the_roadblock():
    town = colliding().map()
    # the gap between 1 and 2 is filled with connector 1, which then reads as roadblock 1
    route = route_at(town, ["1", "2", "9", "3"], 5.0, 0.0)
    assert [town.blocks.id[row] for row in route.block] == ["1", "2", "9", "3"]
    assert not any(row == 3 for row in route.block)


# ------------------------------------------------------------------------- start, centreline


def test_the_start_is_the_best_aligned_lane_under_the_rear_axle():
    sketch = side_by_side()
    sketch.speeds = {"1": 11.0}
    town = sketch.map()
    east = route_at(town, ["1", "3"], 10.0, 0.2, 0.3)
    assert town.ways.id[east.start_way] == "1"
    assert east.speed_limit_mps == 11.0
    north = route_at(town, ["1", "3"], 10.0, 0.2, 1.4)
    assert town.ways.id[north.start_way] == "3"
    assert math.isnan(north.speed_limit_mps)


def twins(count, order):
    """Lanes on top of each other, of one heading; the tree of the map decides."""
    sketch = Sketch()
    sketch.blocks["1"] = {
        str(k): lane((-k, 0), (10 + k, 0), (20 + 2 * k, 0)) for k in order(range(count))
    }
    sketch.block("2", l90=lane((100, 50), (120, 50)))
    return sketch.map()


@pytest.mark.parametrize("count", [2, 9, 11, 40])
@pytest.mark.parametrize("order", [list, lambda ks: list(ks)[::-1]], ids=["rising", "falling"])
def test_ties_fall_as_the_stock_tree_lists_them(count, order):
    town = twins(count, order)
    drivable = town.drivable(5.0, 0.0)
    tree = shapely.STRtree(drivable.polygons.shapes(), node_capacity=10)
    hits = tree.query(shapely.Point(5.0, 0.0), predicate="intersects")
    first = next(drivable.id[hit] for hit in hits if drivable.kind[hit] == "lane")
    route = find_route(town, ["1"], Pose(5.0, 0.0, 0.0), drivable)
    assert town.ways.id[route.start_way] == first


def test_another_layer_under_the_rear_axle_stands_for_the_lane_of_its_id():
    sketch = chain(3)
    sketch.areas["carpark_areas"]["2"] = shapely.box(-5, -30, 25, -20)
    town = sketch.map()
    # off the road but on car park 2: lane 2 is the start although it is not the nearest
    assert town.ways.id[route_at(town, ["1", "2"], 5.0, -25.0).start_way] == "2"
    assert town.ways.id[route_at(town, ["1", "2"], 5.0, -31.0).start_way] == "1"


def test_off_all_lanes_the_centre_decides_then_the_distance_of_the_box():
    town = chain(3).map()
    # the rear axle is before the first lane, the centre 1.461 m ahead on it
    assert town.ways.id[route_at(town, ["1", "101"], -1.0, 0.0).start_way] == "1"
    assert town.ways.id[route_at(town, ["1", "101", "2"], 25.5, 6.0).start_way] == "101"
    assert town.ways.id[route_at(town, ["1", "101", "2"], 48.0, 9.0).start_way] == "2"


def test_the_centreline_follows_the_lanes_of_thirty_blocks():
    town = chain(40).map()
    whole = [one for k in range(1, 40) for one in (str(k), str(100 + k))]
    route = route_at(town, whole, 5.0, 0.0)
    # thirty blocks from the start: fifteen roadblocks, fifteen connectors
    assert [town.ways.id[row] for row in route.centreline_way] == whole[:30]
    middle = route_at(town, whole, 305.0, 0.0)
    assert [town.ways.id[row] for row in middle.centreline_way] == whole[20:50]
    late = route_at(town, whole, 1085.0, 0.0)
    assert [town.ways.id[row] for row in late.centreline_way] == whole[72:]


def test_vertices_at_joins_recur():
    town = chain(2).map()
    line = route_at(town, ["1", "101", "2"], 5.0, 0.0).centreline
    np.testing.assert_array_equal(line[:, 0], [0, 10, 20, 20, 30, 30, 40, 50])
    assert not line.flags.writeable


def fork():
    """Lane 1 leads to 2 and 3 of the next block; only 3 leads on."""
    sketch = Sketch()
    sketch.block("1", l1=lane((0, 0), (20, 0)))
    sketch.block("2", l2=lane((30, 0), (50, 0)), l3=lane((30, -4), (50, -4)))
    sketch.block("3", l4=lane((60, -4), (80, -4)))
    sketch.joint("101", "1", "2", c12=("1", "2"), c13=("1", "3"))
    sketch.joint("102", "2", "3", c34=("3", "4"))
    return sketch


def test_the_centreline_changes_lanes_only_through_connectors():
    town = fork().map()
    route = route_at(town, ["1", "101", "2", "102", "3"], 5.0, 0.0)
    assert [town.ways.id[row] for row in route.centreline_way] == ["1", "13", "3", "34", "4"]
    stuck = route_at(town, ["1", "101", "2", "102", "3"], 35.0, 0.0)
    assert [town.ways.id[row] for row in stuck.centreline_way] == ["2"]


def test_house_trigonometry_finds_the_same_route():
    town = fork().map()
    for heading in np.linspace(-3.0, 3.0, 13):
        pose = Pose(5.0, 0.3, float(heading))
        routes = [
            find_route(town, ["2", "1"], pose, town.drivable(5.0, 0.3), trig=trig)
            for trig in (LIBM, HOUSE)
        ]
        assert routes[0].lane == routes[1].lane
        assert routes[0].start_way == routes[1].start_way


def test_a_route_without_lanes_is_refused():
    sketch = chain(2)
    sketch.blocks["9"] = {}
    with pytest.raises(BadInput, match="no lane of the route"):
        route_at(sketch.map(), ["9"], 300.0, 200.0)
