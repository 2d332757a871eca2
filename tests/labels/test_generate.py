"""Labels made from scenes: equal to the oracle's, and the same bytes however they are made."""

from __future__ import annotations

import os
import random
import resource
import shutil
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labels.scene_sets import contents, small_job, vocabulary, write_scenes
from navaudit.axes import LK
from navaudit.errors import BadInput, Refused, Unhealthy
from navaudit.labels import label_log
from navaudit.labels.begun import beginning, scenes_begun
from navaudit.labels.generate import Job, generate, provenance_of
from navaudit.labels.label_log import Start, inputs_of
from navaudit.labels.labelset import LabelSet, writing
from navaudit.labels.mapping import Labels
from navaudit.labels.parcel import pack
from navaudit.labels.work import Processes
from navaudit.scene.crew import Lost
from navaudit.scene.logfile import Failure
from navaudit.scene.store import SceneSet, complete_set, log_path, write_log
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.score import Settings
from navaudit.score.stray import keeps_to_human_path
from score.golden import OURS, ours

NAMED = {ours(name).scene.token: name for name in OURS}


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    return small_job(tmp_path_factory.mktemp("scenes") / "set")


@pytest.fixture(scope="module")
def alone(job, tmp_path_factory):
    """What one process makes without a break."""
    return generate(tmp_path_factory.mktemp("alone") / "labels", job)


def same(found, wanted):
    return found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


# ------------------------------------------------------------------------------------ the labels


@pytest.mark.parametrize("ddc", ["v2.0", "v2.1"])
def test_labels_of_golden_scenes_are_the_oracles(tmp_path, ddc):
    scenes = write_scenes(tmp_path / "scenes", len(OURS), 1, OURS)
    made = generate(tmp_path / "labels", Job(scenes, vocabulary(None), Settings(ddc=ddc)))
    published = Labels(made, "published")
    assert made.failures == ()
    assert len(made) == len(OURS)
    forgiven = 0
    for token, name in zip(made.tokens, OURS, strict=True):
        wanted = ours(name)
        assert same(made.raw(token), wanted.labels(ddc, "per-candidate"))
        human = wanted.human(ddc, "per-candidate")
        assert np.array_equal(made.human[made.index(token)], human, equal_nan=True)
        on = wanted.labels(ddc, "per-candidate", forgiven=True)
        if on is not None:
            assert same(published.values_of(token), on)
            forgiven += not same(on, made.raw(token))
    assert forgiven > 0


def test_labels_follow_the_settings(job, alone, tmp_path):
    batch = generate(tmp_path / "batch", replace(job, settings=Settings(progress_rule="batch")))
    solved = generate(tmp_path / "pinv", replace(job, settings=Settings(solver="pinv")))
    assert batch.digest() != alone.digest()
    assert batch.settings["progress_rule"] == "batch"
    assert alone.settings["numerics"] is None
    assert solved.settings["numerics"]
    assert solved.provenance["numerics"]["verdict"] == "healthy"
    for made in (batch, solved):
        made.require_whole()


def test_lane_keeping_against_the_path_is_there_where_the_human_fails(job, alone):
    failing = [token for token in alone.tokens if alone.human[alone.index(token), LK] == 0]
    assert 0 < len(failing) < len(alone)
    for token in alone.tokens:
        found = alone.path_lane_keeping(token)
        if token not in failing:
            assert found is None
            continue
        wanted = keeps_to_human_path(job.scenes.scene(token), job.vocabulary)
        assert same(found, wanted.astype(np.float16))
        assert same(Labels(alone, "path")[token]["lane_keeping"], found)
        assert same(Labels(alone, "published")[token]["lane_keeping"], np.ones_like(found))


