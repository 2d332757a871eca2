"""GTRS labels are read as Python reads them, refused where they are none, and written back."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labels.label_files import (
    PROTOCOLS,
    as_gtrs,
    draw,
    load,
    same_bytes,
    write_folder,
    write_pickle,
)
from navaudit.axes import COLUMNS
from navaudit.errors import BadInput, Refused
from navaudit.labels.gtrs import GtrsLabels, digest_gtrs, write_gtrs

TABLE = draw(["b1", "a2", "c3"])

names = st.lists(st.text("0123456789abcdef", min_size=1, max_size=17), unique=True, max_size=5)


def same_labels(labels, table):
    assert labels.tokens == tuple(table)
    assert labels.candidates == next(iter(table.values())).shape[1]
    for token, values in table.items():
        assert labels.raw(token).tobytes() == values.tobytes()
    return True


@settings(deadline=None, max_examples=30)
@given(
    names.filter(bool),
    st.sampled_from([1, 8, 9, 31, 32, 33, 64, 65, 300]),
    st.sampled_from(PROTOCOLS),
    st.integers(0, 99),
)
def test_labels_are_those_that_were_pickled(tmp_path_factory, tokens, candidates, protocol, seed):
    folder = tmp_path_factory.mktemp("gtrs")
    table = draw(tokens, candidates, seed)
    assert same_labels(GtrsLabels(write_pickle(folder / "x.pkl", table, protocol)), table)
    by_name = {token: table[token] for token in sorted(table)}
    assert same_labels(GtrsLabels(write_folder(folder / "x", table, protocol)), by_name)
    write_gtrs(folder / "y.pkl", table.items())
    assert same_bytes(load(folder / "y.pkl"), table)
    assert same_labels(GtrsLabels(folder / "y.pkl"), table)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("candidates", [10, 100])
def test_tokens_may_share_their_arrays(tmp_path, protocol, candidates):
    ones = np.ones(candidates, np.float16)
    table = {f"{n:03x}": dict.fromkeys(COLUMNS, ones) for n in range(1100)}
    path = tmp_path / "shared.pkl"
    path.write_bytes(pickle.dumps(table, protocol))
    labels = GtrsLabels(path)
    assert len(labels) == 1100
    assert (labels.raw("44b") == 1).all()


def test_names_of_newer_and_older_numpy_are_known(tmp_path):
    path = write_pickle(tmp_path / "x.pkl", TABLE, 2)
    data = path.read_bytes()
    core = b"numpy._core.multiarray" if b"numpy._core" in data else b"numpy.core.multiarray"
    for name in (b"numpy.core.multiarray", b"numpy._core.multiarray"):
        path.write_bytes(data.replace(core, name))
        assert same_labels(GtrsLabels(path), TABLE)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_tokens_may_come_out_of_an_array(tmp_path, protocol):
    table = draw([f"{k:016x}" for k in range(1300)], 40)
    path = tmp_path / "x.pkl"
    named = {np.str_(token): columns for token, columns in as_gtrs(table).items()}
    path.write_bytes(pickle.dumps(named, protocol))
    labels = GtrsLabels(path)
    assert labels.tokens == tuple(table)
    assert {type(token) for token in labels.tokens} == {str}
    assert same_labels(labels, table)


def test_columns_may_come_in_any_order(tmp_path):
    table = {token: dict(reversed(columns.items())) for token, columns in as_gtrs(TABLE).items()}
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps(table))
    assert same_labels(GtrsLabels(path), TABLE)


def test_values_of_any_bits_are_kept(tmp_path):
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    table = {"t": np.tile(every, (9, 1))}
    write_gtrs(tmp_path / "x.pkl", table.items())
    assert same_labels(GtrsLabels(tmp_path / "x.pkl"), table)
    assert same_bytes(load(tmp_path / "x.pkl"), table)


def test_plain_python_reads_what_is_written(tmp_path):
    write_gtrs(tmp_path / "x.pkl", TABLE.items())
    code = (
        "import pickle, sys, numpy; t = pickle.load(open(sys.argv[1], 'rb'));"
        "assert not any(m.startswith('navaudit') for m in sys.modules);"
        "print(list(t), sum(float(a.sum()) for c in t.values() for a in c.values()))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-I", "-c", code, tmp_path / "x.pkl"],
        capture_output=True,
        text=True,
        check=True,
    )
    total = sum(float(row.sum()) for values in TABLE.values() for row in values)
    assert done.stdout == f"{list(TABLE)} {total}\n"


def test_what_is_written_depends_on_labels_and_order_alone(tmp_path):
    first = write_gtrs(tmp_path / "x.pkl", TABLE.items())
    copy = {"".join(token): values.copy() for token, values in TABLE.items()}
    assert write_gtrs(tmp_path / "y.pkl", copy.items()) == first
    assert first == digest_gtrs(tmp_path / "x.pkl") == GtrsLabels(tmp_path / "x.pkl").digest
    assert write_gtrs(tmp_path / "z.pkl", reversed(TABLE.items())) != first


def test_nothing_is_left_of_a_file_that_could_not_be_finished(tmp_path):
    def cut_short():
        yield from list(TABLE.items())[:2]
        raise RuntimeError("the third token cannot be made")

    write_gtrs(tmp_path / "x.pkl", TABLE.items())
    before = (tmp_path / "x.pkl").read_bytes()
    with pytest.raises(RuntimeError):
        write_gtrs(tmp_path / "x.pkl", cut_short())
    assert [one.name for one in tmp_path.iterdir()] == ["x.pkl"]
    assert (tmp_path / "x.pkl").read_bytes() == before


# ------------------------------------------------------------------------------- refusals


def change(**columns):
    """The table with some of token a2's columns replaced; None takes one away."""
    table = as_gtrs(TABLE)
    for name, values in columns.items():
        if values is None:
            del table["a2"][name]
        else:
            table["a2"][name] = values
    return table


