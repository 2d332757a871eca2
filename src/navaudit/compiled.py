"""Compiled kernels, kept on disk under the digest of all the code that went into them.

Numba keeps compiled code by the text of the one file a kernel is in; code inlined from another file
goes stale when that file changes, and an index that names a class which is gone cannot be read.
Here a kernel's entry carries the digest of its file and of every file of the package that it
imports, directly or not, so an edit or an upgrade can only ever cause a compilation.

Everything that compiles takes ``njit`` from here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, overload

from numba import njit, prange
from numba.core import caching

__all__ = ["borrowing", "njit", "prange", "source_stamp"]

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])


@overload
def borrowing(kernel: _Kernel, /) -> _Kernel: ...
@overload
def borrowing(**options: Any) -> Callable[[_Kernel], _Kernel]: ...
def borrowing(kernel: Any = None, /, **options: Any) -> Any:
    """``njit`` for kernels that only borrow the arrays they work on.

    Numba counts who holds an array, atomically, wherever a kernel so much as hands one on. In
    kernels that are called millions of times this costs more than their arithmetic, and threads
    wait for each other over it. A borrowing kernel counts nothing: it makes no array and returns
    none.
    """
    options |= {"_nrt": False}  # numba's types do not tell of it
    compiled = njit(cache=True, nogil=True, **options)
    return compiled if kernel is None else compiled(kernel)


_ROOT = Path(__file__).parent
_IMPORT = re.compile(r"^\s*(?:from|import)\s+(navaudit[\w.]*)", re.MULTILINE)


@cache
def source_stamp(path: Path) -> str:
    """SHA-256 over a file of the package and all files of the package that it leads to."""
    sha = hashlib.sha256()
    for one in sorted(_led_to(path)):
        sha.update(one.relative_to(_ROOT).as_posix().encode() + b"\0")
        sha.update(one.read_bytes() + b"\0")
    return sha.hexdigest()


def _led_to(path: Path) -> set[Path]:
    reached: set[Path] = set()
    waiting = [path]
    while waiting:
        one = waiting.pop()
        if one not in reached:
            reached.add(one)
            waiting.extend(_imports(one))
    return reached


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    found: list[Path] = []
    for name in _IMPORT.findall(path.read_text(encoding="utf-8")):
        place = _ROOT.joinpath(*name.split(".")[1:])
        # what is imported from a package may be any module of it
        found.extend(place.glob("*.py") if place.is_dir() else [place.with_suffix(".py")])
    return tuple(found)


class _Stamped:
    """Puts the stamp into the names of a kernel's files, where numba's own stamp is inside them."""

    _py_file: str
    _lineno: int

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        if not Path(py_file).resolve().is_relative_to(_ROOT):
            return None
        return super().from_function(py_func, py_file)  # type: ignore[misc]

    def get_source_stamp(self) -> str:
        return source_stamp(Path(self._py_file).resolve())

    def get_disambiguator(self) -> str:
        return f"{self._lineno}-{self.get_source_stamp()[:16]}"


def _locator(name: str) -> Any:
    # older releases of numba hide the same classes behind an underscore
    return getattr(caching, name, None) or getattr(caching, f"_{name}")


class _Asked(_Stamped, _locator("UserProvidedCacheLocator")):  # type: ignore[misc]
    """Where the user wants kernels to be kept."""


class _Beside(_Stamped, _locator("InTreeCacheLocator")):  # type: ignore[misc]
    """Beside the source, where that can be written."""


class _AtHome(_Stamped, _locator("UserWideCacheLocator")):  # type: ignore[misc]
    """In the user's own cache."""


caching.CacheImpl._locator_classes = [
    _Asked,
    _Beside,
    _AtHome,
    *(one for one in caching.CacheImpl._locator_classes if not issubclass(one, _Stamped)),
]
