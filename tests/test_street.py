"""The rooms form a one-way street: read the imports and hold them to it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"

STREET = (
    "world", "scene", "rollout", "score", "labels", "audit",
    "agent", "train", "probe", "evaluate", "report",
    "demo", "commands", "cli",
)  # fmt: skip
"""The rooms in the order in which data walks them, and at the end those who walk with it."""

OPEN_TO_ALL = {
    "axes", "arrays", "compiled", "errors", "findings", "provenance", "vehicle",
    "numerics", "stats",
}  # fmt: skip
"""What stands beside the street; it may import only its own kind."""

QUARANTINE = {
    "pickle": ("navaudit.world.pickles",),
    "pickle.Unpickler": (),  # the room that reads pickles has a reader of its own
    "torch": ("navaudit.agent", "navaudit.train", "navaudit.probe"),
    "timm": (),  # what the tests hold the backbone to
    "ray": ("navaudit.labels.work",),
    "matplotlib": ("navaudit.report",),
    "jinja2": ("navaudit.report",),
    "markupsafe": ("navaudit.report",),
    # kernels compiled past it would be kept under names that do not follow the code
    "numba": ("navaudit.compiled",),
    # both of these also run alone under foreign interpreters, and can import nothing of ours
    "scipy.linalg": ("navaudit.numerics.lapack", "navaudit.numerics.selftest_pinv"),
    "numpy.linalg": ("navaudit.numerics.lapack", "navaudit.numerics.selftest_pinv"),
    "os.environ": ("navaudit.cli", "navaudit.commands"),
    # what is imported by a name made at run time cannot be read here
    "importlib.import_module": ("navaudit.cli",),
}
"""What may be named only in these modules or below them."""

SAME_BREED = {
    "_pickle": "pickle",
    "cPickle": "pickle",
    "cloudpickle": "pickle",
    "dill": "pickle",
    "joblib": "pickle",
    "marshal": "pickle",
    "pickle.load": "pickle.Unpickler",
    "pickle.loads": "pickle.Unpickler",
    "shelve": "pickle",
    "pickletools": "pickle",
    "numpy.load.allow_pickle": "pickle",
    "pandas": "pickle",
    "torch.load.weights_only": "pickle",
    "torchvision": "torch",
    "os.environb": "os.environ",
    "os.getenv": "os.environ",
    "os.getenvb": "os.environ",
    "os.path.expandvars": "os.environ",
    "os.putenv": "os.environ",
    "os.unsetenv": "os.environ",
    "posix": "os.environ",
    "__import__": "importlib.import_module",
    "eval": "importlib.import_module",
    "exec": "importlib.import_module",
    "importlib.util.module_from_spec": "importlib.import_module",
    "runpy": "importlib.import_module",
}
"""Other names of the same thing, held to the same quarantine."""

IMPORTERS = ("importlib.import_module", "__import__")

PURE = ("numerics", "stats", "rollout", "score", "audit.predicates")
"""What reads and writes nothing: numbers in, numbers out."""

READS_AND_WRITES = (
    "open", "print", "input", "io", "os", "sys", "pathlib", "shutil", "subprocess", "tempfile",
    "socket", "urllib", "numpy.load", "numpy.save", "numpy.savez", "numpy.fromfile",
    "numpy.memmap", "time", "datetime",
)  # fmt: skip
"""What pure code does not name: files, processes, terminals and clocks."""

AT_THE_DOOR = {
    "navaudit.numerics.platform",
    "navaudit.numerics.lapack",
    "navaudit.numerics.selftest_pinv",
}
"""Where the numerics look at the machine, or run alone under another interpreter."""

UNSAFE = {"allow_pickle": ("numpy.load", False), "weights_only": ("torch.load", True)}
"""Switches that let a reader run code, whose function they are of, and the one safe setting."""


@dataclass(frozen=True)
class Module:
    """A module of the package and the dotted names it mentions."""

    name: str
    package: bool
    tree: ast.Module

    @cached_property
    def imports(self) -> frozenset[str]:
        """Absolute dotted names of everything imported, wherever in the file."""
        return frozenset(self._imports())

    @cached_property
    def mentions(self) -> frozenset[str]:
        """Imports, built-in functions, and chains such as ``os.environ``, by their true names."""
        return self.imports | frozenset(self._mentions())

    def _imports(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._absolute(node)
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.Call) and self._chain(node.func) in IMPORTERS:
                yield from (one.value for one in node.args[:1] if isinstance(one, ast.Constant))

    def _mentions(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute | ast.Name):
                yield self._chain(node)
            elif isinstance(node, ast.keyword) and node.arg in UNSAFE:
                function, safe = UNSAFE[node.arg]
                if not (isinstance(node.value, ast.Constant) and node.value.value is safe):
                    yield f"{function}.{node.arg}"
            elif isinstance(node, ast.Call) and self._chain(node.func) == "getattr":
                yield ".".join(self._chain(one) for one in node.args[:2])

    @cached_property
    def _bound(self) -> dict[str, str]:
        """What names of this module stand for, as far as imports say."""
        bound = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    first = alias.name.partition(".")[0]
                    bound[alias.asname or first] = alias.name if alias.asname else first
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    bound[alias.asname or alias.name] = f"{self._absolute(node)}.{alias.name}"
        return bound

    def _chain(self, node: ast.AST) -> str:
        """Dotted name of an expression, its first word by its true name; empty if it has none."""
        if isinstance(node, ast.Name):
            return self._bound.get(node.id, node.id if hasattr(builtins, node.id) else "")
        if isinstance(node, ast.Attribute):
            value = self._chain(node.value)
            return value and f"{value}.{node.attr}"
        return f"{node.value}" if isinstance(node, ast.Constant) else ""

    def _absolute(self, node: ast.ImportFrom) -> str:
        parts = self.name.split(".") if self.package else self.name.split(".")[:-1]
        head = parts[: len(parts) - node.level + 1] if node.level else []
        return ".".join([*head, *([node.module] if node.module else [])])


def read_package(source: Path) -> dict[str, Module]:
    modules = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if package else parts)
        modules[name] = Module(name, package, ast.parse(path.read_text(), str(path)))
    return modules


def room(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 else ""


def neighbours(modules: dict[str, Module]) -> dict[str, set[str]]:
    """Which of our modules each of our modules imports."""
    return {
        name: {one for one in module.imports if one in modules and one not in {name, "navaudit"}}
        for name, module in modules.items()
    }


def wrong_way(modules: dict[str, Module]) -> list[str]:
    """Imports from a room further down the street, and of rooms the street does not know."""
    found = []
    for name, targets in neighbours(modules).items():
        here = room(name)
        if here and here not in {*STREET, *OPEN_TO_ALL}:
            found.append(f"{name} is in a room the street does not know")
        for there in sorted({room(one) for one in targets} - {here, ""}):
            if not _may_look(here, there):
                found.append(f"{name} looks into {there}")
    return found


def _may_look(here: str, there: str) -> bool:
    if there in OPEN_TO_ALL:
        return True
    if here not in STREET or there not in STREET:
        return False
    return STREET.index(there) < STREET.index(here)


def rooms(modules: dict[str, Module]) -> dict[str, set[str]]:
    """Which room looks into which."""
    graph: dict[str, set[str]] = {}
    for name, targets in neighbours(modules).items():
        graph.setdefault(room(name), set()).update(room(one) for one in targets)
    return {here: there - {here} for here, there in graph.items()}


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Groups of nodes that can reach each other, once for each member."""
    reach = {name: _reached(graph, name) for name in graph}
    return [
        {name} | {one for one in reached if name in reach[one]}
        for name, reached in reach.items()
        if name in reached
    ]


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """What can be reached from a node; itself only through others."""
    reached: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting.extend(graph[one])
    return reached


