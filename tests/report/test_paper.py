"""The paper's numbers beside ours."""

from __future__ import annotations

import csv
import doctest
import json
import re

import pytest
from click.testing import CliRunner

from navaudit.cli import main
from navaudit.errors import BadInput
from navaudit.report import latex as latex_module
from navaudit.report import needs as needs_module
from navaudit.report.latex import latex, macro
from navaudit.report.needs import AUDIT, RULES, need
from navaudit.report.numbers import gather
from navaudit.report.paper import (
    DIFFERENT,
    NOT_MEASURED,
    REPRODUCED,
    SETTINGS,
    paper_numbers,
    stand,
    tally,
    wanting,
)


@pytest.mark.parametrize("module", [needs_module, latex_module])
def test_examples(module):
    failed, tried = doctest.testmod(module)
    assert (failed, tried > 0) == (0, True)


def standing_of(ours):
    return {one.name: one for one in stand(ours)}


def test_the_paper_reproduces_itself():
    assert tally(stand(paper_numbers())) == {REPRODUCED: 933, DIFFERENT: 0, NOT_MEASURED: 0}


def test_of_nothing_nothing_is_measured_and_each_says_what_it_needs():
    standings = stand({})
    assert tally(standings) == {REPRODUCED: 0, DIFFERENT: 0, NOT_MEASURED: 933}
    assert all(re.match(r"needs .+: navaudit ", one.why) for one in standings)


def test_one_changed_number_is_the_one_that_differs():
    changed = {**paper_numbers(), "LK_mixed": "9,830", "rt_P0A0_off_LK_all": "+0.931"}
    differing = [one for one in stand(changed) if one.standing == DIFFERENT]
    assert {one.name: one.why for one in differing} == {
        "LK_mixed": "by -1",
        "rt_P0A0_off_LK_all": "by +0.001",
    }


def test_lists_of_counts_are_compared_one_by_one():
    ranks = "306, 10,484, 14,391, 15,604, 16,383"
    found = standing_of({**paper_numbers(), "ranks_LK": ranks})["ranks_LK"]
    assert (found.standing, found.why) == (DIFFERENT, "by +0, +0, +0, +0, -1")


def test_other_data_is_compared_with_nothing_but_the_rule_itself():
    ours = {
        "population_tokens": "24",
        "LK_mixed": "2",
        "target_entries": "1",
        "flip_lk_limit_m": "0.5",
        "vocab_dense": "4,096",
    }
    found = standing_of(ours)
    assert found["LK_mixed"].standing == NOT_MEASURED
    assert "population_tokens is 24 here, 103,288 in the paper" in found["LK_mixed"].why
    assert found["population_tokens"].standing == NOT_MEASURED
    assert found["flip_lk_limit_m"].standing == REPRODUCED
    assert found["vocab_dense"].standing == NOT_MEASURED


def test_another_vocabulary_on_the_papers_scenes_is_a_difference():
    found = standing_of({"population_tokens": "103,288", "vocab_dense": "4,096"})["vocab_dense"]
    assert (found.standing, found.why) == (DIFFERENT, "by -12,288")


def test_a_population_is_not_taken_on_trust():
    found = standing_of({"LK_mixed": "9,831"})["LK_mixed"]
    assert (found.standing, "unstated" in found.why) == (NOT_MEASURED, True)


def test_what_was_not_measured_is_counted_by_what_it_takes():
    standings = stand({})
    counted = wanting(standings)
    assert sum(counted.values()) == 933
    assert {one for _, one in RULES} == set(counted)
    assert counted[AUDIT] == sum(need(name) is AUDIT for name in paper_numbers())
    assert wanting(stand(paper_numbers())) == {}


def test_every_rule_speaks_for_some_number_and_knows_its_population():
    spoken = {need(name) for name in paper_numbers()}
    assert spoken == {one for _, one in RULES}
    assert all(one.population in paper_numbers() for one in spoken)
    assert set(paper_numbers()) >= SETTINGS
    assert need("headline_count") is AUDIT


def test_tables_are_gathered_and_may_not_contradict(tmp_path):
    for name, text in (("a", "1"), ("b", "2"), ("c", "3")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"n": text, name: text}))
    (tmp_path / "d.json").write_text(json.dumps({"n": "1", "d": "4"}))
    assert gather([tmp_path / "a.json", tmp_path / "d.json"]) == {"n": "1", "a": "1", "d": "4"}
    with pytest.raises(BadInput, match="n is 1 in one table and 2 in another"):
        gather([tmp_path / "a.json", tmp_path / "b.json"])


def test_the_command_says_no_where_a_number_differs(tmp_path):
    path = tmp_path / "numbers.json"
    path.write_text(json.dumps({**paper_numbers(), "LK_mixed": "9,830"}))
    result = CliRunner().invoke(main, ["paper", str(path), "--out", str(tmp_path / "out")])
    assert result.exit_code == 1
    assert "932 reproduced, 1 different, 0 not measured here" in result.output
    with (tmp_path / "out" / "paper.csv").open() as stream:
        rows = {row["name"]: row for row in csv.DictReader(stream)}
    assert len(rows) == 933
    assert rows["LK_mixed"]["why"] == "by -1"


def test_the_command_prints_one_object(tmp_path):
    path = tmp_path / "numbers.json"
    path.write_text(json.dumps({"population_tokens": "24"}))
    result = CliRunner().invoke(main, ["paper", str(path), "--json"])
    assert result.exit_code == 0
    record = json.loads(result.stdout)
    assert record["tally"][NOT_MEASURED] == len(record["numbers"]) == 933
    assert "code" in record["provenance"]


def test_every_number_has_a_macro_of_its_own():
    macros = [macro(name) for name in paper_numbers()]
    assert len(set(macros)) == 933
    assert all(re.fullmatch(r"\\num[A-Za-z]+", one) for one in macros)


def test_latex_holds_every_number_twice():
    text = latex({"LK_mixed": "9,831", "rt_P0": "-0.245", "share": "5 %"})
    assert "\\csname paper@number@LK_mixed\\endcsname{9,831}" in text
    assert "\\providecommand{\\numLKMixed}{9,831}" in text
    assert "\\ensuremath{-0.245}" in text
    assert "5 \\%" in text
