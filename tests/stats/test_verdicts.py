"""The rule on arrays, and on every figure the paper prints that the rule can be applied to."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.stats.bootstrap import Estimate
from navaudit.stats.verdicts import judge, letter, seed_scale

TABLES = Path(__file__).parent / "tables"
SEEDS = (0, 1, 2)
TOKENS = {"F": 1_816, "R": 10_330}
EC_TOKENS = {"F": 1_428, "R": 8_612}


def table(name):
    lines = (TABLES / name).read_text().splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def numbers(row, *names):
    return np.array([float(row[name]) for name in names])


def contrast(point, low=None, high=None, undefined=0):
    ends = [np.asarray(x, float) for x in (point, low, high)]
    return Estimate(*ends, np.full(ends[0].shape, undefined))


def surely(point):
    """A contrast whose intervals all exclude zero, whatever the points."""
    point = np.asarray(point, float)
    return contrast(point, point - 1e-9 * abs(point), point + 1e-9 * abs(point))


CONTRASTS = table("contrasts.csv")
STEP_530 = table("step530.csv")
LEVELS = table("levels.csv")
PROBES = table("probes.csv")


def printed(row):
    ends = [numbers(row, *(f"{end}{s}" for s in SEEDS)) for end in ("point", "low", "high")]
    return contrast(*ends)


def levels_of(metric, arms="AMP"):
    """Scores [arm, seed] on all tokens."""
    by_run = {(row["arm"], int(row["seed"])): float(row[metric]) for row in LEVELS}
    return np.array([[by_run[arm, seed] for seed in SEEDS] for arm in arms])


def label(row):
    return " ".join(row[key] for key in ("contrast", "metric", "mode", "set"))


def test_the_copied_tables_are_whole():
    sizes = [len(rows) for rows in (CONTRASTS, STEP_530, LEVELS, PROBES)]
    assert sizes == [30 + 2 + 9, 2 * 20, 10, 3 + 4 + 3 + 4]


ALL_TOKENS = [row for row in CONTRASTS if row["set"] == "All"]


@pytest.mark.parametrize("row", ALL_TOKENS, ids=label)
def test_every_all_token_verdict_follows_from_the_printed_figures(row):
    """tab:rt-contrasts with the levels of tab:rt-absolute: the tables hold all the rule needs."""
    assert judge(printed(row), levels_of(f"{row['metric']} {row['mode']}")).letter == row["verdict"]


@pytest.mark.parametrize("row", ALL_TOKENS, ids=label)
def test_the_all_token_differences_are_those_of_the_levels(row):
    levels = levels_of(f"{row['metric']} {row['mode']}", arms=row["contrast"].replace("-", ""))
    assert np.abs(printed(row).point - (levels[0] - levels[1])).max() < 0.0016


def test_the_seed_scales_are_those_of_the_paper():
    """Seed scales, two and three seeds, in the note under tab:rt-contrasts."""
    written = {
        "EPDMS OFF": (0.231, 0.280),
        "EPDMS ON": (0.225, 0.251),
        "LK OFF": (0.115, 0.140),
        "LK ON": (0.214, 0.280),
        "EC Both": (1.205, 1.205),
    }
    for metric, scales in written.items():
        levels = levels_of(metric)
        found = seed_scale(levels[:, :2]), seed_scale(levels)
        assert found == pytest.approx(scales, abs=0.0011)


def smallest_scale(points):
    """A floor under the seed scale: of two seeds' gaps, one arm must have made half."""
    return max(abs(a - b) for a in points for b in points) / 2.0


SUBSETS = [row for row in CONTRASTS if row["set"] != "All"]


@pytest.mark.parametrize("row", SUBSETS, ids=label)
def test_subset_verdicts_agree_as_far_as_the_printed_figures_go(row):
    """F, R and interactions: no levels are printed, so the scale is only known from below.

    Intervals and signs decide U without a scale; an O must pass the smallest scale the printed
    differences allow.
    """
    found = printed(row)
    for count, verdict in zip((2, 3), row["verdict"].split("/"), strict=True):
        at = slice(0, count)
        least = smallest_scale(found.point[at])
        allowed = letter(found.point[at], found.low[at], found.high[at], least)
        assert verdict == allowed or (allowed == "O" and verdict == "S")


