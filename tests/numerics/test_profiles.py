"""The closed forms against exact arithmetic, against LAPACK, and against themselves."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from navaudit.errors import BadInput
from navaudit.numerics import lapack, profiles
from navaudit.numerics.agreement import MOVING_MPS, tabulate_gaps
from navaudit.numerics.profiles import fit

DATA = Path(__file__).parents[3] / "shared" / "data"
DT = Fraction(1, 10)
N = 40


def vocabulary(name: str) -> np.ndarray:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the published vocabulary {name} is not beside this checkout")
    candidates = np.load(path).astype(np.float64)
    return np.concatenate((np.zeros((len(candidates), 1, 3)), candidates), axis=1)


def smooth_paths(seed: int, count: int, top_speed: float = 20.0) -> np.ndarray:
    """Random drives ``[candidate, step, 3]`` of gentle speed and heading changes."""
    rng = np.random.default_rng(seed)
    speed = rng.uniform(0, top_speed, (count, 1)) + rng.normal(0, 0.3, (count, 41)).cumsum(axis=1)
    heading = rng.uniform(-3.1, 3.1, (count, 1)) + rng.normal(0, 0.02, (count, 41)).cumsum(axis=1)
    ways = 0.1 * np.maximum(speed, 0.0)
    x = np.concatenate((np.zeros((count, 1)), (ways * np.cos(heading))[:, :-1].cumsum(1)), axis=1)
    y = np.concatenate((np.zeros((count, 1)), (ways * np.sin(heading))[:, :-1].cumsum(1)), axis=1)
    return np.stack((x, y, heading), axis=-1)


# --------------------------------------------------------------- against exact arithmetic


@cache
def exact_speed_operator(penalty: str) -> list[list[Fraction]]:
    """Speeds from ways along the heading, solved in the first speed and the accelerations."""
    design = [[DT if j == 0 else DT * DT * (j <= i) for j in range(N)] for i in range(N)]
    rows = []
    for k in range(N - 2):
        row = [Fraction(0)] * N
        row[k + 1] = Fraction(-1)
        if penalty == "intended" or k == N - 3:
            row[k + 2] = Fraction(1)
        rows.append(row)
    weight = Fraction(1, 10_000)
    normal = [
        [
            sum(design[m][i] * design[m][j] for m in range(N))
            + weight * sum(row[i] * row[j] for row in rows if row[i] and row[j])
            for j in range(N)
        ]
        for i in range(N)
    ]
    solution = solve_exactly(normal, [[design[j][i] for j in range(N)] for i in range(N)])
    return [[sum(design[i][k] * solution[k][j] for k in range(N)) / DT for j in range(N)]
            for i in range(N)]  # fmt: skip


def solve_exactly(matrix: list[list[Fraction]], right: list[list[Fraction]]) -> list:
    rows = [[*left, *more] for left, more in zip(matrix, right, strict=True)]
    for i in range(len(rows)):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(len(rows)):
            if k != i and rows[k][i]:
                factor = rows[k][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[len(rows) :] for row in rows]


@pytest.mark.parametrize("penalty", ["stock", "intended"])
def test_speeds_are_the_exact_solution_rounded(penalty):
    rng = np.random.default_rng(1)
    operator = exact_speed_operator(penalty)
    for ways in rng.normal(0.5, 1.0, (5, N)):
        exact = [sum(a * Fraction(s) for a, s in zip(row, ways, strict=True)) for row in operator]
        found = ways.copy()
        profiles.solve_speeds(profiles.speed_bands(penalty), found)
        assert np.abs(found - np.array(exact, dtype=float)).max() < 8 * np.spacing(10.0)


def exact_curvatures(speeds: np.ndarray, turns: np.ndarray) -> np.ndarray:
    """Thomas elimination of the tridiagonal problem in rationals, from floats as they are."""
    ways = [Fraction(0.1) * Fraction(v) for v in speeds]
    diagonal = [w * w + 2 for w in ways]
    diagonal[0] += Fraction(1e-10) - 1
    diagonal[-1] -= 1
    right = [w * Fraction(t) for w, t in zip(ways, turns, strict=True)]
    for i in range(1, N):
        factor = 1 / diagonal[i - 1]
        diagonal[i] -= factor
        right[i] += factor * right[i - 1]
    found = [right[-1] / diagonal[-1]]
    for i in range(N - 2, -1, -1):
        found.insert(0, (right[i] + found[0]) / diagonal[i])
    return np.array([float(value) for value in found])


scales = st.sampled_from([0.0, 1e-12, 1e-6, 1e-3, 1.0, 30.0])


@settings(deadline=None, max_examples=40)
@given(
    hnp.arrays(float, N, elements=st.floats(-1, 1, width=32)),
    hnp.arrays(float, N, elements=st.floats(-0.5, 0.5, width=32)),
    scales,
)
def test_curvatures_are_accurate_however_slow_the_path(shape, turns, scale):
    speeds = scale * shape
    found, scratch = turns.copy(), np.empty(N)
    profiles.solve_curvatures(speeds, scratch, found)
    # terms of opposite sign in the data may cancel; the same fit without signs bounds them
    bound = exact_curvatures(np.abs(speeds), np.abs(turns))
    assert np.all(np.abs(found - exact_curvatures(speeds, turns)) <= 2e-14 * bound + 1e-300)


# --------------------------------------------------------------- against LAPACK


def assert_agreement(poses, solver, penalty="stock"):
    for gap in tabulate_gaps(poses, solver, penalty=penalty):
        assert gap.speed_mps < 1e-11, gap
        assert gap.curvature_per_m < (1e-9 if gap.moving else 1e-6), gap


@pytest.mark.parametrize("solver", ["pinv", "pinvh", "solve"])
@pytest.mark.parametrize("penalty", ["stock", "intended"])
def test_lapack_agrees_on_random_drives(solver, penalty):
    assert_agreement(smooth_paths(2, 60), solver, penalty)


@pytest.mark.parametrize("solver", ["pinv", "pinvh", "solve"])
def test_lapack_agrees_at_walking_pace(solver):
    assert_agreement(smooth_paths(3, 60, top_speed=0.01), solver)


@pytest.mark.parametrize("name", ["vocabulary_8192.npy", "vocabulary_16384_estimated.npy"])
def test_pinv_agrees_on_a_sample_of_the_published_vocabulary(name):
    assert_agreement(vocabulary(name)[::16], "pinv")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vocabulary_8192.npy", "vocabulary_16384_estimated.npy"])
def test_pinv_agrees_on_the_published_vocabulary(name):
    assert_agreement(vocabulary(name), "pinv")


def test_gaps_count_every_candidate_once():
    poses = np.concatenate((smooth_paths(4, 20), smooth_paths(5, 20, 1e-3), np.zeros((2, 41, 3))))
    gaps = tabulate_gaps(poses, "solve")
    assert sum(gap.candidates for gap in gaps) == len(poses)
    assert all(gap.below_mps <= later.from_mps for gap, later in pairwise(gaps))
    assert {gap.moving for gap in gaps} == {True, False}
    assert not any(gap.moving for gap in gaps if gap.from_mps < MOVING_MPS)


def test_lapack_results_do_not_depend_on_the_block(monkeypatch):
    poses = smooth_paths(6, 12)
    whole = fit(poses, "solve")
    monkeypatch.setattr(lapack, "_CANDIDATES_AT_ONCE", 5)
    for before, after in zip(whole, fit(poses, "solve"), strict=True):
        np.testing.assert_allclose(before, after, rtol=0, atol=1e-11)


# --------------------------------------------------------------- what a fit must obey


def test_the_stock_penalty_is_another_fit_than_the_intended_one():
    poses = smooth_paths(7, 20)
    stock, intended = fit(poses)[0], fit(poses, penalty="intended")[0]
    assert np.abs(stock - intended).max() > 0.05


@pytest.mark.parametrize("solver", ["closed", "pinv", "pinvh", "solve"])
@pytest.mark.parametrize("penalty", ["stock", "intended"])
def test_a_steady_straight_path_keeps_its_speed(solver, penalty):
    poses = np.zeros((1, 41, 3))
    poses[0, :, :2] = np.outer(np.arange(41), [-0.6, 0.8])
    poses[0, :, 2] = np.arctan2(0.8, -0.6)
    speeds, curvatures = fit(poses, solver, penalty)
    np.testing.assert_allclose(speeds, 10.0, rtol=0, atol=1e-11)
    assert np.abs(curvatures).max() < 1e-12


@pytest.mark.parametrize("solver", ["closed", "pinv", "pinvh", "solve"])
def test_a_resting_path_has_no_speed_and_no_curvature(solver):
    poses = np.full((1, 41, 3), 2.5)
    assert all(np.array_equal(one, np.zeros((1, 40))) for one in fit(poses, solver))


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(-8, 8))
def test_speeds_scale_with_the_path_to_the_bit(seed, power):
    poses = smooth_paths(seed, 3)
    larger = poses * [2.0**power, 2.0**power, 1.0]
    assert np.array_equal(fit(larger)[0], 2.0**power * fit(poses)[0])


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1))
def test_mirrored_paths_turn_the_other_way_to_the_bit(seed):
    poses = smooth_paths(seed, 3)
    speeds, curvatures = fit(poses)
    mirrored_speeds, mirrored_curvatures = fit(poses * [1.0, -1.0, -1.0])
    assert np.array_equal(speeds, mirrored_speeds)
    assert np.array_equal(curvatures, -mirrored_curvatures)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 3))
def test_whole_turns_in_the_heading_change_nothing(seed, turns):
    poses = smooth_paths(seed, 3)
    wound = poses.copy()
    wound[:, 17:, 2] += turns * 2.0 * np.pi
    for straight, around in zip(fit(poses), fit(wound), strict=True):
        np.testing.assert_allclose(straight, around, rtol=0, atol=1e-10)


def test_every_candidate_is_fitted_alone():
    poses = smooth_paths(8, 30)
    order = np.random.default_rng(9).permutation(30)
    for whole, shuffled, single in zip(fit(poses), fit(poses[order]), fit(poses[4:5]), strict=True):
        assert np.array_equal(whole[order], shuffled)
        assert np.array_equal(whole[4:5], single)


def test_row_kernels_write_what_the_door_returns():
    poses = smooth_paths(10, 2)
    speeds, curvatures = fit(poses)
    speed, curvature, scratch = np.empty(N), np.empty(N), np.empty(N)
    profiles.fit_speeds(poses[1], profiles.speed_bands(), speed)
    profiles.fit_curvatures(poses[1], speed, scratch, curvature)
    assert np.array_equal(speed, speeds[1])
    assert np.array_equal(curvature, curvatures[1])


def test_nothing_writes_to_the_paths_or_the_bands():
    poses = smooth_paths(11, 4)
    poses.flags.writeable = False
    assert fit(poses)[0].shape == (4, 40)
    assert not profiles.speed_bands().flags.writeable


def test_no_candidates_give_no_profiles():
    for solver in ("closed", "pinv", "pinvh", "solve"):
        assert [one.shape for one in fit(np.empty((0, 41, 3)), solver)] == [(0, 40), (0, 40)]


@pytest.mark.parametrize(
    ("poses", "options", "complaint"),
    [
        (np.zeros((2, 40, 3)), {}, "paths have shape"),
        (np.zeros((41, 3)), {}, "paths have shape"),
        (np.zeros((2, 41, 3), np.float32), {}, "paths are float32"),
        (np.full((2, 41, 3), np.nan), {}, "not finite"),
        (np.zeros((2, 41, 3)), {"solver": "qr"}, "solver 'qr'"),
        (np.zeros((2, 41, 3)), {"penalty": "none"}, "penalty 'none'"),
    ],
)
def test_what_is_no_path_is_refused(poses, options, complaint):
    with pytest.raises(BadInput, match=complaint):
        fit(poses, **options)
