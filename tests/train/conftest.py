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
def small(tmp_path_factory):
    """Twenty scenes with recordings and labels, and a checkpoint; to be left as it is."""
    from train.small import write_small

    return write_small(tmp_path_factory.mktemp("small"))
