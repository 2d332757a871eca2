"""Scene sets from logs: the same bytes however they are made, and whatever happens meanwhile."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from navaudit.errors import BadInput, Refused
from navaudit.scene.digest import digest
from navaudit.scene.filters import SceneFilter
from navaudit.scene.from_caches import FromCaches
from navaudit.scene.from_logs import EVERY_SCENE, FromLogs
from navaudit.scene.logfile import LogFile
from navaudit.scene.memory import Memory
from navaudit.scene.prepare import prepare
from navaudit.scene.stock import index_caches, read_scene
from navaudit.scene.store import SceneSet, log_path
from navaudit.score.referee import score_proposals
from navaudit.world import pickles
from scene.small_logs import GOLDEN, deadly, slow, unpack, write_logs, wrong

COUNT = 8
METRIC_CACHE = GOLDEN / "metric_cache"


@pytest.fixture(scope="module")
def maps(tmp_path_factory):
    return unpack(GOLDEN / "maps", tmp_path_factory.mktemp("maps"))


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    return write_logs(tmp_path_factory.mktemp("logs") / "small", COUNT)


@pytest.fixture(scope="module")
def job(logs, maps):
    return FromLogs(logs, maps, score_proposals)


@pytest.fixture(scope="module")
def alone(job, tmp_path_factory):
    """What one process makes without a break."""
    return prepare(tmp_path_factory.mktemp("alone") / "set", job)


def contents(folder):
    paths = sorted(one for one in folder.rglob("*") if one.is_file())
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in paths}


def inodes(folder):
    return {one.name: one.stat().st_ino for one in (folder / "logs").iterdir()}


def judging(monkeypatch, folder, name):
    monkeypatch.syspath_prepend(str(folder))
    return importlib.import_module(name).judge


# ---------------------------------------------------------------------------------- the scenes


def test_a_set_holds_the_scenes_of_all_logs(alone):
    assert len(alone) == COUNT
    assert alone.logs == tuple(f"log{i:02}" for i in range(COUNT))
    assert alone.failures == ()
    assert sorted(one.name for one in alone.folder.iterdir()) == ["lock", "logs", "manifest.json"]
    assert [scene.log for scene in alone] == list(alone.logs)
    assert all(len(scene.reference) == 51 for scene in alone)


def test_many_processes_make_the_same_bytes(job, alone, tmp_path):
    prepare(tmp_path / "set", job, workers=3)
    assert contents(tmp_path / "set") == contents(alone.folder)


def test_a_second_run_touches_nothing(job, tmp_path):
    folder = tmp_path / "set"
    prepare(folder, job)
    before, files = contents(folder), inodes(folder)
    prepare(folder, job, workers=2)
    assert inodes(folder) == files
    assert contents(folder) == before


def test_a_damaged_file_and_a_changed_log_are_made_again(maps, alone, tmp_path):
    logs = write_logs(tmp_path / "logs", 3)
    job = FromLogs(logs, maps, score_proposals)
    folder = tmp_path / "set"
    prepare(folder, job)
    before, files = contents(folder), inodes(folder)
    damaged = log_path(folder, "log01")
    damaged.write_bytes(damaged.read_bytes()[:-100])
    (logs / "log02.pkl").write_bytes((logs / "log00.pkl").read_bytes())
    made = prepare(folder, job)
    after = contents(folder)
    assert after["logs/log01.scenes"] == before["logs/log01.scenes"]
    assert after["logs/log02.scenes"] != before["logs/log02.scenes"]
    assert inodes(folder)["log00.scenes"] == files["log00.scenes"]
    # the copied log brings tokens that are there already
    assert len(made) == 2
    assert [one.what for one in made.failures] == ["another scene bears this token"]


def test_other_settings_are_refused_by_name(job, alone):
    other = replace(job, trig="house", scene_filter=replace(EVERY_SCENE, num_history_frames=5))
    with pytest.raises(Refused) as caught:
        prepare(alone.folder, other)
    assert "trig is libm there, and house is asked for" in caught.value.what
    assert "filter.num_history_frames is 4 there, and 5" in caught.value.what


def test_a_changed_map_makes_its_scenes_anew(logs, maps, tmp_path):
    copy = unpack(maps, tmp_path / "maps")
    job = FromLogs(logs, copy, score_proposals, EVERY_SCENE)
    folder = tmp_path / "set"
    gone = [path for path in copy.rglob("map.gpkg") if "boston" in str(path)]
    assert len(gone) == 1
    away = gone[0].rename(tmp_path / "away")
    without = prepare(folder, job)
    assert len(without) == 0
    assert len(without.failures) == COUNT
    assert "us-ma-boston" in without.failures[0].what
    away.rename(gone[0])
    assert len(prepare(folder, job)) == COUNT


# ---------------------------------------------------------------------------------- failures


def test_unfit_logs_and_scenes_are_in_the_ledger_and_the_others_are_kept(maps, tmp_path):
    logs = write_logs(tmp_path / "logs", 3)
    (logs / "log01.pkl").write_bytes(b"\x80\x04cos\nsystem\n.")
    tokens = ("00" + "0" * 14, scene_token(logs, "log00"), frame_token(logs, "log02", 1), "nowhere")
    cut = replace(EVERY_SCENE, tokens=tokens, log_names=("log00", "log01", "log02", "log09"))
    made = prepare(tmp_path / "set", FromLogs(logs, maps, score_proposals, cut))
    assert made.tokens == (tokens[1],)
    told = {(one.token, one.log): one.what for one in made.failures}
    assert set(told) == {
        (None, "log01"), (tokens[2], "log02"), (None, "log09"), (tokens[0], ""), ("nowhere", "")
    }  # fmt: skip
    assert told[tokens[2], "log02"].startswith("no scene has its t = 0 at frame 1 of")
    assert told[None, "log09"] == "the log is not there"
    assert "in none of the logs" in told["nowhere", ""]


def scene_token(logs, log):
    return frame_token(logs, log, 3)


def frame_token(logs, log, row):
    from navaudit.world.logs import read_log

    return read_log(logs / f"{log}.pkl").frames[row].token


def test_a_frame_that_cannot_be_read_costs_the_scenes_that_need_it(maps, tmp_path):
    logs = write_logs(tmp_path / "logs", 2)
    whole = prepare(tmp_path / "whole", FromLogs(logs, maps, score_proposals))
    path = logs / "log00.pkl"
    frames = longer(pickles.read(path, pickles.LOG), 40)
    path.write_bytes(pickles.dumps(frames))
    sound = prepare(tmp_path / "sound", FromLogs(logs, maps, score_proposals))
    assert len(sound) == len(whole) + 40 - 14
    frames[20] = {**frames[20], "ego2global_translation": [float("nan"), 0.0, 0.0]}
    path.write_bytes(pickles.dumps(frames))
    made = prepare(tmp_path / "made", FromLogs(logs, maps, score_proposals))
    # three frames before it and eight after it are needed, and ten must be there
    lost = [frames[row]["token"] for row in range(12, 24)]
    assert sorted(one.token for one in made.failures) == sorted(lost)
    assert made.tokens == tuple(one for one in sound.tokens if one not in lost)
    for one in made.failures:
        assert one.what.startswith("ego2global_translation is [nan")
        assert f"{path}, frame 20" in one.where
    assert all(made.digest_of(one) == sound.digest_of(one) for one in made.tokens)


def longer(frames, count):
    """A drive of so many frames: those given, one round after the other, on and on in time."""
    step = frames[1]["timestamp"] - frames[0]["timestamp"]
    return [
        {
            **frames[row % len(frames)],
            "token": f"{row:016x}",
            "timestamp": frames[0]["timestamp"] + row * step,
        }
        for row in range(count)
    ]


@pytest.mark.parametrize("further", [{}, {"max_scenes": COUNT}])
def test_synthetic_scenes_of_a_split_are_in_the_ledger(logs, maps, alone, tmp_path, further):
    token = "23f7036e1626247d5"
    cut = replace(
        EVERY_SCENE,
        include_synthetic_scenes=True,
        synthetic_scene_tokens=(token, "1" + token[1:]),
        reactive_synthetic_initial_tokens=(token,),
        **further,
    )
    job = FromLogs(logs, maps, score_proposals, cut)
    assert token not in json.dumps(job.settings())
    made = prepare(tmp_path / "set", job)
    assert made.digest() == alone.digest()
    assert [one.token for one in made.failures] == [token, "1" + token[1:]]
    assert made.failures[0].what == "a synthetic scene is in no log"
    assert "--metric-cache" in made.failures[0].remedy
    assert prepare(tmp_path / "first", replace(job, scene_filter=replace(
        cut, include_synthetic_scenes=False
    ))).failures == ()  # fmt: skip


def test_a_list_for_a_scene_that_is_not_made_is_in_the_ledger(logs, maps, alone, tmp_path):
    lists = {alone.tokens[1]: ("red_light_7",), "not a token": ("red_light_7",)}
    job = FromLogs(logs, maps, score_proposals, memory=Memory("inject", injected=lists))
    made = prepare(tmp_path / "set", job)
    assert len(made) == COUNT
    assert [one.token for one in made.failures] == ["not a token"]
    assert "in none of the logs" in made.failures[0].what


def test_a_listing_of_maps_that_cannot_be_read_stops_at_once(logs, maps, tmp_path):
    copy = unpack(maps, tmp_path / "maps")
    (copy / "nuplan-maps-v1.0.json").write_text("{")
    with pytest.raises(BadInput, match="listing cannot be read"):
        prepare(tmp_path / "set", FromLogs(logs, copy, score_proposals))


def test_a_fault_of_the_program_is_in_the_ledger(logs, maps, tmp_path, monkeypatch):
    wrong(tmp_path, "wrong_judge", "03")
    job = FromLogs(logs, maps, judging(monkeypatch, tmp_path, "wrong_judge"))
    made = prepare(tmp_path / "set", job, workers=2)
    assert len(made) == COUNT - 1
    (failure,) = made.failures
    assert failure.log == "log03"
    assert "AttributeError" in failure.what
    assert failure.where.startswith("wrong_judge.py:")


def test_a_fault_of_the_program_over_a_log_is_in_the_ledger(logs, maps, tmp_path, monkeypatch):
    from navaudit.scene import log_builder

    def read(path, *, trig):
        return path.nothing if path.stem == "log03" else real(path, trig=trig)

    real = log_builder.read_log
    monkeypatch.setattr(log_builder, "read_log", read)
    made = prepare(tmp_path / "set", FromLogs(logs, maps, score_proposals))
    assert len(made) == COUNT - 1
    (failure,) = made.failures
    assert (failure.token, failure.log) == (None, "log03")
    assert "AttributeError" in failure.what
    assert "please report" in failure.remedy


def test_no_logs_and_no_maps_are_told(logs, maps, tmp_path):
    with pytest.raises(BadInput, match="no logs"):
        prepare(tmp_path / "a", FromLogs(tmp_path, maps, score_proposals))
    with pytest.raises(BadInput, match="maps root"):
        prepare(tmp_path / "b", FromLogs(logs, tmp_path, score_proposals))
    with pytest.raises(BadInput, match="trig"):
        FromLogs(logs, maps, score_proposals, trig="svml")
    with pytest.raises(BadInput, match="chunks"):
        FromLogs(logs, maps, score_proposals, chunks="some")


# ------------------------------------------------------------------------------- death of workers


def test_a_log_whose_worker_dies_is_tried_again(logs, maps, alone, tmp_path, monkeypatch):
    deadly(tmp_path, "dies_once", "05", 1)
    job = FromLogs(logs, maps, judging(monkeypatch, tmp_path, "dies_once"))
    said = []
    made = prepare(tmp_path / "set", job, workers=2, say=lambda *told: said.append(told[0]))
    assert made.failures == ()
    assert made.digest() == alone.digest()
    assert "a worker was killed by SIGKILL over log05: trying again" in said


def test_a_log_whose_worker_dies_twice_is_a_failure(logs, maps, tmp_path, monkeypatch):
    deadly(tmp_path, "dies_twice", "02", 2)
    job = FromLogs(logs, maps, judging(monkeypatch, tmp_path, "dies_twice"))
    made = prepare(tmp_path / "set", job, workers=2)
    assert len(made) == COUNT - 1
    assert [(one.token, one.log) for one in made.failures] == [(None, "log02")]
    assert "SIGKILL, twice" in made.failures[0].what
    # the third attempt is another run
    assert len(prepare(tmp_path / "set", job, workers=2)) == COUNT


_RUN = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
import slow_judge
from navaudit.scene.from_logs import FromLogs
from navaudit.scene.prepare import prepare

if __name__ == "__main__":
    job = FromLogs(Path({logs!r}), Path({maps!r}), slow_judge.judge)
    print(len(prepare(Path({out!r}), job, workers={workers})))
"""


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_killed_in_the_middle_goes_on_where_it_was(logs, maps, tmp_path, workers):
    slow(tmp_path, "slow_judge", 0.3)
    out = tmp_path / "set"
    script = tmp_path / "run.py"
    places = {"here": str(tmp_path), "logs": str(logs), "maps": str(maps), "out": str(out)}
    script.write_text(_RUN.format(workers=workers, **places))
    running = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while len(list(out.glob("logs/*.scenes"))) < 3 and time.monotonic() < deadline:
        assert running.poll() is None
        time.sleep(0.01)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    with pytest.raises(BadInput, match="not finished"):
        SceneSet.open(out)
    time.sleep(1.0)  # orphans see that nobody listens any more
    kept = sorted(out.glob("logs/*.scenes"))
    assert 3 <= len(kept) <= 3 + workers
    for path in kept:
        LogFile(path).require_whole()
    before = inodes(out)
    again = subprocess.run([sys.executable, str(script)], capture_output=True, check=True)
    assert again.stdout.strip() == str(COUNT).encode()
    assert {name: inodes(out)[name] for name in before if name.endswith(".scenes")} == {
        name: inode for name, inode in before.items() if name.endswith(".scenes")
    }
    assert len(SceneSet.open(out)) == COUNT
    assert not list(out.rglob("*.part"))