@pytest.mark.parametrize("row", STEP_530, ids=label)
def test_step_530_verdicts_contradict_no_printed_difference(row):
    """tab:rt-s530 prints neither intervals nor levels: an O must still pass sign and scale."""
    points = numbers(row, "point0", "point1", "point2")
    for count, verdict in zip((2, 3), row["verdict"].split("/"), strict=True):
        at = points[:count]
        if verdict == "O":
            assert letter(at, at, at, smallest_scale(at)) == "O"


PROBE_VERDICTS = [
    pytest.param(row, pair, id=f"{row['table']} {row['reading']} {pair}")
    for row in PROBES
    for pair in ("P-A", "M-A", "L0-A0")
    if row[pair]  # L0 is not printed at step 530
]


@pytest.mark.parametrize(("row", "pair"), PROBE_VERDICTS)
def test_probe_verdicts_follow_the_scale_once_intervals_exclude_zero(row, pair):
    """tab:rt-probe, tab:rt-navtest, tab:rt-s530-probe print levels but no intervals.

    A letter other than U says that every interval excludes zero; O or S is then the scale's doing.
    Where the mean difference and the scale are closer than the printed digits tell, either may be.
    """
    levels = np.array([numbers(row, *(f"{arm}{s}" for s in SEEDS)) for arm in "AMP"])
    if pair == "L0-A0":
        point, seeds = numbers(row, "L0") - levels[0, :1], (0,)
    else:
        point, seeds = levels["AMP".index(pair[0])] - levels[0], SEEDS
    found = judge(surely(np.where(point == 0.0, 1e-12, point)), levels, seeds=seeds)
    for count, verdict, mine, scale in zip(
        (2, 3), row[pair].split("/"), found.letters, found.scales, strict=True
    ):
        close = abs(abs(point[:count].mean()) - scale) < 2.1e-4
        assert verdict in ("U", mine) or close


def test_the_probe_scale_decides_where_the_digits_allow():
    """tab:rt-navtest: M-A is unresolved on the seed scale on R2 and R3, observed on R4."""
    rows = {row["reading"]: row for row in PROBES if row["table"] == "rt-navtest"}
    for reading, expected in {"R2": "S/S", "R3": "S/S", "R4": "O/O"}.items():
        levels = np.array([numbers(rows[reading], *(f"{a}{s}" for s in SEEDS)) for a in "AMP"])
        assert judge(surely(levels[1] - levels[0]), levels).letter == expected


@pytest.mark.parametrize("row", [r for r in CONTRASTS if r["set"] == "F-R"], ids=label)
def test_interactions_are_f_minus_r(row):
    """tab:retraining and tab:rt-distance against the F and R rows they are made of."""
    keys = ("contrast", "metric", "mode")
    same = [r for r in CONTRASTS if all(r[key] == row[key] for key in keys)]
    f, r = (printed(next(s for s in same if s["set"] == name)).point for name in "FR")
    assert np.abs(f - r - printed(row).point).max() < 0.0016


@pytest.mark.parametrize("row", ALL_TOKENS, ids=label)
def test_all_tokens_are_the_token_weighted_mean_of_f_and_r(row):
    tokens = EC_TOKENS if row["metric"] == "EC" else TOKENS
    keys = ("table", "contrast", "metric", "mode")
    same = [r for r in CONTRASTS if all(r[key] == row[key] for key in keys)]
    parts = [printed(next(s for s in same if s["set"] == name)).point for name in "FR"]
    weighed = np.average(parts, axis=0, weights=[tokens["F"], tokens["R"]])
    assert np.abs(weighed - printed(row).point).max() < 0.0011


