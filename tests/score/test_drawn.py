"""What each metric means, on worlds drawn by hand; the engine and the reference both see it."""

import numpy as np
import pytest
import shapely

import reference
from navaudit.axes import COLUMNS, DAC, DDC, EP, HC, LK, NC, PDM, POSES, TLC, TTC
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.score import Settings, score_human, score_scene
from navaudit.vehicle import HALF_WIDTH_M
from score.worlds import LANE_M, World, street

TIME_S = 0.1 * np.arange(1, POSES + 1)


def engine(scene, poses, ddc="v2.0", rule="per-candidate"):
    return score_scene(scene, Vocabulary(poses), Settings(ddc=ddc, progress_rule=rule)).columns


def slow(scene, poses, ddc="v2.0", rule="per-candidate"):
    sheet = reference.score(scene, poses, ddc, rule)
    return np.array([sheet[name] for name in COLUMNS])


@pytest.fixture(params=[engine, slow], ids=["engine", "reference"])
def score(request):
    def read(world, *drives, **options):
        poses = np.array(drives, np.float32)
        return request.param(world.scene(), poses, **options)

    return read


def ahead(speed, pace=0.0):
    """Straight on, at changing speed."""
    way = np.cumsum(np.maximum(speed + pace * (TIME_S - 0.1), 0) * 0.1)
    return np.stack([way, 0 * way, 0 * way], axis=1)


def sideways(speed, way, begin=0.5, took=2.0):
    """Over to the left by some metres."""
    phase = np.clip((TIME_S - begin) / took, 0, 1)
    y = way * (1 - np.cos(np.pi * phase)) / 2
    heading = np.arctan2(np.gradient(y, 0.1), speed)
    return np.stack([speed * TIME_S, y, heading], axis=1)


CAR = street().driving(8.0)
"""A car on the right lane of a street, at 8 m/s."""


class TestNoAtFaultCollisions:
    def test_running_into_a_parked_car_is_the_cars_fault(self, score):
        assert score(CAR.with_parked_car(25), ahead(8))[NC] == 0

    def test_braking_in_time_is_not(self, score):
        assert score(CAR.with_parked_car(25), ahead(8, -4))[NC] == 1

    def test_things_count_half(self, score):
        assert score(CAR.with_cone(20), ahead(8))[NC] == 0.5
        assert score(CAR.with_cone(20).with_parked_car(28), ahead(8))[NC] == 0

    def test_being_hit_from_behind_is_not(self, score):
        assert score(CAR.with_car(-10, speed_mps=14), ahead(8))[NC] == 1

    def test_being_hit_while_standing_is_not(self, score):
        world = street().driving(0.0).with_car(25, heading=np.pi, speed_mps=9)
        assert score(world, ahead(0))[NC] == 1

    def test_a_flank_is_the_cars_fault_off_its_lane_only(self, score):
        # somebody on the left keeps the pace and comes over by a metre and a half
        drift = np.linspace(0, -1.6, 41)
        beside = np.stack([0.8 * np.arange(41), LANE_M + drift, 0 * drift], axis=1)
        assert score(CAR.with_agent("vehicle", beside), ahead(8))[NC] == 1
        beside[:, 1] += LANE_M / 2
        astride = CAR.at(0, LANE_M / 2).with_agent("vehicle", beside)
        assert score(astride, ahead(8))[NC] == 0

    def test_what_the_car_stands_in_at_the_start_is_gone(self, score):
        assert score(CAR.with_parked_car(2), ahead(8))[NC] == 1

    def test_the_car_stands_in_no_box_without_width_unless_both_lie_along_the_axes(self, score):
        for heading, column in ((0.01, 0), (0.0, 1)):
            world = CAR.at(0, 0, heading).with_agent("vehicle", (2, 0, 0.3), (4.6, 0.0))
            assert score(world, ahead(8))[NC] == column

    def test_a_box_without_width_is_never_met_head_on(self, score):
        for width, column in ((1.9, 0), (0.0, 1)):
            way = np.stack([40 - 0.9 * np.arange(41), *np.full((2, 41), [[0.2], [np.pi]])], axis=1)
            assert score(CAR.with_agent("vehicle", way, (4.6, width)), ahead(8))[NC] == column

    def test_whoever_was_met_without_fault_is_met_so_for_good(self, score):
        wait, go = np.zeros((20, 3)), ahead(6)[:20]
        world, late = street().driving(0.0), np.array([(50.0, 20.0, 0.0)] + [(5.0, 1.5, 0.0)] * 40)
        clear = late + np.array([3.0, 0, 0])
        # it runs into the standing car's front, which drives on; or stands clear and is run into
        for poses, column in ((late, 1), (clear, 0)):
            hit = world.with_agent("vehicle", poses, velocity_mps=(9, 0))
            assert score(hit, np.concatenate([wait, go]))[NC] == column


