"""What a file of pairs may say, and what it may not."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from navaudit.errors import BadInput
from navaudit.evaluate.pairs import Pairs, Source, pairs_of_two, read_pairs, source_of

TOML = """
pairs = [["P", "A"], ["L", "A"], ["a0", "released"]]
human = "humans"
index = "index.csv"
resamples = 500
seed = 3
prefix = "rt530"
steps = 530

[arms]
A = ["a0", "a1", "a2"]
P = { 0 = "p0", 2 = "p2" }
L = { 0 = "l0" }

[runs]
released = { path = "released.csv", switch = "on" }
l0 = { off = "plain.csv", on = "filtered.csv" }
p0 = "runs/p0"
"""

LINE = TOML.splitlines()[1]

GIVEN = [Source(name, Path(name)) for name in ("a0", "a1", "a2", "p2")]


def read(tmp_path, text, given=GIVEN, name="pairs.toml"):
    path = tmp_path / name
    path.write_text(text)
    return read_pairs(path, given)


def test_a_file_says_what_is_compared(tmp_path):
    pairs = read(tmp_path, TOML)
    assert [source.name for source in pairs.sources] == [
        "a0",
        "a1",
        "a2",
        "p2",
        "released",
        "l0",
        "p0",
    ]
    assert pairs.sources[4] == Source("released", tmp_path / "released.csv", switch="on")
    assert pairs.sources[5].forgiven == tmp_path / "filtered.csv"
    assert pairs.runs_of(("P", "A")) == ((0, "p0", "a0"), (2, "p2", "a2"))
    assert pairs.runs_of(("L", "A")) == ((0, "l0", "a0"),)
    assert pairs.runs_of(("a0", "released")) == ((None, "a0", "released"),)
    assert (pairs.human, pairs.index) == (tmp_path / "humans", tmp_path / "index.csv")
    assert (pairs.resamples, pairs.seed, pairs.prefix, pairs.steps) == (500, 3, "rt530", 530)
    assert [pairs.label(run) for run in ("a1", "p2", "released")] == ["A1", "P2", "released"]


def test_json_says_the_same(tmp_path):
    stated = {
        "pairs": [["P", "A"]],
        "arms": {"A": ["a0", "a1", "a2"], "P": {"2": "p2"}},
    }
    pairs = read(tmp_path, json.dumps(stated), name="pairs.json")
    assert pairs.runs_of(("P", "A")) == ((2, "p2", "a2"),)
    assert pairs.prefix == "compare"


def test_two_runs_need_no_file():
    pairs = pairs_of_two([source_of("old.csv"), source_of("mine=new.csv")])
    assert pairs.pairs == (("mine", "old"),)
    with pytest.raises(BadInput, match="3 runs and no file of pairs"):
        pairs_of_two(GIVEN[:3])


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (LINE, "", "lacks or mistypes 'pairs'"),
        (
            'pairs = [["P", "A"], ["L", "A"], ["a0", "released"]]',
            "pairs = []",
            "nothing to compare",
        ),
        ('["P", "A"]', '["Q", "A"]', "Q and A cannot be paired"),
        ('["P", "A"]', '["P", "released"]', "P and released cannot be paired"),
        ('["P", "A"]', '["A", "A"]', "A and A cannot be paired"),
        ('["P", "A"]', '["P", "A", "L"]', "lacks or mistypes"),
        ("steps = 530", "step = 530", "'step' means nothing here"),
        ("steps = 530", 'steps = "many"', "lacks or mistypes"),
        ("resamples = 500", "resamples = 0", "0 resamples"),
        ('"a1", "a2"', '"a1", "a9"', "arm A has no run a9"),
        ('"a1", "a2"', '"a1", "a1"', "a1 stands in two arms"),
        ('{ 0 = "l0" }', "{}", "arm L has no runs"),
        ('{ 0 = "l0" }', '{ 7 = "l0" }', "have no seed in common"),
        ('{ 0 = "l0" }', '{ zero = "l0" }', "lacks or mistypes"),
        ('switch = "on"', 'switch = "both"', "run released is"),
        ('p0 = "runs/p0"', 'p0 = "runs/p0"\na1 = "x"', "two runs are named a1"),
        ('p0 = "runs/p0"', 'p0 = "runs/p0"\nP2 = "x"', "two runs go by P2"),
        ('p0 = "runs/p0"', 'p0 = "runs/p0"\n"a b" = "x"', "'a b' is no name"),
        ("[arms]", "[arms", "cannot be read"),
    ],
)
def test_contradictions_are_refused_and_the_file_named(tmp_path, old, new, complaint):
    assert old in TOML
    with pytest.raises(BadInput, match=complaint) as refused:
        read(tmp_path, TOML.replace(old, new))
    assert "pairs.toml" in refused.value.where


def test_an_arm_is_not_a_run(tmp_path):
    pairs = read(tmp_path, TOML)
    with pytest.raises(BadInput, match="A is an arm and a run"):
        replace(pairs, sources=(*pairs.sources, Source("A", Path("x"))))


def test_pairs_are_whole_or_not_at_all():
    with pytest.raises(BadInput, match="nothing to compare"):
        Pairs(tuple(GIVEN), ())