WRONG = {
    "no columns": ({**as_gtrs(TABLE), "a2": {}}, "no column no_at_fault_collisions", ""),
    "one column less": (change(lane_keeping=None), "no column lane_keeping", ""),
    "one column more": (change(comfort=np.ones(40, np.float16)), "a column 'comfort'", ""),
    "another dtype": (change(ego_progress=np.ones(40)), "float64", "column ego_progress"),
    "another byte order": (
        change(ego_progress=np.ones(40, ">f2")), ">f2", "column ego_progress",
    ),
    "too few": (
        change(pdm_score=np.ones(39, np.float16)), "39 candidates", "column pdm_score",
    ),
    "a row more": (
        change(pdm_score=np.ones((2, 20), np.float16)), r"\(2, 20\)", "column pdm_score",
    ),
    "none at all": (
        change(no_at_fault_collisions=np.ones(0, np.float16)), r"\(0,\)", "no_at_fault",
    ),
    "a number": (change(pdm_score=1.0), "a column is a float", "column pdm_score"),
    "a scalar": (change(pdm_score=np.float16(1)), "a column is a float16", "column pdm_score"),
    "a list": (change(pdm_score=[1.0] * 40), "a column is a list", "column pdm_score"),
    "an array": (
        {**as_gtrs(TABLE), "a2": np.ones(40, np.float16)}, r"an array of shape \(40,\)", "",
    ),
}  # fmt: skip


@pytest.mark.parametrize("how", WRONG)
@pytest.mark.parametrize("protocol", [2, 5])
def test_what_are_no_labels_is_refused_by_token_and_column(tmp_path, how, protocol):
    table, complaint, place = WRONG[how]
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps(table, protocol))
    with pytest.raises(BadInput, match=complaint) as caught:
        GtrsLabels(path)
    assert f"{path}, token a2" in caught.value.where
    assert place in caught.value.where


def test_a_column_that_stands_twice_is_refused(tmp_path):
    path = tmp_path / "x.pkl"
    columns = {**as_gtrs(TABLE)["b1"], "lake_keeping": np.ones(40, np.float16)}
    path.write_bytes(pickle.dumps({"b1": columns}).replace(b"lake_keep", b"lane_keep"))
    with pytest.raises(BadInput, match="twice") as caught:
        GtrsLabels(path)
    assert "'b1'" in caught.value.where
    assert "'lane_keeping'" in caught.value.where