def test_a_label_set_says_what_it_is_made_from(job, alone):
    assert alone.settings["scenes"] == job.scenes.digest()
    assert alone.settings["vocabulary"] == job.vocabulary.digest
    assert alone.provenance["scenes"]["settings"] == job.scenes.settings
    assert alone.provenance["numerics"]["verdict"] == "healthy"
    assert alone.provenance["processor"]
    assert len(alone.provenance["code"]) == 64
    assert dict(alone.provenance) == provenance_of(job)


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=st.permutations(range(12)), count=st.integers(1, 12))
def test_some_candidates_in_another_order_get_the_same_labels(job, alone, tmp_path, order, count):
    some = list(order)[:count]
    shutil.rmtree(tmp_path / "some", ignore_errors=True)
    made = generate(tmp_path / "some", replace(job, vocabulary=job.vocabulary.take(some)))
    for token in alone.tokens:
        assert same(made.raw(token), np.ascontiguousarray(alone.raw(token)[:, some]))
        here, there = made.path_lane_keeping(token), alone.path_lane_keeping(token)
        assert (here is None and there is None) or same(here, there[some])
    assert same(made.human, alone.human)


# ------------------------------------------------------------------------- however it is made


def test_the_bytes_do_not_depend_on_the_workers(job, alone, tmp_path):
    generate(tmp_path / "labels", job, executor=Processes(3))
    assert contents(tmp_path / "labels") == contents(alone.folder)


class Backwards:
    """Does the last task first."""

    def run(self, start, tasks, modules=()):
        for event in Processes().run(start, tasks[::-1], modules):
            yield replace(event, task=len(tasks) - 1 - event.task)


def test_the_bytes_do_not_depend_on_the_order(job, alone, tmp_path):
    generate(tmp_path / "labels", job, executor=Backwards())
    assert contents(tmp_path / "labels") == contents(alone.folder)


def test_tokens_come_by_log_and_time(job, alone):
    assert alone.tokens == job.scenes.tokens
    assert alone.logs == tuple(job.scenes.log_of(token) for token in alone.tokens)


def test_progress_is_told_scene_by_scene(job, tmp_path):
    told = []
    generate(tmp_path / "labels", job, say=told.append)
    assert [one.scenes for one in told if not one.what] == list(range(13))
    assert [one.what for one in told if one.what] == list(job.scenes.logs)
    assert (told[-1].scenes, told[-1].scenes_in_all) == (12, 12)
    assert (told[-1].logs, told[-1].logs_in_all, told[-1].kept) == (4, 4, 0)


class Stopped(BaseException):
    """Somebody presses ctrl-C."""


def stopping(scenes):
    """Stop a run when so many scenes are done."""

    def stop(progress):
        if progress.scenes == scenes:
            raise Stopped

    return stop


def scored(monkeypatch):
    """Note the token of every scene that is scored from now on, in this process."""
    tokens, real = [], label_log.score_scene

    def note(scene, *rest, **more):
        tokens.append(scene.token)
        return real(scene, *rest, **more)

    monkeypatch.setattr(label_log, "score_scene", note)
    return tokens


@pytest.mark.parametrize("done", range(1, 12))
def test_a_run_cut_short_loses_the_scenes_in_flight_only(job, alone, tmp_path, monkeypatch, done):
    folder, tokens = tmp_path / "labels", scored(monkeypatch)
    with pytest.raises(Stopped):
        generate(folder, job, say=stopping(done))
    assert tokens == list(job.scenes.tokens[:done])
    with pytest.raises(BadInput, match="not finished"):
        LabelSet.open(folder)
    told = []
    generate(folder, job, say=told.append)
    # each of them once in both runs together
    assert sorted(tokens) == sorted(job.scenes.tokens)
    assert (told[0].kept, told[0].scenes, told[-1].scenes) == (done, 0, 12 - done)
    assert [one.scenes for one in told if not one.what] == list(range(13 - done))
    assert contents(folder) == contents(alone.folder)


def test_finished_parcels_are_left_alone_by_later_runs(job, alone, tmp_path):
    folder = tmp_path / "labels"
    with pytest.raises(Stopped):
        generate(folder, job, say=stopping(8))
    parcels = folder / "work" / "parcels"
    kept = {one.name: one.stat().st_ino for one in parcels.glob("*.labels")}
    assert sorted(kept) == ["log00.labels", "log01.labels"]
    told = []

    def say(progress):
        told.append(progress)
        # by name: what the workers are at comes and goes while one looks
        there = {name: (parcels / name).stat().st_ino for name in kept}
        assert kept == there

    generate(folder, job, executor=Processes(2), say=say)
    assert (told[0].kept, told[0].scenes, told[-1].scenes) == (8, 0, 4)
    assert contents(folder) == contents(alone.folder)