def escapes(modules: dict[str, Module]) -> list[str]:
    """Quarantined names mentioned outside their quarantine."""
    return [
        f"{name} mentions {mention}"
        for name, module in modules.items()
        for mention in sorted(module.mentions)
        for thing, allowed in QUARANTINE.items()
        if _names(mention, thing) and not any(_is_or_below(name, place) for place in allowed)
    ]


def _names(mention: str, thing: str) -> bool:
    if mention.endswith(".*"):  # takes in whatever lies below, and hides under which names
        return _is_or_below(thing, mention.removesuffix(".*"))
    return _is_or_below(_breed(mention), thing)


def impurities(modules: dict[str, Module]) -> list[str]:
    """What rooms of pure functions name of files, processes, terminals and clocks."""
    return [
        f"{name} mentions {mention}"
        for name, module in modules.items()
        if any(_is_or_below(name, f"navaudit.{place}") for place in PURE)
        if name not in AT_THE_DOOR
        for mention in sorted(module.mentions)
        if any(_is_or_below(mention, one) for one in READS_AND_WRITES)
    ]


def _breed(mention: str) -> str:
    for alias, thing in SAME_BREED.items():
        if _is_or_below(mention, alias):
            return thing
    return mention


def _is_or_below(name: str, place: str) -> bool:
    return name == place or name.startswith(place + ".")


