"""Files that appear whole or not at all, and what they hold."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from navaudit.provenance import digest_file


def put(path: Path, data: bytes) -> None:
    """Write a file beside its place and move it there: no reader ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.part")
    beside.write_bytes(data)
    os.replace(beside, path)


def digest_files(root: Path, paths: Iterable[Path]) -> str:
    """SHA-256 over the names, relative to a folder, and contents of files, in order of names."""
    sha = hashlib.sha256()
    for path in sorted(paths, key=lambda one: one.relative_to(root).as_posix()):
        sha.update(f"{path.relative_to(root).as_posix()}\0{digest_file(path)}\n".encode())
    return sha.hexdigest()