# ------------------------------------------------------------------------------- memory, chunks


def carried(made):
    return [list(LogFile(log_path(made.folder, log)).inputs["carried"]) for log in made.logs]


def test_memory_is_carried_within_chunks_only(logs, maps, tmp_path, monkeypatch):
    from navaudit.scene import log_builder

    def remember(outlook, memory, judge):
        planned = real(outlook, memory, judge)
        return replace(planned, memory=memory.keep((f"track {outlook.token[:2]}",)))

    real = log_builder.propose
    monkeypatch.setattr(log_builder, "propose", remember)
    expected = {
        "log": [[]] * COUNT,
        "scene": [[]] * COUNT,
        "3": [[], ["00"], ["00", "01"], [], ["03"], ["03", "04"], [], ["06"]],
        "1": [[f"{i:02}" for i in range(k)] for k in range(COUNT)],
    }
    for chunks, lists in expected.items():
        job = FromLogs(logs, maps, score_proposals, chunks=chunks, memory=Memory("stock"))
        folder = tmp_path / chunks
        made = prepare(folder, job)
        assert carried(made) == [[f"track {one}" for one in ids] for ids in lists]
        if chunks != "3":
            continue
        # what a kept log carries on is read from its file
        before = contents(folder)
        log_path(folder, "log05").unlink()
        prepare(folder, job)
        assert contents(folder) == before


