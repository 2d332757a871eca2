"""One thread for small kernels, and lets tests import what lies beside them."""

import sys
from pathlib import Path

import numba
import pytest

TESTS = str(Path(__file__).parents[1])
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)


@pytest.fixture(autouse=True)
def one_thread():
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


@pytest.fixture(scope="session")
def drawn_world(tmp_path_factory):
    """Scenes with ties, constant columns and single positives, on disk; to be left as they are."""
    from probe.drawn import draw, write

    world = draw()
    return world, *write(tmp_path_factory.mktemp("drawn"), world)
