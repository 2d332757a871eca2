"""Two published result files: what their numbers say, and what the models differ in."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.small import SHARED
from navaudit.evaluate.compare import compare
from navaudit.evaluate.contrasts import ALL
from navaudit.evaluate.epdms import EC
from navaudit.evaluate.pairs import Source, pairs_of_two

DATA = SHARED / "data"
FILES = {name: DATA / f"gtrs_dense_vov_sim_{name}_navtest.csv" for name in ("expert", "reward")}

pytestmark = pytest.mark.skipif(
    not all(path.exists() for path in FILES.values()),
    reason="not published with the code: the result files",
)


@pytest.fixture(scope="module")
def made():
    pairs = pairs_of_two([Source(name, path) for name, path in FILES.items()])
    return compare(replace(pairs, index=DATA / "navtest_index.csv"))


def test_components_are_forgiven_and_scores_are_not(made):
    apart = {"expert": (1420, 1144), "reward": (1393, 1128)}
    for name, run in made.aligned.runs.items():
        differ, telling = apart[name]
        assert run.notes[0] == (
            f"{differ} of 12146 scores are not the aggregate of their row, and forgiveness "
            f"explains them all ({telling} of them by a score above 0): the components are "
            "forgiven, the stored score is the OFF aggregate"
        )


def test_both_aggregates_are_recomputed(made):
    means = {
        (run, str(measure)): f"{mean:.2f}"
        for (run, measure, _), (mean, _) in made.levels.items()
        if measure.metric == "EPDMS"
    }
    assert means == {
        ("expert", "EPDMS OFF"): "84.52",
        ("expert", "EPDMS ON"): "87.82",
        ("reward", "EPDMS OFF"): "84.80",
        ("reward", "EPDMS ON"): "88.02",
    }


def test_tokens_logs_and_comfort(made):
    assert (len(made.aligned.tokens), made.logs) == (12_146, 136)
    assert made.comfort_tokens(ALL) == 10_040


def test_the_models_differ_in_comfort_and_not_in_score(made):
    """The paired contrast and its interval, against one loop of our own over 136 logs."""
    runs, logs = made.aligned.runs, np.array(made.aligned.logs)
    off = [runs[name].scores["off"] for name in ("reward", "expert")]
    names, place = np.unique(logs, return_inverse=True)
    draws = np.random.default_rng(0).integers(0, 136, size=(10_000, 136))
    times = np.stack([np.bincount(draw, minlength=136) for draw in draws[:2_000]])
    read = {str(one.measure): one for one in made.contrasts if one.population == ALL}
    for name, column in (("EPDMS OFF", 9), ("EC", EC)):
        difference = 100.0 * (off[0][:, column] - off[1][:, column])
        there = ~np.isnan(difference)
        sums = np.bincount(place[there], difference[there], minlength=136)
        sizes = np.bincount(place[there], minlength=136)
        low, high = np.percentile((times @ sums) / (times @ sizes), (2.5, 97.5))
        one = read[name]
        assert one.point == pytest.approx(np.nanmean(difference), abs=1e-9)
        # a fifth of the draws: ends within a few of their Monte Carlo errors
        width = one.high - one.low
        assert abs(one.low - low) < 0.05 * width
        assert abs(one.high - high) < 0.05 * width
    assert len(names) == 136
    assert read["EPDMS OFF"].low < 0.0 < read["EPDMS OFF"].high
    assert read["EPDMS ON"].low < 0.0 < read["EPDMS ON"].high
    assert read["EC"].low > 0.0
    assert not made.judgements
