"""Findings are written as the paper writes them, and traced."""

from __future__ import annotations

import doctest
import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from navaudit import findings
from navaudit.errors import BadInput
from navaudit.findings import count, counts, number, percent
from navaudit.report.numbers import NUMBERS, TRACE, read_numbers, write_numbers


def test_examples():
    assert doctest.testmod(findings) == (0, 6)


@given(st.integers(0, 10**12), st.integers(1, 10**12), st.integers(0, 8))
def test_a_share_is_rounded_once(part, whole, places):
    written = Fraction(percent("x", part, whole, places).text)
    assert abs(written - Fraction(100 * part, whole)) <= Fraction(1, 2 * 10**places)


@pytest.mark.parametrize(("value", "text"), [(None, "---"), (float("nan"), "---")])
def test_what_is_not_defined_has_no_value(value, text):
    found = number("x", value, 3)
    assert (found.value, found.text) == (None, text)


def test_infinity_is_written_and_has_no_value():
    found = number("x", float("inf"), 3)
    assert (found.value, found.text) == (None, "Infinity")


def test_tables_come_back(tmp_path):
    made = [count("a", 12576, "t.csv"), counts("r", (1, 2000)), number("n", None, 3)]
    flat = write_numbers(tmp_path, made, "navaudit audit", {"labels": "abc"})
    assert flat == read_numbers(tmp_path) == read_numbers(tmp_path / NUMBERS)
    assert flat == {"a": "12,576", "r": "1, 2,000", "n": "---"}
    trace = json.loads((tmp_path / TRACE).read_text())
    assert trace["numbers"]["a"]["value"] == 12576
    assert trace["numbers"]["a"]["file"] == "t.csv"
    assert trace["inputs"] == {"labels": "abc"}


def test_a_name_comes_once(tmp_path):
    with pytest.raises(BadInput, match="two findings are named a"):
        write_numbers(tmp_path, [count("a", 1), count("a", 1)], "", {})


@pytest.mark.parametrize("text", ["", "[]", '{"a": 1}'])
def test_something_else_is_refused(tmp_path, text):
    path = tmp_path / NUMBERS
    path.write_text(text)
    with pytest.raises(BadInput, match=r"table of numbers"):
        read_numbers(path)
