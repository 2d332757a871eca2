"""What can be had of a run: ours whole, a result file's as far as its numbers go."""

import numpy as np
import pytest

from evaluate.small import HERE, random_comfort, random_components, random_human, token
from navaudit.axes import EP, HC
from navaudit.errors import BadInput
from navaudit.evaluate.epdms import EC, EPDMS, score_under
from navaudit.evaluate.forgiveness import with_humans
from navaudit.evaluate.pairs import Source
from navaudit.evaluate.results import result_csv
from navaudit.evaluate.scored import AS_SCORED, read_scored

COUNT = 50
RANDOM = np.random.default_rng(7)
COMPONENTS, HUMAN = random_components(RANDOM, COUNT), random_human(RANDOM, COUNT)
COMFORT = random_comfort(RANDOM, COUNT)
TOKENS = tuple(map(token, range(COUNT)))
ORDER = {"off": slice(None), "on": slice(None, None, -1)}
OFF, ON = (score_under(one, COMPONENTS, HUMAN, COMFORT) for one in ("off", "on"))


def write(path, score, order=slice(None)):
    rows = np.arange(COUNT)[order]
    valid = np.ones(COUNT, bool)
    path.write_bytes(result_csv([TOKENS[row] for row in rows], valid, score[rows]))
    return path


@pytest.fixture
def files(tmp_path):
    before = score_under("pre-fix", COMPONENTS, HUMAN, COMFORT)
    return {
        "off": write(tmp_path / "off.csv", OFF),
        "on": write(tmp_path / "on.csv", ON, ORDER["on"]),
        "pre": write(tmp_path / "pre.csv", before),
    }


def test_a_file_before_the_fix_gives_both_aggregates_and_components_on(files):
    run = read_scored(Source("x", files["pre"]))
    assert np.array_equal(run.scores["on"], ON, equal_nan=True)
    off = run.scores["off"]
    known = [EP, HC, EC, EPDMS]
    assert np.array_equal(off[:, known], OFF[:, known], equal_nan=True)
    assert np.isnan(np.delete(off, known, axis=1)).all()
    assert "OFF is not available for NC, DAC, DDC, TLC, TTC, LK" in run.notes[1]


def test_a_file_of_one_switch_is_taken_as_it_stands_or_as_it_is_said(files):
    alone = read_scored(Source("x", files["off"]))
    assert list(alone.scores) == [AS_SCORED]
    said = read_scored(Source("x", files["on"], switch="on"))
    assert list(said.scores) == ["on"]
    with pytest.raises(BadInput, match="said to be without forgiveness"):
        read_scored(Source("x", files["pre"], switch="off"))


@pytest.mark.parametrize("forgiven", ["on", "pre"])
def test_two_files_are_one_run_in_any_order_of_rows(files, forgiven):
    run = read_scored(Source("x", files["off"], switch="off", forgiven=files[forgiven]))
    assert np.array_equal(run.scores["off"], OFF, equal_nan=True)
    assert np.array_equal(run.scores["on"], ON, equal_nan=True)


def test_two_files_of_different_plans_are_refused(files, tmp_path):
    other = ON.copy()
    row = int(np.flatnonzero(ON[:, EP] < 0.9)[0])
    other[row, EP] += 0.01
    path = write(tmp_path / "other.csv", other)
    with pytest.raises(BadInput, match="1 rows of run x differ by more than forgiveness") as why:
        read_scored(Source("x", files["off"], switch="off", forgiven=path))
    assert TOKENS[row] in why.value.where
    with pytest.raises(BadInput, match="differ by more than forgiveness"):
        read_scored(Source("x", files["on"], switch="off", forgiven=files["off"]))


def test_two_files_of_different_tokens_are_refused(files, tmp_path):
    path = tmp_path / "short.csv"
    path.write_bytes(result_csv(TOKENS[1:], np.ones(COUNT - 1, bool), ON[1:]))
    with pytest.raises(BadInput, match=f"differ in 1 tokens, first {TOKENS[0]}"):
        read_scored(Source("x", files["off"], switch="off", forgiven=path))


def test_human_values_give_on_what_is_known_off(files):
    run = with_humans(read_scored(Source("x", files["off"], switch="off")), HUMAN)
    assert np.array_equal(run.scores["on"], ON, equal_nan=True)
    # without components there is nothing to forgive
    before = read_scored(Source("x", files["pre"]))
    assert with_humans(before, np.zeros_like(HUMAN)) is before


def test_humans_tell_the_switch_that_a_file_cannot(files):
    for mode in ("off", "on"):
        run = with_humans(read_scored(Source("x", files[mode])), HUMAN[ORDER[mode]])
        assert AS_SCORED not in run.scores
        assert np.array_equal(run.scores["on"], ON[ORDER[mode]], equal_nan=True)
        assert ("off" in run.scores) == (mode == "off")
        assert any(note.endswith(f"it is {mode.upper()}") for note in run.notes)


def test_humans_contradict_a_switch_that_somebody_stated(files):
    stated = read_scored(Source("x", files["off"], switch="on"))
    with pytest.raises(BadInput, match=r"said to have forgiveness, and .* are below 1"):
        with_humans(stated, HUMAN)
    stated = read_scored(Source("x", files["on"], switch="off"))
    assert any("yet 0 of" in note for note in with_humans(stated, HUMAN[ORDER["on"]]).notes)


def test_few_humans_tell_nothing(files):
    human = np.ones_like(HUMAN)
    human[:5, 6] = 0.0
    run = read_scored(Source("x", files["off"]))
    assert with_humans(run, human) is run


def test_stock_files_are_taken_together():
    source = Source("a", HERE / "evaluation" / "a_off.csv", "off", HERE / "evaluation" / "a_on.csv")
    run = read_scored(source)
    assert set(run.scores) == {"off", "on"}
    assert run.logs is not None
    assert (run.scores["on"][:, EPDMS] > run.scores["off"][:, EPDMS]).any()


def test_a_run_of_ours_needs_no_word_about_switches(tmp_path):
    with pytest.raises(BadInput, match="which has both switches"):
        read_scored(Source("x", tmp_path, switch="on"))
    with pytest.raises(BadInput, match="holds no finished run"):
        read_scored(Source("x", tmp_path))
