"""Examples in docstrings hold."""

import doctest
import importlib
import pkgutil

import pytest

from navaudit import evaluate

MODULES = [one.name for one in pkgutil.iter_modules(evaluate.__path__, "navaudit.evaluate.")]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_examples():
    found = [doctest.DocTestFinder().find(importlib.import_module(name)) for name in MODULES]
    assert sum(len(one.examples) for module in found for one in module) > 10
