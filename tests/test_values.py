"""What every room relies on: errors that travel, arrays that hold still, digests that agree."""

from __future__ import annotations

import copy
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from navaudit.arrays import frozen
from navaudit.errors import BadInput, NavauditError, Refused, Unhealthy
from navaudit.provenance import digest_arrays, digest_file, digest_settings, here


def _fail() -> None:
    raise BadInput("39 poses", where="v.npy", expected="40 poses", remedy="resample")


def test_an_error_says_what_where_expected_and_remedy():
    with pytest.raises(BadInput) as caught:
        _fail()
    text = "39 poses\n  where: v.npy\n  expected: 40 poses\n  remedy: resample"
    assert str(caught.value) == text
    assert caught.value.exit_code == 2


def test_an_error_crosses_processes_whole():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        error = pool.submit(frozen, np.zeros((2, 3)), np.float64, (3, 3)).exception()
    assert type(error) is BadInput
    assert str(error) == str(copy.copy(error))
    assert error.expected == "shape (3, 3)"


@pytest.mark.parametrize("kind", [BadInput, Refused, Unhealthy])
def test_the_family_is_one(kind):
    assert issubclass(kind, NavauditError)


def test_frozen_arrays_do_not_follow_their_source():
    source = np.zeros((2, 3))
    held = frozen(source, np.float64, (None, 3))
    source[:] = 1.0
    assert not held.any()
    assert frozen(held, np.float64, (2, 3)) is held
    with pytest.raises(ValueError, match="read-only"):
        held[0, 0] = 1.0


@pytest.mark.parametrize("axes", [(3, 3), (None,), (2, 3, 1)])
def test_frozen_arrays_have_the_shape_they_claim(axes):
    with pytest.raises(BadInput, match=r"shape \(2, 3\)"):
        frozen(np.zeros((2, 3)), np.float64, axes)


@given(arrays(np.float64, st.tuples(st.integers(0, 4), st.integers(0, 4))))
def test_a_digest_reads_values_not_memory(array):
    assert digest_arrays([array]) == digest_arrays([np.asfortranarray(array)])
    assert digest_arrays([array]) == digest_arrays([array.astype(">f8")])
    assert digest_arrays([array]) != digest_arrays([array, array])
    if array.size and array.shape[0] != array.shape[1]:
        assert digest_arrays([array]) != digest_arrays([array.T])


def test_a_settings_digest_refuses_nan():
    with pytest.raises(ValueError, match="JSON"):
        digest_settings({"x": float("nan")})


def test_a_file_digest_is_that_of_its_bytes(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    assert digest_file(path).startswith("ba7816bf8f01cfea")


def test_here_names_the_code():
    assert len(here()["code"]) == 64