def test_a_number_of_chunks_means_nothing_to_a_planner_that_forgets(logs, maps, alone, tmp_path):
    made = prepare(tmp_path / "set", FromLogs(logs, maps, score_proposals, chunks="2"))
    assert made.digest() == alone.digest()


def test_injected_lists_are_settings(logs, maps, alone, tmp_path):
    token = alone.tokens[0]
    one = FromLogs(logs, maps, score_proposals, memory=Memory("inject", injected={token: ("x",)}))
    two = FromLogs(logs, maps, score_proposals, memory=Memory("inject", injected={token: ("y",)}))
    assert one.settings()["injected"] != two.settings()["injected"]
    assert len(prepare(tmp_path / "set", one, workers=2)) == COUNT


def test_at_most_so_many_scenes(logs, maps, alone, tmp_path):
    cut = SceneFilter(frame_interval=1, max_scenes=3)
    made = prepare(tmp_path / "set", FromLogs(logs, maps, score_proposals, cut))
    assert made.tokens == alone.tokens[:3]
    assert [digest(one) for one in made] == [alone.digest_of(token) for token in made.tokens]


# ---------------------------------------------------------------------------------- caches


def test_metric_caches_become_a_set(tmp_path):
    made = prepare(tmp_path / "one", FromCaches(METRIC_CACHE))
    caches = index_caches(METRIC_CACHE)
    assert set(made.tokens) == set(caches)
    assert made.failures == ()
    for token, path in caches.items():
        assert digest(made.scene(token)) == digest(read_scene(path))
        assert made.log_of(token) == path.parts[-4]
    assert list(made.logs) == sorted(made.logs)
    prepare(tmp_path / "many", FromCaches(METRIC_CACHE), workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "many")


