"""What the unpickler reads, and that it reads what Python reads."""

from __future__ import annotations

import io
import pickle
import pickletools
import tracemalloc
from collections import OrderedDict
from dataclasses import replace
from pathlib import Path, PurePosixPath

import numpy as np
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput, Refused
from navaudit.world import pickles
from navaudit.world.pickles import (
    KINDS,
    LABELS,
    LOG,
    METRIC_CACHE,
    PLAIN,
    PREDICTIONS,
    Member,
    Objects,
    Record,
    Wkb,
)

PROTOCOLS = range(6)

atoms = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 200), 1 << 200),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=()), max_size=20),
    st.binary(max_size=20),
)
keys = st.one_of(st.text(max_size=5), st.integers(-(1 << 59), 1 << 59), st.booleans(), st.none())
values = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(keys, inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.sets(keys, max_size=4),
        st.frozensets(keys, max_size=4),
    ),
    max_leaves=20,
)


def loads(data, kind=PLAIN):
    return pickles.loads(data, kind, "here")


@settings(deadline=None, max_examples=300)
@given(values, st.sampled_from(PROTOCOLS))
def test_plain_values_are_read_as_python_reads_them(value, protocol):
    data = pickle.dumps(value, protocol)
    read = loads(data)
    assert read == value
    assert repr(type(read)) == repr(type(value))
    assert loads(pickletools.optimize(data)) == value


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "value",
    [
        list(range(2500)),
        {str(n): n for n in range(2001)},
        "x" * 70_000,
        b"y" * 70_000,
        ["shared"] * 300,
        -(1 << 31),
        1 << 31,
        1 << 62,
        float("inf"),
        -0.0,
        bytearray(b"abc"),
        "\ud800",
    ],
    ids=lambda value: f"{type(value).__name__}-{len(repr(value))}",
)
def test_lengths_at_the_opcodes_borders(value, protocol):
    read = loads(pickle.dumps(value, protocol))
    assert read == value
    assert repr(read) == repr(bytes(value) if isinstance(value, bytearray) else value)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_sharing_is_kept(protocol):
    one = [1]
    read = loads(pickle.dumps([one, one], protocol))
    assert read[0] is read[1]


def test_ordered_dictionaries_become_dictionaries():
    assert loads(pickle.dumps(OrderedDict(b=1, a=2))) == {"b": 1, "a": 2}


def test_paths_become_pure_paths():
    assert loads(pickle.dumps(PurePosixPath("/data/x/y.pkl"))) == PurePosixPath("/data/x/y.pkl")
    assert type(loads(pickle.dumps(Path("/data")))) is PurePosixPath


CORES = (b"numpy.core", b"numpy._core")
ARRAYS = [
    *(np.arange(24).astype(code) for code in ("i1", "i2", "<i4", ">i8", "u2", "f2", ">f4", "f8")),
    np.array([True, False]),
    np.array(["vehicle", "", "é\U0001f600"]),
    np.array([b"ab", b""]),
    np.zeros((0, 7), np.float32),
    np.array(2.5),
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(24.0).reshape(2, 3, 4).transpose(1, 0, 2),
    np.arange(24.0).reshape(2, 3, 4)[:, ::2],
    np.array([np.nan, np.inf, -0.0]),
]


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype.str}{array.shape}")
def test_arrays_keep_dtype_shape_and_bits(array, protocol, core):
    data = pickle.dumps([array, array], protocol)
    if protocol < 4:
        data = data.replace(b"numpy._core", core)
    read, again = loads(data)
    assert read is again
    assert read.dtype == array.dtype
    assert read.dtype.byteorder == array.dtype.byteorder
    assert read.shape == array.shape
    assert read.tobytes() == array.tobytes()
    assert not read.flags.writeable


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "scalar",
    [
        np.float32(1.5),
        np.float64("nan"),
        np.int64(-7),
        np.bool_(True),
        np.str_("road"),
        np.float16(2),
    ],
    ids=lambda scalar: scalar.dtype.str,
)
def test_scalars_keep_their_type(scalar, protocol):
    read = loads(pickle.dumps(scalar, protocol))
    assert type(read) is type(scalar)
    assert read.tobytes() == scalar.tobytes()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_arrays_of_objects_become_objects(protocol):
    array = np.array([[1, "two"], [None, 4.0]], dtype=object)
    read = loads(pickle.dumps(array, protocol))
    assert type(read) is Objects
    assert read.shape == (2, 2)
    assert list(read) == [1, "two", None, 4.0]
    assert len(loads(pickle.dumps(np.array([], dtype=object), protocol))) == 0


