"""Which code made something: a digest of the files that it could have run."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from navaudit import compiled
from navaudit.provenance import digest_file


def code_of(module: Path, *called: Callable[..., Any]) -> str:
    """SHA-256 over a module of the package, what is called from outside, and all they lead to."""
    paths = [module, *(Path(str(sys.modules[one.__module__].__file__)) for one in called)]
    return hashlib.sha256("\n".join(map(_stamp, paths)).encode()).hexdigest()


def _stamp(path: Path) -> str:
    inside = path.is_relative_to(Path(compiled.__file__).parent)
    return compiled.source_stamp(path) if inside else digest_file(path)
