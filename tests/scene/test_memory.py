"""What is carried from scene to scene, and how scenes are split into chunks."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.scene.memory import Memory, in_chunks, memory_of

ids = st.lists(st.sampled_from(["red_light_1", "red_light_2", "a", "b", "c"]), max_size=6)


@given(st.sampled_from(["stock", "blind"]), st.lists(ids, max_size=5))
@settings(deadline=None)
def test_a_list_grows_and_holds_each_id_once(mode, met):
    memory = Memory(mode)
    for one in met:
        memory = memory.keep(tuple(one))
    assert list(memory.recall("t").ids) == list(dict.fromkeys(x for one in met for x in one))


@given(st.lists(ids, max_size=5))
@settings(deadline=None)
def test_a_fresh_memory_stays_fresh(met):
    memory = Memory()
    for one in met:
        memory = memory.keep(tuple(one))
    assert memory.recall("t").ids == ()
    assert memory.recall("t").ignored == frozenset()


def test_blind_means_blind_to_lights():
    carried = ("red_light_1", "a")
    assert Memory("stock", carried).recall("t").ignored == {"red_light_1", "a"}
    assert Memory("blind", carried).recall("t").ignored == {"a"}
    assert Memory("blind", carried).recall("t").ids == carried


def test_keeping_nothing_new_changes_nothing():
    memory = Memory("stock", ("a",))
    assert memory.keep(("a", "a")) is memory
    assert memory.ids == ("a",)


def test_injected_lists_are_given_to_their_scenes_alone():
    lists = {"t1": ("red_light_1",)}
    memory = Memory("inject", injected=lists)
    lists["t2"] = ("red_light_2",)
    assert memory.keep(("a",)) is memory
    assert memory.recall("t1").ignored == {"red_light_1"}
    assert memory.recall("t2").ids == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "stale"},
        {"mode": "inject"},
        {"mode": "stock", "injected": {"t": ("a",)}},
        {"mode": "fresh", "ids": ("a",)},
        {"mode": "inject", "ids": ("a",), "injected": {"t": ("a",)}},
    ],
)
def test_contradictions_are_refused(wrong):
    with pytest.raises(BadInput):
        Memory(**wrong)


# ------------------------------------------------------------------------------------- options


@pytest.mark.parametrize("mode", ["fresh", "stock", "blind"])
def test_options_name_memories(mode):
    assert memory_of(mode) == Memory(mode)


def test_lists_to_inject_are_read(tmp_path):
    path = tmp_path / "lists.json"
    path.write_text(json.dumps({"t1": ["red_light_1", "a"], "t2": []}))
    memory = memory_of(f"inject:{path}")
    assert memory.recall("t1").ids == ("red_light_1", "a")
    assert memory.recall("t2").ids == ()


@pytest.mark.parametrize("option", ["", "stale", "inject", "inject:", "stock:x", "fresh:"])
def test_other_options_are_refused(option):
    with pytest.raises(BadInput, match="does not exist"):
        memory_of(option)


@pytest.mark.parametrize(
    "content", ["", "[]", "{}", '{"t": "a"}', '{"t": [1]}', '{"t": [""]}', '{"t": ["a"', "\xff"]
)
def test_broken_lists_are_refused(tmp_path, content):
    path = tmp_path / "lists.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(BadInput, match="inject") as caught:
        memory_of(f"inject:{path}")
    assert caught.value.where == str(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        memory_of(f"inject:{tmp_path / 'none.json'}")


# -------------------------------------------------------------------------------------- chunks

logs = st.lists(st.sampled_from("abcdefgh"), max_size=30)
ways = st.sampled_from(["scene", "log", "1", "2", "3", "7", "50"])


@given(logs, ways)
@settings(deadline=None)
def test_every_scene_is_in_one_chunk_and_in_order(scenes, chunks):
    split = in_chunks(scenes, chunks)
    assert sorted(i for one in split for i in one) == list(range(len(scenes)))
    assert all(one and one == sorted(one) for one in split)


@given(logs, ways)
@settings(deadline=None)
def test_a_log_is_in_one_chunk_unless_scenes_are(scenes, chunks):
    split = in_chunks(scenes, chunks)
    homes = [{scenes[i] for i in one} for one in split]
    if chunks == "scene":
        assert all(len(one) == 1 for one in split)
    else:
        assert sum(map(len, homes)) == len(set(scenes))
    if chunks == "log":
        assert all(len(one) == 1 for one in homes)


@given(logs, st.integers(1, 12))
@settings(deadline=None)
def test_numbers_split_logs_as_numpy_does(scenes, count):
    names = list(dict.fromkeys(scenes))
    expected = [part.tolist() for part in np.array_split(np.array(names, dtype=object), count)]
    split = in_chunks(scenes, str(count))
    have = [list(dict.fromkeys(scenes[i] for i in one)) for one in split]
    assert have == [part for part in expected if part]


@pytest.mark.parametrize("chunks", ["0", "-1", "1.5", "", "logs", "\u00b2"])
def test_other_chunks_are_refused(chunks):
    with pytest.raises(BadInput, match="do not exist"):
        in_chunks(["a"], chunks)
