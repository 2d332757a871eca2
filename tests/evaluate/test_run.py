"""A run on disk: what comes back, and what every kind of damage says."""

import json

import numpy as np
import pytest

from evaluate.small import random_comfort, random_components, random_human, token
from navaudit.errors import BadInput
from navaudit.evaluate.epdms import SWITCHES
from navaudit.evaluate.results import read_results
from navaudit.evaluate.run import MANIFEST, SCORES, Run
from navaudit.scene.logfile import Failure


@pytest.fixture
def run():
    random = np.random.default_rng(0)
    components = random_components(random, 9)
    components[4] = np.nan
    return Run(
        tokens=tuple(token(row) for row in range(9)),
        logs=("one",) * 4 + ("other",) * 4 + ("",),
        time_us=np.arange(9),
        components=components,
        human=random_human(random, 9),
        comfort=random_comfort(random, 9),
        distance=random.random((9, 3)),
        settings={"ddc": "v2.1", "scenes": "abc"},
        sources={"plans": "def", "overlap": False, "left out": {}},
        provenance={"code": "123"},
        failures=(Failure(token(4), "other", "what", "where"),),
    )


def test_what_is_written_comes_back(run, tmp_path):
    run.write(tmp_path)
    back = Run.open(tmp_path)
    assert back.digest() == run.digest()
    for name in ("tokens", "logs", "settings", "sources", "provenance", "failures"):
        assert getattr(back, name) == getattr(run, name)
    for switch in SWITCHES:
        assert np.array_equal(back.score(switch), run.score(switch), equal_nan=True)
        results = read_results(tmp_path / f"{switch}.csv")
        assert np.array_equal(results.score, run.score(switch), equal_nan=True)
        assert np.array_equal(results.valid, run.valid)


def test_the_same_run_has_the_same_bytes(run, tmp_path):
    for name in ("one", "other"):
        run.write(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert files == sorted(["off.csv", "on.csv", "pre-fix.csv", "run.json", "scores.npz"])
    for name in files:
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_nobody_writes_into_a_run(run):
    with pytest.raises(ValueError, match="read-only"):
        run.components[0, 0] = 0.0


def test_rows_that_do_not_fit_are_refused(run):
    with pytest.raises(BadInput, match="8 different tokens"):
        Run(**{**vars(run), "tokens": (*run.tokens[:8], run.tokens[0])})
    with pytest.raises(BadInput, match="shape"):
        Run(**{**vars(run), "human": run.human[:5]})


def rewrite(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize(
    ("harm", "complaint"),
    [
        (lambda folder: (folder / MANIFEST).unlink(), "holds no finished run"),
        (lambda folder: (folder / MANIFEST).write_text("{"), "it cannot be read"),
        (lambda folder: rewrite(folder / MANIFEST, kind="scenes"), "not the manifest of a run"),
        (lambda folder: rewrite(folder / MANIFEST, format=99), "the run has format 99"),
        (lambda folder: rewrite(folder / MANIFEST, sha256={}), "it has no digests"),
        (lambda folder: rewrite(folder / MANIFEST, failures=[{}]), "lacks or mistypes"),
        (lambda folder: (folder / SCORES).unlink(), "No such file"),
        (lambda folder: (folder / SCORES).write_bytes(b"PK"), "not those written"),
    ],
)
def test_damage_is_named(run, tmp_path, harm, complaint):
    run.write(tmp_path)
    harm(tmp_path)
    with pytest.raises(BadInput, match=complaint):
        Run.open(tmp_path)
