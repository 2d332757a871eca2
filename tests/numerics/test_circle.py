"""Tables and angle reduction against an independent library of long numbers."""

import math

import mpmath
import numpy as np
import pytest

from navaudit.numerics import circle
from navaudit.numerics.reduction import QUICK_LIMIT_RAD, exact_step, quick_step

mp = mpmath.mp.clone()
mp.prec = 1500  # the largest double has 1024 bits before the point


def total(pieces):
    return mp.fsum(mp.mpf(float(piece)) for piece in pieces)


def test_sines_are_right_to_three_pieces():
    assert circle.SINES.shape == (circle.STEPS, 3)
    for step, pieces in enumerate(circle.SINES):
        truth = mp.sin(2 * mp.pi * step / circle.STEPS) if step % (circle.STEPS // 2) else mp.mpf(0)
        assert abs(total(pieces) - truth) <= 2.0**-131 * abs(truth)


def test_leading_sines_have_26_bits():
    significands = np.frexp(circle.SINES[:, 0])[0] * 2.0**26
    assert np.array_equal(significands, np.round(significands))


def test_arctangents_are_right_to_two_pieces():
    for step in range(circle.RATIO_STEPS + 1):
        angle = mp.atan(mp.mpf(step) / circle.RATIO_STEPS)
        octants = (angle, mp.pi / 2 - angle, mp.pi - angle, mp.pi / 2 + angle)
        for octant, truth in enumerate(octants):
            pieces = circle.ARCTANGENTS[octant, step]
            assert abs(total(pieces) - truth) <= 2.0**-106 * abs(truth)
            assert pieces[0] == float(truth)


def test_constants():
    step = 2 * mp.pi / circle.STEPS
    assert abs(total(circle.RADIANS_PER_STEP) - step) <= 2.0**-117
    assert abs(total(circle.RADIANS_PER_STEP_TWOFOLD) - step) <= 2.0**-106 * step
    assert abs(total(circle.PI_TWOFOLD) - mp.pi) <= 2.0**-106 * mp.pi
    assert circle.PI_TWOFOLD[0] == math.pi
    assert abs(circle.STEPS_PER_RADIAN * step - 1) < 2.0**-51
    for n, pieces in enumerate(circle.INVERSE_FACTORIALS):
        assert abs(total(pieces) * mp.factorial(n) - 1) <= 2.0**-106
    for n, pieces in enumerate(circle.INVERSE_ODDS):
        assert abs(total(pieces) * (2 * n + 1) - 1) <= 2.0**-106


def test_digits_of_steps_per_radian():
    digits = circle.STEPS_PER_RADIAN_LIMBS[circle.PADDING_LIMBS :]
    number = sum(int(d) << circle.LIMB_BITS * i for i, d in enumerate(digits[::-1]))
    bits = circle.LIMB_BITS * (len(digits) - 1)
    assert number == int(mp.floor(circle.STEPS / (2 * mp.pi) * mp.mpf(2) ** bits))
    assert not circle.STEPS_PER_RADIAN_LIMBS[: circle.PADDING_LIMBS].any()


def test_tables_are_read_only():
    with pytest.raises(ValueError, match="read-only"):
        circle.SINES[0, 0] = 1.0


def angles():
    rng = np.random.default_rng(20240517)
    drive = rng.uniform(-QUICK_LIMIT_RAD, QUICK_LIMIT_RAD, 1000)
    scales = 2.0 ** rng.uniform(-27.0, 1023.9, 2000) * rng.choice([-1.0, 1.0], 2000)
    quarters = np.arange(1, 500) * (math.pi / 2.0)
    steps = (np.arange(1, 500) + 0.5) * (math.pi / 128.0)
    corners = np.concatenate([quarters, steps, [2.0**-27, QUICK_LIMIT_RAD, 1.7976931348623157e308]])
    # the double closest to a multiple of pi / 2, found by continued fractions
    closest = [6381956970095103.0 * 2.0**797]
    around = [np.nextafter(corners, 0.0), corners, np.nextafter(corners, 1e300)]
    return np.concatenate([drive, scales, *around, closest]).tolist()


def rest_of(angle, step):
    count = mp.nint(mp.mpf(angle) * circle.STEPS / (2 * mp.pi))
    while int(count) % circle.STEPS != step:  # quick steps may round a half the other way
        count += 1
        assert count < mp.mpf(angle) * circle.STEPS / (2 * mp.pi) + 2
    return mp.mpf(angle) - count * 2 * mp.pi / circle.STEPS


def test_exact_step_is_right_to_102_bits_for_every_size():
    worst = mp.mpf(0)
    for angle in angles():
        step, rest, tail = exact_step(angle)
        truth = rest_of(angle, step)
        assert abs(truth) <= mp.pi / circle.STEPS
        worst = max(worst, abs(total((rest, tail)) - truth) / abs(truth))
    print(f"exact_step: largest relative error 2**{float(mp.log(worst, 2)):.2f}")
    assert worst < 2.0**-102


def test_quick_step_is_right_to_its_bound():
    worst = mp.mpf(0)
    for angle in angles():
        if abs(angle) < QUICK_LIMIT_RAD:
            step, rest, tail = quick_step(angle)
            truth = rest_of(angle, step)
            assert abs(truth) <= mp.pi / circle.STEPS + 2.0**-20
            worst = max(worst, abs(total((rest, tail)) - truth))
    print(f"quick_step: largest error 2**{float(mp.log(worst, 2)):.2f} rad")
    assert worst < 2.0**-94
