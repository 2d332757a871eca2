"""Names: every number of the paper that a probe measures, written as the paper writes it."""

import re
from dataclasses import replace
from decimal import Decimal

import pytest

from navaudit.errors import BadInput
from navaudit.probe.named import findings, prefix_of
from navaudit.probe.probe import probe
from navaudit.probe.question import Question
from navaudit.report.needs import HYDRA, HYDRA_HELD_OUT, PROBE, need
from navaudit.report.paper import DIFFERENT, paper_numbers, stand

QUESTION = Question(resamples=50, tie_draws=4)


@pytest.fixture(scope="module")
def found(drawn_world):
    _, logits, labels = drawn_world
    return probe(logits, labels, QUESTION)


def told(found, prefix):
    return {one.name: one for one in findings(found, prefix)}


def wanted(*needs):
    return {name for name in paper_numbers() if need(name) in needs}


def test_every_number_of_the_released_checkpoint_is_named(found):
    ours = told(found, "probe")
    assert len(wanted(PROBE)) == 36
    assert wanted(PROBE) <= set(ours)


def test_every_number_of_hydra_mdp_is_named(found):
    names = wanted(HYDRA)
    assert len(names) == 9
    assert names <= set(told(found, "hmdp_tr"))
    assert len(wanted(HYDRA_HELD_OUT)) == 9
    assert wanted(HYDRA_HELD_OUT) <= set(told(found, "hmdp_nt"))


@pytest.mark.parametrize(
    "prefix", ["nt_released", "prt_A0", "nt_P1", "p530tr_M2", "p530nt_A1", "nt_L0"]
)
def test_every_number_of_a_named_run_is_named(found, prefix):
    printed = [name for name in paper_numbers() if name.startswith(f"{prefix}_")]
    assert len(printed) >= 3
    assert set(printed) <= set(told(found, prefix))


def test_what_hangs_on_labels_alone_bears_one_name(found):
    pairs = found.pairing.treatment.size
    for prefix in ("nt_A0", "p530nt_P1", "hmdp_nt", "nt_released"):
        ours = told(found, prefix)
        assert ours["nt_pairs"].value == pairs
        assert ours["nt_T"].value == found.pairing.forgiven.size
        assert "probe_pairs" not in ours
    for prefix in ("probe", "prt_A0", "p530tr_P1", "hmdp_tr"):
        ours = told(found, prefix)
        assert ours["probe_pairs"].value == pairs
        assert "nt_T" not in ours
    assert not {"nt_T", "probe_pairs"} & set(told(found, "town"))


def places(text):
    return len(text.partition(".")[2])


@pytest.mark.parametrize("prefix", ["probe", "hmdp_tr", "nt_released"])
def test_numbers_have_as_many_places_and_the_signs_of_the_papers(found, prefix):
    for name, one in told(found, prefix).items():
        printed = paper_numbers().get(name)
        if printed is not None:
            assert places(one.text) == places(printed), name
            assert "+" not in one.text


def test_intervals_are_rounded_outward(found):
    ours = told(found, "probe")
    seen = 0
    for name, one in ours.items():
        if name.endswith("_lo"):
            high = ours[f"{name[:-3]}_hi"]
            assert Decimal(one.text) <= Decimal(repr(one.value))
            assert Decimal(high.text) >= Decimal(repr(high.value))
            assert one.value <= ours[name[:-3]].value <= high.value
            seen += Decimal(one.text) != round(Decimal(repr(one.value)), places(one.text))
    assert seen > 0


def test_the_four_readings_are_those_of_the_contrasts(found):
    ours = told(found, "probe")
    assert ours["probe_R1"].value == ours["probe_T_lk_auc"].value
    assert ours["probe_R2"].value == ours["probe_matched_lk_auc"].value
    assert ours["probe_R3"].value == ours["probe_did_match"].value
    assert ours["probe_R4"].value == -ours["probe_delta_match"].value
    assert ours["probe_R4_lo"].value == -ours["probe_delta_match_hi"].value


def test_counts_are_of_these_scenes(found):
    ours = told(found, "probe")
    forgiven = found.scenes.forgiven
    assert ours["ties_draws"].text == "4"
    assert ours["ties_zero_released"].value == int((found.scenes.area[forgiven] == 0.0).sum())
    assert ours["probe_U_scenes"].value == int((~forgiven).sum())
    assert ours["probe_unmatched"].value + ours["probe_pairs"].value == forgiven.sum()
    assert ours["probe_pauc_floor"].text == paper_numbers()["probe_pauc_floor"]


def test_another_question_takes_no_name_of_the_paper(drawn_world):
    _, logits, labels = drawn_world
    other = probe(logits, labels, replace(QUESTION, caliper=3))
    assert prefix_of(other) == "lk_on_lk_beside_dac"
    own = {name for name in told(other, prefix_of(other)) if name in paper_numbers()}
    assert own == set()


def test_numbers_on_other_data_are_not_held_against_the_papers(found):
    flat = {one.name: one.text for one in findings(found, "probe")}
    standings = {one.name: one for one in stand(flat)}
    assert not [
        one.name for one in standings.values()
        if one.standing == DIFFERENT and re.match("probe_", one.name)
    ]  # fmt: skip
    assert standings["probe_pauc_floor"].standing == "reproduced"


@pytest.mark.parametrize("prefix", ["", "nt-A0", "1", "a__b", "nt_A0_"])
def test_a_prefix_that_cannot_begin_a_name_is_refused(found, prefix):
    with pytest.raises(BadInput, match="cannot begin"):
        findings(found, prefix)
