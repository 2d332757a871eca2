"""Objects and lights over the horizon, against scipy's interpolator taken object by object."""

from dataclasses import replace

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.interpolate import interp1d

from navaudit.axes import HEADING, STATE, X, Y
from navaudit.errors import BadInput
from navaudit.numerics.polygons import Polygons
from navaudit.scene.outlook import Sighting
from navaudit.scene.scene import AGENT_KINDS, BARRIER, BICYCLE, PEDESTRIAN, VEHICLE
from navaudit.scene.traffic import lights_over, red_lanes, sightings, traffic_over
from navaudit.world.logs import Boxes, Frame
from navaudit.world.trigonometry import HOUSE, LIBM

often = settings(deadline=None, max_examples=120)


def frame(boxes=None, lights=()):
    nothing = np.zeros(3)
    return Frame(
        token="f00", log="drive", location="us-ma-boston", time_us=0, translation_m=nothing,
        rotation=np.array([1.0, 0, 0, 0]), heading_rad=0.0, motion=np.zeros(4),
        command=np.zeros(4), roadblock=(), lights=tuple(lights), boxes=boxes, cameras={},
    )  # fmt: skip


def boxes(*rows, dtype=np.float64):
    """Boxes given as (track, kind, x, y, heading, vx, vy)."""
    box = [[x, y, 0.0, 4.5, 2.0, 1.6, h] for _, _, x, y, h, _, _ in rows]
    velocity = [[vx, vy, 0.0] for *_, vx, vy in rows]
    return Boxes(
        np.array(box, dtype).reshape(-1, 7),
        np.array(velocity, dtype).reshape(-1, 3),
        tuple(row[1] for row in rows),
        tuple(row[0] for row in rows),
        ("",) * len(rows),
    )


def ego(x, y, heading):
    state = np.zeros((1, len(STATE)))
    state[0, [X, Y, HEADING]] = x, y, heading
    return state


# ----------------------------------------------------------------------------- sightings


@often
@given(
    st.sampled_from([np.float32, np.float64]),
    st.floats(-3.14, 3.14),
    st.lists(st.floats(-60, 60), min_size=5, max_size=5),
)
def test_boxes_turn_with_the_ego_in_double_precision(dtype, heading, numbers):
    x, y, h, vx, vy = numbers
    state = ego(4e5, 4.6e6, heading)
    (seen,) = sightings([frame(boxes(("t", "vehicle", *numbers), dtype=dtype))], state)
    x, y, h, vx, vy = (float(dtype(one)) for one in numbers)
    c, s = float(LIBM.cos([heading])[0]), float(LIBM.sin([heading])[0])

    def wrap(angle):
        return float(LIBM.atan2(LIBM.sin([angle]), LIBM.cos([angle]))[0])

    expected = [x * c - y * s + 4e5, x * s + y * c + 4.6e6, wrap(wrap(h + heading)), 4.5, 2.0]
    np.testing.assert_array_equal(seen.box[0], expected)
    np.testing.assert_array_equal(seen.velocity_mps[0], [vx * c - vy * s, vx * s + vy * c])


def test_objects_come_by_kind_and_then_as_in_the_file():
    rows = [
        (f"t{i}", kind, i, 0, 0, 1, 2) for i, kind in enumerate([*AGENT_KINDS[::-1], "vehicle"])
    ]
    (seen,) = sightings([frame(boxes(*rows))], ego(0, 0, 0))
    assert seen.token == ("t6", "t7", "t5", "t4", "t3", "t2", "t1", "t0")
    assert [AGENT_KINDS[kind] for kind in seen.kind] == ["vehicle", *AGENT_KINDS]
    np.testing.assert_array_equal(seen.box[:, 0], [6, 7, 5, 4, 3, 2, 1, 0])
    moving = seen.kind <= BICYCLE
    np.testing.assert_array_equal(seen.velocity_mps, np.where(moving[:, None], [1.0, 2.0], 0.0))