def test_what_is_torn_or_of_others_is_made_again(job, alone, tmp_path, monkeypatch):
    """Of what a log has left, any first part and any damage gives the set its own bytes."""
    folder, tokens = tmp_path / "labels", scored(monkeypatch)
    with pytest.raises(Stopped):
        generate(folder, job, say=stopping(2))
    left = folder / "work" / "parcels" / "log00.begun"
    whole = left.read_bytes()
    inputs = inputs_of(Start(job, drafted(folder, job)).draft, "log00")
    starts = [k for k in range(len(whole)) if whole.startswith(b"NAVBEGUN", k)]
    ends = [*starts[1:], len(whole)]
    assert len(ends) == 3
    chance = random.Random(1)
    for _ in range(60):
        cut = chance.choice([*ends, chance.randrange(len(whole) + 1)])
        torn = bytearray(whole[:cut])
        if torn and chance.random() < 0.5:
            at = chance.randrange(len(torn))
            torn[at] ^= 1 << chance.randrange(8)
            cut = min(cut, at)
        left.write_bytes(torn)
        good = sum(end <= cut for end in ends[1:]) if cut >= ends[0] else 0
        assert scenes_begun(left, inputs) == good
        assert scenes_begun(left, {**inputs, "settings": "others"}) == 0
    tokens.clear()
    generate(folder, job)
    assert sorted(tokens) == sorted(job.scenes.tokens[good:])
    assert contents(folder) == contents(alone.folder)


def drafted(folder, job):
    with writing(folder, job.told(), {}, candidates=12) as draft:
        return draft


def test_a_log_is_not_gone_on_with_from_other_inputs(job, tmp_path):
    row = (job.scenes.tokens[0], "log00", np.ones(9), np.ones((9, 12), np.float16))
    path = tmp_path / "log00.begun"
    with suppress(Stopped), beginning(path, {"a": 1}) as begun:
        begun.keep(pack(*row, None, 12))
        raise Stopped
    with suppress(Stopped), beginning(path, {"a": 1}) as begun:
        assert len(begun) == 1
        raise Stopped
    with beginning(path, {"a": 2}) as begun:
        assert len(begun) == 0
        assert scenes_begun(path, {"a": 1}) == 0
    assert not path.exists()


def test_a_second_run_touches_nothing(job, alone):
    before = {one: one.stat().st_mtime_ns for one in alone.folder.rglob("*")}
    told = []
    assert generate(alone.folder, job, say=told.append).digest() == alone.digest()
    assert told == []
    assert {one: one.stat().st_mtime_ns for one in before} == before


# --------------------------------------------------------------------------------- what is refused


def test_other_inputs_are_refused_by_name(job, alone, tmp_path, monkeypatch):
    scenes = write_scenes(tmp_path / "scenes", 4, 2)
    others = {
        "ddc is v2.0 there, and v2.1 is asked for": replace(job, settings=Settings(ddc="v2.1")),
        "candidates is 12 there, and 11": replace(job, vocabulary=vocabulary(11)),
        f"vocabulary is {job.vocabulary.digest} there": replace(
            job, vocabulary=job.vocabulary.take(range(12)[::-1])
        ),
        f"scenes is {job.scenes.digest()[:48]}... there": replace(job, scenes=scenes),
        "solver is closed there, and solve is": replace(job, settings=Settings(solver="solve")),
    }
    for text, other in others.items():
        with pytest.raises(Refused) as caught:
            generate(alone.folder, other)
        assert text in caught.value.what
    monkeypatch.setattr(label_log, "code_of", lambda path: "other code")
    with pytest.raises(Refused, match=r"code is .* there, and other code is asked for"):
        generate(alone.folder, job)


