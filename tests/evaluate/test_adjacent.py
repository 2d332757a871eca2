"""Which frames are compared: the 0.55 s rule, its edges, and the published files' 10,040 tokens."""

import csv
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.small import SHARED
from navaudit.errors import BadInput
from navaudit.evaluate.adjacent import expect_comparable, steps_between
from navaudit.evaluate.epdms import EC
from navaudit.evaluate.results import read_results

START_US = 1_600_000_000_000_000


@given(st.integers(0, 2**50), st.integers(60_000, 540_000))
def test_close_frames_are_compared_at_the_nearest_step(start_us, gap_us):
    gap_s = (start_us + gap_us) * 1e-6 - start_us * 1e-6
    assert steps_between(start_us, start_us + gap_us) == round(gap_s / 0.1) >= 1


@given(st.integers(0, 2**50), st.integers(551_000, 10**9))
def test_far_frames_are_not(start_us, gap_us):
    assert steps_between(start_us, start_us + gap_us) is None


@pytest.mark.parametrize("gap_us", [0, 20_000])
def test_frames_that_stock_evaluation_asserts_on_are_refused(gap_us):
    with pytest.raises(BadInput, match="cannot be compared"):
        steps_between(START_US, START_US + gap_us)


def test_the_edge_itself_is_mapped_and_then_refused():
    edge = next(
        start
        for start in range(0, 10**7, 50_000)
        if (start + 550_000) * 1e-6 - start * 1e-6 == 0.55
    )
    with pytest.raises(BadInput, match=r"0\.55 s apart"):
        steps_between(edge, edge + 550_000)
    assert steps_between(edge, edge + 549_999) == 5
    assert steps_between(edge, edge + 550_001) is None


def test_frames_of_different_logs_may_coincide():
    expect_comparable(["a", "b"], ["one", "other"], [START_US, START_US])
    with pytest.raises(BadInput, match="0 s apart") as refused:
        expect_comparable(["a", "b"], ["one", "one"], [START_US, START_US])
    assert refused.value.where == "tokens a and b"


INDEX = SHARED / "data" / "navtest_index.csv"


@pytest.mark.skipif(not INDEX.exists(), reason="not published with the code: navtest_index.csv")
@pytest.mark.parametrize("model", ["expert", "reward"])
def test_the_frames_of_navtest_with_comfort_are_those_published(model):
    with INDEX.open(newline="") as stream:
        frames = sorted(
            (row["log_name"], int(row["timestamp_us"]), row["token"])
            for row in csv.DictReader(stream)
        )
    found = {
        now[2]
        for before, now in itertools.pairwise(frames)
        if before[0] == now[0] and steps_between(before[1], now[1]) is not None
    }
    results = read_results(SHARED / "data" / f"gtrs_dense_vov_sim_{model}_navtest.csv")
    comfort = results.score[:, EC]
    assert found == {
        token for token, value in zip(results.tokens, comfort, strict=True) if not np.isnan(value)
    }
    assert len(found) == 10_040