def test_frames_are_told_apart():
    still = (0, 0, 0, 0)
    shown = [
        [("a", "vehicle", 1, *still)],
        [],
        [("b", "barrier", 2, *still), ("a", "vehicle", 3, *still)],
    ]
    frames = [frame(boxes(*one)) for one in shown]
    seen = sightings(frames, np.concatenate([ego(10, 0, 0), ego(20, 0, 0), ego(30, 0, 0)]))
    assert [one.token for one in seen] == [("a",), (), ("a", "b")]
    np.testing.assert_array_equal(seen[2].box[:, 0], [33, 32])
    assert seen[1].box.shape == (0, 5)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (None, "no annotations"),
        (boxes(("a", "vehicle", *range(5)), ("a", "barrier", *range(5))), "track a is annotated"),
        (boxes(("a", "dragon", *range(5))), "of kind 'dragon'"),
        (boxes(("a", "ego", *range(5))), "of kind 'ego'"),
        (boxes(("a", "vehicle", 1, 2, np.nan, 0, 0)), "not finite"),
        (boxes(("a", "barrier", np.inf, 2, 0, 0, 0)), "not finite"),
    ],
)
def test_what_cannot_be_scored_is_refused(wrong, says):
    with pytest.raises(BadInput, match=says) as caught:
        sightings([frame(wrong), frame(boxes())], np.concatenate([ego(0, 0, 0)] * 2))
    assert "frame f00" in caught.value.where


def test_what_nobody_reads_may_be_missing():
    whole = boxes(("c", "vehicle", 1, 2, 0.5, 3, 4), ("s", "traffic_cone", 5, 6, 0, 7, 8))
    box, velocity = whole.box.copy(), whole.velocity_mps.copy()
    box[:, [2, 5]] = np.nan
    velocity[:, 2] = velocity[1] = np.nan
    state = ego(4e5, 4.6e6, 0.3)
    (want,) = sightings([frame(whole)], state)
    (have,) = sightings([frame(replace(whole, box=box, velocity_mps=velocity))], state)
    np.testing.assert_array_equal(have.box, want.box)
    np.testing.assert_array_equal(have.velocity_mps, want.velocity_mps)


def test_a_missing_velocity_is_missing_at_the_first_step_alone():
    known, gone = ((7.0, 0.0), (np.nan, np.nan))
    for velocities in ((gone, known), (known, gone)):
        frames = [
            frame(boxes(("a", "vehicle", 3.0 * i, 0, 0, *one))) for i, one in enumerate(velocities)
        ]
        seen = sightings(frames, np.concatenate([ego(0, 0, 0)] * 2))
        traffic = traffic_over(seen)
        assert np.isfinite(traffic.box[:6]).all()
        assert np.isnan(traffic.velocity_mps).all()


# -------------------------------------------------------------------------------- horizon


def wrap(angle):
    return float(LIBM.atan2(LIBM.sin([angle]), LIBM.cos([angle]))[0])


def slow_track(knots):
    """One object's boxes by step, from its sightings ``(frame, box, velocity)``."""
    times = np.array([0.5 * k for k, _, _ in knots])
    states = np.array([[*box[:3], *velocity] for _, box, velocity in knots])
    if times[0] == times[-1]:
        return dict.fromkeys(range(41), states[0])
    states[:, 2] = np.unwrap(states[:, 2])
    evenly = interp1d(times, states, axis=0)
    boxes_ = {}
    for step in range(41):
        time = float(step) * 0.1
        if times[0] <= time <= times[-1]:
            boxes_[step] = evenly(time)
            boxes_[step][2] = wrap(boxes_[step][2])
    return boxes_


@st.composite
def histories(draw):
    """Sightings of nine frames: tracks that come, go, come back, turn round and are doubled."""
    count = draw(st.integers(0, 6))
    seed = draw(st.integers(0, 2**32 - 1))
    shown = draw(st.lists(st.integers(1, 511), min_size=count, max_size=count))
    random = np.random.default_rng(seed)
    kinds = random.integers(0, 7, count).astype(np.int8)
    frames = []
    for k in range(9):
        there = random.permutation([i for i in range(count) if shown[i] >> k & 1]).astype(int)
        # in the frame that shows it first only if no other does
        known = [i for i in there if shown[i] & (1 << k) - 1 or shown[i] == 1 << k]
        doubled = random.choice(known, random.integers(0, 3)) if known else []
        there = random.permutation([*there, *doubled]).astype(int)
        there = there[np.argsort(kinds[there], kind="stable")]
        box = random.uniform(-4, 4, (len(there), 5)) * [1e5, 1e6, 0.78, 1, 1]
        velocity = random.uniform(-9, 9, (len(there), 2)) * (kinds[there, None] <= BICYCLE)
        frames.append(Sighting(tuple(f"t{i}" for i in there), kinds[there], box, velocity))
    return frames


