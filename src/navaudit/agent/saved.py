"""Files that torch has saved, read without running any code that they name.

Tensors, numbers, text and containers of them come back as they are. A trainer keeps more in a
checkpoint: settings of omegaconf, the state of callbacks, objects of the stock code. What such
things are made of is not imported; a `Husk` stands where each was, so that the weights beside it
can be read on a machine that has none of these packages. Names of any other origin are refused.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path, PosixPath
from typing import Any, Final

import numpy as np
import torch
from torch.serialization import get_unsafe_globals_in_checkpoint, safe_globals

from navaudit.errors import BadInput, NavauditError, Refused

TRAINERS: Final = (
    "argparse", "collections", "datetime", "enum", "functools", "hydra", "lightning",
    "lightning_fabric", "lightning_utilities", "navsim", "numpy", "nuplan", "omegaconf", "pathlib",
    "pytorch_lightning", "torchmetrics", "typing",
)  # fmt: skip
"""Packages whose objects trainers keep beside weights."""

_SCALAR: Final = np.float64(0.0).__reduce__()[0]
_HARMLESS: Final[list[Any]] = [
    PosixPath,
    np.dtype,
    *(type(np.dtype(code)) for code in "?bhilqBHILQefd"),
    (_SCALAR, "numpy.core.multiarray.scalar"),
    (_SCALAR, "numpy._core.multiarray.scalar"),
]
"""Read as they are, on top of what torch allows."""

_KINDS: Final = (
    "builtins.bool", "builtins.dict", "builtins.float", "builtins.int", "builtins.list",
    "builtins.str", "builtins.tuple",
)  # fmt: skip
"""Named by other things, such as a dictionary with a default."""


class Husk:
    """Stands for an object that was not read."""

    def __new__(cls, *_: object) -> Any:
        """Take no notice of what the object would be made from."""
        return super().__new__(cls)

    def __init__(self, *_: object) -> None:
        pass

    def __setstate__(self, _: object) -> None:
        """Take no notice of what the object would hold."""


class _Dictionary(Husk):
    # torch's reader puts items into plain containers alone
    def __new__(cls, *_: object) -> Any:
        return {}


class _Row(Husk):
    def __new__(cls, *_: object) -> Any:
        return []


_CONTAINERS: Final = {"AttributeDict": _Dictionary, "defaultdict": _Dictionary, "deque": _Row}


def read_saved(path: Path) -> dict[str, Any]:
    """Read a file of ``torch.save``; tensors lie in the mapped file until they are used."""
    if not path.is_file():
        raise BadInput("there is no such checkpoint", where=str(path), expected="a file")
    try:
        packed = zipfile.is_zipfile(path)
        with safe_globals(_HARMLESS), safe_globals(_husks(path) if packed else []):
            content = torch.load(path, map_location="cpu", weights_only=True, mmap=packed)
    except MemoryError:
        raise
    except Exception as error:  # torch raises whatever its reader met
        raise _unreadable(path, error) from error
    if not isinstance(content, dict):
        raise BadInput(
            f"the file holds a {type(content).__name__}",
            where=str(path),
            expected="a checkpoint: a dictionary with state_dict",
        )
    return content


def _husks(path: Path) -> list[Any]:
    """Pair everything that the file names and trainers are known to keep with what stands in."""
    names = sorted(get_unsafe_globals_in_checkpoint(str(path)))
    return [
        (_CONTAINERS.get(name.rpartition(".")[2], Husk), name)
        for name in names
        if name.partition(".")[0] in TRAINERS or name in _KINDS
    ]


def _unreadable(path: Path, error: Exception) -> NavauditError:
    text = str(error)
    asked = re.search(r"GLOBAL (\S+)", text)
    if asked:
        return Refused(
            f"the checkpoint asks for {asked[1]}, which weights have no use for",
            where=str(path),
            expected="tensors, numbers, text, containers of them, and what trainers keep beside",
            remedy="save it again without that, where you trust its author",
        )
    # torch's own words would have it read with weights_only off, which runs code
    inner = re.search(r"WeightsUnpickler error: (.*)", text)
    words = inner[1] if inner else text.strip()
    first = words.splitlines()[0] if words else type(error).__name__
    return BadInput(
        f"the checkpoint cannot be read: {first:.200}",
        where=str(path),
        expected="a whole file that torch has saved",
        remedy="fetch it again",
    )
