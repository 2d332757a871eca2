"""Laws of the planner on streets drawn by hand and by chance."""

import math
from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.scene.memory import Memory
from navaudit.scene.reference import Planner, propose, wished_speeds
from navaudit.scene.scene import BICYCLE, PEDESTRIAN, TRAFFIC_CONE, VEHICLE
from scene.outlooks import STRAIGHT, Thing, along, cone, first_wins, headed, street, walker, wins
from scene.plain_planner import PlainPlanner


def plan(outlook, memory=None, judge=first_wins):
    return propose(outlook, memory or Memory(), judge)


def crossing_light(x, name="7", half_width=5.0):
    return name, shapely.box(x, -half_width, x + 10.0, half_width)


# ------------------------------------------------------------------------------- first steps


@pytest.mark.parametrize(("speed", "rate"), [(9.0, -3.0), (0.5, -3.0), (0.2, -1.07), (0.0, 0.0)])
def test_every_proposal_brakes_first(speed, rate):
    """At the first step the leader is an empty entry: a gap of one metre, to nobody."""
    first = plan(street(speed=speed)).motion[:, :2, 1]
    assert np.allclose((first[:, 1] - first[:, 0]) / 0.1, rate, atol=0.005)


def test_odd_steps_copy_the_leader_of_the_step_before():
    outlook = street([Thing(60.0, 0.0, speed=3.0)])
    leader = plan(outlook, judge=wins(4)).leader
    assert np.array_equal(leader[:, 3:41:2], leader[:, 2:40:2])
    assert np.array_equal(leader[4, 41:51:2], leader[4, 40:50:2])
    assert not leader[:, :2].any()


def test_a_free_road_ends_where_the_path_ends():
    leader = plan(street()).leader[:, 2]
    assert np.allclose(leader, [300.0, 0.0, 2.588])


def test_the_winner_alone_drives_on_for_a_fifth_second():
    for proposal in (0, 7, 14):
        made = plan(street([Thing(70.0, 0.4)]), judge=wins(proposal))
        assert made.chosen == proposal
        driven = made.pose[:, 41:].any(axis=(1, 2))
        assert driven.tolist() == [i == proposal for i in range(15)]
        assert len(made.track) == 51
        assert np.diff(made.track.time_us).tolist() == [100_000] * 50
        assert np.allclose(made.track.state[:, :3], made.pose[proposal], rtol=0, atol=1e-9)


def test_the_first_of_equals_wins():
    assert plan(street()).chosen == 0
    scores = np.array([0.5, 0.9, 0.9, *[0.0] * 12])
    assert plan(street(), judge=lambda trial: scores).chosen == 1


def test_wished_speeds_are_fractions_of_the_limit_or_of_fifteen():
    assert wished_speeds(10.0).tolist() == [2.0, 4.0, 6.0, 8.0, 10.0]
    assert np.allclose(wished_speeds(math.nan), [3.0, 6.0, 9.0, 12.0, 15.0])
    made = [plan(street(limit=limit)).motion for limit in (math.nan, 15.0, 14.0)]
    assert np.array_equal(made[0], made[1])
    assert (made[2][:, 40, 0] < made[1][:, 40, 0]).all()


def test_a_centreline_is_asked_for():
    with pytest.raises(BadInput, match="no centreline"):
        plan(replace(street(), route=along(STRAIGHT[:1], 10.0)))


# --------------------------------------------------------------------------------- in the way


def test_what_stands_beside_every_corridor_changes_nothing():
    aside = [Thing(60.0, 4.0), Thing(60.0, -4.0), cone(45.0, 3.0), Thing(8.0, 0.0)]
    assert np.array_equal(plan(street(aside)).pose, plan(street()).pose)


def test_a_parked_car_stops_the_paths_it_is_on():
    made = plan(street([Thing(60.0, 1.9, token="parked")]))
    front = made.motion[:, 40, 0] + 4.049
    assert (made.leader[10:, 40, 0] < 60.0).all()
    assert (front[10:] < 60.0).all()
    assert np.allclose(made.leader[5:10, 40, 0], 300.0)


