"""Scenes on disk: what comes back, and what every kind of damage says."""

from __future__ import annotations

import json
import mmap
import os
import pickle
import resource
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nst

from navaudit.errors import BadInput, Refused
from navaudit.numerics.polygons import Polygons
from navaudit.scene.digest import digest
from navaudit.scene.logfile import Failure, LogFile, write_log, writing_log
from navaudit.scene.scene import Ground, Lights, Traffic
from navaudit.scene.shelving import arrays_of, scene_from
from navaudit.scene.stock import index_caches, read_scene
from navaudit.scene.store import MANIFEST, SceneSet, complete_set, log_path, open_folder
from navaudit.scene.whole import held, sweep, whole_file

CACHES = index_caches(Path(__file__).parents[1] / "golden" / "metric_cache")
SCENES = [read_scene(path) for path in CACHES.values()]
SETTINGS = {"source": "tests", "filter": {"tokens": None}, "trig": "libm"}
HERE = {"navaudit": "0"}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "log.scenes"
    write_log(path, "log", {"log": "a"}, SCENES, [Failure("t", "log", "what", "where")])
    return path


def test_golden_scenes_are_there():
    assert len(SCENES) == 6


# ------------------------------------------------------------------------------------- one file


def test_scenes_come_back_to_the_bit(file):
    log = LogFile(file)
    assert (log.log, log.inputs) == ("log", {"log": "a"})
    assert log.tokens == tuple(scene.token for scene in SCENES)
    assert log.times_us == tuple(scene.time_us for scene in SCENES)
    assert [digest(log.scene(row)) for row in range(len(log))] == [digest(one) for one in SCENES]
    assert log.digests == tuple(map(digest, SCENES))
    assert log.failures == (Failure("t", "log", "what", "where"),)


def owner(array):
    while isinstance(array, np.ndarray):
        array = array.base
    return array


def test_big_arrays_are_views_that_cannot_be_written_to(file):
    scene = LogFile(file).scene(2)
    views = [scene.traffic.box, scene.traffic.present, scene.centreline, scene.past.state]
    views += [scene.ego, scene.human, scene.reference.state, scene.lights.red]
    for view in views:
        assert isinstance(owner(view), mmap.mmap)
        assert not view.flags.writeable
        assert view.ctypes.data % 64 == 0 or view.size == 0


def test_a_scene_outlives_its_file_and_the_file_its_name(file):
    scene = LogFile(file).scene(0)
    file.unlink()
    assert digest(scene) == digest(SCENES[0])


def test_the_same_scenes_make_the_same_bytes(file, tmp_path):
    again = tmp_path / "again.scenes"
    write_log(again, "log", {"log": "a"}, iter(SCENES), [Failure("t", "log", "what", "where")])
    assert again.read_bytes() == file.read_bytes()


def test_a_log_without_scenes_is_a_file_too(tmp_path):
    write_log(tmp_path / "none.scenes", "none", {}, [])
    assert len(LogFile(tmp_path / "none.scenes")) == 0


@pytest.mark.parametrize("share", range(8))
def test_every_changed_byte_is_noticed(file, share):
    """Every place in the table's last page and the tail, and many before."""
    good = file.read_bytes()
    places = sorted({*range(0, 128), *range(0, len(good), 997), *range(len(good) - 600, len(good))})
    for place in places[share::8]:
        bad = bytearray(good)
        bad[place] ^= 1 << (place % 8)
        file.write_bytes(bad)
        with pytest.raises(BadInput) as caught:
            LogFile(file).require_whole()
        assert str(file) in str(caught.value.where)


def test_a_changed_scene_is_noticed_when_it_is_read(file):
    bad = bytearray(file.read_bytes())
    bad[4096] ^= 1
    file.write_bytes(bad)
    log = LogFile(file)
    with pytest.raises(BadInput, match="scene 0 are not those written"):
        log.scene(0)
    log.scene(5)


@pytest.mark.parametrize("kept", [0, 1, 63, 64, 127, 128, 1000, -1, -64, -65])
def test_a_cut_file_is_told(file, kept):
    file.write_bytes(file.read_bytes()[:kept])
    with pytest.raises(BadInput, match="damaged"):
        LogFile(file)


def test_foreign_and_newer_files_are_told(file):
    good = file.read_bytes()
    file.write_bytes(b"PK\3\4" + bytes(500))
    with pytest.raises(BadInput, match="not a file of scenes"):
        LogFile(file)
    file.write_bytes(good[:8] + struct.pack("<I", 2) + good[12:])
    with pytest.raises(BadInput, match="format 2") as caught:
        LogFile(file)
    assert caught.value.expected == "format 1"
    with pytest.raises(BadInput, match="cannot be read"):
        LogFile(file.with_name("missing"))