class TestDrivableArea:
    def test_every_corner_must_stay_on_the_road(self, score):
        assert score(CAR, ahead(8))[DAC] == 1
        assert score(CAR, sideways(8, -1.2))[DAC] == 0
        assert score(CAR, sideways(8, 3.0))[DAC] == 1

    def test_the_road_itself_must_not_end(self, score):
        assert score(street(length_m=30).driving(8), ahead(8))[DAC] == 0

    def test_car_parks_count_and_lanes_alone_do_not(self, score):
        beside = shapely.box(-30, -9, 150, -LANE_M / 2 + 0.01)
        wide = CAR.with_patch("carpark_area", beside)
        assert score(wide, sideways(8, -3))[DAC] == 1
        assert score(CAR.with_patch("lane", beside), sideways(8, -3))[DAC] == 0

    def test_a_corner_on_the_border_is_outside(self, score):
        for more, column in ((0.0, 0), (1e-6, 1)):
            exact = shapely.box(-30, -HALF_WIDTH_M - more, 150, HALF_WIDTH_M + more)
            world = World().with_patch("roadblock", exact).driving(8)
            assert score(world, ahead(8))[DAC] == column


class TestDrivingDirection:
    @pytest.mark.parametrize(("speed", "grade"), [(1.5, 1), (4.0, 0.5), (8.0, 0)])
    def test_metres_against_the_traffic_within_eleven_steps(self, score, speed, grade):
        assert score(CAR.driving(speed).at(0, LANE_M), ahead(speed))[DDC] == grade

    def test_off_the_route_is_against_the_traffic(self, score):
        assert score(CAR, ahead(8))[DDC] == 1
        assert score(CAR.without_route(), ahead(8))[DDC] == 0

    def test_crossings_are_spared_since_v21(self, score):
        world = street(lanes=1).driving(8).without_route()
        world = world.with_patch("intersection", shapely.box(-40, -9, 200, 9))
        assert score(world, ahead(8), ddc="v2.0")[DDC] == 0
        assert score(world, ahead(8), ddc="v2.1")[DDC] == 1


class TestTrafficLights:
    def test_touching_red_fails(self, score):
        world = CAR.with_red_light(30, 45)
        assert score(world, ahead(8))[TLC] == 0
        assert score(world, ahead(8, -3))[TLC] == 1

    def test_only_while_it_is_red(self, score):
        # the front bumper comes to 30 m after 3.2 s
        assert score(CAR.with_red_light(30, 45, end=30), ahead(8))[TLC] == 1
        assert score(CAR.with_red_light(30, 45, end=36), ahead(8))[TLC] == 0
        assert score(CAR.with_red_light(-3, 3, begin=20), ahead(8))[TLC] == 1

    def test_starting_in_red_fails_whatever_one_does(self, score):
        assert (score(CAR.with_red_light(-3, 3), ahead(8), ahead(0))[TLC] == 0).all()

    def test_the_lane_beside_does_not_matter(self, score):
        assert score(CAR.with_red_light(30, 45, y=LANE_M), ahead(8))[TLC] == 1


class TestProgress:
    def test_a_share_of_the_reference(self, score):
        # the reference goes on at 8 m/s
        share = score(CAR, ahead(8), ahead(8, -1), ahead(8, 1))[EP]
        assert share[0] == pytest.approx(1, abs=1e-3)
        assert 0.7 < share[1] < 0.85
        assert share[2] == 1

    def test_a_batch_measures_by_its_best(self, score):
        share = score(CAR, ahead(8), ahead(8, 1), rule="batch")[EP]
        assert share[0] < 0.9
        assert share[1] == 1

    def test_what_fails_otherwise_makes_no_progress_but_in_a_batch(self, score):
        world = CAR.with_red_light(30, 45)
        drives = ahead(8), ahead(8, -2)
        # the reference runs the light too, so only the candidate itself is left to measure by
        assert score(world, *drives)[EP].tolist() == [1, 1]
        assert score(world, *drives, rule="batch")[EP].tolist() == [1, 1]
        slow_one = np.stack([1.5 * np.arange(51) * 0.1, np.zeros(51), np.zeros(51)], axis=1)
        held = World(**{**vars(world), "reference": slow_one})
        assert score(held, *drives)[EP].tolist() == [0, 1]
        assert score(held, *drives, rule="batch")[EP].tolist() == [1, 1]

    def test_short_scenes_are_not_measured(self, score):
        assert score(CAR.driving(0.5), ahead(0), ahead(0.5))[EP].tolist() == [1, 1]


