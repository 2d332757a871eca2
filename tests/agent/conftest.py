"""One thread for torch, and lets tests import what lies beside them."""

import sys
from pathlib import Path

import pytest

TESTS = str(Path(__file__).parents[1])
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)


@pytest.fixture(scope="session", autouse=True)
def _one_thread():
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def recorded_world(tmp_path_factory):
    """Twenty scenes with their recordings; to be left as it is."""
    from agent.recorded import write_world

    return write_world(tmp_path_factory.mktemp("recorded"))
