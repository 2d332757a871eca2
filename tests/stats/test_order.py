import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.stats.order import at_five_ranks, five_ranks, upper_median


@given(st.lists(st.integers(0, 16_384), min_size=1, max_size=40))
def test_the_five_ranks_are_values_that_were_measured(counts):
    ordered = sorted(counts)
    m = len(ordered)
    expected = [ordered[i] for i in (0, m // 4, m // 2, (3 * m) // 4, m - 1)]
    assert at_five_ranks(counts).tolist() == expected
    assert upper_median(counts) == expected[2]


@given(st.lists(st.integers(0, 100), min_size=1, max_size=41))
def test_the_upper_median_is_never_below_the_interpolated_one(counts):
    assert upper_median(counts) >= np.median(counts)
    if len(counts) % 2:
        assert upper_median(counts) == np.median(counts)


def test_ranks_are_kept_in_the_values_own_type():
    assert at_five_ranks(np.array([3, 1], np.uint16)).dtype == np.uint16
    assert five_ranks(1) == (0, 0, 0, 0, 0)


@pytest.mark.parametrize("values", [[], [[1, 2]], [1.0, float("nan")]])
def test_values_that_cannot_be_ranked_are_refused(values):
    with pytest.raises(BadInput):
        at_five_ranks(values)