POLYGONS = [
    shapely.Point(1, 2),
    shapely.LineString([(0, 0), (1, 1)]),
    shapely.box(0, 0, 1, 2),
    shapely.Polygon([(0, 0), (9, 0), (9, 9)], [[(4, 1), (5, 1), (5, 2)]]),
    shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(3, 3, 4, 4)]),
    shapely.Polygon(),
    shapely.Polygon([(0, 0, 1), (9, 0, 1), (9, 9, 1)]),
    shapely.set_srid(shapely.box(0, 0, 1, 1), 26919),
]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("shape", POLYGONS, ids=lambda shape: shape.wkt[:20])
def test_geometries_come_back_bit_for_bit(shape, protocol):
    read = loads(pickle.dumps(shape, protocol), replace(METRIC_CACHE, xz=False))
    assert type(read) is Wkb
    assert read.shape().equals_exact(shape)
    assert shapely.to_wkb(read.shape(), include_srid=True) == read.data


def test_a_geometry_may_be_named_as_shapely_or_as_its_module():
    data = pickle.dumps(shapely.Point(1, 2), 2)
    assert b"shapely.io\n" in data
    older = data.replace(b"shapely.io\n", b"shapely\n")
    assert loads(older, replace(METRIC_CACHE, xz=False)).shape() == shapely.Point(1, 2)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01",
        b"\x02" + bytes(20),
        bytes.fromhex("0103000000ffffffff"),
        bytes.fromhex("010300000001000000ffffffff"),
        bytes.fromhex("0106000000ffffffff"),
        bytes.fromhex("010700000001000000") * 1000,
        shapely.box(0, 0, 1, 1).wkb[:-1],
        shapely.box(0, 0, 1, 1).wkb + b"\0",
        shapely.GeometryCollection([shapely.Point(0, 0)]).wkb,
        b"\x01" + (3).to_bytes(4, "little") + (1).to_bytes(4, "little") * 2 + bytes(16),
    ],
    ids=range(11),
)
def test_broken_geometries_are_told(data):
    with pytest.raises(BadInput):
        Wkb(data).shape()


def _class(module, name):
    made = type(name, (), {})
    made.__module__ = module
    return made


def test_records_hold_fields_however_they_were_pickled():
    slots = (
        b"\x80\x04\x8c\x2cnuplan.common.actor_state.state_representation\x8c\x08StateSE2\x93)\x81"
    )
    slots = slots.replace(
        b"\x8c\x2c", b"\x8c" + bytes([len("nuplan.common.actor_state.state_representation")])
    )
    state = b"N}(\x8c\x01xK\x01\x8c\x01yK\x02\x8c\x07headingK\x03u\x86b."
    read = loads(slots + state, replace(METRIC_CACHE, xz=False))
    assert read.name == "nuplan.common.actor_state.state_representation.StateSE2"
    assert (read["x"], read["y"], read["heading"]) == (1, 2, 3)
    with pytest.raises(BadInput, match="has no field 'z'"):
        read["z"]


def test_protocols_0_and_1_make_records_through_copyreg():
    data = (
        b"ccopy_reg\n_reconstructor\n(cnavsim.common.dataclasses\nTrajectory\n"
        b"c__builtin__\nobject\nNtR(dVposes\nI1\nsb."
    )
    assert loads(data, PREDICTIONS)["poses"] == 1


def test_members_are_plain_and_equal():
    data = b"cnuplan.common.maps.maps_datatypes\nSemanticMapLayer\n(I17\ntR."
    read = loads(data, replace(METRIC_CACHE, xz=False))
    assert read == Member("nuplan.common.maps.maps_datatypes.SemanticMapLayer", 17)
    with pytest.raises(BadInput, match="no member 19"):
        loads(data.replace(b"I17", b"I19"), replace(METRIC_CACHE, xz=False))


