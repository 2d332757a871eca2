"""The human census of v1: its members against a slow scorer, its counts against plain loops."""

from __future__ import annotations

import doctest
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.signal import savgol_filter

from audit.kept_scenes import wild_set
from navaudit.audit import v1_members
from navaudit.audit.rounds import Answers, gather, go_round, read_part
from navaudit.audit.v1 import AGGREGATIONS, V1Question
from navaudit.audit.v1_census import CODE_ALONE, CODE_PAIRED, FORMULA_ALONE, V1Census
from navaudit.audit.v1_members import added_up, comfortable
from navaudit.axes import AX, AY, CENTRE, HEADING, STEPS
from navaudit.errors import Unhealthy
from reference import road, traffic
from reference.comfort import unwrapped
from reference.resample import desired_human, desired_reference
from reference.shapes import areas, boxes, car_points
from reference.tracker import simulate
from score.golden import OURS, ours
from score.worlds import street

SEEDS = range(30)


def plainly(scene):
    """Members of reference and human by v1: each ``[row]``, and ways ``[row, step]``."""
    states = np.concatenate([
        simulate(scene.ego, desired_reference(scene)), simulate(scene.ego, desired_human(scene))
    ])  # fmt: skip
    points = car_points(states)
    where = areas(scene.ground, states, points)
    # agents that touch the car at t = 0 stay
    objects = traffic.replay(scene, leave_out=False)
    ways = np.zeros(where.oncoming.shape)
    ways[:, 1:] = np.linalg.norm(np.diff(points[:, :, CENTRE], axis=1), axis=-1)
    ways[~where.oncoming] = 0.0
    return {
        "nc": traffic.no_at_fault_collisions(objects, states, points, where),
        "dac": road.drivable_area(where),
        "ttc": traffic.time_to_collision(objects, states, points, where),
        "held": traffic.time_to_collision(objects, states, points, where, anchors=STEPS),
        "progress_m": road.progress_m(scene.centreline, points),
        "comfort": [float(comfort(one)) for one in states],
        "ways": ways,
    }


def comfort(states):
    """Six signals within their bounds, smoothed by SciPy as v1 smooths them."""
    lon, lat = states[:, AX], states[:, AY]
    heading = unwrapped(states[None, :, HEADING])[0]

    def smooth(signal, window, order=2, derivative=0):
        return np.round(savgol_filter(signal, window, order, deriv=derivative, delta=0.1), 8)

    signals = (
        (smooth(lon, 41), -4.05, 2.40),
        (smooth(lat, 41), -4.89, 4.89),
        (smooth(smooth(np.hypot(lon, lat), 8), 41, derivative=1), -8.37, 8.37),
        (smooth(smooth(lon, 8), 41, derivative=1), -4.13, 4.13),
        (smooth(heading, 5, 3, 2), -1.93, 1.93),
        (smooth(heading, 5, 2, 1), -0.95, 0.95),
    )
    return all((low < one).all() and (one < high).all() for one, low, high in signals)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("v1")
    scenes = wild_set(folder / "scenes", SEEDS, each=10)
    parts = go_round(scenes, V1Question(), folder / "out")
    answers = gather((read_part(part) for part in parts), "here")
    return scenes, answers, {token: plainly(scenes.scene(token)) for token in answers.tokens}


def test_members_are_those_of_the_slow_scorer(drawn):
    _, answers, expected = drawn
    assert len(answers.tokens) + len(answers.passed_over) == len(SEEDS)
    for row, told in enumerate(expected.values()):
        members = np.stack([told[name] for name in ("nc", "dac", "ttc", "held")], axis=1)
        np.testing.assert_array_equal(answers.array["score"][row], members)
        np.testing.assert_array_equal(answers.array["comfort"][row], told["comfort"])
        np.testing.assert_allclose(
            answers.array["progress_m"][row], told["progress_m"], rtol=0, atol=1e-6
        )


