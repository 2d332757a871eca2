"""Contrasts, intervals and letters against plain loops over tokens, logs and draws."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.paper_like import ARMS, COUNT, LOGS, RESAMPLES, TOKENS, pairs_of, paper_like
from evaluate.small import scored
from navaudit.axes import LK
from navaudit.errors import BadInput
from navaudit.evaluate.aligned import align
from navaudit.evaluate.compare import compare_runs
from navaudit.evaluate.contrasts import ALIKE, ALL, INTERACTION, F, R
from navaudit.evaluate.epdms import EC, EPDMS, SHORT
from navaudit.evaluate.measures import BOTH, MEASURES, Measure
from navaudit.evaluate.populations import failing


@pytest.fixture(scope="module")
def made():
    return compare_runs(pairs_of(steps=300, initial_step=4800), align(paper_like(0)))


def values_of(run, measure):
    """One number of each token, by the definition."""
    if measure.unit == "m":
        return run.distance[:, ("ADE", "FDE", "MAXLAT").index(measure.metric)]
    mode = "off" if measure.mode == BOTH else measure.mode
    return 100.0 * run.scores[mode][:, SHORT.index(measure.metric)]


def plainly(one, made):
    """Point and interval ends of a contrast, by loops."""
    runs, logs = made.aligned.runs, np.array(made.aligned.logs)
    treated, control = runs[one.treated], runs[one.control]
    difference = values_of(treated, one.measure) - values_of(control, one.measure)
    fails = failing(made.aligned.human, TOKENS)
    if one.population == ALIKE:
        lane = [run.scores["off"][:, LK] for run in (treated, control)]
        difference = np.where(lane[0] == lane[1], difference, np.nan)
    groups = {F: [fails], R: [~fails], INTERACTION: [fails, ~fails]}
    masks = groups.get(one.population, [np.ones(COUNT, bool)])
    names = sorted(set(logs))
    draws = np.random.default_rng(5).integers(0, len(names), size=(RESAMPLES, len(names)))

    def mean(rows):
        parts = []
        for mask in masks:
            kept = difference[rows][mask[rows] & np.isfinite(difference[rows])]
            parts.append(kept.mean() if kept.size else np.nan)
        return parts[0] - parts[1] if len(parts) == 2 else parts[0]

    rows = [np.flatnonzero(logs == name) for name in names]
    found = [mean(np.concatenate([rows[log] for log in draw])) for draw in draws]
    found = [one for one in found if not np.isnan(one)]
    return mean(np.arange(COUNT)), *np.percentile(found, (2.5, 97.5))


def test_everything_is_read():
    made = compare_runs(pairs_of(), align(paper_like(0)))
    pairings = 3 + 3 + 1 + 1
    # off and on: EPDMS, LK, NC, DAC, DDC, TLC, TTC; both: EC, EP, HC; three distances
    measures = 2 * 7 + 3 + 3
    populations = 4
    alike = 3
    assert len(made.contrasts) == pairings * (measures * populations + alike)
    assert {one.population for one in made.contrasts} == {ALL, F, R, INTERACTION, ALIKE}


def test_every_contrast_is_what_loops_give(made):
    for one in made.contrasts[::7]:
        point, low, high = plainly(one, made)
        assert one.point == pytest.approx(point, abs=1e-9)
        assert (one.low, one.high) == pytest.approx((low, high), abs=1e-9)


def test_tokens_are_counted(made):
    comfort = ~np.isnan(made.aligned.runs["A0"].scores["off"][:, EC])
    fails = failing(made.aligned.human, TOKENS)
    expected = {ALL: comfort.sum(), F: (comfort & fails).sum(), R: (comfort & ~fails).sum()}
    for one in made.contrasts:
        if one.measure.metric == "EC" and one.population in expected:
            assert one.tokens == expected[one.population]
    assert made.comfort_tokens(ALL) == comfort.sum()
    assert made.tokens(F) + made.tokens(R) == made.tokens(ALL) == COUNT
    assert made.logs == LOGS


def test_differences_are_those_of_the_levels(made):
    for one in made.contrasts:
        if one.population in (ALL, F, R):
            keys = [(run, one.measure, one.population) for run in (one.treated, one.control)]
            mine, theirs = (made.levels[key][0] for key in keys)
            assert one.point == pytest.approx(mine - theirs, abs=1e-9)


def test_r_is_the_same_under_both_switches_up_to_drivable_area(made):
    """Of R's humans none fails anything but drivable area, which forgives nothing but itself."""
    aligned = made.aligned
    clean = (aligned.human != 0.0).all(axis=1)
    for run in aligned.runs.values():
        assert np.array_equal(run.scores["off"][clean], run.scores["on"][clean], equal_nan=True)


