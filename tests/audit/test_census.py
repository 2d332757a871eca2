"""The human census: its values against a slow scorer, its counts against plain loops."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.kept_scenes import keep, wild_set
from navaudit.audit import census, divergence, solvers
from navaudit.audit.census import Census, HumanQuestion
from navaudit.audit.divergence import DEVIATION, LADDER, PATH, Divergence, exceeds, reach
from navaudit.audit.rounds import Answers, gather, go_round, read_part
from navaudit.audit.solvers import SOLVERS, Agreement
from navaudit.axes import COLUMNS, EP, HC, LK, NC, PDM, STEPS
from navaudit.errors import Unhealthy
from navaudit.numerics import lapack
from navaudit.numerics.profiles import fit
from navaudit.rollout.rollout import Rollout, desire_human, paths_of, simulate
from navaudit.score.score import Settings, score_human
from reference import profiles as plain
from score.golden import OURS, ours
from score.wild import wild_scene
from score.worlds import street

SEEDS = range(12)


def answers_of(human, seed=0):
    """Answers of a round as they would be for these human values ``[token, solver, column]``."""
    rng = np.random.default_rng(seed)
    tokens = len(human)
    array = {
        "human": human,
        "reach": rng.uniform(0, 30, (tokens, len(SOLVERS), 3)),
        "condition": rng.uniform(1, 1e6, (tokens, 2)),
        "gap": rng.uniform(0, 1e-12, (tokens, 2, 2)),
    }
    named = tuple(f"{k:016x}" for k in range(tokens))
    return Answers(named, tuple("log" for _ in named), array, (), ())


def humans(tokens, seed):
    """Values a human may have: any, but full progress and comfort, and a fitting aggregate."""
    rng = np.random.default_rng(seed)
    human = rng.choice([0.0, 0.5, 1.0], (tokens, len(COLUMNS)), p=[0.2, 0.2, 0.6])
    human[:, [EP, HC]] = 1.0
    human[:, PDM] = np.where((human[:, :4] == 0.0).any(axis=1), 0.0, rng.uniform(0.1, 1, tokens))
    return human


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("census")
    scenes = wild_set(folder / "scenes", SEEDS, each=6)
    parts = go_round(scenes, HumanQuestion(), folder / "out")
    return scenes, gather((read_part(part) for part in parts), "here")


def test_values_are_those_of_the_scorer_by_every_solver(drawn):
    scenes, answers = drawn
    assert len(answers.tokens) + len(answers.passed_over) == len(SEEDS)
    for token, human in zip(answers.tokens, answers.array["human"], strict=True):
        scene = scenes.scene(token)
        for solver, values in zip(SOLVERS, human, strict=True):
            expected = score_human(scene, Settings(solver=solver)).columns[:, 0]
            assert values.tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", OURS)
def test_values_are_those_of_the_stock_generator(name):
    golden = ours(name)
    answer = HumanQuestion().ask(golden.scene)
    if golden.scene.human is None:
        assert answer is None
        return
    expected = golden.human("v2.0", "per-candidate")
    np.testing.assert_array_equal(answer["human"], np.broadcast_to(expected, (4, 9)))


def test_scenes_without_a_human_are_passed_over(tmp_path):
    drawn = [street().driving(5.0).scene(), wild_without_human()]
    scenes = keep(tmp_path / "scenes", drawn)
    parts = go_round(scenes, HumanQuestion(), tmp_path / "out")
    answers = gather((read_part(part) for part in parts), "here")
    assert answers.passed_over == (scenes.tokens[1],)
    assert len(answers.tokens) == 1


def wild_without_human():
    drawn = (wild_scene(seed) for seed in range(200))
    return next(scene for scene in drawn if scene.human is None)


# ------------------------------------------------------------------------------------ counting


@given(st.integers(1, 30), st.integers(0, 2**16))
def test_counts_are_those_of_plain_loops(tokens, seed):
    human = humans(tokens, seed)
    found = Census.of(answers_of(np.repeat(human[:, None], len(SOLVERS), axis=1), seed))
    numbers = {one.name: one.value for one in found.findings()}
    fired = [any(value == 0.0 for value in row) for row in human.tolist()]
    assert numbers["population_tokens"] == tokens
    assert numbers["P1_count"] == sum(fired)
    assert numbers["forgiven_token_columns"] == sum(
        value == 0.0 for row in human.tolist() for value in row
    )
    assert numbers["LK_forgiven"] == sum(row[LK] == 0.0 for row in human.tolist())
    assert numbers["EP_forgiven"] == numbers["HC_forgiven"] == 0
    if sum(fired):
        assert numbers["LK_forgiven_share"] == pytest.approx(
            100 * numbers["LK_forgiven"] / sum(fired)
        )
    table = {row[0]: row[1:] for row in found.zero_table().rows}
    for column, short in enumerate(["NC", "DAC", "DDC", "TLC", "EP", "TTC", "LK", "HC", "PDM"]):
        zero, _, half, one = table[short]
        values = human[:, column].tolist()
        assert (zero, half, one) == tuple(values.count(value) for value in (0.0, 0.5, 1.0))


@pytest.mark.parametrize(
    ("column", "value", "what"),
    [
        (EP, 0.5, "EP is 1"),
        (HC, 0.0, "HC is 1"),
        (PDM, 0.0, "zero has a zero factor"),
        (NC, 0.0, "zero factor has a zero aggregate"),
    ],
)
@pytest.mark.parametrize("solver", range(len(SOLVERS)))
def test_what_cannot_be_is_refused_whichever_solver_says_it(column, value, what, solver):
    human = np.ones((3, len(SOLVERS), len(COLUMNS)))
    human[1, solver, column] = value
    with pytest.raises(Unhealthy, match=what):
        Census.of(answers_of(human))


# ------------------------------------------------------------------------------------- solvers


@given(st.integers(1, 20), st.integers(1, 25), st.integers(0, 2**16))
def test_agreement_is_that_of_plain_loops(tokens, worst, seed):
    rng = np.random.default_rng(seed)
    human = np.repeat(humans(tokens, seed)[:, None], len(SOLVERS), axis=1)
    moved = rng.random(human.shape) < 0.05
    human[moved] = rng.choice([0.0, 0.5, 1.0], moved.sum())
    array = answers_of(human, seed).array
    found = Agreement.of(array, worst)
    for token in range(tokens):
        closed, *rows = (human[token, solver].tobytes() for solver in range(len(SOLVERS)))
        assert found.identical[token] == (len(set(rows)) == 1)
        assert found.closed_identical[token] == (closed == rows[0])
    for solver in range(len(SOLVERS)):
        for column in range(len(COLUMNS)):
            pairs = [(row[solver, column], row[1, column]) for row in human]
            assert found.differing[solver, column] == sum(one != two for one, two in pairs)
            assert found.zero_sets[solver, column] == sum(one == 0 for one, _ in pairs)
            assert found.parted[solver, column] == sum((a == 0) != (b == 0) for a, b in pairs)
    order = sorted(range(tokens), key=lambda k: -array["condition"][k, 1])[:worst]
    assert found.worst.tolist() == order
    assert found.worst_identical == sum(bool(found.identical[k]) for k in order)


def test_a_difference_in_the_last_bit_is_one():
    human = np.repeat(humans(4, 1)[:, None], len(SOLVERS), axis=1)
    human[2, 3, PDM] = np.nextafter(human[2, 3, PDM], 2.0)
    human[3, 0, PDM] = np.nextafter(human[3, 0, PDM], 2.0)
    found = Agreement.of(answers_of(human).array, 10)
    assert SOLVERS[:2] == ("closed", "pinv")
    assert found.identical.tolist() == [True, True, False, True]
    assert found.closed_identical.tolist() == [True, True, True, False]
    assert int(found.differing.sum()) == 2


def test_matrices_are_held_against_the_plain_ones():
    rng = np.random.default_rng(3)
    poses = np.zeros((4, STEPS, 3))
    poses[:, :, 0] = np.cumsum(rng.uniform(0, 1.5, (4, STEPS)), axis=1)
    poses[:, :, 2] = np.cumsum(rng.normal(0, 0.02, (4, STEPS)), axis=1)
    conditions, gaps = lapack.compare_inverses(poses, ("pinvh", "solve", "pinv"))
    speeds, _ = fit(poses, "pinv")
    assert (gaps[:, 2] == 0.0).all()
    assert (gaps[:, :2] > 0.0).any()
    assert (gaps[:, :2] < 1e-9).all()
    np.testing.assert_allclose(conditions[:, 0], conditions[0, 0], rtol=1e-9)
    for path, condition in enumerate(conditions[:, 1]):
        values = np.linalg.svd(curvature_matrix(speeds[path]), compute_uv=False)
        assert condition == pytest.approx(values[0] / values[-1], rel=1e-6)


def curvature_matrix(speeds):
    """Normal matrix of a first curvature and its rates, written out."""
    rows = np.array([
        [0.1 * v] + [0.01 * v if k < step else 0.0 for k in range(39)]
        for step, v in enumerate(speeds)
    ])  # fmt: skip
    return rows.T @ rows + np.diag([1e-10] + [plain.CURVATURE_RATE_PENALTY] * 39)


# ---------------------------------------------------------------------------------- divergence


def test_reach_is_that_of_plain_loops(drawn):
    scenes, answers = drawn
    for token, reached in list(zip(answers.tokens, answers.array["reach"], strict=True))[:5]:
        scene = scenes.scene(token)
        desired = desire_human(scene)
        states = simulate(scene.ego, desired).states[0]
        apart = [math.dist(a[:2], b[:2]) for a, b in zip(states, paths_of(desired)[0], strict=True)]
        steps = [math.dist(a[:2], b[:2]) for a, b in pairwise(states)]
        expected = max(apart), max(steps), math.fsum(steps)
        np.testing.assert_allclose(reached[0], expected, rtol=1e-12, atol=1e-12)


@settings(deadline=None)
@given(st.lists(st.tuples(*[st.floats(0, 300)] * 3), min_size=1, max_size=20))
def test_the_ladder_is_that_of_plain_loops(reached):
    found = Divergence.of(np.array(reached))
    for rung, (limit, step_limit) in enumerate(LADDER):
        assert found.by_deviation[rung] == sum(d > limit or s > step_limit for d, s, _ in reached)
        assert found.by_path[rung] == sum(p > limit or s > step_limit for _, s, p in reached)
    assert found.worst == tuple(max(one[k] for one in reached) for k in range(3))
    # a rung further up is never exceeded more often
    assert list(found.by_deviation) == sorted(found.by_deviation, reverse=True)
    assert list(found.by_path) == sorted(found.by_path, reverse=True)


@pytest.mark.parametrize("lost", [np.nan, np.inf, 1e9])
def test_a_rollout_that_is_lost_exceeds_everything(lost):
    states = np.zeros((1, STEPS, 11))
    states[0, 20, 0] = lost
    with np.errstate(invalid="ignore"):
        reached = reach(Rollout(np.zeros((1, STEPS, 3)), states))
    for limits in LADDER:
        assert exceeds(reached, DEVIATION, *limits).all()
        assert exceeds(reached, PATH, *limits).all()


def test_examples():
    import doctest

    for module in (census, divergence, solvers):
        assert doctest.testmod(module).failed == 0
