"""Whole arrays give the bits of scalars, and the door refuses what is no angle."""

import math

import numpy as np
import pytest

from navaudit.errors import BadInput
from navaudit.numerics import angles, trig

ONE = ["sin", "cos", "tan", "wrap_to_pi", "wrap_by_atan2"]


def test_every_entry_point_is_covered():
    entries = {name for name in vars(angles) if name.endswith("_of")}
    assert entries == {f"{name}_of" for name in [*ONE, "acos", "atan2", "hypot"]}


@pytest.mark.parametrize("name", ONE)
def test_arrays_of_angles_give_the_bits_of_scalars(name):
    angle = np.random.default_rng(1).uniform(-1e3, 1e3, 300)
    whole = getattr(angles, f"{name}_of")(angle)
    assert whole.tolist() == [getattr(trig, name)(each) for each in angle.tolist()]


def test_arrays_of_cosines_and_points_give_the_bits_of_scalars():
    y, x = np.random.default_rng(2).uniform(-1.0, 1.0, (2, 300))
    assert angles.acos_of(x).tolist() == [trig.acos(each) for each in x.tolist()]
    for whole, alone in ((angles.atan2_of, trig.atan2), (angles.hypot_of, trig.hypot)):
        assert whole(y, x).tolist() == list(map(alone, y.tolist(), x.tolist()))


def test_arrays_keep_their_shape():
    field = np.linspace(-3.0, 3.0, 12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(angles.sin_of(field.T), angles.sin_of(field).T)
    assert np.array_equal(angles.sin_of(field), angles.sin_of(field.astype(np.float64)))
    assert angles.sin_of(1).shape == ()
    assert angles.cos_of([]).shape == (0,)
    assert angles.atan2_of(np.ones((3, 1)), np.ones(2)).tolist() == [[math.pi / 4] * 2] * 3


@pytest.mark.parametrize("values", ["north", 1j, None, [object()], np.longdouble(1.0)])
def test_arrays_of_other_things_are_refused(values):
    with pytest.raises(BadInput, match="angle_rad has dtype"):
        angles.sin_of(values)


def test_shapes_that_do_not_broadcast_are_refused():
    with pytest.raises(BadInput, match=r"\(2,\) and x has shape \(3,\)"):
        angles.atan2_of([1.0, 2.0], [1.0, 2.0, 3.0])
