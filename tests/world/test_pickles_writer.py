"""What is written is read by Python, and by ourselves, as it was."""

from __future__ import annotations

import io
import pickle
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.world import pickles
from navaudit.world.pickles import LABELS, METRIC_CACHE, PLAIN, Member, Objects, Record, Wkb

CACHE = replace(METRIC_CACHE, xz=False)

plain = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(1 << 100), 1 << 100),
        st.floats(allow_nan=False),
        st.text(st.characters(exclude_categories=()), max_size=300),
        st.binary(max_size=300),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.text(max_size=5), inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
    ),
    max_leaves=30,
)


@settings(deadline=None, max_examples=200)
@given(plain)
def test_plain_values_come_back_from_python_and_from_us(value):
    data = pickles.dumps(value)
    assert pickle.loads(data) == value
    assert pickles.loads(data, PLAIN, "here") == value
    assert pickles.dumps(pickles.loads(data, PLAIN, "here")) == data


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float16).reshape(2, 3),
        np.arange(6, dtype=">i4"),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.array(["a", "bcd"]),
        np.array([b"a", b"bcd"]),
        np.array([True]),
        np.zeros((0, 3)),
        np.array(1.5),
    ],
    ids=lambda array: array.dtype.str,
)
def test_arrays_come_back(array):
    data = pickles.dumps([array, array])
    for read in (pickle.loads(data), pickles.loads(data, PLAIN, "here")):
        assert read[0] is read[1]
        # NumPy turns what it unpickles into the machine's byte order
        assert read[0].dtype.newbyteorder("=") == array.dtype.newbyteorder("=")
        assert np.array_equal(read[0], array)


@pytest.mark.parametrize("scalar", [np.float32(1.5), np.float64(2), np.int64(-1), np.bool_(True)])
def test_scalars_come_back(scalar):
    read = pickle.loads(pickles.dumps(scalar))
    assert type(read) is type(scalar)
    assert read == scalar


def test_arrays_of_objects_are_arrays_to_python():
    read = pickle.loads(pickles.dumps(Objects((2,), [None, "x"])))
    assert read.dtype == object
    assert read.tolist() == [None, "x"]


def test_geometries_are_geometries_to_python():
    shape = shapely.Polygon([(0, 0), (9, 0), (9, 9)], [[(4, 1), (5, 1), (5, 2)]])
    assert pickle.loads(pickles.dumps(Wkb(shape.wkb))).equals_exact(shape)


def test_paths_are_paths_to_python():
    assert str(pickle.loads(pickles.dumps(PurePosixPath("/a/b.pkl")))) == "/a/b.pkl"


def test_records_keep_how_their_class_pickles():
    state = "nuplan.common.actor_state.state_representation"
    point = Record(f"{state}.TimePoint", {"time_us": 7})
    pose = Record(f"{state}.StateSE2", {"x": 1.0, "y": 2.0, "heading": np.float64(3.0)})
    path = Record(
        "navsim.planning.simulation.planner.pdm_planner.utils.pdm_path.PDMPath",
        {"discrete_path": [pose, pose]},
    )
    layer = Member("nuplan.common.maps.maps_datatypes.SemanticMapLayer", 17)
    cache = Record(
        "navsim.planning.metric_caching.metric_cache.MetricCache",
        {"timepoint": point, "centerline": path, "scene_type": layer, "again": layer},
    )
    data = pickles.dumps(cache)
    read = pickles.loads(data, CACHE, "here")
    assert read.name == cache.name
    assert read["timepoint"]["time_us"] == 7
    first, second = read["centerline"]["discrete_path"]
    assert first is second
    assert first["heading"] == 3.0
    assert read["scene_type"] == read["again"] == layer
    assert pickles.dumps(read) == data


@pytest.mark.parametrize("value", [object(), {1, 2}, Record("os.system"), [Member("x.Y", 1)], 1j])
def test_what_cannot_be_named_is_not_written(value):
    with pytest.raises(BadInput):
        pickles.dumps(value)


def test_entries_are_written_one_by_one_and_read_whole(tmp_path):
    def entries():
        for n in range(50):
            yield f"{n:016x}", {"c": np.full(100, n, np.float16), "d": np.arange(n)}

    out = io.BytesIO()
    pickles.write_items(out, entries())
    read = pickle.loads(out.getvalue())
    assert list(read) == [key for key, _ in entries()]
    assert all(np.array_equal(read[key]["c"], value["c"]) for key, value in entries())
    path = tmp_path / "labels.pkl"
    path.write_bytes(out.getvalue())
    walked = dict(pickles.items(path, LABELS))
    assert all(np.array_equal(walked[key]["d"], value["d"]) for key, value in entries())


def test_a_kind_in_a_container_is_written_in_one(tmp_path):
    path = tmp_path / "x.pkl"
    pickles.write(path, [1, 2], METRIC_CACHE)
    assert path.read_bytes().startswith(b"\xfd7zXZ")
    assert pickles.read(path, METRIC_CACHE) == [1, 2]
    pickles.write(path, [1, 2], PLAIN)
    assert pickle.loads(path.read_bytes()) == [1, 2]