MODULES = read_package(SOURCE)


def test_the_package_is_read():
    assert "navaudit.numerics.trig" in MODULES
    assert len(MODULES) > 10


def test_rooms_look_up_the_street_only():
    assert wrong_way(MODULES) == []


def test_no_two_modules_import_each_other():
    assert cycles(neighbours(MODULES)) == []


def test_no_two_rooms_look_into_each_other():
    assert cycles(rooms(MODULES)) == []


def test_quarantine_holds():
    assert escapes(MODULES) == []


def test_pure_rooms_read_and_write_nothing():
    assert impurities(MODULES) == []
    assert {one for one in AT_THE_DOOR if one in MODULES} == AT_THE_DOOR


@pytest.mark.parametrize("thing", QUARANTINE)
def test_every_quarantine_is_lived_in(thing):
    """A quarantine that nobody needs, or that has moved, is no rule."""
    inside = {
        place
        for place in QUARANTINE[thing]
        for name, module in MODULES.items()
        if _is_or_below(name, place) and any(_names(one, thing) for one in module.mentions)
    }
    assert inside or not QUARANTINE[thing]


CRIMES = {
    "score/x.py": ("import navaudit.labels", "navaudit.score.x looks into labels"),
    "world/x.py": ("from ..scene import scene", "navaudit.world.x looks into scene"),
    "numerics/x.py": ("from navaudit.world import y", "navaudit.numerics.x looks into world"),
    "report/x.py": ("import navaudit.cli", "navaudit.report.x looks into cli"),
    "demo/x.py": ("from navaudit import commands", "navaudit.demo.x looks into commands"),
    "scene/x.py": ("def f():\n    import navaudit.labels", "navaudit.scene.x looks into labels"),
    "audit/x.py": ("from navaudit import cli as c", "navaudit.audit.x looks into cli"),
    "rollout/x.py": (
        "from importlib import import_module as i\ni('navaudit.labels')",
        "navaudit.rollout.x looks into labels",
    ),
    "stats/x.py": ("__import__('navaudit.scene')", "navaudit.stats.x looks into scene"),
    "helpers/x.py": ("import math", "navaudit.helpers.x is in a room the street does not know"),
}

ESCAPES = {
    "score/a.py": "import pickle",
    "score/b.py": "def f():\n    from pickle import loads",
    "score/c.py": "from pandas import read_pickle",
    "score/d.py": "import numpy\nx = numpy.load(p, allow_pickle=True)",
    "score/e.py": "import numpy as np\nx = np.load(p, allow_pickle=y)",
    "world/a.py": "import _pickle",
    "world/pickles/a.py": "import pickle\nx = pickle.loads(b)",
    "world/pickles/b.py": "from pickle import Unpickler",
    "world/b.py": "import torch.nn",
    "world/c.py": "import torch as t",
    "world/d.py": "class C:\n    import torch",
    "labels/a.py": "from ray import init",
    "labels/b.py": "def f():\n    import ray as r",
    "labels/c.py": "import importlib\nr = importlib.import_module('ray')",
    "labels/d.py": "from importlib import import_module\nr = import_module(name)",
    "labels/e.py": "r = __import__('ray')",
    "labels/f.py": "exec('import ray')",
    "audit/a.py": "import matplotlib.pyplot as plt",
    "audit/b.py": "from jinja2 import Template",
    "audit/c.py": "import runpy",
    "score/f.py": "import os\nx = os.environ['HOME']",
    "score/g.py": "from os import environ",
    "score/h.py": "import os as o\nx = o.environ.get('HOME')",
    "score/i.py": "from os import getenv as g",
    "score/j.py": "import os\nx = getattr(os, 'environ')",
    "score/k.py": "from os import *",
    "score/l.py": "import os.path as p\nx = p.expandvars('$HOME')",
    "scene/a.py": "import os\nx = os.getenv('HOME')",
    "scene/b.py": "import numpy as np\nx = np.linalg.pinv(y)",
    "scene/c.py": "import numpy as n\nx = n.linalg.pinv(y)",
    "scene/d.py": "from numpy import linalg as la",
    "scene/e.py": "import scipy\nx = scipy.linalg.pinvh(y)",
    "scene/f.py": "from scipy.linalg import lapack",
    "numerics/profiles.py": "from scipy.linalg import lapack",
    "stats/a.py": "import numba",
    "agent/a.py": "import torch\nx = torch.load(p, weights_only=False)",
}