def test_the_worlds_tell_the_members_apart(drawn):
    _, answers, _ = drawn
    human = answers.array["score"][:, 1]
    for member in range(4):
        assert len(np.unique(human[:, member])) > 1
    assert 0 < answers.array["comfort"][:, 1].sum() < len(human)
    assert (answers.array["stood_in"] > 0).any()


def test_the_batch_is_added_up_in_the_place_of_time(drawn):
    """Row by row in plain loops: the human alone, behind the reference, and the reference twice."""
    _, answers, expected = drawn
    for row, told in enumerate(expected.values()):
        reference, human = told["ways"]
        batches = [[human], [reference, human], [reference], [reference, reference]]
        added = [[sum(one[k] for one in rows) for k in range(STEPS)] for rows in batches]
        largest = [max(one) for one in added]
        np.testing.assert_allclose(answers.array["added_m"][row], largest, rtol=1e-9, atol=1e-6)
        graded = [1.0 if one < 2 else 0.5 if one < 6 else 0.0 for one in largest]
        assert answers.array["direction"][row].tolist() == graded
    assert answers.array["doubled"].all()


def test_the_last_anchors_see_what_the_car_only_then_runs_into():
    """Who speeds up reaches, by the end, what no projection from an earlier moment does."""
    ask, times_s = V1Question().ask, np.arange(1, 9) / 2
    ways = np.column_stack([5.0 * times_s + 1.0 * times_s**2, 0 * times_s, 0 * times_s])
    told = set()
    for x in np.arange(30.0, 45.0, 0.5):
        world = street().driving(5.0, 2.0).with_human(ways).with_parked_car(x)
        ttc, held = ask(world.scene())["score"][1, 2:].tolist()
        slow = plainly(world.scene())
        assert [ttc, held] == [slow["ttc"][1], slow["held"][1]]
        told.add((ttc, held))
    assert told == {(0.0, 0.0), (1.0, 0.0), (1.0, 1.0)}


def test_agents_stood_in_are_counted(drawn):
    scenes, answers, _ = drawn
    for token, counted in zip(answers.tokens, answers.array["stood_in"], strict=True):
        scene = scenes.scene(token)
        ego = boxes(car_points(scene.ego)[:CENTRE])
        first = traffic.replay(scene, leave_out=False).shape[0]
        assert counted == sum(traffic.plainly_touch(ego, one) for one in first)


@pytest.mark.parametrize("name", OURS)
def test_golden_scenes_too(name):
    scene = ours(name).scene
    found = V1Question().ask(scene)
    if scene.human is None:
        assert found is None
        return
    told = plainly(scene)
    members = np.stack([told[one] for one in ("nc", "dac", "ttc", "held")], axis=1)
    np.testing.assert_array_equal(found["score"], members)
    np.testing.assert_array_equal(found["comfort"], told["comfort"])
    assert found["doubled"]


@given(st.integers(0, 2**32 - 1), st.integers(1, 14))
def test_a_row_adds_up_the_ten_before_it_and_no_more(seed, rows):
    ways = np.random.default_rng(seed).uniform(0, 3, (rows, 4))
    plain = [[sum(ways[k, step] for k in range(max(0, row - 10), row + 1)) for step in range(4)]
             for row in range(rows)]  # fmt: skip
    np.testing.assert_allclose(added_up(ways), plain, rtol=1e-14)
    twice = added_up(np.repeat(ways[:1], 2, axis=0))
    np.testing.assert_array_equal(twice[1], 2.0 * ways[0])


@pytest.mark.parametrize(("lon", "passes"), [(2.39, True), (2.41, False), (-4.04, True)])
def test_comfort_knows_its_bounds(lon, passes):
    states = np.zeros((STEPS, 11))
    states[:, AX] = lon
    assert comfortable(states) == passes == comfort(states)


# ------------------------------------------------------------------------------------- counting


