"""Evaluations as work: what fails, what is missing, what was cut short, and by how many."""

import os
import signal
import sys
from dataclasses import replace

import numpy as np
import pytest

from evaluate.small import HALF_S, cheap_judge, scene_set, straight_plan, token
from navaudit.errors import BadInput, Refused
from navaudit.evaluate import evaluate as room
from navaudit.evaluate.epdms import EPDMS
from navaudit.evaluate.evaluate import PARTS, Evaluation, evaluate
from navaudit.evaluate.judge import judge_plan
from navaudit.evaluate.plans import digest_plans
from navaudit.evaluate.run import MANIFEST, Run
from navaudit.score.score import Settings

LOGS = {
    "a": [(1, 0), (2, HALF_S), (3, 4 * HALF_S)],
    "b": [(4, 0), (5, 500 * HALF_S)],
    "c": [(6, HALF_S)],
}


@pytest.fixture(scope="module")
def scenes(tmp_path_factory):
    return scene_set(tmp_path_factory.mktemp("scenes"), LOGS)


def plans(*numbers, speed_mps=8.0):
    return {token(number): straight_plan(speed_mps + number / 8) for number in numbers}


def cheap(planned, scenes, **more):
    return Evaluation(planned, scenes, judge=cheap_judge, **more)


def test_rows_come_by_log_and_time_whatever_the_order_of_plans(scenes, tmp_path):
    run = evaluate(tmp_path / "run", cheap(plans(6, 5, 4, 3, 2, 1), scenes))
    assert run.tokens == tuple(token(number) for number in range(1, 7))
    assert run.logs == ("a",) * 3 + ("b",) * 2 + ("c",)
    assert run.failures == ()
    assert not (tmp_path / "run" / PARTS).exists()


def test_only_frames_half_a_second_apart_have_comfort(scenes, tmp_path):
    run = evaluate(tmp_path / "run", cheap(plans(*range(1, 7)), scenes))
    assert np.flatnonzero(~np.isnan(run.comfort)).tolist() == [1]


def test_a_failed_token_is_an_empty_row_with_its_reason(scenes, tmp_path):
    planned = {**plans(*range(1, 7)), token(1): straight_plan(-1.0)}
    run = evaluate(tmp_path / "run", cheap(planned, scenes))
    assert run.valid.tolist() == [False, *[True] * 5]
    (failure,) = run.failures
    assert (failure.token, failure.log) == (token(1), "a")
    assert "ValueError: cannot judge -4.0" in failure.what
    assert "a score, or a reason" in failure.expected
    # with its frame gone, the next one has none before it
    assert np.isnan(run.comfort).all()
    assert np.isnan(run.score("on")[0]).all()
    assert Run.open(tmp_path / "run").failures == run.failures


def test_a_bad_plan_fails_alone(scenes, tmp_path):
    planned = {**plans(*range(1, 7)), token(4): replace(straight_plan(), interval_s=0.2)}
    run = evaluate(tmp_path / "run", Evaluation(planned, scenes))
    (failure,) = run.failures
    assert failure.what == "the plan has 40 poses, one every 0.2 s"
    assert run.valid.sum() == 5
    assert (run.score("off")[run.valid, EPDMS] > 0.9).all()


def test_what_is_missing_on_either_side_is_a_failure(scenes, tmp_path):
    run = evaluate(tmp_path / "run", cheap(plans(1, 2, 77), scenes))
    assert run.tokens == (*map(token, range(1, 7)), token(77))
    reasons = {one.token: one.what for one in run.failures}
    assert reasons == {
        **{token(number): "there is no plan for this token" for number in (3, 4, 5, 6)},
        token(77): "there is no scene for this token",
    }
    assert run.logs[-1] == ""


def test_the_overlap_alone_names_what_it_leaves_out(scenes, tmp_path):
    synthetic = {"0" * 17: straight_plan()}
    run = evaluate(tmp_path / "run", cheap({**plans(1, 2, 77), **synthetic}, scenes, partial=True))
    assert run.tokens == (token(1), token(2))
    assert run.failures == ()
    assert run.sources["left out"] == {
        "planned for a synthetic scene of a second stage": ["0" * 17],
        "planned, and there is no scene": [token(77)],
        "there is a scene, and no plan": [token(number) for number in (3, 4, 5, 6)],
    }
    assert Run.open(tmp_path / "run").sources == run.sources


def test_plans_of_another_split_are_refused(scenes, tmp_path):
    with pytest.raises(BadInput, match="none of 2 planned tokens has a scene"):
        evaluate(tmp_path / "run", cheap(plans(77, 78), scenes))
    assert not (tmp_path / "run").exists()


def test_frames_too_close_to_compare_are_refused_before_any_work(tmp_path):
    close = scene_set(tmp_path / "scenes", {"a": [(1, 0), (2, 0)]})
    with pytest.raises(BadInput, match="0 s apart"):
        evaluate(tmp_path / "run", cheap(plans(1, 2), close))
    assert not (tmp_path / "run").exists()


