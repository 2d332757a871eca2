"""The rooms form a one-way street: read the imports and hold them to it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"

STREET = (
    "world", "scene", "rollout", "score", "labels", "audit",
    "agent", "train", "probe", "evaluate", "report",
)  # fmt: skip
"""The rooms in the order in which data walks them."""

OPEN_TO_ALL = {
    "axes", "arrays", "compiled", "errors", "findings", "provenance", "vehicle",
    "numerics", "stats",
}  # fmt: skip
"""What stands beside the street; it may import only its own kind."""

AT_THE_END = {"cli", "commands", "demo"}
"""What may look into every room and into which no room may look."""

QUARANTINE = {
    "pickle": ("navaudit.world.pickles",),
    "torch": ("navaudit.agent", "navaudit.train", "navaudit.probe"),
    "timm": ("navaudit.agent",),
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
    "os.getenv": ("navaudit.cli", "navaudit.commands"),
}
"""What may be named only in these modules or below them."""

SAME_BREED = {
    "_pickle": "pickle",
    "cPickle": "pickle",
    "cloudpickle": "pickle",
    "dill": "pickle",
    "joblib": "pickle",
    "marshal": "pickle",
    "shelve": "pickle",
    "pickletools": "pickle",
    "os.environb": "os.environ",
    "os.putenv": "os.environ",
    "np.linalg": "numpy.linalg",
    "torchvision": "torch",
    "pandas": "pickle",
}
"""Other names of the same thing, held to the same quarantine."""


@dataclass(frozen=True)
class Module:
    """A module of the package and the dotted names it mentions."""

    name: str
    package: bool
    tree: ast.Module

    def imports(self) -> Iterator[str]:
        """Absolute dotted names of everything imported, wherever in the file."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = self._absolute(node)
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)

    def mentions(self) -> Iterator[str]:
        """Imports, and dotted attribute chains such as ``os.environ``."""
        yield from self.imports()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                yield f"{node.value.id}.{node.attr}"

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
        name: {one for one in module.imports() if one in modules and one not in {name, "navaudit"}}
        for name, module in modules.items()
    }


def wrong_way(modules: dict[str, Module]) -> list[str]:
    """Imports from a room further down the street, and of rooms the street does not know."""
    found = []
    for name, targets in neighbours(modules).items():
        here = room(name)
        if here and here not in {*STREET, *OPEN_TO_ALL, *AT_THE_END}:
            found.append(f"{name} is in a room the street does not know")
        for there in sorted({room(one) for one in targets} - {here, ""}):
            if not _may_look(here, there):
                found.append(f"{name} looks into {there}")
    return found


def _may_look(here: str, there: str) -> bool:
    if here in AT_THE_END or here == "":
        return here != "" or there in OPEN_TO_ALL
    if there in OPEN_TO_ALL:
        return True
    if here in OPEN_TO_ALL or there in AT_THE_END:
        return False
    return STREET.index(there) < STREET.index(here)


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Groups of modules that can reach each other."""
    reach = {name: set(targets) for name, targets in graph.items()}
    changed = True
    while changed:
        changed = False
        for reached in reach.values():
            further = set().union(*(reach[one] for one in reached)) - reached
            changed |= bool(further)
            reached.update(further)
    return [
        {name} | {one for one in reached if name in reach[one]}
        for name, reached in reach.items()
        if name in reached
    ]


def escapes(modules: dict[str, Module]) -> list[str]:
    """Quarantined names mentioned outside their quarantine."""
    found = []
    for name, module in modules.items():
        for mention in sorted(set(module.mentions())):
            for thing, allowed in QUARANTINE.items():
                if not _is_or_below(_breed(mention), thing):
                    continue
                if not any(_is_or_below(name, place) for place in allowed):
                    found.append(f"{name} mentions {mention}")
    return found


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


def test_quarantine_holds():
    assert escapes(MODULES) == []


CRIMES = {
    "score/x.py": ("import navaudit.labels", "navaudit.score.x looks into labels"),
    "world/x.py": ("from ..scene import scene", "navaudit.world.x looks into scene"),
    "numerics/x.py": ("from navaudit.world import y", "navaudit.numerics.x looks into world"),
    "report/x.py": ("import navaudit.cli", "navaudit.report.x looks into cli"),
    "helpers/x.py": ("import math", "navaudit.helpers.x is in a room the street does not know"),
}

ESCAPES = {
    "score/a.py": "import pickle",
    "score/b.py": "def f():\n    from pickle import loads",
    "world/c.py": "import torch.nn",
    "labels/d.py": "from ray import init",
    "audit/e.py": "import matplotlib.pyplot as plt",
    "score/f.py": "import os\nx = os.environ['HOME']",
    "score/g.py": "from os import environ",
    "scene/h.py": "import os\nx = os.getenv('HOME')",
    "score/i.py": "import numpy as np\nx = np.linalg.pinv(y)",
    "score/j.py": "from pandas import read_pickle",
    "world/k.py": "import _pickle",
}


def _plant(root: Path, files: dict[str, str]) -> dict[str, Module]:
    everything = {"__init__.py": "", **files}
    for name in ("labels", "scene", "world", "cli"):
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


def test_a_cycle_is_caught(tmp_path):
    modules = _plant(tmp_path, {
        "score/a.py": "from navaudit.score import b",
        "score/b.py": "from . import c",
        "score/c.py": "def late():\n    import navaudit.score.a",
    })  # fmt: skip
    found = cycles(neighbours(modules))
    assert {"navaudit.score.a", "navaudit.score.b", "navaudit.score.c"} in found
