import numba
import pytest


@pytest.fixture(autouse=True)
def one_thread():
    """Small kernels on one thread: waking others for them costs more than they do."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


@pytest.fixture
def thread_counts():
    """Numbers of threads between which a result must not change."""
    return sorted({1, numba.config.NUMBA_NUM_THREADS})
