"""Questions: refused where they contradict themselves, named where they are not the paper's."""

import dataclasses

import pytest

from navaudit.axes import COLUMNS, DAC, HEADS, LK, SHORT
from navaudit.errors import BadInput
from navaudit.probe.question import Question, column_named, column_of, short_head


def test_the_usual_question_is_the_papers():
    usual = Question()
    assert (usual.caliper, usual.width, usual.max_fpr) == (250, 500, 0.1)
    assert (usual.resamples, usual.tie_draws) == (10_000, 100)
    assert usual.as_the_paper
    assert Question(seed=3, tie_seed=4, resamples=7, tie_draws=0).as_the_paper


@pytest.mark.parametrize(
    "change",
    [
        {"head": "imi"}, {"column": DAC}, {"control": "imi"}, {"control_column": LK},
        {"caliper": 1}, {"width": 1}, {"max_fpr": 0.2},
    ],
)  # fmt: skip
def test_any_other_question_is_not(change):
    assert not Question(**change).as_the_paper


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"control": "lane_keeping"}, "its own control"),
        ({"head": "comfort"}, "no head 'comfort'"),
        ({"caliper": -1}, "caliper is -1"),
        ({"width": 0}, "width is 0"),
        ({"max_fpr": 0.0}, "max_fpr is 0"),
        ({"resamples": 0}, "resamples is 0"),
        ({"tie_draws": -1}, "tie_draws is -1"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_contradictions_are_refused(change, message):
    with pytest.raises(BadInput, match=message):
        Question(**change)


def test_columns_are_found_by_either_name_and_heads_by_their_column():
    for place, (name, short) in enumerate(zip(COLUMNS, SHORT, strict=True)):
        assert column_named(name) == column_named(short) == place
    for head in HEADS[:-1]:
        assert COLUMNS[column_of(head)] == head
        assert short_head(head) == SHORT[column_of(head)].lower()
    with pytest.raises(BadInput, match="no column 'lk'"):
        column_named("lk")
    with pytest.raises(BadInput, match="has no column of its own"):
        column_of("imi")


def test_the_record_holds_every_setting():
    record = Question().record()
    assert set(record) == {one.name for one in dataclasses.fields(Question)}
    assert record["column"] == "lane_keeping"
    assert record["control_column"] == "drivable_area_compliance"
