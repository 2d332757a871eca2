"""The kernels against long numbers, the standard's special cases and the laws of the circle."""

import doctest
import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from navaudit.numerics import angles, circle, polar, trig, twofold
from navaudit.numerics.circle import RATIO_STEPS, STEPS
from navaudit.numerics.reduction import QUICK_LIMIT_RAD

mp = mpmath.mp.clone()
mp.prec = 300
laws = settings(deadline=None, max_examples=300)
finite = st.floats(allow_nan=False, allow_infinity=False)
PI = math.pi


def nearest(true):
    """Round a long number once, to the nearest double, subnormals included."""
    sign, significand, exponent, _ = true._mpf_
    size = int(significand) * Fraction(2) ** int(exponent)
    return float(-size if sign else size)


def neighbours(values):
    values = np.asarray(values)
    return np.concatenate([values, np.nextafter(values, np.inf), np.nextafter(values, -np.inf)])


def either_sign(rng, sizes):
    return sizes * rng.choice([-1.0, 1.0], len(sizes))


def random_angles(rng, count):
    drive = rng.uniform(-7.0, 7.0, count), rng.uniform(-1e3, 1e3, count)
    far = rng.uniform(-QUICK_LIMIT_RAD, QUICK_LIMIT_RAD, count // 2)
    scales = either_sign(rng, 2.0 ** rng.uniform(-30.0, 53.0, count // 2))
    return np.concatenate([*drive, far, scales])


def hard_angles(rng, count):
    eighths = np.arange(1, count // 10) * (PI / 4.0)
    steps = np.arange(1, 3 * STEPS) * (PI / STEPS)  # breakpoints and the middles between them
    near = rng.integers(1, 80_000, count) * (PI / 2.0) + 2.0 ** rng.uniform(-60.0, -4.0, count)
    # the cosine crosses the first two rounding boundaries below one
    crossings = np.sqrt([1.0, 3.0]) * 2.0**-26.5 + np.arange(-40, 41)[:, None] * 2.0**-79
    limits = [2.0**-27, QUICK_LIMIT_RAD, 2.0**53, 1e5, 1.7976931348623157e308]
    closest_to_quarters = [6381956970095103.0 * 2.0**797, 5319372648326541.0 * 2.0**-9]
    edges = np.concatenate([eighths, steps, crossings.ravel(), limits[:-1], closest_to_quarters])
    return np.concatenate([neighbours(edges), -edges, near, limits[-1:]])


def random_cosines(rng, count):
    plain = rng.uniform(-1.0, 1.0, count)
    near_one = 1.0 - 2.0 ** rng.uniform(-53.0, 0.0, count)
    small = either_sign(rng, 2.0 ** rng.uniform(-300.0, 0.0, count // 4))
    return np.concatenate([plain, near_one, -near_one, small, [0.0, 1.0, -1.0, 5e-324]])


def random_points(rng, count):
    unit, world = rng.uniform(-1.0, 1.0, (count, 2)), rng.uniform(-1e7, 1e7, (count, 2))
    scales = either_sign(rng, 2.0 ** rng.uniform(-60.0, 60.0, 2 * count)).reshape(-1, 2)
    return np.concatenate([unit, world, scales])


def hard_points(rng, count):
    lattice = np.array([p for p in itertools.product(range(-20, 21), repeat=2) if any(p)]) * 1.0
    ratios = neighbours(np.arange(0.5, RATIO_STEPS + 0.5, 0.5) / RATIO_STEPS)
    run = rng.uniform(1.0, 2.0, (8, 1))
    breakpoints = np.stack(np.broadcast_arrays(ratios * run, run), axis=-1).reshape(-1, 2)
    extremes = either_sign(rng, 2.0 ** rng.uniform(-1074.0, 1022.0, count)).reshape(-1, 2)
    similar = extremes[:, :1] * np.stack(
        [np.ones(count // 2), 2.0 ** rng.uniform(-30.0, 0.0, count // 2)], axis=-1
    )
    subnormal = rng.integers(1, 300, (count // 4, 2)) * 5e-324
    points = np.concatenate([lattice, breakpoints, extremes, similar, subnormal])
    points = points[(points != 0.0).any(axis=1)] + 0.0  # long numbers have no signed zeros
    return np.concatenate([points, points[:, ::-1]])


SCALARS = {
    "sin": (mp.sin, random_angles, hard_angles),
    "cos": (mp.cos, random_angles, hard_angles),
    "tan": (mp.tan, random_angles, hard_angles),
    "acos": (mp.acos, random_cosines, random_cosines),
}
PAIRS = {
    "atan2": (mp.atan2, random_points, hard_points),
    "hypot": (mp.hypot, random_points, hard_points),
}
ORACLES = SCALARS | PAIRS


def worst_error(name, points):
    """Return the largest error in ulps, and fail where a result is not the nearest double."""
    kernel, oracle = getattr(trig, name), ORACLES[name][0]
    worst, wrong = 0.0, []
    for point in np.reshape(points, (len(points), -1)).tolist():
        got = kernel(*point)
        with mp.workprec(1500 if max(map(abs, point)) > 1e15 else 300):
            true = oracle(*map(mp.mpf, point))
            best = nearest(true)
            worst = max(worst, float(abs(mp.mpf(got) - true) / math.ulp(best)))
        if got != best:
            wrong.append((point, got, best))
    assert wrong == [], f"{len(wrong)} of {len(points)} are not the nearest double"
    return worst


def check(name, points, record_property):
    worst = worst_error(name, points)
    record_property("max_ulp", worst)
    print(f"{name}: {len(points)} points, all nearest doubles, largest error {worst:.6f} ulp")
    assert worst <= 0.5 + 2.0**-40  # the long number is itself rounded


@pytest.mark.parametrize("name", ORACLES)
def test_random_points_round_to_the_nearest_double(name, record_property):
    check(name, ORACLES[name][1](np.random.default_rng(11), 2_000), record_property)


@pytest.mark.parametrize("name", ORACLES)
def test_hard_points_round_to_the_nearest_double(name, record_property):
    check(name, ORACLES[name][2](np.random.default_rng(12), 1_000), record_property)


@pytest.mark.slow
@pytest.mark.parametrize("name", ORACLES)
def test_many_points_round_to_the_nearest_double(name, record_property):
    check(name, ORACLES[name][1](np.random.default_rng(13), 15_000), record_property)


def test_hypot_breaks_ties_to_even(record_property):
    rng = np.random.default_rng(14)
    ties = []
    for p, q in rng.integers(1, 2**27, (20_000, 2)).tolist():
        # Pythagoras: the hypotenuse of these integers has 54 bits, the last one set
        sides, long = (abs(p * p - q * q), 2 * p * q), p * p + q * q
        if max(sides) < 2**53 <= long and long % 2:
            ties.append([float(side) for side in sides])
    assert len(ties) > 100
    check("hypot", ties, record_property)


def test_a_subnormal_angle_errs_by_one_ulp_at_most():
    rng = np.random.default_rng(15)
    for rise, run in zip(rng.integers(1, 2_000, 2_000), rng.integers(1, 64, 2_000), strict=True):
        got = Fraction(trig.atan2(float(rise) * 5e-324, float(run))) / Fraction(5e-324)
        assert abs(got - Fraction(int(rise), int(run))) <= Fraction(1, 2)


def same(got, expected):
    """Compare as bits, but for the payload of NaN."""
    if math.isnan(expected):
        return math.isnan(got)
    return got == expected and math.copysign(1.0, got) == math.copysign(1.0, expected)


SPECIAL = [0.0, 5e-324, 2.2e-308, 2.0**-1021, 2.0**-300, 1e-9, 1.0, 2.0**300, 1e308, math.inf]
SPECIAL = [*SPECIAL, *(-value for value in SPECIAL), math.nan]


def test_points_at_the_edges_follow_the_standard():
    for y, x in itertools.product(SPECIAL, SPECIAL):
        assert same(trig.atan2(y, x), math.atan2(y, x)), (y, x)
        # where both sides are subnormal and equal, math.hypot is not the nearest double everywhere
        both_tiny = abs(y) == abs(x) < 1e-300
        assert both_tiny or same(trig.hypot(y, x), math.hypot(y, x)), (y, x)


def test_angles_at_the_edges_follow_the_standard():
    for name in ("sin", "cos", "tan", "wrap_to_pi", "wrap_by_atan2"):
        for angle in (math.inf, -math.inf, math.nan):
            assert math.isnan(getattr(trig, name)(angle))
    for tiny in (0.0, 5e-324, 2.2e-308, 1e-300, 2.0**-28):
        for angle in (tiny, -tiny):
            assert same(trig.sin(angle), angle)
            assert same(trig.tan(angle), angle)
            assert same(trig.wrap_by_atan2(angle), angle)
            assert trig.cos(angle) == 1.0
    for beyond in (math.nextafter(1.0, 2.0), -1.0000001, math.inf, -math.inf, math.nan):
        assert math.isnan(trig.acos(beyond))
    assert same(trig.acos(1.0), 0.0)


@laws
@given(finite)
def test_parity(angle):
    assert same(trig.sin(-angle), -trig.sin(angle))
    assert same(trig.tan(-angle), -trig.tan(angle))
    assert trig.cos(-angle) == trig.cos(angle)
    assert trig.sincos(angle) == (trig.sin(angle), trig.cos(angle))


@laws
@given(finite)
def test_sine_and_cosine_lie_on_the_circle(angle):
    sine, cosine = map(Fraction, trig.sincos(angle))
    assert abs(sine * sine + cosine * cosine - 1) <= Fraction(2) ** -52


@laws
@given(finite, finite)
def test_symmetries_of_the_plane(y, x):
    assert same(trig.atan2(-y, x), -trig.atan2(y, x))
    assert trig.hypot(y, x) == trig.hypot(x, -y)
    assert abs(trig.atan2(y, x)) <= PI
    if abs(x) < 1e300 and abs(y) < 1e300:
        assert trig.hypot(y, x) >= max(abs(x), abs(y))


@laws
@given(st.floats(-PI / 2, PI / 2), st.floats(-PI / 2, PI / 2))
def test_order_is_kept(one, other):
    below, above = sorted((one, other))
    assert trig.sin(below) <= trig.sin(above)
    assert trig.tan(below) <= trig.tan(above)
    assert trig.cos(below + PI / 2) >= trig.cos(above + PI / 2)
    assert trig.atan2(below, 1.0) <= trig.atan2(above, 1.0)
    assert trig.acos(below * 2 / PI) >= trig.acos(above * 2 / PI)


@laws
@given(finite)
@example(math.nextafter(-PI, -4.0))  # the remainder rounds up to a whole turn
@example(-PI)
@example(PI)
@example(2.0**52)
@example(1.7976931348623157e308)
def test_wrap_to_pi_is_the_remainder_of_python_and_numpy(angle):
    got = trig.wrap_to_pi(angle)
    assert same(got, (angle + PI) % (2 * PI) - PI)
    assert same(got, ((np.array([angle]) - -PI) % (2 * np.pi) + -PI).item())
    assert -PI <= got <= PI


def test_wrap_to_pi_over_whole_turns_and_ranges():
    rng = np.random.default_rng(16)
    turns = neighbours(np.arange(-2_000, 2_000) * PI)
    ranges = [rng.uniform(-limit, limit, 20_000) for limit in (4.0, 20.0, 1e5, 1e12, 1e18)]
    angle = np.concatenate([turns, *ranges])
    stock = (angle + PI) % (2 * PI) - PI
    assert np.array_equal(angles.wrap_to_pi_of(angle), stock)


@laws
@given(finite)
def test_wrap_by_atan2_is_its_definition(angle):
    got = trig.wrap_by_atan2(angle)
    assert same(got, trig.atan2(trig.sin(angle), trig.cos(angle)))
    assert -PI <= got <= PI
    if abs(angle) < 3.0:
        assert abs(got - angle) <= 2.0**-51


def test_wrap_by_atan2_is_its_definition_where_it_takes_the_short_way():
    rng = np.random.default_rng(18)
    turns = 2.0 ** rng.uniform(-30.0, 2.0, 200_000) * rng.choice([-1.0, 1.0], 200_000)
    steps = rng.normal(0.0, 0.02, 300_000)
    breakpoints = np.arange(-3 * STEPS, 3 * STEPS)[:, None] * (PI / STEPS)
    near = (breakpoints + rng.integers(-500, 500, 100) * 2.0**-50).ravel()
    ends = neighbours([2.0**-27, 3.0, PI / 2.0, PI, -(2.0**-27), -3.0, -PI])
    angle = np.concatenate([turns, steps, near, ends])
    got = angles.wrap_by_atan2_of(angle)
    expected = angles.atan2_of(angles.sin_of(angle), angles.cos_of(angle))
    assert np.array_equal(got.view(np.int64), expected.view(np.int64))


def test_wrap_by_atan2_moves_some_angles_that_need_no_wrapping():
    angle = np.linspace(-3.0, 3.0, 10_001)
    moved = np.count_nonzero(angles.wrap_by_atan2_of(angle) != angle)
    assert 100 < moved < 1_000


@pytest.mark.parametrize("module", [angles, circle, polar, trig, twofold])
def test_examples_in_docstrings(module):
    parse, run = doctest.DocTestParser().get_doctest, doctest.DocTestRunner().run
    own = [thing for thing in vars(module).values() if thing.__doc__ and ">>>" in thing.__doc__]
    own = [thing for thing in own if getattr(thing, "__module__", "") == module.__name__]
    results = [run(parse(thing.__doc__, dict(vars(module)), "", None, 0)) for thing in own]
    assert sum(result.attempted for result in results) > 0
    assert sum(result.failed for result in results) == 0


WHOLE = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "acos": np.arccos,
    "atan2": np.arctan2,
    "hypot": np.hypot,
}


@pytest.mark.parametrize("name", WHOLE)
def test_numpy_agrees_within_one_ulp(name):
    points = ORACLES[name][1](np.random.default_rng(17), 20_000)
    columns = points.reshape(len(points), -1).T
    columns = [column.copy() for column in columns]
    ours, theirs = getattr(angles, f"{name}_of")(*columns), WHOLE[name](*columns)
    steps = np.abs(ours.view(np.int64) - theirs.view(np.int64))
    print(f"{name}: numpy gives the nearest double at {np.mean(steps == 0):.2%} of points")
    assert steps.max() <= 1