@given(
    st.lists(st.tuples(st.floats(-2, 2), st.floats(0, 2)), min_size=3, max_size=3),
    st.lists(st.lists(st.floats(-2, 2), min_size=3, max_size=3), min_size=1, max_size=4),
)
def test_letters_follow_the_definition(ends, levels):
    point = np.array([centre for centre, _ in ends])
    low, high = (point + sign * np.array([half for _, half in ends]) for sign in (-1, 1))
    found = judge(contrast(point, low, high), levels)
    for reading, mine, scale in zip(((0, 1), (0, 1, 2)), found.letters, found.scales, strict=True):
        assert scale == max(
            abs(arm[i] - arm[j]) for arm in levels for i in reading for j in reading
        )
        excluded = all(low[s] > 0 or high[s] < 0 for s in reading)
        signs = {np.sign(point[s]) for s in reading}
        large = abs(np.mean([point[s] for s in reading])) > scale
        if excluded and signs in ({1.0}, {-1.0}) and large:
            assert mine == "O"
        else:
            assert mine == ("S" if excluded else "U")


@given(st.floats(0.01, 2), st.floats(0, 3))
def test_turning_a_contrast_over_keeps_its_letter(size, scale):
    there = letter([size] * 2, [size / 2] * 2, [2 * size] * 2, scale)
    assert letter([-size] * 2, [-2 * size] * 2, [-size / 2] * 2, scale) == there


def test_the_borders_of_the_rule():
    assert letter([1.0, 1.0], [0.0, 0.5], [2.0, 2.0], 0.1) == "U"  # an end at zero
    assert letter([1.0, 1.0], [0.5, 0.5], [2.0, 2.0], 1.0) == "S"  # equal to the scale
    assert letter([1.0, -1.0], [0.5, -2.0], [2.0, -0.5], 0.0) == "S"  # signs disagree
    assert letter([np.nan], [np.nan], [np.nan], 0.0) == "U"
    assert letter([1.0], [0.5], [2.0], np.nan) == "S"


def test_a_verdict_is_printed_like_a_row_and_cannot_be_changed():
    row = ALL_TOKENS[1]
    verdict = judge(printed(row), levels_of("EPDMS ON"))
    assert str(verdict) == (
        "-0.328 [-0.616, -0.031], -0.249 [-0.473, -0.025], +0.018 [-0.235, +0.281] O/U"
    )
    with pytest.raises(ValueError, match="read-only"):
        verdict.low[0] = 0.0


def test_cautions_name_what_a_letter_hides():
    flat = [[0.0, 0.0, 0.0]]
    assert judge(surely([1.0, 1.0, 1.0]), flat).cautions == ()
    split = judge(contrast([1.0, 1.0, 1.0], [0.5, 0.5, -0.5], [2.0] * 3), flat)
    assert split.letter == "O/U"
    assert split.cautions == ("the readings disagree",)
    near = judge(contrast([1.0, 1.0, 1.0], [0.001, 0.5, 0.5], [2.0] * 3), [[0.0, 0.95, 0.95]])
    assert any("seed 0: an interval end" in caution for caution in near.cautions)
    assert sum("within a tenth of the seed scale" in caution for caution in near.cautions) == 2
    alone = judge(contrast([1.0], [0.5], [2.0], undefined=3), [[0.0, 0.1, 0.1]], seeds=(0,))
    assert any("one seed" in caution for caution in alone.cautions)
    assert any("3 resamples" in caution for caution in alone.cautions)
    gone = judge(contrast([np.nan] * 3, [np.nan] * 3, [np.nan] * 3), flat)
    assert gone.letter == "U/U"
    assert any("seed 2 has no interval" in caution for caution in gone.cautions)


def test_what_does_not_fit_is_refused():
    with pytest.raises(BadInput):
        judge(surely([1.0, 1.0]), [[0.0, 0.0, 0.0]])
    with pytest.raises(BadInput):
        judge(surely([1.0, 1.0, 1.0]), [[0.0, 0.0]])
    with pytest.raises(BadInput):
        judge(surely([1.0]), [[0.0, 0.0, 0.0]], seeds=(7,))
