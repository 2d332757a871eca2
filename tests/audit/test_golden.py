"""The audit of what the stock generator wrote: with its rule off, with it on, and its humans."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from audit import brute
from audit.sets import Small
from audit.test_brute import expected, numbers
from navaudit.audit.identities import Counted
from navaudit.audit.measure import measure
from navaudit.audit.predicates import erases, fires
from navaudit.axes import LOSS_COLUMNS, SHORT

GOLDEN = Path(__file__).parents[1] / "golden" / "labels"


@pytest.fixture(scope="module")
def golden():
    scenes = [np.load(path) for path in sorted(GOLDEN.glob("*.npz"))]
    raw, published = (
        np.stack([one[f"labels_{rule}_gen_gt_v20ddc"] for one in scenes]) for rule in ("off", "on")
    )
    return Small(raw, np.stack([one["human_gen_gt_v20ddc"] for one in scenes]), published)


def test_the_rule_is_all_that_parts_the_two_files(golden):
    counted = Counted.of(measure(golden.raw, golden.human, golden.published))
    assert counted.differences.residuals == ()
    assert counted.differences.equal == counted.differences.compared > 0
    assert counted.predicates.p1 == np.count_nonzero((golden.human == 0).any(axis=1)) >= 4


def test_every_number_is_the_one_counted_in_plain_python(golden):
    assert numbers(golden) == numbers(golden, derived=True) == expected(golden)


def test_progress_and_comfort_are_never_forgiven(golden):
    sheet = measure(golden.raw, golden.human, golden.published)
    forgiven = {SHORT[column] for column in np.flatnonzero(sheet.forgiven.any(axis=0))}
    assert "LK" in forgiven
    assert forgiven.isdisjoint({"EP", "HC"})
    # so that a zero aggregate is never the only reason
    np.testing.assert_array_equal(fires(sheet), fires(sheet, LOSS_COLUMNS))


def test_without_the_humans_the_files_tell_the_same(golden):
    """Where a forgiven column held anything but ones, the difference of the files gives it away."""
    known = measure(golden.raw, golden.human, golden.published)
    found = measure(golden.raw, None, golden.published)
    np.testing.assert_array_equal(erases(known, loss=True), erases(found, loss=True))
    assert Counted.of(found).entries.changed.tolist() == Counted.of(known).entries.changed.tolist()
    assert set(brute.NAMES) == set(SHORT)