class TestTimeToCollision:
    def test_following_too_closely_fails(self, score):
        columns = score(CAR.with_car(9.5, speed_mps=4), ahead(8, -4))
        assert columns[TTC] == 0
        assert columns[NC] == 1
        assert score(CAR.with_car(30, speed_mps=8), ahead(8))[TTC] == 1

    def test_whoever_comes_in_from_beside_is_a_danger_at_crossings_only(self, score):
        flank = [(0.1 * step, 2.05 + 3 * (step < 5), 0.0) for step in range(41)]
        world = CAR.driving(1.0).with_agent("vehicle", flank)
        crossing = world.with_patch("intersection", shapely.box(-40, -20, 200, 20))
        assert score(world, ahead(1))[TTC] == 1
        assert score(crossing, ahead(1))[TTC] == 0

    def test_whoever_keeps_pace_beside_a_fast_car_is_ahead_of_where_it_is_now(self, score):
        """The box of 0.9 s ahead is measured from the rear axle of now."""
        flank = [(0.8 * step, 2.05 + 3 * (step < 5), 0.0) for step in range(41)]
        columns = score(CAR.with_agent("vehicle", flank), ahead(8))
        assert columns[TTC] == 0
        assert columns[NC] == 1

    def test_a_standing_car_threatens_nobody(self, score):
        world = street().driving(0.0).with_car(12, heading=np.pi, speed_mps=3)
        assert score(world, ahead(0))[TTC] == 1


class TestLaneKeeping:
    def test_two_seconds_beside_the_centreline_fail(self, score):
        assert score(CAR, ahead(8))[LK] == 1
        assert score(CAR.at(0, 0.45), ahead(8))[LK] == 1
        assert score(CAR.at(0, 0.55), ahead(8))[LK] == 0

    def test_a_moment_does_not(self, score):
        there = sideways(8, 1.0, 0.0, 1.0)
        back = there.copy()
        back[20:, 1:] = np.add(sideways(8, -1.0, 2.0, 1.0)[20:, 1:], (1.0, 0))
        assert score(CAR, there)[LK] == 0
        assert score(CAR, back)[LK] == 1

    def test_steps_at_a_crossing_are_left_out(self, score):
        world = CAR.at(0, 1.0)
        assert score(world.with_crossing(-20, 100), ahead(8))[LK] == 1
        # twenty counted steps remain before and behind the crossing: it does not end the series
        assert score(world.with_crossing(8, 22), ahead(8))[LK] == 0


class TestHistoryComfort:
    def test_hard_braking_fails(self, score):
        assert score(CAR, ahead(8))[HC] == 1
        assert score(CAR, ahead(8, -7))[HC] == 0

    def test_a_hard_past_fails_the_softest_drive(self, score):
        assert score(CAR.driving(8, acceleration_mps2=3.0), ahead(8))[HC] == 0

    def test_turning_fast_fails(self, score):
        for rate, column in ((0.4, 1), (1.3, 0)):
            turn = rate * TIME_S
            circle = np.stack([np.sin(turn), 1 - np.cos(turn), turn * rate / 5], axis=1)
            assert score(CAR.driving(5), 5 / rate * circle)[HC] == column


class TestTheHuman:
    def test_is_scored_alone_and_without_a_past(self):
        scene = CAR.driving(8, acceleration_mps2=3.0).with_red_light(30, 45).scene()
        human = score_human(scene).columns[:, 0]
        other = reference.score_human(scene)
        assert human[TLC] == 0
        assert human[HC] == human[EP] == 1
        assert human[PDM] == 0
        assert human.tolist() == [other[name][0] for name in COLUMNS]

    def test_forgives_whole_columns(self):
        scene = CAR.with_red_light(30, 45).scene()
        poses = np.array([ahead(8), ahead(8, -7)])
        sheet = reference.score(scene, poses)
        published = reference.forgive(sheet, reference.score_human(scene))
        assert sheet["traffic_light_compliance"].tolist() == [0, 1]
        assert published["traffic_light_compliance"].tolist() == [1, 1]
        assert published["pdm_score"].tolist() == [1, 1]
        assert published["history_comfort"].tolist() == [1, 0]
