"""F and R from everything that knows humans."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.small import HALF_S, cheap_judge, random_human, scene_set, straight_plan, token
from navaudit.axes import COLUMNS, DAC, DDC, LK, NC, PDM, SHORT, TLC, TTC
from navaudit.errors import BadInput
from navaudit.evaluate.evaluate import Evaluation, evaluate
from navaudit.evaluate.populations import failing, read_human, read_humans
from navaudit.labels.labelset import writing
from navaudit.scene.store import SceneSet, complete_set, log_path, open_folder, write_log
from navaudit.score.score import Settings, score_human
from score.worlds import street

TOKENS = tuple(map(token, range(6)))


@given(st.integers(0, 2**32 - 1))
def test_f_is_a_zero_on_any_of_five(seed):
    human = random_human(np.random.default_rng(seed), len(TOKENS))
    expected = [
        any(row[column] == 0.0 for column in (LK, DDC, TLC, NC, TTC)) for row in human.tolist()
    ]
    assert failing(human, TOKENS).tolist() == expected


def test_drivable_area_and_halves_do_not_count():
    human = np.ones((6, PDM))
    human[0, DAC], human[1, NC], human[2, DDC] = 0.0, 0.5, 0.5
    assert not failing(human, TOKENS).any()


def test_unknown_humans_are_named():
    human = np.ones((6, PDM))
    human[2, LK] = np.nan
    with pytest.raises(BadInput, match="1 of 6 tokens have no human values") as refused:
        failing(human, TOKENS)
    assert TOKENS[2] in refused.value.where


def table(path, names, rows):
    path.write_text("\n".join(["token," + ",".join(names), *rows]) + "\n")
    return path


@pytest.mark.parametrize("prefix", ["", "human_"])
def test_a_table_of_human_values(tmp_path, prefix):
    names = [f"{prefix}{COLUMNS[column]}" for column in range(PDM)]
    rows = [f"{one}," + ",".join(["1.0"] * PDM) for one in TOKENS]
    rows[3] = rows[3].replace("1.0,1.0,1.0,1.0,1.0,1.0,1.0", "1.0,1.0,1.0,1.0,1.0,1.0,0.0")
    found = read_humans(table(tmp_path / "humans.csv", names, rows), TOKENS[::-1])
    assert found.failing.tolist() == [False, False, True, False, False, False]
    assert found.values[2, LK] == 0.0


def test_a_census_is_its_table_of_humans(tmp_path):
    rows = [f"{one},log," + ",".join(["0.0"] * len(COLUMNS)) for one in TOKENS]
    (tmp_path / "census").mkdir()
    table(tmp_path / "census" / "human.csv", ("log", *COLUMNS), rows)
    assert read_humans(tmp_path / "census", TOKENS).failing.all()


def test_a_table_with_short_names_of_five(tmp_path):
    names = [SHORT[column] for column in (LK, DDC, TLC, NC, TTC)]
    rows = [f"{one},1,1,0,1,1" for one in TOKENS]
    assert read_humans(table(tmp_path / "humans.csv", names, rows), TOKENS).failing.all()


def test_lists_of_tokens(tmp_path):
    wanted = [TOKENS[1], TOKENS[4], "elsewhere"]
    (tmp_path / "f.txt").write_text("\n".join(wanted))
    (tmp_path / "f.json").write_text(json.dumps(wanted))
    table(tmp_path / "f.csv", ["log_name"], [f"{one},x" for one in wanted])
    for name in ("f.txt", "f.json", "f.csv"):
        found = read_humans(tmp_path / name, TOKENS)
        assert np.flatnonzero(found.failing).tolist() == [1, 4]
        assert found.values is None


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("f.txt", "elsewhere", "none of 1 listed tokens is compared"),
        ("f.json", "{}", "no list of tokens"),
        ("f.json", "[", "cannot be read"),
        ("f.csv", "log,x\na,b\n", "no column token"),
        ("f.csv", "token,LK\na\n", "rows of different lengths"),
        ("f.csv", "token,LK\na,bad\n", "cannot be read"),
        ("f.csv", "token,LK\na,1\n", "6 of 6 tokens are not there"),
        ("f.npz", "", "there are no human values here"),
    ],
)
def test_what_cannot_be_used_is_refused(tmp_path, name, text, complaint):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(BadInput, match=complaint):
        read_humans(path, TOKENS)


def test_nothing_there_is_said(tmp_path):
    with pytest.raises(BadInput, match="no such file or folder"):
        read_human(tmp_path / "nowhere", TOKENS)


def swerving(number):
    """A human who leaves the lane's middle by two metres."""
    times_s = 0.5 * np.arange(1, 9)
    poses = np.stack([8.0 * times_s, np.full(8, 2.0), np.zeros(8)], axis=1)
    world = street().driving(8.0).with_human(poses)
    return type(world)(**{**vars(world), "token": token(number)}).scene()


def test_a_run_and_its_scenes_know_the_same_humans(tmp_path):
    open_folder(tmp_path / "scenes", {"source": "tests"}, {})
    scenes = [swerving(1)]
    write_log(log_path(tmp_path / "scenes", "drawn"), "drawn", {}, scenes)
    made = complete_set(tmp_path / "scenes", {"source": "tests"}, {}, ["drawn"])
    evaluate(tmp_path / "run", Evaluation({token(1): straight_plan()}, made))
    told = []
    by_scenes = read_humans(tmp_path / "scenes", made.tokens, say=lambda *said: told.append(said))
    by_run = read_humans(tmp_path / "run", made.tokens)
    assert np.array_equal(by_scenes.values, by_run.values)
    assert (
        by_run.values[0, LK]
        == score_human(scenes[0], Settings(ddc="v2.1", progress_rule="batch")).columns[LK, 0]
        == 0.0
    )
    assert by_run.failing.tolist() == by_scenes.failing.tolist() == [True]
    assert told == [("", 1, 1)]


def test_a_label_set_knows_its_humans_and_by_which_body(tmp_path):
    human = random_human(np.random.default_rng(1), len(TOKENS))
    folder = tmp_path / "labels"
    with writing(folder, {"ddc": "v2.0"}, {}, candidates=2) as draft:
        with draft.parcel("all") as parcel:
            for one, row in zip(TOKENS, human, strict=True):
                raw = np.zeros((len(COLUMNS), 2), np.float16)
                parcel.add(one, "log", np.append(row, 0.5), raw, None)
        draft.close(["all"], ())
    found = read_humans(folder, TOKENS[::-1])
    assert np.array_equal(found.values, human[::-1])
    assert found.caution == (
        "labels: its humans are judged by driving direction v2.0, runs by v2.1"
    )
    assert read_humans(folder, TOKENS, Settings(ddc="v2.0")).caution is None


def test_tokens_a_run_does_not_have_are_named(tmp_path):
    scenes = scene_set(tmp_path / "scenes", {"a": [(1, 0), (2, HALF_S)]})
    planned = {one: straight_plan() for one in scenes.tokens}
    evaluate(tmp_path / "run", Evaluation(planned, scenes, judge=cheap_judge))
    with pytest.raises(BadInput, match="1 of 3 tokens are not there") as refused:
        read_human(tmp_path / "run", (*scenes.tokens, "elsewhere"))
    assert "elsewhere" in refused.value.where
    assert isinstance(scenes, SceneSet)
