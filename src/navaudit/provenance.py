"""Digests of inputs, code, settings and processor: what a result was made from."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def digest_arrays(arrays: Iterable[NDArray[Any]]) -> str:
    """SHA-256 over dtype, shape and little-endian C-order bytes of each array in turn.

    Examples
    --------
    >>> one = np.arange(3.0)
    >>> digest_arrays([one]) == digest_arrays([one.astype(">f8")])
    True
    >>> digest_arrays([one]) == digest_arrays([one.astype("f4")])
    False
    """
    sha = hashlib.sha256()
    for array in arrays:
        little = np.asarray(array, order="C").astype(array.dtype.newbyteorder("<"), copy=False)
        sha.update(f"{little.dtype.str}{little.shape}".encode())
        sha.update(little.tobytes())
    return sha.hexdigest()


def digest_file(path: Path) -> str:
    """SHA-256 of a file's bytes, read in pieces."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def digest_settings(settings: Mapping[str, Any]) -> str:
    """SHA-256 of a mapping's canonical JSON: keys sorted, floats as their shortest repr.

    Examples
    --------
    >>> digest_settings({"a": 1, "b": 2}) == digest_settings({"b": 2, "a": 1})
    True
    """
    text = json.dumps(settings, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


@cache
def code_digest() -> str:
    """SHA-256 over the package's own source files, by relative path."""
    root = Path(__file__).parent
    sha = hashlib.sha256()
    for path in sorted(root.rglob("*.py"), key=lambda one: one.relative_to(root).as_posix()):
        sha.update(path.relative_to(root).as_posix().encode() + b"\0")
        sha.update(path.read_bytes() + b"\0")
    return sha.hexdigest()


def here() -> dict[str, str]:
    """Name the code and the machine that are about to compute something."""
    return {
        "navaudit": version("navaudit"),
        "code": code_digest(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": version("numba"),
        "machine": platform.machine(),
        "system": platform.system(),
    }