def draw(tokens, seed):
    """Answers of a round with every kind of human, as consistent as real ones."""
    rng = np.random.default_rng(seed)
    score = rng.choice([0.0, 0.5, 1.0], (tokens, 2, 4), p=[0.15, 0.1, 0.75])
    score[..., 1:] = np.where(score[..., 1:] == 0.5, 1.0, score[..., 1:])
    score[..., 3] = np.minimum(score[..., 3], score[..., 2])
    v2 = np.stack((score[:, 1, 0], score[:, 1, 2], np.ones(tokens)), axis=1)
    v2[:, :2] = np.maximum(v2[:, :2], rng.choice([0.0, 1.0], (tokens, 2), p=[0.9, 0.1]))
    v2[:, 2] = rng.choice([0.0, 0.5, 1.0], tokens)
    added = rng.choice([0.0, 1.5, 3.0, 8.0], (tokens, 4), p=[0.4, 0.2, 0.2, 0.2])
    added[:, 3] = 2.0 * added[:, 2]
    added[:, 1] = np.maximum(added[:, 0], added[:, 2])
    progress = rng.choice([0.0, 0.05, 5.0, 20.0, 25.0], (tokens, 2))
    return Answers(
        tuple(f"{k:016x}" for k in range(tokens)),
        ("log",) * tokens,
        {
            "score": score,
            "progress_m": progress,
            "comfort": rng.choice([0.0, 1.0], (tokens, 2), p=[0.1, 0.9]),
            "added_m": added,
            "direction": np.select([added < 2.0, added < 6.0], [1.0, 0.5], 0.0),
            "doubled": np.ones(tokens, bool),
            "v2": v2,
            "stood_in": rng.integers(0, 2, tokens),
        },
        (),
        (),
    )


def scored(array, token):
    """All four aggregations of one human, and its share in the last, in plain Python."""
    found = {}
    for name in AGGREGATIONS:
        kind, batch = name.split("_")
        rows = (0, 1) if batch == "paired" else (1,)
        grades = {(0, "paired"): 2, (1, "paired"): 1, (1, "alone"): 0}
        products = {}
        for row in rows:
            nc, dac, _, _ = array["score"][token, row].tolist()
            ddc = array["direction"][token, grades[row, batch]] if kind == "code" else 1.0
            products[row] = nc * dac * ddc
        masked = {row: array["progress_m"][token, row] * products[row] for row in rows}
        best = max(masked.values())
        share = masked[1] / best if best > 0.1 else float(products[1] > 0)
        ttc, comfortable_ = array["score"][token, 1, 2], array["comfort"][token, 1]
        score = products[1] * (5 * share + 5 * ttc + 2 * comfortable_) / 12
        found[name] = score, share, products[1]
    return found


