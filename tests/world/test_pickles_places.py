"""Walks that leave arrays in their file: what is read later is what Python reads at once."""

from __future__ import annotations

import os
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from navaudit.errors import BadInput
from navaudit.world import pickles
from navaudit.world.pickles import LABELS, Placed

PROTOCOLS = range(2, 6)


def place(path):
    return dict(pickles.places(path, LABELS))


def read_all(path):
    handle = os.open(path, os.O_RDONLY)
    try:
        return {
            token: {
                name: one.read(handle) if isinstance(one, Placed) else one
                for name, one in columns.items()
            }
            for token, columns in pickles.places(path, LABELS)
        }
    finally:
        os.close(handle)


def write(folder, table, protocol=4):
    path = folder / "labels.pkl"
    path.write_bytes(pickle.dumps(table, protocol))
    return path


def same(read, table):
    assert list(read) == list(table)
    for token, columns in table.items():
        assert list(read[token]) == list(columns)
        for name, array in columns.items():
            assert read[token][name].dtype == array.dtype
            assert read[token][name].shape == array.shape
            assert read[token][name].tobytes() == array.tobytes()


arrays = st.builds(
    lambda count, seed, code, rows: (
        np.random.default_rng(seed)
        .integers(0, 256, (count, rows, np.dtype(code).itemsize), np.uint8)
        .view(code)
        .reshape((count,) if rows == 1 else (count, rows))
    ),
    st.sampled_from([0, 1, 7, 31, 32, 33, 40, 300]),
    st.integers(0, 99),
    st.sampled_from(["<f2", ">f4", "u1"]),
    st.sampled_from([1, 3]),
)


@settings(deadline=None, max_examples=60)
@given(
    st.dictionaries(
        st.text("abcdef", min_size=1, max_size=90).filter(lambda text: len(text) < 60),
        st.lists(arrays, min_size=1, max_size=3),
        max_size=4,
    ),
    st.sampled_from(PROTOCOLS),
    st.randoms(use_true_random=False),
)
def test_placed_arrays_are_those_of_python(tmp_path_factory, table, protocol, chance):
    pool = [array for some in table.values() for array in some]
    shared = {
        token: {
            f"c{k}": chance.choice(pool) if chance.random() < 0.5 else one
            for k, one in enumerate(some)
        }
        for token, some in table.items()
    }
    path = write(tmp_path_factory.mktemp("places"), shared, protocol)
    same(read_all(path), shared)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tokens_may_share_an_array_however_far_apart(tmp_path, protocol):
    ones = np.ones(100, np.float16)
    table = {f"{n:04x}": {"a": ones, "b": np.full(100, n, np.float16)} for n in range(1200)}
    path = write(tmp_path, table, protocol)
    same(read_all(path), table)
    if protocol > 2:  # where bytes stand there as text, each array has its own
        assert len({one["a"].content.offset for one in place(path).values()}) == 1


def test_arrays_by_columns_keep_their_order(tmp_path):
    table = {"t": {"a": np.asfortranarray(np.arange(200.0).reshape(20, 10))}}
    (read,) = read_all(write(tmp_path, table)).values()
    assert np.array_equal(read["a"], table["t"]["a"])


def test_nothing_is_read_before_it_is_wanted(tmp_path):
    table = {f"{n:04x}": {"a": np.zeros(200_000, np.float16)} for n in range(40)}
    path = write(tmp_path, table)
    del table
    tracemalloc.start()
    try:
        placed = place(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(placed) == 40
    assert peak < 200_000  # half of one array


def test_what_the_memo_keeps_is_small(tmp_path):
    ones = np.ones(64, np.float16)
    # columns whose names are texts of their own, as files merged from several have them
    table = {
        f"{n:04x}": {"".join(("co", "l", str(k))): ones for k in range(9)} for n in range(3000)
    }
    path = write(tmp_path, table)
    del table
    tracemalloc.start()
    try:
        count = sum(1 for _ in pickles.places(path, LABELS))
        kept = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert count == 3000
    assert kept < 450 * count  # a token, and ten texts of which most are the same


def test_arrays_are_read_only(tmp_path):
    (columns,) = read_all(write(tmp_path, {"t": {"a": np.ones(100, np.float16)}})).values()
    assert not columns["a"].flags.writeable


def test_a_file_cut_short_afterwards_is_refused(tmp_path):
    path = write(tmp_path, {"t": {"a": np.ones(100, np.float16)}})
    array = place(path)["t"]["a"]
    with path.open("rb") as stream:
        os.truncate(path, 150)
        with pytest.raises(BadInput, match="200 bytes are wanted"):
            array.read(stream.fileno())


def test_a_file_cut_short_before_says_where(tmp_path):
    path = write(tmp_path, {name: {"a": np.ones(100, np.float16)} for name in ("one", "two")}, 3)
    data = path.read_bytes()
    path.write_bytes(data[:-60])
    with pytest.raises(BadInput, match="are announced") as caught:
        place(path)
    assert caught.value.where == f"{path}, entry 'two', near 'a'"


def test_text_that_stands_for_no_bytes_is_refused(tmp_path):
    path = write(tmp_path, {"t": {"a": np.full(50, -1, np.int16)}}, 2)
    data = path.read_bytes()
    broken = data.replace("ÿ".encode(), b"\xc3\x28", 1)
    assert broken != data
    path.write_bytes(broken)
    handle = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(BadInput, match="does not stand for bytes"):
            place(path)["t"]["a"].read(handle)
    finally:
        os.close(handle)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_one_key_given_twice_is_refused(tmp_path, protocol):
    table = {"tok": {"lane": np.ones(90, np.float16), "lake": np.zeros(90, np.float16)}}
    path = write(tmp_path, table, protocol)
    path.write_bytes(path.read_bytes().replace(b"lake", b"lane"))
    with pytest.raises(BadInput, match="twice") as caught:
        place(path)
    assert "'tok'" in caught.value.where


def test_long_text_is_no_value(tmp_path):
    with pytest.raises(BadInput, match="Stretch"):
        place(write(tmp_path, {"t": {"a": "x" * 100}}))


def test_scalars_are_scalars(tmp_path):
    assert place(write(tmp_path, {"t": {"a": np.float16(1)}})) == {"t": {"a": np.float16(1)}}


def test_short_arrays_are_read_along(tmp_path):
    columns = place(write(tmp_path, {"t": {"a": np.ones(32, np.float16)}}))["t"]
    assert isinstance(columns["a"], np.ndarray)
    columns = place(write(tmp_path, {"t": {"a": np.ones(33, np.float16)}}))["t"]
    assert isinstance(columns["a"], Placed)
