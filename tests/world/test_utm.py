"""Easting and northing: the stock projection's bits, and an independent inverse."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.world import trigonometry
from navaudit.world.trigonometry import HOUSE, LIBM
from navaudit.world.utm import WIDEST_DEG, project

ROWS = json.loads((Path(__file__).parents[1] / "golden/maps/utm.json").read_text())
DEGREE_M = 111_000.0


def golden():
    """Per zone: longitudes and latitudes, eastings and northings."""
    zones = sorted({row[0] for row in ROWS})
    for zone in zones:
        numbers = np.array([[float.fromhex(n) for n in row[1:]] for row in ROWS if row[0] == zone])
        yield zone, numbers[:, :2], numbers[:, 2:]


def test_golden_points_to_the_bit():
    seen = 0
    for zone, lonlat, metres in golden():
        np.testing.assert_array_equal(project(lonlat, zone), metres)
        seen += len(lonlat)
    assert seen == 56


def test_the_house_trigonometry_is_within_two_units_in_the_last_place():
    for zone, lonlat, metres in golden():
        away = np.abs(project(lonlat, zone, HOUSE) - metres)
        assert (away <= 2 * np.spacing(np.abs(metres))).all()


def test_the_houses_inverse_hyperbolic_sine():
    x = np.concatenate([np.linspace(-0.3399, 0.3399, 20_001), np.geomspace(1e-300, 0.3, 2_000)])
    away = np.abs(HOUSE.asinh(x) - [math.asinh(v) for v in x])
    assert (away <= 2 * np.spacing(np.abs(x))).all()
    np.testing.assert_array_equal(HOUSE.asinh(-x), -HOUSE.asinh(x))


def test_the_two_trigonometries_mostly_agree():
    rng = np.random.default_rng(1)
    lonlat = np.array([-71.05, 42.35]) + rng.uniform(-0.06, 0.06, (20_000, 2))
    differ = project(lonlat, 19) != project(lonlat, 19, HOUSE)
    assert differ.mean() < 0.005


@settings(deadline=None, max_examples=100)
@given(
    st.integers(1, 60),
    st.floats(-3.5, 3.5),
    st.floats(-80.0, 84.0),
)
def test_distances_on_the_ground_are_kept_to_the_scale(zone, aside, latitude):
    """A transverse Mercator map is conformal: a small step north is as long as one east."""
    step = 1e-4
    origin = np.array([6.0 * zone - 183.0 + aside, latitude])
    moved = project(origin + np.array([[0.0, 0.0], [0.0, step], [step, 0.0]]), zone)
    north, east = moved[1] - moved[0], moved[2] - moved[0]
    sine2 = math.sin(math.radians(latitude)) ** 2
    e2 = 0.00669437999014
    meridian = (1.0 - e2) / (1.0 - e2 * sine2) ** 1.5
    parallel = math.cos(math.radians(latitude)) / math.sqrt(1.0 - e2 * sine2)
    ratio = math.hypot(*east) / math.hypot(*north)
    assert ratio == pytest.approx(parallel / meridian, rel=1e-5)
    assert abs(np.dot(north, east)) < 1e-4 * math.hypot(*east) * math.hypot(*north)
    scale = math.hypot(*north) / (math.radians(step) * 6378137.0 * meridian)
    assert 0.9996 - 1e-6 <= scale < 1.0015


def test_mirror_symmetry():
    east = project([[3.0 + 1.25, 50.0]], 31)[0]
    west = project([[3.0 - 1.25, 50.0]], 31)[0]
    assert east[0] - 500000.0 == pytest.approx(500000.0 - west[0], abs=1e-8)
    assert east[1] == pytest.approx(west[1], abs=1e-8)


def test_pieces_do_not_show():
    rng = np.random.default_rng(2)
    lonlat = np.array([103.8, 1.3]) + rng.uniform(-0.1, 0.1, (20_000, 2))
    whole = project(lonlat, 48)
    parts = [project(lonlat[i : i + 777], 48) for i in range(0, len(lonlat), 777)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    assert project(np.empty((0, 2)), 48).shape == (0, 2)


@pytest.mark.parametrize(
    ("lonlat", "zone", "says"),
    [
        ([[42.35, -71.05]], 19, "not in UTM zone 19"),
        ([[3.0, np.nan]], 31, "nan"),
        ([[3.0, 90.5]], 31, "latitude 90.5"),
        ([[3.0 + WIDEST_DEG + 0.001, 0.0]], 31, "not in UTM zone"),
        ([3.0, 0.0], 31, "shape"),
        ([[3.0, 0.0]], 0, "zone is 0"),
    ],
)
def test_nonsense_is_refused(lonlat, zone, says):
    with pytest.raises(BadInput, match=says):
        project(lonlat, zone)


def test_libm_is_the_library_element_by_element(monkeypatch):
    rng = np.random.default_rng(3)
    y, x = rng.uniform(-7.0, 7.0, (2, 5000))
    quick = [LIBM.sin(y), LIBM.cos(y), LIBM.atan2(y, x), LIBM.asinh(y)]
    np.testing.assert_array_equal(quick[0], [math.sin(v) for v in y])
    np.testing.assert_array_equal(quick[1], [math.cos(v) for v in y])
    np.testing.assert_array_equal(quick[2], [math.atan2(a, b) for a, b in zip(y, x, strict=True)])
    np.testing.assert_array_equal(quick[3], [math.asinh(v) for v in y])
    # a compiled sine that differs in its last bits is not used
    monkeypatch.setattr(
        trigonometry, "_fill_sin", lambda angle, out: np.nextafter(np.sin(angle), 2, out=out)
    )
    np.testing.assert_array_equal(LIBM.sin(y), quick[0])