@given(st.integers(1, 30), st.integers(0, 2**32 - 1))
def test_counts_are_those_of_plain_loops(tokens, seed):
    answers = draw(tokens, seed)
    array = answers.array
    found = V1Census.of(answers)
    plain = [scored(array, token) for token in range(tokens)]
    numbers = {one.name: one.value for one in found.findings()}
    for name in AGGREGATIONS:
        assert numbers[f"v1_below_{name}"] == sum(one[name][0] < 0.8 for one in plain)
    alone = []
    for k, one in enumerate(plain):
        score, _, product = one["code_paired"]
        ttc, ease = array["score"][k, 1, 2], array["comfort"][k, 1]
        if score < 0.8 <= product * (5.0 + 5.0 * ttc + 2.0 * ease) / 12.0:
            alone.append(k)
    assert numbers["v1_progress_alone"] == len(alone)
    lifts = []
    for k in alone:
        _, share, product = plain[k]["code_paired"]
        rest = 5 * array["score"][k, 1, 2] + 2 * array["comfort"][k, 1]
        lifts.append((0.8 * 12 / product - rest) / 5 / share if share else np.inf)
    np.testing.assert_allclose(np.sort(found.lifts()), sorted(lifts), rtol=1e-12)
    below = [k for k, one in enumerate(plain) if one["code_paired"][0] < 0.8]
    nc = array["score"][:, 1, 0]
    assert numbers["v1_members_NC_zero"] == sum(nc[k] == 0 for k in below)
    assert numbers["v1_members_NC_half"] == sum(nc[k] == 0.5 for k in below)
    assert numbers["v1_members_TTC_zero"] == sum(array["score"][k, 1, 2] == 0 for k in below)
    assert numbers["v1_members_DDC_below_one"] == sum(array["direction"][k, 1] < 1 for k in below)
    single, paired = array["direction"][:, 0], array["direction"][:, 1]
    assert numbers["v1_direction_human_below_one"] == sum(single < 1)
    assert numbers["v1_direction_human_changed_by_pairing"] == sum(single != paired)
    assert numbers["v1_direction_doubled"] == tokens
    assert numbers["v1_direction_doubled_nonzero"] == sum(array["added_m"][:, 3] > 0)
    crossing = sum(array["direction"][:, 2] != array["direction"][:, 3])
    assert numbers["v1_direction_doubled_crossing"] == crossing
    assert numbers["v1_inputs_NC_differs_from_v2"] == sum(nc != array["v2"][:, 0])
    nearest = min(abs(score - 0.8) for one in plain for score, _, _ in one.values())
    assert numbers["v1_nearest_to_criterion"] == pytest.approx(nearest, abs=1e-15)
    assert numbers["v1_mean_EP"] == pytest.approx(np.mean([one["code_paired"][1] for one in plain]))
    order = (FORMULA_ALONE, CODE_ALONE, CODE_PAIRED)
    counted = [int(found.below[:, k].sum()) for k in order]
    assert counted == sorted(counted)


def test_a_share_lifted_by_its_factor_reaches_the_criterion():
    found = V1Census.of(draw(400, 5))
    which, one = found.progress_alone, found.scores
    lifts = found.lifts()
    finite = np.isfinite(lifts)
    assert finite.sum() > 5
    product = (one.nc * one.dac * one.ddc[:, 1])[which][finite]
    share = one.share[which, CODE_PAIRED][finite] * lifts[finite]
    ttc, ease = one.ttc[which][finite], one.comfort[which][finite]
    lifted = v1_members.aggregate(product, share, ttc, ease)
    np.testing.assert_allclose(lifted, 0.8, atol=1e-12)
    assert (lifts > 1.0).all()


def test_a_direction_that_only_the_batch_fails_is_no_matter_of_progress():
    """Paired, the reference's way counts as the human's: full progress would not help."""
    answers = draw(1, 0)
    array = {**answers.array, "score": np.ones((1, 2, 4)), "comfort": np.ones((1, 2))}
    array |= {"progress_m": np.array([[20.0, 20.0]]), "v2": np.ones((1, 3))}
    array["direction"] = np.array([[1.0, 0.0, 0.0, 0.0]])
    found = V1Census.of(replace(answers, array=array))
    assert found.below[0].tolist() == [False, False, False, True]
    assert not found.progress_alone.any()
    assert found.failing()["DDC_below_one"] == 1


@pytest.mark.parametrize(
    ("name", "at", "value", "what"),
    [
        ("doubled", 0, False, "twice itself"),
        ("v2", (0, 0), -1.0, "only lower NC"),
        ("v2", (0, 1), -1.0, "only lower TTC"),
        ("score", (0, 1, 3), 2.0, "more anchors"),
    ],
)
def test_what_cannot_be_is_refused(name, at, value, what):
    answers = draw(20, 1)
    changed = answers.array[name].copy()
    changed[at] = value
    with pytest.raises(Unhealthy, match=what):
        V1Census.of(replace(answers, array={**answers.array, name: changed}))


def test_tables_and_rows_are_whole(drawn):
    found = V1Census.of(drawn[1])
    assert len(found.rows().rows) == len(drawn[1].tokens)
    assert {one.name for one in found.tables()} == {
        "v1_counterexamples", "v1_members", "v1_direction", "v1_inputs",
    }  # fmt: skip
    assert all(one.where for one in found.findings())


def test_examples():
    assert doctest.testmod(v1_members).failed == 0
