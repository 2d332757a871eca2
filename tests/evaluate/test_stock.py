"""Whole evaluations against the stock one, on golden scenes beside the repository."""

from functools import cache

import numpy as np
import pytest

from evaluate.small import HERE, SHARED
from navaudit.agent.predictions import Plan
from navaudit.evaluate.epdms import EC, EPDMS
from navaudit.evaluate.evaluate import Evaluation, evaluate
from navaudit.evaluate.results import _rows, read_results
from navaudit.scene.from_caches import FromCaches
from navaudit.scene.prepare import prepare
from score import golden

needs_shared = pytest.mark.skipif(bool(golden.missing()), reason=golden.missing() or "there")


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("golden") / "scenes"
    return prepare(folder, FromCaches(SHARED / "golden" / "metric_cache"))


@cache
def stock(name):
    return read_results(HERE / "evaluation" / f"{name}.csv")


def candidates(plan):
    """Row of the released vocabulary that was planned, by token."""
    rows = _rows(HERE / "evaluation" / f"{plan}_off.csv")
    token, candidate = rows[0].index("token"), rows[0].index("candidate")
    return {row[token]: int(row[candidate]) for row in rows[1:]}


@needs_shared
@pytest.mark.parametrize("plan", ["a", "b"])
def test_an_evaluation_is_the_stock_one_to_the_bit(plan, scenes, tmp_path):
    vocabulary = np.load(SHARED / "data" / "vocabulary_8192.npy")
    plans = {token: Plan(vocabulary[row], 0.1) for token, row in candidates(plan).items()}
    run = evaluate(tmp_path / "run", Evaluation(plans, scenes))
    assert run.valid.all()
    assert len(run) == 18
    for switch in ("off", "on"):
        theirs = stock(f"{plan}_{switch}")
        place = {token: row for row, token in enumerate(run.tokens)}
        order = [place[token] for token in theirs.tokens]
        assert np.array_equal(run.score(switch)[order], theirs.score, equal_nan=True)
        written = read_results(tmp_path / "run" / f"{switch}.csv")
        assert np.array_equal(written.score[order], theirs.score, equal_nan=True)
        assert [run.logs[row] for row in order] == list(theirs.logs)
    off, before = stock(f"{plan}_off"), read_results(tmp_path / "run" / "pre-fix.csv")
    on = stock(f"{plan}_on")
    assert np.array_equal(before.score[order][:, :EC], on.score[:, :EC])
    assert np.array_equal(before.score[order][:, EPDMS], off.score[:, EPDMS])
    assert (~np.isnan(run.comfort)).sum() == 1


def test_the_stock_files_are_whole():
    for name in ("a_off", "a_on", "b_off", "b_on"):
        results = stock(name)
        assert len(results.tokens) == 18
        assert results.average is None
        assert results.valid.all()
