"""The paper's own arithmetic: its numbers, worked out again from each other and by our formulas."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from audit.paper_labels import LABEL_FAMILIES, SHOWN, TEXT
from audit.paper_models import MODEL_FAMILIES
from audit.paper_written import Written
from navaudit.audit.consumer import LOSS_WEIGHTS, sampled
from navaudit.audit.exposure import survives
from navaudit.axes import COLUMNS, LK, LOSS_COLUMNS
from navaudit.findings import percent
from navaudit.report.paper import paper_numbers
from navaudit.stats.order import five_ranks

FAMILIES = (*LABEL_FAMILIES, *MODEL_FAMILIES)
WIDE = 16_384


@pytest.fixture(scope="module")
def written():
    return Written(paper_numbers())


def apart(one, other):
    if isinstance(one, tuple | bool):
        return Fraction(int(one != other))
    return abs(Fraction(one) - Fraction(other))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda one: one.__name__)
def test_numbers_follow_from_each_other(family, written):
    wrong = [
        f"{what}: {one} is not {other}"
        for what, one, other, slack in family(written)
        if apart(one, other) > slack
    ]
    assert wrong == []


def test_relations_reach_nearly_every_number(written):
    related = sum(len(list(family(written))) for family in FAMILIES)
    assert related > 650
    # settings, and measurements of which nothing else in the paper says anything
    alone = set(written) - written.asked
    assert len(written) == 933
    assert len(alone) < 25


def test_a_relation_notices_a_number_that_is_off_by_its_last_place():
    """Every number that some relation binds exactly cannot be moved by one without breaking it."""
    for name in ("LK_mixed", "exact_TTC", "exposure_population", "headline_percent", "ties",
                 "rt_tokens", "flip_rollout_candidates", "prt_P_R1_max"):  # fmt: skip
        texts = dict(paper_numbers())
        plain = Written(texts)
        moved = plain[name] + 2 * plain.half(name)
        places = len(texts[name].partition(".")[2])
        off = Written({**texts, name: f"{float(moved):.{places}f}"})
        broken = [
            what
            for family in FAMILIES
            for what, one, other, slack in family(off)
            if apart(one, other) > slack
        ]
        assert broken, name


def test_targets_of_the_whole_split():
    assert 103_288 * 16_384 * 7 == 11_845_894_144
    assert len(LOSS_COLUMNS) == 7
    assert percent("", 170_049_218, 11_845_894_144, 4).text == "1.4355"
    assert percent("", 11_237, 103_288, 4).text == "10.8793"
    assert 12_576 * len(COLUMNS) - 16_009 == TEXT["compared"]


def test_dropout_of_the_released_configuration():
    assert sampled(WIDE) == 8_192
    assert survives((1, WIDE - 1), WIDE) == 0.5 == sampled(WIDE) / WIDE
    assert survives((306, WIDE - 306), WIDE) == 1.0


def test_lane_keeping_has_two_of_eighteen_parts_of_the_weights():
    assert (LOSS_WEIGHTS[LK], sum(LOSS_WEIGHTS.values())) == (2, 18)
    assert set(LOSS_WEIGHTS) == set(LOSS_COLUMNS)


@pytest.mark.parametrize("column", SHOWN)
def test_ranks_are_read_at_the_places_the_classes_allow(column, written):
    """Our five ranks of columns of these classes are full exactly where the paper's are."""
    if column == "PDM":
        return
    forgiven, _, all_zero, mixed = SHOWN[column]
    failing = np.sort(np.r_[np.full(mixed, WIDE - 1), np.full(all_zero, WIDE)])
    full = [bool(failing[rank] == WIDE) for rank in five_ranks(forgiven)]
    assert full == [value == WIDE for value in written.many(f"ranks_{column}")]