IMPURITIES = {
    "score/a.py": "def f(path):\n    return open(path)",
    "score/b.py": "import numpy as np\nx = np.load('x.npy')",
    "stats/a.py": "from pathlib import Path",
    "stats/b.py": "print('here')",
    "rollout/a.py": "from time import monotonic",
    "numerics/a.py": "import subprocess",
    "audit/predicates.py": "import os",
}


def _plant(root: Path, files: dict[str, str]) -> dict[str, Module]:
    everything = {"__init__.py": "", **files}
    for name in ("labels", "scene", "world", "commands", "cli"):
        everything.setdefault(f"{name}/__init__.py", "")
    everything.setdefault("world/y.py", "")
    everything.setdefault("scene/scene.py", "")
    for name, text in everything.items():
        path = root / "navaudit" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (path.parent / "__init__.py").touch()
        path.write_text(text)
    return read_package(root)


@pytest.mark.parametrize("where", CRIMES)
def test_a_look_down_the_street_is_caught(tmp_path, where):
    text, complaint = CRIMES[where]
    assert complaint in wrong_way(_plant(tmp_path, {where: text}))


def test_a_street_walked_the_right_way_is_silent(tmp_path):
    text = "from navaudit.scene import scene\nfrom navaudit import errors"
    modules = _plant(tmp_path, {"score/x.py": text, "errors.py": ""})
    assert wrong_way(modules) == []
    assert cycles(neighbours(modules)) == []
    assert escapes(modules) == []


@pytest.mark.parametrize("where", ESCAPES)
def test_an_escape_is_caught(tmp_path, where):
    assert len(escapes(_plant(tmp_path, {where: ESCAPES[where]}))) > 0


@pytest.mark.parametrize("where", IMPURITIES)
def test_an_impurity_is_caught(tmp_path, where):
    assert len(impurities(_plant(tmp_path, {where: IMPURITIES[where]}))) > 0


def test_what_only_sounds_alike_is_silent(tmp_path):
    text = """
import os
import numpy as np
x = np.load(path, allow_pickle=False)
environ = {"torch": 1}
y = environ["torch"] + self.open() + model.eval() + os.path.getsize("pickle")
"""
    modules = _plant(tmp_path, {"scene/x.py": text, "score/y.py": "def f(a):\n    a.open()"})
    assert escapes(modules) == []
    assert impurities(modules) == []


def test_two_rooms_beside_the_street_that_look_into_each_other_are_caught(tmp_path):
    modules = _plant(tmp_path, {
        "stats/x.py": "from navaudit.numerics import y",
        "numerics/z.py": "from navaudit.stats import w",
        "numerics/y.py": "",
        "stats/w.py": "",
    })  # fmt: skip
    assert wrong_way(modules) == []
    assert cycles(neighbours(modules)) == []
    assert {"stats", "numerics"} in cycles(rooms(modules))


def test_a_cycle_is_caught(tmp_path):
    modules = _plant(tmp_path, {
        "score/a.py": "from navaudit.score import b",
        "score/b.py": "from . import c",
        "score/c.py": "def late():\n    import navaudit.score.a",
    })  # fmt: skip
    found = cycles(neighbours(modules))
    assert {"navaudit.score.a", "navaudit.score.b", "navaudit.score.c"} in found