def plain_letter(read, levels):
    """The rule of the paper on one reading, in words."""
    points = [one.point for one in read]
    if not all(one.low > 0.0 or one.high < 0.0 for one in read):
        return "U"
    scale = max(abs(a - b) for arm in levels for a in arm for b in arm)
    same = all(point > 0.0 for point in points) or all(point < 0.0 for point in points)
    return "O" if same and abs(np.mean(points)) > scale else "S"


def test_letters_follow_the_rule(made):
    assert len(made.judgements) == 3 * 20 * 4
    for one in made.judgements:
        read = [
            each
            for each in made.contrasts
            if (each.pair, each.measure, each.population) == (one.pair, one.measure, one.population)
        ]

        def level(run, judged=one):
            if judged.population == INTERACTION:
                return (
                    made.levels[run, judged.measure, F][0] - made.levels[run, judged.measure, R][0]
                )
            return made.levels[run, judged.measure, judged.population][0]

        for size, said in zip((2, 3), one.verdict.letters, strict=True):
            table = [[level(ARMS[arm][seed]) for seed in range(size)] for arm in "AMP"]
            assert said == plain_letter(read[:size], table)
    assert {reading for one in made.judgements for reading in one.readings} == {(0, 1), (0, 1, 2)}


def test_letters_of_all_kinds_are_drawn():
    """Arms set apart by hand: far apart is observed, far apart but unsteady is on the scale."""
    base = paper_like(1, ("A0", "A1", "P0", "P1"))
    steady = [0.0, 0.0, -30.0, -30.0]
    unsteady = [0.0, 0.0, -5.0, -40.0]
    found = set()
    for shift in (steady, unsteady, [0.0] * 4):
        runs = []
        for run, moved in zip(base, shift, strict=True):
            components = run.scores["off"][:, :EC].copy()
            components[:, 4] = 0.5 + moved / 100.0
            runs.append(
                scored(run.name, TOKENS, run.logs, components, run.scores["off"][:, EC], run.human)
            )
        names = tuple(run.name for run in runs)
        arms = {arm: {0: f"{arm}0", 1: f"{arm}1"} for arm in "AP"}
        made = compare_runs(pairs_of(names, (("P", "A"),), arms), align(runs))
        progress = Measure("EP", BOTH, "points")
        (judged,) = (
            one for one in made.judgements if one.measure == progress and one.population == ALL
        )
        assert len(judged.verdict.letters) == 1
        found.add(judged.verdict.letter)
    assert found == {"O", "S", "U"}


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_the_other_way_round_everything_turns_its_sign(seed):
    runs = align(paper_like(seed, ("A0", "P0")))
    forth = compare_runs(pairs_of(("A0", "P0"), (("P0", "A0"),), {}), runs)
    back = compare_runs(pairs_of(("A0", "P0"), (("A0", "P0"),), {}), runs)
    for one, other in zip(forth.contrasts, back.contrasts, strict=True):
        assert one.point == -other.point
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-12)


def test_a_run_against_itself_differs_in_nothing():
    runs = paper_like(3, ("A0",))
    twin = replace(runs[0], name="twin")
    made = compare_runs(pairs_of(("A0", "twin"), (("twin", "A0"),), {}), align([runs[0], twin]))
    assert all((one.point, one.low, one.high) == (0.0, 0.0, 0.0) for one in made.contrasts)
    assert made.judgements == ()


def test_draws_are_shared_by_all_contrasts_and_runs(made):
    """A contrast read alone has the interval it has among all others."""
    alone = compare_runs(pairs_of(("A1", "P1"), (("P1", "A1"),), {}), align(
        [run for run in made.aligned.runs.values() if run.name in ("A1", "P1")]
    ))  # fmt: skip
    among = {
        (one.measure, one.population): one
        for one in made.contrasts
        if (one.treated, one.control) == ("P1", "A1")
    }
    for one in alone.contrasts:
        other = among[one.measure, one.population]
        assert (one.point, one.low, one.high) == (other.point, other.low, other.high)


