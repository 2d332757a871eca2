"""The reference is the stock scorer written again: it gives the same labels."""

import numpy as np
import pytest

import reference
from navaudit.axes import COLUMNS
from reference.shapes import areas, car_points
from score import golden

CANDIDATES = 64
needs_shared = pytest.mark.skipif(bool(golden.missing()), reason=golden.missing() or "there")
SOME_SHARED = golden.shared_names()[:: max(len(golden.shared_names()) // 5, 1)]


def table(sheet):
    return np.array([sheet[name] for name in COLUMNS])


def hold_to_stock(case):
    for ddc in golden.DDC_BODIES:
        sheet = reference.score(case.scene, case.poses[:CANDIDATES], ddc)
        stock = case.labels(ddc, "per-candidate")[:, :CANDIDATES]
        assert np.array_equal(table(sheet).astype(np.float16), stock)
        published = case.labels(ddc, "per-candidate", forgiven=True)[:, :CANDIDATES]
        if case.scene.human is not None:
            human = reference.score_human(case.scene, ddc)
            gap = table(human)[:, 0] - case.human(ddc, "per-candidate")
            assert np.abs(gap).max() < 1e-12
            assert np.abs(human["states"][0] - case.arrays["human_sim_states"]).max() < 1e-8
            sheet = reference.forgive(sheet, human)
        assert np.array_equal(table(sheet).astype(np.float16), published)
    stored = case.arrays["sim_states"][1 : CANDIDATES + 1]
    assert np.abs(sheet["states"][: len(stored)] - stored).max() < 1e-8


@pytest.mark.parametrize("name", golden.OURS)
def test_labels_are_the_stock_ones(name):
    hold_to_stock(golden.ours(name))


@needs_shared
@pytest.mark.parametrize("name", SOME_SHARED)
def test_labels_of_the_released_vocabulary_are_the_stock_ones(name):
    hold_to_stock(golden.shared(name))


@pytest.mark.parametrize("name", golden.OURS[::4])
def test_shares_of_a_batch_are_the_stock_ones(name):
    case = golden.ours(name)
    sheet = reference.score(case.scene, case.poses, "v2.1", "batch")
    assert np.array_equal(table(sheet).astype(np.float16), case.labels("v2.1", "batch"))


@pytest.mark.parametrize("name", golden.OURS[::3])
def test_areas_are_the_stock_ones(name):
    case = golden.ours(name)
    states = reference.score(case.scene, case.poses)["states"]
    where = areas(case.scene.ground, states, car_points(states))
    both = np.array([where.multiple_lanes, where.non_drivable, where.oncoming])
    assert np.array_equal(both, case.areas())