def test_a_writer_that_stops_leaves_nothing(tmp_path):
    path = tmp_path / "log.scenes"

    def stop(writer):
        writer.add(SCENES[0])
        raise RuntimeError

    with pytest.raises(RuntimeError), writing_log(path, "log", {}) as writer:
        stop(writer)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_told_and_leaves_nothing(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(BadInput, match="cannot be written"):
            write_log(tmp_path / "log.scenes", "log", {}, SCENES)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


# --------------------------------------------------------------------------------- any scene

TEXTS = st.lists(st.text(st.characters(exclude_categories=())), max_size=4).map(tuple)
FLOATS = st.floats(width=64)


@st.composite
def odd_scenes(draw):
    """A golden scene with odd names and values."""
    scene = draw(st.sampled_from(SCENES))
    ids, names, connectors = draw(TEXTS), draw(TEXTS), draw(TEXTS)
    empty = Polygons.of([])
    some = scene.ground.polygons
    rows = [draw(st.integers(0, len(some) - 1)) for _ in ids]
    boxes = nst.arrays(np.float64, (41, len(names), 5), elements=FLOATS)
    return replace(
        scene,
        token=draw(st.text()),
        time_us=draw(st.integers(-(2**63), 2**63 - 1)),
        human=draw(st.none() | nst.arrays(np.float64, (8, 3), elements=FLOATS)),
        route_lane=draw(TEXTS),
        ground=Ground(ids, np.zeros(len(ids)), some.take(rows), np.ones(len(ids))),
        lights=Lights(connectors, some.take([0] * len(connectors)), np.zeros((41, len(connectors))))
        if connectors
        else Lights((), empty, np.zeros((41, 0))),
        traffic=Traffic(
            names,
            np.arange(len(names)),
            draw(boxes),
            draw(nst.arrays(np.bool_, (41, len(names)))),
            np.zeros((len(names), 2)),
        ),
    )


@settings(deadline=None, max_examples=60)
@given(odd_scenes())
def test_any_scene_survives(scene):
    back = scene_from(arrays_of(scene))
    assert digest(back) == digest(scene)
    # NaNs too, which the digest does not tell apart
    assert back.traffic.box.tobytes() == scene.traffic.box.tobytes()


# ------------------------------------------------------------------------------------- a set


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "set"
    open_folder(folder, SETTINGS, HERE)
    write_log(log_path(folder, "b"), "b", {}, SCENES[:3], [Failure("gone", "b", "no route")])
    write_log(log_path(folder, "a"), "a", {}, SCENES[3:])
    complete_set(folder, SETTINGS, HERE, ["a", "b"], [Failure(None, "c", "the log is not there")])
    return folder


def test_a_set_gives_its_scenes_in_order(folder):
    made = SceneSet.open(folder)
    ordered = SCENES[3:] + SCENES[:3]
    assert made.tokens == tuple(scene.token for scene in ordered)
    assert len(made) == 6
    assert [digest(scene) for scene in made] == [digest(scene) for scene in ordered]
    assert [made.digest_of(token) for token in made.tokens] == [digest(one) for one in ordered]
    assert made.logs == ("a", "b")
    assert made.log_of(SCENES[0].token) == "b"
    assert made.time_us_of(SCENES[0].token) == SCENES[0].time_us
    assert SCENES[0].token in made
    assert [one.token for one in made.failures] == ["gone", None]
    assert (made.settings, made.provenance) == (SETTINGS, HERE)


def test_a_set_goes_to_other_processes(folder):
    made = SceneSet.open(folder)
    made.scene(made.tokens[0])
    assert SceneSet.digest(pickle.loads(pickle.dumps(made))) == made.digest()


def test_unknown_and_failed_tokens_are_told(folder):
    made = SceneSet.open(folder)
    with pytest.raises(BadInput, match="no scene nowhere") as caught:
        made.scene("nowhere")
    assert caught.value.remedy is None
    with pytest.raises(BadInput) as caught:
        made.scene("gone")
    assert "no route" in caught.value.remedy


def test_few_logs_stay_open(tmp_path):
    folder = tmp_path / "set"
    names = [f"log{i:03}" for i in range(40)]
    open_folder(folder, SETTINGS, HERE)
    for i, name in enumerate(names):
        write_log(log_path(folder, name), name, {}, [replace(SCENES[0], token=f"t{i}")])
    made = complete_set(folder, SETTINGS, HERE, names)
    before = len(os.listdir("/proc/self/fd"))
    for token in made.tokens:
        made.scene(token)
    assert len(os.listdir("/proc/self/fd")) < before + 12


def test_a_token_twice_is_a_failure_and_the_first_stays(tmp_path):
    folder = tmp_path / "set"
    open_folder(folder, SETTINGS, HERE)
    write_log(log_path(folder, "a"), "a", {}, [SCENES[0], SCENES[0]])
    write_log(log_path(folder, "b"), "b", {}, SCENES[:2])
    made = complete_set(folder, SETTINGS, HERE, ["a", "b"])
    assert made.tokens == (SCENES[0].token, SCENES[1].token)
    assert [(one.token, one.log) for one in made.failures] == [
        (SCENES[0].token, "a"),
        (SCENES[0].token, "b"),
    ]
    assert digest(made.scene(SCENES[1].token)) == digest(SCENES[1])


def test_unfinished_empty_and_other_folders_are_refused(tmp_path, folder):
    with pytest.raises(BadInput, match="holds no scenes"):
        SceneSet.open(tmp_path)
    begun = tmp_path / "begun"
    open_folder(begun, SETTINGS, HERE)
    with pytest.raises(BadInput, match="not finished"):
        SceneSet.open(begun)
    open_folder(begun, SETTINGS, HERE)
    other = tmp_path / "other"
    other.mkdir()
    (other / "thesis.tex").touch()
    with pytest.raises(Refused, match="something else"):
        open_folder(other, SETTINGS, HERE)


def test_other_settings_are_named(folder):
    other = {**SETTINGS, "trig": "house", "filter": {"tokens": "3 of sha256 ab"}}
    with pytest.raises(Refused) as caught:
        open_folder(folder, other, HERE)
    assert "trig is libm there, and house is asked for" in caught.value.what
    assert "filter.tokens is None there, and 3 of" in caught.value.what
    with pytest.raises(Refused) as caught:
        open_folder(folder, {"source": "elsewhere"}, HERE)
    assert caught.value.what.endswith("source is tests there, and elsewhere is asked for")


def test_a_folder_begun_without_a_scene_takes_other_settings(tmp_path):
    open_folder(tmp_path / "set", SETTINGS, HERE)
    open_folder(tmp_path / "set", {**SETTINGS, "trig": "house"}, HERE)
    write_log(log_path(tmp_path / "set", "a"), "a", {}, [])
    with pytest.raises(Refused, match="trig is house there, and libm is asked for"):
        open_folder(tmp_path / "set", SETTINGS, HERE)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text[:-20], "damaged: it cannot be read"),
        (lambda text: "[]", "damaged: it is something else"),
        (lambda text: text.replace('"format": 1', '"format": 9'), "format 9"),
        (lambda text: text.replace('"seal"', '"soul"'), "damaged: it lacks or mistypes 'seal'"),
        (lambda text: text.replace('"failures"', '"faults"'), "damaged"),
    ],
)
def test_damaged_manifests_are_told(folder, change, complaint):
    path = folder / MANIFEST
    path.write_text(change(path.read_text()))
    with pytest.raises(BadInput, match=complaint):
        SceneSet.open(folder)


def test_a_file_exchanged_behind_the_manifest_is_told(folder):
    made = SceneSet.open(folder)
    write_log(log_path(folder, "a"), "a", {"other": 1}, SCENES[3:])
    with pytest.raises(BadInput, match="not the one this set was completed with"):
        made.scene(SCENES[3].token)


def test_the_manifest_is_plain_json(folder):
    manifest = json.loads((folder / MANIFEST).read_text())
    assert manifest["complete"] is True
    assert [one["log"] for one in manifest["logs"]] == ["a", "b"]
    assert manifest["failures"][0]["what"] == "no route"


# -------------------------------------------------------------------------------- whole files


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    with whole_file(path) as stream:
        stream.write(b"new")
        stream.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"


def test_what_killed_writers_left_is_swept(tmp_path):
    (tmp_path / ".log.scenes.17.part").touch()
    (tmp_path / "log.scenes").touch()
    sweep(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["log.scenes"]


def test_two_runs_do_not_write_into_one_folder(tmp_path):
    lock = tmp_path / "lock"
    with held(lock), pytest.raises(Refused, match="another run"), held(lock):
        pass
    with held(tmp_path / "lock"):
        pass
