"""Certificates: what is equal, what is not, what only one side has, and how it is counted."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labels.label_files import draw, humans, write_folder, write_pickle, write_set
from navaudit.axes import COLUMNS, EP, LK, PDM, SHORT
from navaudit.errors import BadInput
from navaudit.labels.ahead import ahead
from navaudit.labels.certify import certify, open_side
from navaudit.labels.policies import POLICIES, apply
from navaudit.scene.logfile import Failure

TOKENS = [f"{n:02x}" for n in range(40)]
TABLE = draw(TOKENS)


def compared(a, b, policy_a="raw", policy_b="raw", workers=1):
    return certify(open_side(a, policy_a), open_side(b, policy_b), workers=workers)


def changed(table, changes):
    """A copy with some entries set: ``(token, column, candidate, value)``."""
    copy = {token: values.copy() for token, values in table.items()}
    for token, column, candidate, value in changes:
        copy[token][column, candidate] = value
    return copy


def nudged(table, token, column, candidate):
    """An entry one unit in the last place below what it is."""
    value = np.nextafter(table[token][column, candidate], np.float16(-1))
    return token, column, candidate, value


@pytest.mark.parametrize("workers", [1, 3])
def test_the_same_labels_in_any_form_are_the_same(tmp_path, workers):
    forms = [
        write_set(tmp_path / "set", TABLE, humans(TABLE)),
        write_pickle(tmp_path / "x.pkl", dict(reversed(TABLE.items())), 2),
        write_folder(tmp_path / "folder", TABLE, 5),
    ]
    paths = [forms[0].folder, *forms[1:]]
    for a in paths:
        for b in paths:
            found = compared(a, b, workers=workers)
            assert found.same
            assert (found.equal, found.population) == (40, 40)
            assert list(found.residuals()) == []


def test_classes_columns_and_entries_are_told(tmp_path):
    a = {token: np.full((9, 40), 0.5, np.float16) for token in TOKENS}
    b = changed(
        a,
        [
            nudged(a, "03", EP, 7),
            nudged(a, "03", LK, 0),
            ("05", EP, 1, 1.0),
            nudged(a, "05", EP, 2),
            ("0a", PDM, 39, 0.25),
            ("0a", PDM, 3, np.nan),
        ],
    )
    found = compared(write_pickle(tmp_path / "a", a), write_pickle(tmp_path / "b", b), workers=2)
    assert (found.equal, found.ties, found.different) == (37, 1, 2)
    assert not found.same
    assert found.differing.tolist() == [2 * (k == EP) + (k in (LK, PDM)) for k in range(9)]
    unit = 2.0**-12
    tie, two, three = found.residuals()
    assert (tie["token"], tie["class"]) == ("03", "tie")
    assert tie["columns"] == {
        "ego_progress": {"entries": 1, "one_unit": 1, "largest": unit},
        "lane_keeping": {"entries": 1, "one_unit": 1, "largest": unit},
    }
    assert (two["token"], two["class"]) == ("05", "different")
    assert two["columns"] == {"ego_progress": {"entries": 2, "one_unit": 1, "largest": 0.5}}
    assert two["first"] == [
        {"column": "ego_progress", "candidate": 1, "a": 0.5, "b": 1.0},
        {"column": "ego_progress", "candidate": 2, "a": 0.5, "b": 0.5 - unit},
    ]
    assert three["columns"] == {"pdm_score": {"entries": 2, "one_unit": 0, "largest": 0.25}}
    assert three["first"][0] == {"column": "pdm_score", "candidate": 3, "a": 0.5, "b": None}


def test_numbers_are_the_papers_where_they_are_the_same(tmp_path):
    from navaudit.report.needs import CERTIFY, need
    from navaudit.report.paper import paper_numbers

    made = write_set(tmp_path / "set", TABLE, humans(TABLE))
    human = humans(TABLE)
    released = {token: apply("published", TABLE[token], human[token]) for token in TABLE}
    off = [
        ("00", PDM, 0, np.float16(0.125)),
        ("01", EP, 0, np.float16(0.125)),
        nudged(released, "02", EP, 0),
    ]
    pickle = write_pickle(tmp_path / "x.pkl", changed(released, off))
    found = compared(made.folder, pickle, "published")
    numbers = {one.name: one.text for one in found.numbers()}
    assert {name: numbers[name] for name in ("population_tokens", "reproduced", "ties")} == {
        "population_tokens": "40", "reproduced": "37", "ties": "1",
    }  # fmt: skip
    assert (numbers["residual_total"], numbers["pdm_reproduced"]) == ("3", "39")
    assert numbers["cache_residuals"] == "2"
    assert {one for one in paper_numbers() if need(one) is CERTIFY} <= set(numbers)
    assert numbers["certify_different"] == "2"
    assert numbers["certify_differing_EP"] == "2"
    cases = {one.name: one.cases for one in found.numbers()}
    assert cases["residual_total"] == ("00", "01", "02")
    others = compared(made.folder, made.folder, "raw", "published").numbers()
    assert not {one.name for one in others} & {"reproduced", "population_tokens", "ties"}
    assert {f"certify_differing_{short}" for short in SHORT} < {one.name for one in others}


@pytest.mark.parametrize("policy", ["published", "masked"])
def test_raw_and_what_forgives_differ_in_the_forgiven_columns_alone(tmp_path, policy):
    human = humans(TABLE)
    made = write_set(tmp_path / "set", TABLE, human)
    found = compared(made.folder, made.folder, "raw", policy, workers=2)
    for row, token in enumerate(found.tokens):
        given = np.float16(1.0 if policy == "published" else np.nan)
        changes = TABLE[token].view(np.uint16) != given.view(np.uint16)
        wanted = np.where(human[token] == 0, np.count_nonzero(changes, axis=1), 0)
        assert found.found.entries[row].tolist() == wanted.tolist()
    forgiven = np.array([human[token] == 0 for token in found.tokens])
    assert forgiven.any(axis=0).all()
    assert np.array_equal(found.found.entries > 0, forgiven)
    assert (found.equal, found.population) == (int((~forgiven.any(axis=1)).sum()), 40)


def test_tokens_of_one_side_are_named_and_counted(tmp_path):
    mine = {token: TABLE[token] for token in TOKENS[:30]}
    theirs = {token: TABLE[token] for token in TOKENS[10:]}
    failed = [Failure("23", "log", "the scene has no centreline")]
    a = write_set(tmp_path / "a", mine, failures=failed).folder
    b = write_pickle(tmp_path / "b.pkl", theirs)
    found = compared(a, b)
    assert not found.same
    assert (found.population, found.equal, found.different) == (40, 20, 0)
    assert found.only_a == tuple(TOKENS[:10])
    assert found.only_b == tuple(TOKENS[30:])
    classes = {one["token"]: one for one in found.residuals()}
    assert {one["class"] for one in classes.values()} == {"only in a", "only in b"}
    assert classes["23"]["reason"] == "the scene has no centreline"
    assert "reason" not in classes["24"]
    numbers = {one.name: one.value for one in found.numbers()}
    assert (numbers["certify_only_a"], numbers["certify_only_b"]) == (10, 10)
    assert numbers["residual_total"] == 20
    back = compared(b, a)
    assert (back.only_a, back.only_b) == (found.only_b, found.only_a)


def test_sides_that_share_no_token_are_compared_in_nothing(tmp_path):
    a = write_pickle(tmp_path / "a", draw(["x"]))
    found = compared(a, write_pickle(tmp_path / "b", draw(["y"])))
    assert (found.population, found.equal, found.different) == (2, 0, 0)
    assert json.dumps(found.record(), allow_nan=False)


def test_other_numbers_of_candidates_are_refused(tmp_path):
    a = write_pickle(tmp_path / "a", draw(["x"], 40))
    b = write_pickle(tmp_path / "b", draw(["x"], 41))
    with pytest.raises(BadInput, match="40 and 41 candidates"):
        compared(a, b)


@pytest.mark.parametrize("policy", sorted(set(POLICIES) - {"raw"}))
def test_a_policy_of_a_file_is_refused(tmp_path, policy):
    a = write_pickle(tmp_path / "a", TABLE)
    with pytest.raises(BadInput, match="human") as caught:
        open_side(a, policy)
    assert caught.value.where == str(a)


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "x").mkdir()
    with pytest.raises(BadInput, match="no labels"):
        open_side(tmp_path)


def test_only_the_first_residuals_keep_entries(tmp_path):
    tokens = [f"{n:03x}" for n in range(600)]
    zeros = {token: np.zeros((9, 3), np.float16) for token in tokens}
    ones = {token: np.ones((9, 3), np.float16) for token in tokens}
    a, b = write_pickle(tmp_path / "a", zeros), write_pickle(tmp_path / "b", ones)
    found = compared(a, b, workers=2)
    assert list(found.first) == tokens[:100]
    assert all(len(entries) == 3 * len(COLUMNS) for entries in found.first.values())
    assert [one["token"] for one in found.residuals()] == tokens
    assert not any(one.cases for one in found.numbers())


def test_how_far_it_is_is_told(tmp_path):
    told = []
    side = open_side(write_pickle(tmp_path / "a", draw([f"{n:03x}" for n in range(300)], 3)))
    certify(side, side, say=lambda *said: told.append(said))
    assert told == [("", 0, 300), ("", 256, 300), ("", 300, 300)]


# ------------------------------------------------------------------------------- ahead


@settings(deadline=None, max_examples=25)
@given(st.lists(st.integers(), max_size=30), st.integers(1, 5))
def test_results_come_in_the_order_of_the_tasks(tasks, workers):
    assert list(ahead(lambda one: one * 2, tasks, workers)) == [one * 2 for one in tasks]


def test_work_goes_ahead_no_farther_than_it_should():
    asked, taken = [], 0
    for result in ahead(lambda one: one, (asked.append(n) or n for n in range(100)), 3):
        taken += 1
        assert len(asked) - taken <= 6, result
    assert taken == 100


def test_an_error_comes_out_and_ends_the_work():
    def work(one):
        if one == 5:
            raise BadInput("five")
        return one

    seen = []
    with pytest.raises(BadInput, match="five"):
        seen.extend(ahead(work, range(1000), 2))
