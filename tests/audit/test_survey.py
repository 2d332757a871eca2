"""Audits of real label sets: the same however they are made, cut short, or put together."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from audit.labels import names, write_set
from audit.sets import draw
from navaudit.audit.audit import audit_labels
from navaudit.audit.measure import measure
from navaudit.audit.sources import DIFFERENCE, HUMAN, Sources
from navaudit.audit.survey import SHEET, TASK, _complain, _Task, survey
from navaudit.errors import BadInput, Refused, Unhealthy
from navaudit.labels.labelset import LabelSet
from navaudit.report.audited import write_audit
from navaudit.scene.crew import Lost
from navaudit.scene.whole import held

COUNT = TASK + 88


@pytest.fixture(scope="module")
def small():
    return draw(np.random.default_rng(7), COUNT, 8, 0.1, range(9), 20, 0.5, True, True)


@pytest.fixture(scope="module")
def sets(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sets")
    raw = write_set(folder / "raw", small.raw, small.human)
    # another order, some tokens missing, and one of which the raw set knows nothing
    order = np.random.default_rng(1).permutation(COUNT)[: COUNT - 30]
    tokens = [names(COUNT)[place] for place in order]
    published = write_set(
        folder / "published",
        np.concatenate([small.published[order], small.published[:1]]),
        tokens=[*tokens, "strange"],
    )
    return raw, published, np.sort(order)


@pytest.fixture(scope="module")
def sheet(sets, tmp_path_factory):
    """What one process measures without a break."""
    return survey(Sources(sets[0]), tmp_path_factory.mktemp("alone"))


def same(one, other):
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(array, other.arrays()[name], err_msg=name)


def test_the_sheet_is_that_of_the_labels(small, sheet):
    same(sheet, measure(small.raw, small.human))


def test_two_processes_measure_the_same(sets, sheet, tmp_path):
    told = []
    found = survey(Sources(sets[0]), tmp_path, workers=2, say=lambda *what: told.append(what))
    same(sheet, found)
    assert (told[0], told[-1][1:]) == (("", 0, COUNT), (COUNT, COUNT))


def test_two_files_are_joined_by_token(small, sets, tmp_path):
    raw, published, kept = sets
    found = audit_labels(Sources(raw, published), tmp_path)
    same(found.sheet, measure(small.raw[kept], small.human[kept], small.published[kept],
                              places=kept))  # fmt: skip
    assert found.record["tokens"] == COUNT - 30
    assert found.record["published_tokens"] == COUNT - 29
    assert found.certifies
    residual = [one for one in found.findings() if one.name == "residual_total"]
    assert residual[0].value == len(residual[0].cases) > 0
    assert residual[0].cases == tuple(
        raw.tokens[place] for place in found.sheet.place[~found.sheet.reproduced]
    )
    said = found.cautions()
    assert [one.split(" ")[0] for one in said] == ["30", str(residual[0].value), f"{_unknown(raw)}"]


def _unknown(labels):
    return int(np.isnan(labels.human).any(axis=1).sum())


def test_without_human_scores_a_column_is_forgiven_where_the_files_say_so(small, sets, tmp_path):
    raw = write_set(tmp_path / "raw", small.raw)
    found = audit_labels(Sources(raw, sets[1]), tmp_path / "out")
    assert found.record["forgiven_known_from"] == DIFFERENCE
    assert not found.certifies
    forgiven = (small.published == 1).all(axis=2) & (small.raw != 1).any(axis=2)
    np.testing.assert_array_equal(found.sheet.forgiven, forgiven[sets[2]])
    assert not any(one.name in ("reproduced", "residual_total") for one in found.findings())


def test_without_human_scores_or_published_labels_nothing_is_audited(small, tmp_path):
    raw = write_set(tmp_path / "raw", small.raw[:2])
    with pytest.raises(BadInput, match="no human score is known") as caught:
        Sources(raw)
    assert "--published" in caught.value.remedy


def test_sets_that_do_not_go_together_are_refused(small, sets, tmp_path):
    narrow = write_set(tmp_path / "narrow", small.raw[:2, :, :5])
    with pytest.raises(BadInput, match="5 candidates") as caught:
        Sources(sets[0], narrow)
    assert caught.value.expected.startswith("8, as in")
    others = write_set(tmp_path / "others", small.raw[:2], tokens=("a", "b"))
    with pytest.raises(BadInput, match="no token in common"):
        Sources(sets[0], others)
    empty = write_set(tmp_path / "empty", small.raw[:0], small.human[:0])
    with pytest.raises(BadInput, match="no tokens"):
        Sources(empty)


class StoppedError(Exception):
    """What ends a run in the middle."""


def stop_after_the_first(what, done, total):
    if 0 < done < total:
        raise StoppedError


def test_what_was_measured_is_not_measured_again(sets, sheet, tmp_path):
    with pytest.raises(StoppedError):
        survey(Sources(sets[0]), tmp_path, say=stop_after_the_first)
    assert not (tmp_path / SHEET).exists()
    told = []
    same(sheet, survey(Sources(sets[0]), tmp_path, say=lambda *what: told.append(what[1])))
    assert told == [TASK, COUNT]
    told.clear()
    same(sheet, survey(Sources(sets[0]), tmp_path, say=lambda *what: told.append(what[1])))
    assert told == [COUNT]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["lock", SHEET]


def test_other_labels_are_measured_anew(small, sets, sheet, tmp_path):
    survey(Sources(sets[0]), tmp_path / "out")
    other = write_set(tmp_path / "other", small.raw[::-1].copy(), small.human)
    found = survey(Sources(other), tmp_path / "out")
    same(found, measure(small.raw[::-1], small.human))


HARMS = {
    "cut": lambda data: data[: len(data) // 2],
    "emptied": lambda data: b"",
    "overwritten": lambda data: data[: len(data) // 2] + b"12345678" + data[len(data) // 2 + 8 :],
    "not ours": lambda data: b"something else",
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS)
def test_damaged_measures_are_named_and_not_believed(sets, tmp_path, harm):
    with pytest.raises(StoppedError):
        survey(Sources(sets[0]), tmp_path, say=stop_after_the_first)
    (part,) = tmp_path.glob("work/*/*.npz")
    part.write_bytes(harm(part.read_bytes()))
    with pytest.raises(BadInput, match="sheet of measures is damaged") as caught:
        survey(Sources(sets[0]), tmp_path)
    assert caught.value.where == str(part)
    part.unlink()
    assert len(survey(Sources(sets[0]), tmp_path)) == COUNT


def test_two_runs_do_not_write_into_one_folder(sets, tmp_path):
    with held(tmp_path / "lock"), pytest.raises(Refused, match="another run"):
        survey(Sources(sets[0]), tmp_path)


def test_a_process_that_dies_twice_over_its_tokens_ends_the_audit(sets):
    task = _Task(np.arange(3), Path("x.npz"))
    assert "trying again" in _complain(Lost(0, -9, True), task, Sources(sets[0]))
    with pytest.raises(Unhealthy, match="SIGKILL, twice") as caught:
        _complain(Lost(0, -9, False), task, Sources(sets[0]))
    assert caught.value.where == "tokens token-0000 to token-0002"


def test_an_audit_on_disk_holds_every_table_and_number_whole(sets, tmp_path):
    found = audit_labels(Sources(sets[0]), tmp_path)
    numbers = write_audit(tmp_path, found)
    assert json.loads((tmp_path / "numbers.json").read_text()) == numbers
    trace = json.loads((tmp_path / "numbers.trace.json").read_text())
    assert {one["file"] for one in trace["numbers"].values()} <= {
        "",
        *(one.name for one in tmp_path.glob("*.csv")),
    }
    assert trace["inputs"]["raw"] == sets[0].digest()
    assert trace["inputs"]["forgiven_known_from"] == HUMAN
    page = (tmp_path / "audit.md").read_text()
    for table in found.tables():
        assert table.markdown() in page
        assert (tmp_path / f"{table.name}.csv").read_text() == table.csv()
    before = {one: one.read_bytes() for one in tmp_path.iterdir() if one.suffix != ".npz"}
    write_audit(tmp_path, audit_labels(Sources(sets[0]), tmp_path))
    assert before == {one: one.read_bytes() for one in tmp_path.iterdir() if one.suffix != ".npz"}


def test_label_sets_are_opened_again_in_another_process(sets):
    again = Sources(LabelSet.open(sets[0].folder), sets[1])
    same(again.measure(again.places[:3]), Sources(*sets[:2]).measure(again.places[:3]))
