"""Compiled kernels are kept under the digest of all the code that went into them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from navaudit import compiled
from navaudit.score import engine

KERNEL = """
from navaudit.compiled import njit
from navaudit.numerics.inner import inner

@njit(cache=True)
def outer():
    return inner() + 1
"""

INNER = """
from navaudit.compiled import njit

@njit(cache=True)
def inner():
    return {value}
"""


def _package(root: Path, value: int) -> Path:
    package = root / "navaudit"
    for folder in (package, package / "numerics"):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "__init__.py").touch()
    source = Path(compiled.__file__)
    (package / "compiled.py").write_text(source.read_text())
    (package / "numerics" / "inner.py").write_text(INNER.format(value=value))
    (package / "numerics" / "outer.py").write_text(KERNEL)
    return root


def _call(root: Path) -> int:
    code = "from navaudit.numerics.outer import outer; print(outer())"
    answer = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    return int(answer.stdout)


def test_an_edit_in_another_file_reaches_a_cached_kernel(tmp_path):
    assert _call(_package(tmp_path, 1)) == 2
    assert len(list(tmp_path.rglob("*.nbi"))) == 2
    assert _call(_package(tmp_path, 5)) == 6


def test_unchanged_code_is_compiled_once(tmp_path):
    root = _package(tmp_path, 1)
    _call(root)
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")}
    assert kept
    _call(root)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.nbc")} == kept


def test_the_engine_leads_to_its_numerics():
    led = {path.name for path in compiled._led_to(Path(engine.__file__).resolve())}
    assert {"trig.py", "twofold.py", "ground.py", "follow.py", "profiles.py"} <= led
    assert "pickles" not in {path.parent.name for path in compiled._led_to(Path(engine.__file__))}