def test_an_unfinished_set_refuses_other_inputs_too(job, tmp_path):
    def stop(progress):
        if progress.logs == 1:
            raise Stopped

    with pytest.raises(Stopped):
        generate(tmp_path / "labels", job, say=stop)
    with pytest.raises(Refused, match="progress_rule is per-candidate there, and batch"):
        generate(tmp_path / "labels", replace(job, settings=Settings(progress_rule="batch")))


def test_a_scene_set_without_scenes_is_refused(tmp_path):
    with pytest.raises(BadInput, match="holds no scenes"):
        generate(tmp_path / "labels", small_job(tmp_path / "scenes", 0, 0))


# --------------------------------------------------------------------------------- what goes wrong


def broken_scenes(folder, tokens=("001", "004")):
    """As `write_scenes`, with two scenes that have no route."""
    made = write_scenes(folder)
    for log in made.logs:
        scenes = [made.scene(token) for token in made.tokens if made.log_of(token) == log]
        scenes = [
            replace(one, centreline=one.centreline[:1]) if one.token[:3] in tokens else one
            for one in scenes
        ]
        write_log(log_path(folder, log), log, {"made": "here"}, scenes)
    return complete_set(folder, made.settings, made.provenance, made.logs)


def test_a_failed_scene_is_in_the_ledger(job, alone, tmp_path):
    scenes = broken_scenes(tmp_path / "scenes")
    made = generate(tmp_path / "labels", replace(job, scenes=scenes))
    assert [one.token[:3] for one in made.failures] == ["001", "004"]
    assert [one.log for one in made.failures] == ["log00", "log01"]
    assert all("centreline has 1 vertices" in one.what for one in made.failures)
    assert len(made) == 10
    for token in made.tokens:
        assert same(made.raw(token), alone.raw(token))
    many = generate(tmp_path / "many", replace(job, scenes=scenes), executor=Processes(2))
    assert contents(many.folder) == contents(made.folder)


def test_a_fault_is_a_failed_scene_with_its_place(job, tmp_path, monkeypatch):
    def fall(scene, *rest, **more):
        if scene.token.startswith("002"):
            raise ZeroDivisionError("nothing to divide")
        return real(scene, *rest, **more)

    real = label_log.score_scene
    monkeypatch.setattr(label_log, "score_scene", fall)
    made = generate(tmp_path / "labels", job)
    (failure,) = made.failures
    assert failure.token == job.scenes.tokens[2]
    assert failure.what == "ZeroDivisionError: nothing to divide"
    assert "test_generate.py" in failure.where


def test_failures_of_the_scene_set_are_passed_on(tmp_path):
    failure = Failure("9" * 16, "log00", "there was no route")
    scenes = write_scenes(tmp_path / "scenes", 2, 1)
    complete_set(scenes.folder, scenes.settings, scenes.provenance, scenes.logs, [failure])
    made = generate(
        tmp_path / "labels", Job(SceneSet.open(scenes.folder), vocabulary(2), Settings())
    )
    assert made.failures == (failure,)


def test_a_damaged_scene_file_stops_the_run_until_it_is_mended(job, alone, tmp_path):
    scenes = SceneSet.open(shutil.copytree(job.scenes.folder, tmp_path / "scenes"))
    path = log_path(scenes.folder, "log02")
    good = path.read_bytes()
    path.write_bytes(good[:4096] + bytes([good[4096] ^ 1]) + good[4097:])
    for executor in (Processes(), Processes(2)):
        with pytest.raises(BadInput, match="bytes of scene 0"):
            generate(tmp_path / "labels", replace(job, scenes=scenes), executor=executor)
    path.write_bytes(good)
    again = replace(job, scenes=SceneSet.open(scenes.folder))
    assert generate(tmp_path / "labels", again).digest() == alone.digest()