@given(gap=st.floats(3.0, 60.0), speed=st.floats(0.0, 15.0), limit=st.floats(3.0, 25.0))
@settings(deadline=None, max_examples=25)
def test_an_object_nobody_reaches_is_led_by_not_overtaken(gap, speed, limit):
    leading = Thing(20.0 + 4.049 + gap + 2.3, 0.0, speed=speed)
    made = plan(street([leading], speed=min(speed, 4.0), limit=limit))
    steps = np.arange(41)
    rear = leading.x - 2.3 + speed * (steps // 2 * 2) * 0.1
    assert (made.motion[:5, :41, 0] + 4.049 <= rear + 1e-6).all()


def test_what_moves_backward_comes_nearer():
    backward = Thing(80.0, 0.0, heading=0.0, speed=-5.0)
    stands = Thing(80.0, 0.0)
    assert (
        plan(street([backward])).leader[4, 40, 0] < plan(street([stands])).leader[4, 40, 0]
    ).all()
    # its speed counts as that of one that moves forward, though
    assert np.allclose(plan(street([backward])).leader[:5, 2, 1], 5.0)


def test_a_light_keeps_the_speed_of_the_leader_of_a_slower_car():
    """The walker steps between the cars: the slower ones have him before them, the rest a light."""
    stray = walker(40.0, -5.7, math.pi / 4, 2.0)
    outlook = street([stray], speed=10.0, limit=25.0, lights=[crossing_light(100.0)])
    made = plan(outlook)
    assert np.abs(made.leader[:, :41] - PlainPlanner(outlook).drive()[2]).max() < 1e-9
    at_light = np.abs(made.leader[:5, :41, 0] - (100.0 - 4.049)) < 1e-6
    assert at_light[4, 2:].all()
    kept = made.leader[4, :41, 1]
    assert np.allclose(kept[kept != 0.0], 2.0 * math.cos(math.pi / 4))
    assert 0 < (kept != 0.0).sum() < 20


# ----------------------------------------------------------------------------- what is ignored


def test_what_touches_the_car_at_the_start_is_no_obstacle():
    made = plan(street([Thing(25.0, 0.0, token="on it")]))
    assert made.met == ("on it",)
    assert np.array_equal(made.pose, plan(street()).pose)


def test_a_light_is_met_only_by_a_car_wholly_in_it():
    half = ("7", shapely.box(22.0, -5.0, 40.0, 5.0))
    whole = ("8", shapely.box(10.0, -5.0, 40.0, 5.0))
    made = plan(street(lights=[half, whole], speed=5.0))
    assert made.met == ("red_light_8",)
    assert np.array_equal(made.leader, plan(street(lights=[half], speed=5.0)).leader)


def test_a_planner_remembers_lights_across_scenes():
    inside = street(lights=[("7", shapely.box(10.0, -5.0, 40.0, 5.0))], token="a")
    ahead = street(lights=[crossing_light(50.0)], token="b")
    free, red = plan(street()).track.state, plan(ahead).track.state
    for mode, expected in (("fresh", red), ("stock", free), ("blind", red)):
        planner = Planner(first_wins, Memory(mode))
        planner(inside)
        assert np.array_equal(planner(ahead).state, expected), mode
    injected = Memory("inject", injected={"b": ("red_light_7",)})
    assert np.array_equal(plan(ahead, injected).track.state, free)


def test_a_remembered_track_is_not_even_forecast():
    outlook = street([Thing(60.0, 0.0, token="known"), Thing(70.0, 0.0, token="new")])
    alone = street([Thing(70.0, 0.0, token="new")])
    trials = []
    for mode in ("stock", "blind"):
        made = plan(
            outlook, Memory(mode, ids=("known",)), lambda t: trials.append(t) or np.ones(15)
        )
        assert np.array_equal(made.pose, plan(alone).pose)
        assert trials[-1].forecast.objects.token == ("new",)


def test_a_light_listed_twice_counts_once():
    lights = [crossing_light(50.0)]
    assert np.array_equal(plan(street(lights=lights * 2)).pose, plan(street(lights=lights)).pose)


# -------------------------------------------------------------------------- by chance, and plainly

places = st.tuples(st.floats(-20.0, 110.0), st.floats(-5.0, 5.0))


@st.composite
def crowds(draw):
    """Some objects, no two at equal distances from anything."""
    count = draw(st.integers(0, 7))
    kinds = (VEHICLE, VEHICLE, PEDESTRIAN, BICYCLE, TRAFFIC_CONE)
    return [
        Thing(
            *draw(places),
            heading=draw(st.floats(-3.1, 3.1)),
            speed=draw(st.floats(-6.0, 12.0)),
            kind=draw(st.sampled_from(kinds)),
            length=draw(st.floats(0.3, 9.0)),
            width=draw(st.floats(0.3, 2.5)),
        )
        for _ in range(count)
    ]


@st.composite
def lines(draw):
    """A road that bends evenly; vertices a metre or two apart, some twice."""
    bend = draw(st.floats(-0.02, 0.02))
    step = draw(st.floats(0.8, 2.5))
    heading = bend * step * np.arange(150) + draw(st.floats(-math.pi, math.pi))
    xy = np.cumsum(np.column_stack([np.cos(heading), np.sin(heading)]) * step, axis=0)
    twice = draw(st.integers(2, 140))
    xy -= xy[12]
    line = headed(xy)
    return np.insert(line, twice, line[twice], axis=0)


@st.composite
def outlooks(draw):
    line = draw(lines())
    x, y, heading = line[12]
    lights = [
        (str(i), shapely.box(lx - 4.0, ly - 6.0, lx + 7.0, ly + 5.0))
        for i, (lx, ly) in enumerate(draw(st.lists(places, max_size=2)))
    ]
    turned = [
        (name, shapely.affinity.rotate(shape, heading, origin=(0, 0), use_radians=True))
        for name, shape in lights
    ]
    c, s = math.cos(heading), math.sin(heading)
    things = [
        Thing(c * t.x - s * t.y, s * t.x + c * t.y, t.heading, t.speed, t.kind, t.length, t.width)
        for t in draw(crowds())
    ]
    off = draw(st.floats(-1.0, 1.0))
    ego = (x - s * off, y + c * off, heading + draw(st.floats(-0.2, 0.2)))
    speed, limit = draw(st.floats(0.0, 20.0)), draw(st.floats(2.0, 25.0))
    return street(things, line=line, ego=ego, speed=speed, limit=limit, lights=turned)


# GEOS 3.11 forms a NaN of a segment without length and says so
@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")
@given(outlooks())
@settings(deadline=None, max_examples=40)
def test_a_plain_planner_drives_the_same(outlook):
    made, plain = plan(outlook), PlainPlanner(outlook)
    pose, motion, leader = plain.drive()
    assume(plain.doubt > 1e-7)
    assert sorted(made.met) == sorted(plain.met)
    assert np.abs(made.motion[:, :41] - motion).max() < 1e-6
    assert np.abs(made.leader[:, :41] - leader).max() < 1e-6
    turned = made.pose[:, :41, 2] - pose[..., 2]
    assert np.abs(made.pose[:, :41, :2] - pose[..., :2]).max() < 1e-6
    assert np.abs(np.arctan2(np.sin(turned), np.cos(turned))).max() < 1e-6


@given(outlooks())
@settings(deadline=None, max_examples=10)
def test_planning_again_gives_the_same_bits(outlook):
    one, two = plan(outlook), plan(outlook)
    assert np.array_equal(one.pose, two.pose)
    assert np.array_equal(one.track.state, two.track.state)