def test_a_finished_run_is_handed_back_and_another_is_refused(scenes, tmp_path):
    planned = plans(*range(1, 7))
    made = evaluate(tmp_path / "run", cheap(planned, scenes))
    before = (tmp_path / "run" / MANIFEST).stat().st_mtime_ns
    assert evaluate(tmp_path / "run", cheap(planned, scenes)).digest() == made.digest()
    assert (tmp_path / "run" / MANIFEST).stat().st_mtime_ns == before
    with pytest.raises(Refused, match="the folder holds another run: plans is"):
        evaluate(tmp_path / "run", cheap(plans(*range(1, 7), speed_mps=9.0), scenes))
    other = Settings(ddc="v2.0", progress_rule="batch")
    with pytest.raises(Refused, match=r"ddc is v2\.1 there, not v2\.0"):
        evaluate(tmp_path / "run", cheap(planned, scenes, settings=other))


def test_a_folder_of_something_else_is_refused(scenes, tmp_path):
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(Refused, match=r"something else than a run: thesis\.tex"):
        evaluate(tmp_path, cheap(plans(1), scenes, partial=True))
    assert (tmp_path / "thesis.tex").exists()


def count_judged(monkeypatch, stop_at=None):
    """Count calls of the judge, and break off at one of them as a full disk would."""
    seen = []

    def judge(scene, plan, settings):
        seen.append(scene.token)
        if scene.token == stop_at:
            raise MemoryError
        return cheap_judge(scene, plan, settings)

    return seen, judge


def test_a_run_that_was_cut_short_goes_on(scenes, tmp_path, monkeypatch):
    planned = plans(*range(1, 7))
    whole = evaluate(tmp_path / "whole", cheap(planned, scenes))
    seen, judge = count_judged(monkeypatch, stop_at=token(5))
    with pytest.raises(MemoryError):
        evaluate(tmp_path / "run", Evaluation(planned, scenes, judge=judge))
    assert room.read_manifest(tmp_path / "run") is None
    assert len(seen) == 5
    seen, judge = count_judged(monkeypatch)
    made = evaluate(tmp_path / "run", Evaluation(planned, scenes, judge=judge))
    assert seen == [token(number) for number in (4, 5, 6)]
    assert made.digest() == whole.digest()
    for name in ("scores.npz", "on.csv", "off.csv"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_damaged_part_is_made_again(scenes, tmp_path, monkeypatch):
    planned = plans(*range(1, 7))
    _, judge = count_judged(monkeypatch, stop_at=token(6))
    with pytest.raises(MemoryError):
        evaluate(tmp_path / "run", Evaluation(planned, scenes, judge=judge))
    part = tmp_path / "run" / PARTS / "a.part.npz"
    part.write_bytes(part.read_bytes()[:-20])
    seen, judge = count_judged(monkeypatch)
    evaluate(tmp_path / "run", Evaluation(planned, scenes, judge=judge))
    assert seen == [token(number) for number in (1, 2, 3, 6)]


def test_only_what_failed_is_tried_again(scenes, tmp_path, monkeypatch):
    planned = {**plans(*range(1, 7)), token(6): straight_plan(-1.0)}
    assert len(evaluate(tmp_path / "run", cheap(planned, scenes)).failures) == 1
    seen, judge = count_judged(monkeypatch)
    made = evaluate(tmp_path / "run", Evaluation(planned, scenes, judge=judge))
    assert seen == [token(6)]
    assert len(made.failures) == 1


DEADLY = """
import os, signal
from navaudit.evaluate.judge import judge_plan

def judge(scene, plan, settings):
    if scene.log == "b":
        os.kill(os.getpid(), signal.SIGKILL)
    return judge_plan(scene, plan, settings)
"""


def test_processes_make_the_same_run_and_their_death_is_told(scenes, tmp_path, monkeypatch):
    """Two processes; the log they die over is lost, and comes back with the next attempt."""
    (tmp_path / "deadly_judge.py").write_text(DEADLY)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    from deadly_judge import judge

    planned = plans(*range(1, 7))
    said = []
    lost = evaluate(
        tmp_path / "run",
        Evaluation(planned, scenes, judge=judge),
        workers=2,
        say=lambda what, done, total: said.append(what),
    )
    name = signal.Signals.SIGKILL.name
    assert any(f"killed by {name} over b: trying again" in one for one in said)
    assert [one.token for one in lost.failures] == [token(4), token(5)]
    assert f"killed by {name}, twice" in lost.failures[0].what
    made = evaluate(tmp_path / "run", Evaluation(planned, scenes, judge=judge_plan))
    alone = evaluate(tmp_path / "alone", Evaluation(planned, scenes))
    assert made.digest() == alone.digest()
    assert not made.failures


def test_the_order_of_plans_does_not_count():
    one = plans(1, 2, 3)
    assert digest_plans(one) == digest_plans(dict(reversed(one.items())))
    assert digest_plans(one) != digest_plans(plans(1, 2))