def test_a_damaged_cache_is_in_the_ledger(tmp_path):
    caches = unpack(METRIC_CACHE, tmp_path / "cache")
    token, path = next(iter(index_caches(caches).items()))
    path.write_bytes(path.read_bytes()[:-30])
    made = prepare(tmp_path / "set", FromCaches(caches))
    assert [one.token for one in made.failures] == [token]
    assert len(made) == len(index_caches(METRIC_CACHE)) - 1
    assert json.loads((tmp_path / "set" / "manifest.json").read_text())["complete"]


def test_a_cache_that_is_not_there_is_in_the_ledger_until_it_is(tmp_path):
    caches = unpack(METRIC_CACHE, tmp_path / "cache")
    token, path = next(iter(index_caches(caches).items()))
    away = path.rename(tmp_path / "away")
    made = prepare(tmp_path / "set", FromCaches(caches))
    assert [(one.token, one.what) for one in made.failures] == [
        (token, "metric cache does not exist")
    ]
    assert made.failures[0].where == str(path)
    away.rename(path)
    assert set(prepare(tmp_path / "set", FromCaches(caches)).tokens) == set(index_caches(caches))


def test_a_folder_without_caches_is_told(tmp_path):
    with pytest.raises(BadInput, match="no index"):
        prepare(tmp_path / "set", FromCaches(Path(tmp_path)))
