import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.stats.standardize import Group, standardized_difference

FAST = settings(deadline=None, max_examples=60)


@st.composite
def groups(draw):
    """Treatments and controls over a few strata, two series."""
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.tuples(st.integers(1, 30), st.integers(1, 30)))
    return [Group.of(random.normal(size=(2, n)), random.integers(0, 2000, n)) for n in sizes]


@FAST
@given(groups(), st.sampled_from(["median", "mean"]), st.sampled_from([1, 300, 500]))
def test_the_point_is_the_weighted_mean_of_the_strata(case, statistic, width):
    treatment, control = case
    reading = getattr(np, statistic)
    total, weight = np.zeros(2), 0
    for stratum in range(2000 // width + 1):
        there = treatment.values[:, treatment.counts // width == stratum]
        here = control.values[:, control.counts // width == stratum]
        if there.size and here.size:
            total += there.shape[1] * (reading(there, axis=1) - reading(here, axis=1))
            weight += there.shape[1]
    options = {"width": width, "statistic": statistic, "resamples": 5, "seed": 0}
    if not weight:
        with pytest.raises(BadInput):
            standardized_difference(treatment, control, **options)
        return
    found = standardized_difference(treatment, control, **options)
    np.testing.assert_allclose(found.difference.point, total / weight, atol=1e-12)
    assert found.uncovered == treatment.counts.size - weight
    assert found.treatments.sum() == weight


def test_a_difference_made_by_the_counts_alone_is_standardized_away():
    random = np.random.default_rng(0)
    there, here = random.integers(0, 2000, 900), (2000 * random.beta(1, 3, 4000)).astype(int)
    treatment, control = (Group.of((n // 500)[None] * 1.0, n) for n in (there, here))
    found = standardized_difference(treatment, control, resamples=20, seed=0)
    assert np.median(treatment.values) != np.median(control.values)
    assert found.difference.point.tolist() == [0.0]
    assert found.difference.low.tolist() == [0.0]
    assert found.stratum.tolist() == [0, 1, 2, 3]


def test_one_stratum_is_a_difference_of_medians_redrawn_on_each_side():
    random = np.random.default_rng(1)
    treatment = Group.of(random.normal(size=(1, 60)), np.zeros(60, int))
    control = Group.of(random.normal(size=(1, 90)), np.zeros(90, int))
    found = standardized_difference(treatment, control, resamples=300, seed=7)
    draws = np.random.default_rng(7)
    there = np.median(treatment.values[0][draws.integers(0, 60, (300, 60))], axis=1)
    here = np.median(control.values[0][draws.integers(0, 90, (300, 90))], axis=1)
    low, high = np.percentile(there - here, [2.5, 97.5])
    assert found.difference.low[0] == pytest.approx(low, abs=1e-15)
    assert found.difference.high[0] == pytest.approx(high, abs=1e-15)


def test_uncovered_treatments_are_counted():
    treatment = Group.of([[1.0, 2.0, 9.0]], [10, 20, 700])
    control = Group.of([[0.0]], [499])
    found = standardized_difference(treatment, control, resamples=3, seed=0)
    assert found.uncovered == 1
    assert found.difference.point.tolist() == [1.5]


@pytest.mark.parametrize(
    ("values", "counts"),
    [([[np.nan]], [1]), ([1.0], [1]), ([[1.0]], [1, 2]), ([[1.0]], [1.0]), ([[1.0]], [-1])],
)
def test_bad_groups_are_refused(values, counts):
    with pytest.raises(BadInput):
        Group.of(values, counts)


def test_bad_settings_are_refused():
    group = Group.of([[1.0]], [1])
    with pytest.raises(BadInput):
        standardized_difference(group, group, width=0, seed=0)
    with pytest.raises(BadInput):
        standardized_difference(group, group, statistic="mode", seed=0)
    with pytest.raises(BadInput):
        standardized_difference(group, Group.of([[1.0], [2.0]], [1]), seed=0)