def test_a_token_that_stands_twice_is_refused(tmp_path):
    path = write_pickle(tmp_path / "x.pkl", draw(["aa", "bb"]))
    path.write_bytes(path.read_bytes().replace(b"\x02bb", b"\x02aa"))
    with pytest.raises(BadInput, match="'aa' stands there twice"):
        GtrsLabels(path)


@pytest.mark.parametrize("token", [7, None, "", "a\nb", "\ud800"])
def test_a_token_that_is_no_name_is_refused(tmp_path, token):
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps({token: as_gtrs(TABLE)["b1"]}))
    with pytest.raises(BadInput, match="a token is"):
        GtrsLabels(path)


@pytest.mark.parametrize("value", [{}, [], "text", {"a": 1}])
def test_what_is_no_label_file_is_refused(tmp_path, value):
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps(value))
    with pytest.raises(BadInput):
        GtrsLabels(path)


def test_a_file_of_one_token_is_no_label_file(tmp_path):
    write_folder(tmp_path, TABLE)
    with pytest.raises(BadInput, match="a token has an array"):
        GtrsLabels(tmp_path / "a2" / "tmp.pkl")


def test_a_pickle_that_runs_code_is_refused(tmp_path):
    path = tmp_path / "x.pkl"
    path.write_bytes(pickle.dumps({"t": {"a": os.getcwd}}))
    with pytest.raises(Refused, match="getcwd"):
        GtrsLabels(path)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 0.999])
def test_a_file_that_ends_early_is_refused(tmp_path, share):
    path = write_pickle(tmp_path / "x.pkl", TABLE, 3)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(BadInput):
        GtrsLabels(path)


@pytest.mark.parametrize(
    ("pack", "said"),
    [
        (gzip.compress, "packed by gzip"),
        (bz2.compress, "packed by bzip2"),
        (lzma.compress, "packed by xz"),
        (lambda data: b"\x28\xb5\x2f\xfd" + data, "packed by zstd"),
        (lambda data: b"PK\x03\x04" + data, "zip archive"),
        (lambda data: b"version https://git-lfs.github.com/spec/v1\nsize 9\n", "git keeps"),
        (lambda data: b"<!DOCTYPE html><html>", "web page"),
    ],
)
def test_what_came_instead_of_a_pickle_is_said(tmp_path, pack, said):
    path = write_pickle(tmp_path / "x.pkl", draw(["a", "b"]))
    path.write_bytes(pack(path.read_bytes()))
    with pytest.raises(BadInput, match=said) as caught:
        GtrsLabels(path)
    assert str(path) in caught.value.where
    assert caught.value.remedy


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        GtrsLabels(tmp_path / "nowhere.pkl")
    with pytest.raises(BadInput, match="no labels"):
        GtrsLabels(tmp_path)
    with pytest.raises(BadInput, match="no labels of d4"):
        GtrsLabels(write_pickle(tmp_path / "x.pkl", TABLE)).raw("d4")


def test_a_token_whose_file_is_missing_or_torn_is_named(tmp_path):
    folder = write_folder(tmp_path / "x", TABLE)
    (folder / "b1" / "tmp.pkl").write_bytes(b"\x80\x04")
    with pytest.raises(BadInput) as caught:
        GtrsLabels(folder)
    assert str(folder / "b1" / "tmp.pkl") in caught.value.where
    (folder / "b1" / "tmp.pkl").unlink()
    with pytest.raises(BadInput, match="has no labels") as caught:
        GtrsLabels(folder)
    assert caught.value.where == str(folder / "b1")


@pytest.mark.parametrize("write", [write_pickle, write_folder])
def test_labels_that_change_meanwhile_are_refused(tmp_path, write):
    path = write(tmp_path / "x", TABLE)
    labels = GtrsLabels(path)
    file = path if path.is_file() else path / "a2" / "tmp.pkl"
    os.utime(file, ns=(1, 1))
    with pytest.raises(BadInput, match="changed"):
        labels.raw("a2")
    file.unlink()
    with pytest.raises(BadInput, match="cannot be read"):
        labels.raw("a2")


def test_how_far_it_is_is_told(tmp_path):
    told = []
    GtrsLabels(write_folder(tmp_path, TABLE), lambda *said: told.append(said))
    assert told == [("", 3, 3)]