def test_without_humans_there_is_no_f(made):
    runs = [replace(run, human=None) for run in made.aligned.runs.values()]
    alone = compare_runs(pairs_of(), align(runs))
    assert set(alone.populations) == {ALL}
    assert "no human values: nothing is read on F and R" in alone.cautions


def test_humans_from_elsewhere_win_and_a_difference_is_told(made, tmp_path):
    path = tmp_path / "f.txt"
    path.write_text("\n".join(TOKENS[:10]))
    other = compare_runs(pairs_of(human=path), align(paper_like(0)))
    assert np.flatnonzero(other.populations[F]).tolist() == list(range(10))
    differing = int((other.populations[F] != made.populations[F]).sum())
    assert f"{differing} tokens are in F by the runs' own humans" in " ".join(other.cautions)


def test_an_empty_f_has_no_interaction():
    runs = [
        scored(run.name, TOKENS, run.logs, run.scores["off"][:, :EC], run.scores["off"][:, EC])
        for run in paper_like(2, ("A0", "P0"))
    ]
    made = compare_runs(pairs_of(("A0", "P0"), (("P0", "A0"),), {}), align(runs))
    assert "F or R is empty, so interactions are not defined" in made.cautions
    for one in made.contrasts:
        if one.population in (F, INTERACTION):
            assert np.isnan([one.point, one.low, one.high]).all()
            assert one.undefined == RESAMPLES


def test_comfort_in_some_runs_only_is_told_and_paired():
    runs = paper_like(4, ("A0", "P0"))
    off = runs[1].scores["off"].copy()
    row = int(np.flatnonzero(~np.isnan(off[:, EC]))[0])
    comfort = off[:, EC].copy()
    comfort[row] = np.nan
    runs[1] = scored("P0", TOKENS, runs[0].logs, off[:, :EC], comfort, runs[0].human)
    made = compare_runs(pairs_of(("A0", "P0"), (("P0", "A0"),), {}), align(runs))
    assert "1 tokens have extended comfort in some runs only" in " ".join(made.cautions)
    (one,) = (
        each for each in made.contrasts if each.measure.metric == "EC" and each.population == ALL
    )
    assert one.tokens == np.isfinite(off[:, EC]).sum() - 1


def test_modes_that_do_not_meet_are_told():
    runs = [replace(run, human=None) for run in paper_like(6, ("A0", "P0"))]
    runs[1] = replace(runs[1], scores={"on": runs[1].scores["on"]})
    runs[0] = replace(runs[0], scores={"as-scored": runs[0].scores["off"]})
    made = compare_runs(pairs_of(("A0", "P0"), (("P0", "A0"),), {}), align(runs))
    said = " ".join(made.cautions)
    assert "P0 and A0: EPDMS off and on cannot be compared: P0 has on, A0 has as-scored" in said
    assert {one.measure.mode for one in made.contrasts} == {BOTH}
    assert not any(one.measure.metric == SHORT[EPDMS] for one in made.contrasts)


def test_humans_bring_modes_together():
    """What nobody could say of two files, the humans of a third run tell."""
    runs = paper_like(6, ("A0", "P0", "M0"))
    for row in range(2):
        files = {"as-scored": runs[row].scores["off"]}
        runs[row] = replace(runs[row], human=None, scores=files)
    names = ("A0", "P0", "M0")
    made = compare_runs(pairs_of(names, (("P0", "A0"),), {}), align(runs))
    modes = {one.measure.mode for one in made.contrasts if one.measure.metric == "EPDMS"}
    assert modes == {"off", "on"}


def test_few_logs_are_told(made):
    assert "7 logs are resampled: intervals over fewer than 20 are too narrow" in made.cautions


def test_measures_come_once():
    assert len(set(MEASURES)) == len(MEASURES)
    assert {one.metric for one in MEASURES if one.unit == "points"} == set(SHORT)


def test_single_seeds_have_no_letters():
    """One arm of two seeds is needed for letters; without arms nobody expects them."""
    runs = align(paper_like(0, ("A0", "P0")))
    arms = {"A": {0: "A0"}, "P": {0: "P0"}}
    single = compare_runs(pairs_of(("A0", "P0"), (("P", "A"),), arms), runs)
    assert single.judgements == ()
    assert "no arm has two seeds: there is no seed scale, and no letters" in single.cautions
    with pytest.raises(BadInput, match="P0 and Q0 cannot be paired"):
        pairs_of(("A0", "P0"), (("P0", "Q0"),), {})