@often
@given(histories())
def test_traffic_is_interpolated_object_by_object(frames):
    traffic = traffic_over(frames)
    knots, kind = {}, {}
    for k, seen in enumerate(frames):
        for i, token in enumerate(seen.token):
            knots.setdefault(token, []).append((k, seen.box[i], seen.velocity_mps[i]))
            kind[token] = seen.kind[i]
    slow = {token: slow_track(one) for token, one in knots.items()}
    # by first step, then by kind, then as first seen
    order = sorted(slow, key=lambda token: (min(slow[token]), kind[token]))
    assert traffic.token == tuple(order)
    for i, token in enumerate(order):
        steps = slow[token]
        assert np.flatnonzero(traffic.present[:, i]).tolist() == sorted(steps)
        assert traffic.kind[i] == kind[token]
        assert np.isnan(traffic.box[~traffic.present[:, i], i]).all()
        for step, state in steps.items():
            np.testing.assert_array_equal(traffic.box[step, i, :3], state[:3])
            np.testing.assert_array_equal(traffic.box[step, i, 3:], knots[token][0][1][3:])
        np.testing.assert_array_equal(traffic.velocity_mps[i], steps[min(steps)][3:])


def one_at(k, x, kind=VEHICLE, size=(4.0, 2.0)):
    box = np.array([[x, 0.0, 0.5, *size]])
    return [
        Sighting(("t",), np.array([kind]), box, np.ones((1, 2)))
        if frame == k
        else Sighting((), np.zeros(0), np.zeros((0, 5)), np.zeros((0, 2)))
        for frame in range(9)
    ]


def merged(*series):
    return [max(frames, key=len) for frames in zip(*series, strict=True)]


@pytest.mark.parametrize("k", [0, 3, 8])
def test_what_one_frame_shows_is_there_throughout(k):
    traffic = traffic_over(one_at(k, 7.0))
    assert traffic.present.all()
    assert (traffic.box[:, 0] == [7.0, 0.0, 0.5, 4.0, 2.0]).all()
    assert (traffic.velocity_mps == 1.0).all()


def test_gaps_are_bridged_and_the_first_sighting_gives_size_and_kind():
    first, again = one_at(2, 0.0, BARRIER, (1.0, 1.0)), one_at(6, 8.0, PEDESTRIAN, (9.0, 9.0))
    traffic = traffic_over(merged(first, again))
    assert np.flatnonzero(traffic.present[:, 0]).tolist() == list(range(10, 31))
    assert traffic.box[20, 0, 0] == 4.0
    assert (traffic.box[10:31, 0, 3:] == 1.0).all()
    assert traffic.kind[0] == BARRIER
    assert (traffic.velocity_mps == 0.0).all()


def test_a_track_doubled_where_it_begins_is_refused():
    frames = one_at(2, 0.0)
    box, nothing = np.zeros((2, 5)), np.zeros((2, 2))
    frames[1] = Sighting(("t", "t"), np.zeros(2), box, nothing)
    with pytest.raises(BadInput, match="track t is annotated twice in the frame that shows it"):
        traffic_over(frames)


def test_house_trigonometry_moves_nothing_far():
    frames = merged(one_at(1, 0.0), one_at(5, 3.0), one_at(7, 9.0))
    one, other = traffic_over(frames), traffic_over(frames, trig=HOUSE)
    np.testing.assert_allclose(one.box, other.box, rtol=0, atol=1e-12)


# --------------------------------------------------------------------------------- lights

SQUARES = Polygons.of([shapely.box(k, 0, k + 1, 1) for k in range(4)])
LANES = {"7": 2, "8": 0, "9": 3}


def test_lights_hold_until_the_next_frame_and_only_on_the_route():
    shown = [[("8", True), ("5", True)], [("7", False), ("8", False)], [("9", True), ("7", True)],
             *([[("7", True)]] * 5), [("8", True)]]  # fmt: skip
    lights = lights_over([frame(lights=one) for one in shown], LANES, SQUARES)
    assert lights.connector == ("8", "9", "7")
    assert np.flatnonzero(lights.red[:, 0]).tolist() == [0, 1, 2, 3, 4, 40]
    assert np.flatnonzero(lights.red[:, 1]).tolist() == [10, 11, 12, 13, 14]
    assert np.flatnonzero(lights.red[:, 2]).tolist() == list(range(10, 40))
    assert [shape.bounds[0] for shape in lights.polygons.shapes()] == [0.0, 3.0, 2.0]


def test_a_light_that_is_listed_twice_is_red_once():
    assert red_lanes(frame(lights=[("8", True), ("8", False), ("8", True)]), LANES) == ["8"]


def test_no_light_at_all():
    lights = lights_over([frame()] * 9, LANES, SQUARES)
    assert lights.red.shape == (41, 0)
    assert replace(lights).connector == ()
