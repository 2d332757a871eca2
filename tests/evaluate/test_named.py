"""Numbers under the paper's names, and all of the paper's that this room can give."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from evaluate.paper_like import PAIRS, pairs_of, paper_like
from navaudit.evaluate.aligned import align
from navaudit.evaluate.compare import compare_runs
from navaudit.evaluate.contrasts import ALIKE, ALL, INTERACTION, F
from navaudit.evaluate.named import findings
from navaudit.evaluate.pairs import Source
from navaudit.report.numbers import write_numbers
from navaudit.report.paper import paper_numbers
from navaudit.stats.rounding import nearest, outward


@pytest.fixture(scope="module")
def made():
    return compare_runs(pairs_of(steps=300, initial_step=4800), align(paper_like(0)))


@pytest.fixture(scope="module")
def named(made):
    found = findings(made)
    names = [one.name for one in found]
    assert len(set(names)) == len(names)
    return {one.name: one for one in found}


def read(made, treated, measure, population):
    (one,) = (
        each
        for each in made.contrasts
        if (each.treated, str(each.measure), each.population) == (treated, measure, population)
    )
    return one


def test_names_say_what_they_name(made, named):
    one = read(made, "P1", "LK OFF", F)
    assert named["rt_P1A1_off_LK_human_fail"].text == nearest(one.point)
    low, high = outward(one.low, one.high)
    assert named["rt_P1A1_off_LK_human_fail_lo"].text == low
    assert named["rt_P1A1_off_LK_human_fail_hi"].text == high
    assert named["rt_IM2_on_EPDMS"].value == read(made, "M2", "EPDMS ON", INTERACTION).point
    assert named["rt_dist_P0A0_MAXLAT_FR"].value == read(made, "P0", "MAXLAT", INTERACTION).point
    assert named["rt_L0A0_off_EC"].value == named["rt_L0A0_off_EC_all"].value
    assert named["rt_A0released_on_EPDMS_all"].value == read(made, "A0", "EPDMS ON", ALL).point
    drops = [-read(made, f"P{seed}", "EC", ALIKE).point for seed in range(3)]
    assert named["rt_unchanged_EC_drop_min"].value == min(drops)
    assert named["rt_unchanged_EC_drop_max"].value == max(drops)
    gains = [read(made, f"P{seed}", "LK OFF", F).point for seed in range(3)]
    assert named["rt_LK_forgiven_max"].value == max(gains)
    assert named["rt_dist_F_ADE_min"].value == min(
        read(made, f"P{seed}", "ADE", F).point for seed in range(3)
    )


def test_counts_and_levels_and_scales(made, named):
    for name, value in {
        "tokens": 60, "logs": 7, "bootstrap": 50, "confidence": 95, "seeds": 3, "seed2": 2,
        "steps": 300, "initial_step": 4800, "n_human_fail": made.tokens(F),
        "ec_n_all": made.comfort_tokens(ALL),
    }.items():  # fmt: skip
        assert named[f"rt_{name}"].value == value
    levels = {
        (run, str(measure)): mean
        for (run, measure, population), (mean, _) in made.levels.items()
        if population == ALL
    }
    assert named["rt_abs_M1_on_LK"].text == f"{levels['M1', 'LK ON']:.3f}"
    assert named["rt_abs_released_off_EC"].value == levels["released", "EC"]
    gaps = [
        abs(levels[f"{arm}{one}", "EC"] - levels[f"{arm}{other}", "EC"])
        for arm in "AMP"
        for one in range(3)
        for other in range(3)
    ]
    assert named["rt_spread_three_seed_off_EC_all"].value == pytest.approx(max(gaps))


def test_arms_name_runs_whatever_they_are_called(made, named):
    """Names follow arms and seeds, not files."""
    others = {run: f"run-{row}" for row, run in enumerate(made.aligned.runs) if run != "released"}
    runs = [replace(run, name=others.get(run.name, run.name)) for run in paper_like(0)]
    arms = {
        arm: {seed: others[run] for seed, run in by_seed.items()}
        for arm, by_seed in made.pairs.arms.items()
    }
    pairs = replace(
        made.pairs,
        sources=tuple(Source(run.name, Path("x")) for run in runs),
        arms=arms,
        pairs=(*PAIRS[:3], (others["A0"], "released")),
    )
    again = {one.name: one.text for one in findings(compare_runs(pairs, align(runs)))}
    assert again == {name: one.text for name, one in named.items()}


def test_the_table_of_numbers_takes_them_all(made, tmp_path):
    flat = write_numbers(tmp_path, findings(made), "navaudit compare", {})
    assert set(flat) == {one.name for one in findings(made)}


@pytest.mark.parametrize("prefix", ["rt", "rt530"])
def test_every_number_of_the_paper_on_runs_has_its_name_here(made, prefix):
    pairs = replace(made.pairs, prefix=prefix)
    ours = {one.name: one.text for one in findings(replace(made, pairs=pairs))}
    theirs = paper_numbers()
    wanted = [name for name in theirs if re.match(rf"{prefix}_", name)]
    assert len(wanted) > 90
    assert [name for name in wanted if name not in ours] == []
    for name in wanted:
        # the same shape: a sign, places, groups of three
        shape = [re.sub(r"\d+", "9", text).lstrip("+-") for text in (ours[name], theirs[name])]
        assert shape[0] == shape[1] or "9,9" in "".join(shape)
        assert ours[name][0] in "+-" or theirs[name][0] not in "+-"
