"""Groups and contrasts: medians and percentile bootstraps by loops, and what is not there."""

import numpy as np
import pytest

from navaudit.probe.contrasts import AUC, CONTROL, PARTIAL, PRECISION, Contrasts
from navaudit.probe.pairing import Pairing
from navaudit.probe.question import Question
from probe import plain
from probe.readings import scenes_of

QUESTION = Question(caliper=30, width=25, resamples=40, seed=5)


def contrasted(scenes, question=QUESTION):
    pairing = Pairing.of(scenes, question.caliper)
    return pairing, Contrasts.of(scenes, pairing, question)


@pytest.fixture(scope="module")
def case():
    forgiven = np.random.default_rng(1).random(60) < 0.4
    own = np.random.default_rng(2).random(60)
    own[np.flatnonzero(forgiven)[[2, 9]]] = np.nan
    own[np.flatnonzero(~forgiven)[4]] = np.nan
    scenes = scenes_of(forgiven, own_auc=own)
    return scenes, *contrasted(scenes)


def ends(replicates):
    return np.percentile(replicates, (2.5, 97.5))


def test_groups_are_medians_with_percentiles(case):
    scenes, pairing, found = case
    members = {
        "forgiven": np.flatnonzero(scenes.forgiven),
        "forgiven, matched": pairing.treatment,
        "unforgiven, matched": pairing.control,
        "unforgiven": np.flatnonzero(~scenes.forgiven),
    }
    assert list(found.groups) == list(members)
    values = {
        AUC: scenes.auc,
        PRECISION: scenes.precision,
        PARTIAL: plain.mcclish(scenes.area, 0.1),
        CONTROL: scenes.control_auc,
    }
    for name, at in members.items():
        group = found.groups[name]
        assert group.scenes == len(at)
        assert group.zeros == sum(scenes.area[k] == 0.0 for k in at)
        for place, each in values.items():
            one = group.medians[place]
            assert one.point == np.median(each[at])
            low, high = ends(plain.resampled(each[None, at], np.median, 40, 5)[:, 0])
            assert (one.low, one.high) == pytest.approx((low, high), abs=1e-12)
            assert group.percentiles[place] == pytest.approx(np.percentile(each[at], (5, 25)))


def test_the_matched_contrast_is_a_difference_of_medians_over_drawn_pairs(case):
    scenes, pairing, found = case
    one = found.contrasts["auc"].matched
    there, here = scenes.auc[pairing.treatment], scenes.auc[pairing.control]
    assert one.count == pairing.treatment.size
    assert one.point == np.median(there) - np.median(here)
    assert one.point != np.median(there - here)
    drawn = plain.resampled(np.stack([there, here]), np.median, 40, 5)
    assert (one.low, one.high) == pytest.approx(tuple(ends(drawn[:, 0] - drawn[:, 1])), abs=1e-12)


def test_d_is_read_over_pairs_whose_scenes_both_have_it(case):
    scenes, pairing, found = case
    d = scenes.own_auc - scenes.auc
    whole = np.isfinite(d[pairing.treatment]) & np.isfinite(d[pairing.control])
    assert 0 < found.left_out == (~whole).sum()
    one = found.contrasts["difference"].matched
    there, here = d[pairing.treatment[whole]], d[pairing.control[whole]]
    assert (one.point, one.count) == (np.median(there) - np.median(here), whole.sum())
    drawn = plain.resampled(np.stack([there, here]), np.median, 40, 5)
    assert (one.low, one.high) == pytest.approx(tuple(ends(drawn[:, 0] - drawn[:, 1])), abs=1e-12)


def test_the_standardized_contrast_weighs_strata_by_their_forgiven_scenes(case):
    scenes, _, found = case
    d = scenes.own_auc - scenes.auc
    for name, values in (("auc", scenes.auc), ("difference", d)):
        total, weight = 0.0, 0
        for low in range(0, 100, 25):
            inside = (scenes.failing >= low) & (scenes.failing < low + 25) & np.isfinite(values)
            there, here = values[inside & scenes.forgiven], values[inside & ~scenes.forgiven]
            if there.size and here.size:
                total += there.size * (np.median(there) - np.median(here))
                weight += there.size
        one = found.contrasts[name].standardized
        assert one.point == pytest.approx(total / weight, abs=1e-12)
        assert one.count == weight
        assert one.low < one.point < one.high


def test_forgiven_scenes_in_strata_of_their_own_are_counted():
    forgiven = np.array([True, True, False, False])
    scenes = scenes_of(forgiven, failing=np.array([10, 90, 12, 13]))
    _, found = contrasted(scenes)
    assert found.contrasts["auc"].uncovered == 1
    assert found.contrasts["auc"].standardized.count == 1


def test_the_controls_share_is_of_the_excess_over_chance():
    # the paper: 0.6241 of 0.6538 on forgiven scenes, 0.8489 of 0.9940 on others
    for control, head, share in ((0.6241, 0.6538, 81), (0.8489, 0.9940, 71)):
        forgiven = np.ones(3, bool)
        scenes = scenes_of(forgiven, auc=np.full(3, head), control_auc=np.full(3, control))
        _, found = contrasted(scenes)
        assert round(100 * found.groups["forgiven"].control_share) == share


def test_a_head_at_chance_has_no_excess_to_share():
    scenes = scenes_of(np.ones(3, bool), auc=np.full(3, 0.5))
    assert contrasted(scenes)[1].groups["forgiven"].control_share is None


def test_scenes_of_one_kind_have_no_contrasts():
    for forgiven in (True, False):
        _, found = contrasted(scenes_of(np.full(5, forgiven)))
        assert list(found.groups) == ["forgiven" if forgiven else "unforgiven"]
        assert found.strata is None
        assert all(one.matched is one.standardized is None for one in found.contrasts.values())


def test_scenes_without_a_partner_leave_the_strata():
    forgiven = np.array([True, True, False, False])
    scenes = scenes_of(forgiven, failing=np.array([1, 2, 23, 24]))
    _, found = contrasted(scenes, Question(caliper=3, width=25, resamples=10))
    assert list(found.groups) == ["forgiven", "unforgiven"]
    assert found.contrasts["auc"].matched is None
    assert found.contrasts["auc"].standardized is not None


def test_another_seed_draws_another_interval_around_the_same_point(case):
    scenes, _, found = case
    other = contrasted(scenes, Question(caliper=30, width=25, resamples=40, seed=6))[1]
    one, again = (each.contrasts["difference"].matched for each in (found, other))
    assert one.point == again.point
    assert (one.low, one.high) != (again.low, again.high)