@pytest.mark.parametrize(
    ("what", "logs", "candidates"),
    [("log00.labels", 1, 160), ("raw/c/0/0/0", 12, 160), ("zarr.json", 12, 2)],
)
def test_a_full_disk_is_told_and_loses_nothing(tmp_path, what, logs, candidates):
    """There is room for all files but one: a parcel, the shard, or the metadata at the end."""
    job = small_job(tmp_path / "scenes", logs, 12 // logs, candidates)
    sizes = {}

    def note(progress):
        for path in tmp_path.rglob("log00.labels"):
            sizes[path.name] = path.stat().st_size

    wanted = contents(generate(tmp_path / "other", job, say=note).folder)
    sizes |= {name: len(data) for name, data in wanted.items()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[what] - 1, limits[1]))
    try:
        with pytest.raises(BadInput, match="cannot be written") as caught:
            generate(tmp_path / "labels", job)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.where.endswith(what)
    assert "what is finished is kept" in caught.value.remedy
    assert not list(tmp_path.rglob("*.part"))
    with pytest.raises(BadInput, match="not finished"):
        LabelSet.open(tmp_path / "labels")
    generate(tmp_path / "labels", job)
    assert contents(tmp_path / "labels") == wanted


class Deadly:
    """Loses the second task, twice."""

    def run(self, start, tasks, modules=()):
        for event in Processes().run(start, [tasks[0], *tasks[2:]], modules):
            yield replace(event, task=event.task and event.task + 1)
        yield Lost(1, -9, True)
        yield Lost(1, -9, False)


def test_a_log_that_kills_twice_leaves_the_set_unfinished(job, alone, tmp_path):
    told = []
    with pytest.raises(Unhealthy, match="workers died over 1 logs, twice: log01") as caught:
        generate(tmp_path / "labels", job, executor=Deadly(), say=told.append)
    assert caught.value.exit_code == 1
    assert told[-2].what == "a worker was killed by SIGKILL over log01: trying again"
    assert told[-1].what == "a worker was killed by SIGKILL over log01: giving up on it"
    with pytest.raises(BadInput, match="not finished"):
        LabelSet.open(tmp_path / "labels")
    generate(tmp_path / "labels", job)
    assert contents(tmp_path / "labels") == contents(alone.folder)


def test_labels_that_a_worker_wrote_elsewhere_are_missed(job, tmp_path):
    class Elsewhere:
        def run(self, start, tasks, modules=()):
            far = replace(start, draft=replace(start.draft, folder=tmp_path / "far"))
            return Processes().run(far, tasks, modules)

    with pytest.raises(BadInput, match="they are not here") as caught:
        generate(tmp_path / "labels", job, executor=Elsewhere())
    assert "shared disk" in caught.value.remedy


def test_a_process_that_computes_otherwise_refuses(job, tmp_path, monkeypatch):
    monkeypatch.setattr(label_log, "closed_form_digest", lambda: "other bits")
    with pytest.raises(Unhealthy, match=r"computes otherwise .* other bits"):
        generate(tmp_path / "labels", job)
    other = replace(job, settings=Settings(solver="pinv"))
    with writing(tmp_path / "far", {"numerics": "another kernel"}, {}, candidates=12) as draft:
        start = Start(other, draft)
    with pytest.raises(Unhealthy, match="computes otherwise") as caught:
        start()
    assert caught.value.expected == "another kernel"


def test_an_orphan_does_no_harm(job, alone, tmp_path):
    """A worker may outlive its run, and put its labels where a later run has finished."""
    folder = tmp_path / "labels"
    with writing(folder, job.told(), {}, candidates=12) as draft:
        start = Start(job, draft)
    made = generate(folder, job)
    os.mkdir(folder / "work")
    list(start()("log01"))
    assert LabelSet.open(folder).digest() == made.digest()
    generate(folder, job)
    assert contents(folder) == contents(alone.folder)


def test_inputs_of_a_parcel_name_log_and_settings(job, tmp_path):
    with writing(tmp_path / "a", {"a": 1}, {}, candidates=12) as draft:
        one = inputs_of(draft, "x")
        assert one != inputs_of(draft, "y")
        assert one != inputs_of(replace(draft, settings={"a": 2}), "x")


def test_a_vocabulary_of_doubles_is_another(job):
    doubles = Vocabulary(job.vocabulary.poses.astype(np.float64))
    assert replace(job, vocabulary=doubles).told() != job.told()
