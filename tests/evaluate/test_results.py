"""Result files: written as NAVSIM does, and read whoever wrote them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.small import SHARED, random_comfort, random_components, token
from navaudit.errors import BadInput
from navaudit.evaluate.epdms import EC, EPDMS, METRICS, aggregate
from navaudit.evaluate.results import AVERAGE, means, read_index, read_results, result_csv

HEADER = ",token,valid," + ",".join(METRICS)


def scores(seed, count=7, failed=()):
    random = np.random.default_rng(seed)
    components, comfort = random_components(random, count), random_comfort(random, count)
    table = np.column_stack([components, comfort, aggregate(components, comfort)])
    table[list(failed)] = np.nan
    return table


@given(st.integers(0, 2**32 - 1), st.sets(st.integers(0, 6), max_size=6))
def test_what_is_written_is_read(tmp_path_factory, seed, failed):
    path = tmp_path_factory.getbasetemp() / "results.csv"
    table = scores(seed, failed=failed)
    tokens = tuple(token(row) for row in range(len(table)))
    valid = np.array([row not in failed for row in range(len(table))])
    path.write_bytes(result_csv(tokens, valid, table))
    results = read_results(path)
    assert results.tokens == tokens
    assert np.array_equal(results.valid, valid)
    assert np.array_equal(results.score, table, equal_nan=True)
    assert np.array_equal(results.average, means(table), equal_nan=True)


def test_the_layout_is_navsims():
    table = np.array([[1.0, 1.0, 0.5, 1.0, 0.25, 1.0, 0.0, 1.0, np.nan, 0.2]])
    text = result_csv(["ab"], np.array([True]), table).decode()
    assert text.splitlines() == [
        HEADER,
        "0,ab,True,1.0,1.0,0.5,1.0,0.25,1.0,0.0,1.0,,0.2",
        f"1,{AVERAGE},True,1.0,1.0,0.5,1.0,0.25,1.0,0.0,1.0,,0.2",
    ]


def test_a_failed_token_is_an_empty_row_and_counts_nowhere():
    table = np.array([[np.nan] * 10, [0.5] * 10])
    rows = result_csv(["a", "b"], np.array([False, True]), table).decode().splitlines()
    assert rows[1] == "0,a,False" + "," * 10
    assert rows[3] == f"2,{AVERAGE},False" + ",0.5" * 10


REAL = [SHARED / "data" / f"gtrs_dense_vov_sim_{one}_navtest.csv" for one in ("expert", "reward")]
needs_real = pytest.mark.skipif(
    not REAL[0].exists(), reason=f"not published with the code: {REAL[0].name}"
)


@needs_real
@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_published_files_are_read_and_written_back_row_by_row(path):
    results = read_results(path)
    ours = result_csv(results.tokens, results.valid, results.score).decode().splitlines()
    theirs = path.read_text().splitlines()
    assert ours[:-1] == theirs[:-1]
    np.testing.assert_allclose(results.average, means(results.score), rtol=0, atol=1e-14)


def write(tmp_path, *rows, header=HEADER):
    path = tmp_path / "results.csv"
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


GOOD = "0,ab,True,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,,1.0"


def test_more_columns_in_another_order_without_an_index(tmp_path):
    names = ["score", "log_name", *METRICS[:-1], "extra", "valid", "token"]
    cells = ["0.5", "log", *["1.0"] * 8, "", "x", "True", "ab"]
    results = read_results(write(tmp_path, ",".join(cells), header=",".join(names)))
    assert (results.tokens, results.logs) == (("ab",), ("log",))
    assert results.score[0, EPDMS] == 0.5
    assert np.isnan(results.score[0, EC])
    assert results.average is None


@pytest.mark.parametrize("index", [True, False])
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_what_a_spreadsheet_makes_of_a_file_is_read(tmp_path, index, ends):
    path = tmp_path / "results.csv"
    rows = [HEADER, GOOD, GOOD.replace("ab", "cd")] if index else [HEADER[1:], GOOD[2:]]
    path.write_bytes((ends.join(rows) + ends).encode("utf-8-sig"))
    assert read_results(path).tokens[0] == "ab"
    index_path = tmp_path / "index.csv"
    index_path.write_bytes(f"token,log_name{ends}ab,one{ends}".encode("utf-8-sig"))
    assert read_index(index_path) == {"ab": "one"}


@pytest.mark.parametrize(("yes", "no"), [("TRUE", "FALSE"), ("1.0", "0.0"), ("true", "false")])
def test_truths_are_read_as_tools_write_them(tmp_path, yes, no):
    failed = f"1,cd,{no}" + "," * 10
    results = read_results(write(tmp_path, GOOD.replace("True", yes), failed))
    assert results.valid.tolist() == [True, False]


SUMMARIES = [
    GOOD.replace("ab", AVERAGE),
    GOOD.replace("ab", "pseudo_closed_loop").replace("True", "False"),
    GOOD.replace("ab", "average_expert_frames"),
]
"""The last rows that NAVSIM v2.0 wrote."""


def test_the_last_rows_of_v2_0_are_no_tokens(tmp_path):
    results = read_results(write(tmp_path, GOOD, *SUMMARIES))
    assert results.tokens == ("ab",)
    assert results.earlier
    assert results.average is not None
    assert not read_results(write(tmp_path, GOOD, SUMMARIES[0])).earlier


def test_second_stages_in_a_file_of_v2_0_are_refused(tmp_path):
    second = GOOD.replace("ab", "a" * 17)
    with pytest.raises(BadInput, match="two-stage"):
        read_results(write(tmp_path, GOOD, second, *SUMMARIES))


@pytest.mark.parametrize(
    ("rows", "header", "complaint"),
    [
        ([GOOD, GOOD], HEADER, "token 'ab' stands twice"),
        ([GOOD.replace("ab", "")], HEADER, "a row has no token"),
        ([GOOD.replace("True", "maybe")], HEADER, "valid is 'maybe'"),
        ([GOOD.replace("1.0,,", "one,,")], HEADER, "a cell is no number"),
        ([GOOD.replace(",,1.0", ",,")], HEADER, "a valid row lacks a metric"),
        ([GOOD.replace(",,1.0", ",,1.5")], HEADER, "outside 0 to 1"),
        ([GOOD[:-4]], HEADER, "row 1 has 12 cells"),
        ([], HEADER, "the table has 1 rows"),
        ([GOOD], HEADER.replace("lane_keeping", "lanes"), "lacks lane_keeping"),
        ([GOOD], HEADER.replace("lane_keeping", "comfort"), "a result of NAVSIM v1"),
        ([GOOD], HEADER.replace("ress", "ress_stage_one"), "two-stage"),
        ([GOOD.replace("ab", "extended_pdm_score_combined")], HEADER, "two-stage"),
    ],
)
def test_other_files_are_refused_by_what_they_are(tmp_path, rows, header, complaint):
    with pytest.raises(BadInput, match=complaint):
        read_results(write(tmp_path, *rows, header=header))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadInput, match="cannot be read") as refused:
        read_results(tmp_path / "none.csv")
    assert refused.value.where.endswith("none.csv")


def test_an_index_names_the_log_of_each_token(tmp_path):
    path = tmp_path / "index.csv"
    path.write_text("log_name,token\none,a\nother,b\n")
    assert read_index(path) == {"a": "one", "b": "other"}
    path.write_text("log,token\none,a\n")
    with pytest.raises(BadInput, match="log_name"):
        read_index(path)
