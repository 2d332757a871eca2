"""The paper's verdicts follow from its own numbers, through the names this room gives them.

Levels are printed on all tokens only. On F, on R and for interactions the seed scale is then known
from below, by the printed differences: of a gap between two seeds' differences, one arm made half.
"""

import json
import re

import numpy as np
import pytest

from evaluate.small import SHARED
from navaudit.stats.bootstrap import Estimate
from navaudit.stats.verdicts import judge, letter, seed_scale

NUMBERS, PAPER = SHARED / "paper" / "numbers.json", SHARED / "paper" / "paper.tex"

pytestmark = pytest.mark.skipif(
    not (NUMBERS.exists() and PAPER.exists()), reason="not published with the code: the paper"
)

PARTS = ("human_fail", "rest")
SETS = {"All": "all", "F": "human_fail", "R": "rest"}
ROW = re.compile(r"([PM])--A & (EPDMS|LK|EC) & (OFF|ON|Both) & (All|F|R) & .* & ([OSU]/[OSU]) \\\\")


@pytest.fixture(scope="module")
def numbers():
    return json.loads(NUMBERS.read_text())


def rows():
    """Arm, metric, mode, set and verdict of each row of the table of contrasts."""
    if not PAPER.exists():
        return [("P", "LK", "OFF", "All", "O/O")]
    return [match.groups() for match in map(ROW.match, PAPER.read_text().splitlines()) if match]


ROWS = rows()


def contrast(numbers, arm, stem):
    names = [f"rt_{arm}{seed}A{seed}_{stem}" for seed in range(3)]
    return estimate(numbers, names)


def estimate(numbers, names):
    ends = [[float(numbers[f"{name}{end}"]) for name in names] for end in ("", "_lo", "_hi")]
    return Estimate(*map(np.array, ends), np.zeros(3, int))


def levels(numbers, stem):
    return [[float(numbers[f"rt_abs_{arm}{seed}_{stem}"]) for seed in range(3)] for arm in "AMP"]


def mode_of(mode):
    return "on" if mode == "ON" else "off"


def test_the_table_is_read_whole():
    assert len(ROWS) in (1, 30)
    assert len({row[:4] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: " ".join(row[:4]))
def test_every_letter_follows_as_far_as_the_numbers_go(numbers, row):
    arm, metric, mode, population, verdict = row
    read = contrast(numbers, arm, f"{mode_of(mode)}_{metric}_{SETS[population]}")
    if population == "All":
        found = judge(read, levels(numbers, f"{mode_of(mode)}_{metric}"))
        assert found.letter == verdict
        return
    for size, said in zip((2, 3), verdict.split("/"), strict=True):
        points = read.point[:size]
        least = max(abs(a - b) for a in points for b in points) / 2.0
        allowed = letter(points, read.low[:size], read.high[:size], least)
        assert said == allowed or (allowed == "O" and said == "S")


@pytest.mark.parametrize("metric", ["LK", "EC"])
def test_the_interactions_are_observed_as_far_as_the_numbers_go(numbers, metric):
    read = estimate(numbers, [f"rt_IP{seed}_off_{metric}" for seed in range(3)])
    least = max(abs(a - b) for a in read.point for b in read.point) / 2.0
    assert letter(read.point, read.low, read.high, least) == "O"


@pytest.mark.parametrize("stem", ["off_EPDMS", "on_EPDMS", "off_LK", "on_LK", "off_EC"])
def test_the_seed_scales_are_those_of_the_levels(numbers, stem):
    table = np.array(levels(numbers, stem))
    for size, name in ((2, "two"), (3, "three")):
        written = float(numbers[f"rt_spread_{name}_seed_{stem}_all"])
        assert seed_scale(table[:, :size]) == pytest.approx(written, abs=0.0011)


def test_interactions_are_f_minus_r(numbers):
    for seed in range(3):
        for stem in ("off_LK", "off_EC"):
            f, r = (
                float(numbers[f"rt_P{seed}A{seed}_{stem}_{name}"])
                for name in ("human_fail", "rest")
            )
            assert f - r == pytest.approx(float(numbers[f"rt_IP{seed}_{stem}"]), abs=0.0011)


def test_f_and_r_weigh_up_to_all_tokens(numbers):
    counts = {
        name: int(numbers[f"rt_n_{name}"].replace(",", "")) for name in ("human_fail", "rest")
    }
    assert sum(counts.values()) == int(numbers["rt_tokens"].replace(",", ""))
    for arm in "PM":
        for seed in range(3):
            for stem in ("off_EPDMS", "on_EPDMS", "off_LK", "on_LK"):
                name = f"rt_{arm}{seed}A{seed}_{stem}"
                whole = sum(
                    counts[part] * float(numbers[f"{name}_{part}"]) for part in counts
                ) / sum(counts.values())
                assert whole == pytest.approx(float(numbers[f"{name}_all"]), abs=0.0011)