def _same(ours, theirs):
    if isinstance(theirs, np.ndarray):
        return ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(_same(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(_same, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


def test_logs_are_read_as_python_reads_them(logs):
    paths = sorted(logs.glob("*.pkl"))
    assert len(paths) > 0
    for path in paths:
        assert _same(pickles.read(path, LOG), pickle.loads(path.read_bytes()))


def test_every_kind_reads_plain_data():
    for kind in KINDS:
        assert loads(pickle.dumps([1, "a"]), replace(kind, xz=False)) == [1, "a"]


def test_a_class_of_one_kind_is_refused_in_another():
    data = b"cnuplan.common.maps.maps_datatypes\nSemanticMapLayer\n(I17\ntR."
    with pytest.raises(Refused, match="no use for"):
        loads(data, LABELS)


# ------------------------------------------------------------------------------------- files


def test_missing_folders_and_empty_files_are_told(tmp_path):
    for path in (tmp_path / "none.pkl", tmp_path):
        with pytest.raises(BadInput, match="does not exist") as caught:
            pickles.read(path, PLAIN)
        assert caught.value.where == str(path)
    empty = tmp_path / "empty.pkl"
    empty.touch()
    with pytest.raises(BadInput):
        pickles.read(empty, PLAIN)
    with pytest.raises(BadInput, match="is empty"):
        list(pickles.items(empty, LABELS))


def test_a_file_beyond_the_ceiling_is_not_read(tmp_path):
    path = tmp_path / "large.pkl"
    path.write_bytes(pickle.dumps(b"x" * 1000))
    with pytest.raises(BadInput, match="larger than 500 bytes"):
        pickles.read(path, replace(PLAIN, file_bytes=500))


def test_every_error_says_which_file(tmp_path):
    path = tmp_path / "short.pkl"
    path.write_bytes(pickle.dumps([1, 2])[:-1])
    with pytest.raises(BadInput) as caught:
        pickles.read(path, PLAIN)
    assert caught.value.where == str(path)


# ----------------------------------------------------------------------------------- entries


def label_file(tokens, columns=9, candidates=16):
    rng = np.random.default_rng(len(tokens))
    names = [f"c{n}" for n in range(columns)]
    return {
        token: {name: rng.random(candidates).astype(np.float16) for name in names}
        for token in tokens
    }


def write_bytes(tmp_path, data):
    path = tmp_path / "labels.pkl"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("count", [0, 1, 2, 1000, 1001, 1500])
def test_entries_are_those_of_the_whole(tmp_path, protocol, count):
    table = label_file([f"{n:016x}" for n in range(count)], columns=2, candidates=3)
    path = write_bytes(tmp_path, pickle.dumps(table, protocol))
    assert _same(dict(pickles.items(path, LABELS)), table)


@pytest.mark.parametrize("columns", [0, 1, 9, 999, 1000, 1001, 2000])
def test_entries_of_any_width(tmp_path, columns):
    table = label_file(["a", "b", "c"], columns=columns, candidates=1)
    path = write_bytes(tmp_path, pickle.dumps(table, 4))
    try:
        read = dict(pickles.items(path, LABELS))
    except BadInput:
        assert columns % 1000 == 1
        assert columns > 1
    else:
        assert _same(read, table)


@pytest.mark.parametrize("value", [1, [1], ("a", {}), {"x": ({"y": 1}, 2)}, [{}], {}, {"k": {}}])
def test_entries_of_any_other_value_are_right_or_refused(tmp_path, value):
    table = {"one": value, "two": value, "three": 3}
    path = write_bytes(tmp_path, pickle.dumps(table, 4))
    try:
        read = dict(pickles.items(path, LABELS))
    except BadInput:
        pass
    else:
        assert read == table


def test_an_entry_that_leans_on_an_earlier_one_is_refused(tmp_path):
    shared = {"c": np.zeros(3)}
    path = write_bytes(tmp_path, pickle.dumps({"a": shared, "b": shared}, 4))
    with pytest.raises(BadInput, match="not there"):
        list(pickles.items(path, LABELS))


def test_a_token_that_comes_twice_is_refused(tmp_path):
    out = io.BytesIO()
    pickles.write_items(out, [("a", {"c": 1}), ("a", {"c": 2})])
    with pytest.raises(BadInput, match="twice"):
        list(pickles.items(write_bytes(tmp_path, out.getvalue()), LABELS))


@pytest.mark.parametrize("value", [[1, 2], "text", 3, ({},), [{"a": {"b": 1}}]])
def test_only_dictionaries_are_walked(tmp_path, value):
    path = write_bytes(tmp_path, pickle.dumps(value, 4))
    with pytest.raises(BadInput):
        list(pickles.items(path, LABELS))


def test_entries_come_before_the_file_ends(tmp_path):
    table = label_file(["a", "b", "c"], candidates=50_000)
    data = pickle.dumps(table, 4)
    path = write_bytes(tmp_path, data[: len(data) - 40])
    walk = pickles.items(path, LABELS)
    assert next(walk)[0] == "a"
    assert next(walk)[0] == "b"
    with pytest.raises(BadInput):
        next(walk)


def test_what_was_handed_over_is_forgotten(tmp_path):
    table = label_file([f"{n:04x}" for n in range(200)], candidates=4096)
    path = write_bytes(tmp_path, pickle.dumps(table, 4))
    one = 9 * 4096 * 2
    del table
    tracemalloc.start()
    try:
        seen = sum(1 for _ in pickles.items(path, LABELS))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seen == 200
    assert peak < 6 * one


def test_records_show_their_name():
    assert "a.B" in repr(Record("a.B", {"x": 1}))
