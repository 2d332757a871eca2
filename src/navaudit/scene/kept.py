"""What happens to a log whose scenes are there already, and to an error that nobody foresaw."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from navaudit.errors import BadInput
from navaudit.scene.logfile import Failure, LogFile


def kept_file(
    target: Path,
    inputs: Mapping[str, Any],
    same: Callable[[Mapping[str, Any]], bool] = lambda inputs: True,
) -> LogFile | None:
    """Return the file that is there, if it is whole and was made from the same."""
    if not target.is_file():
        return None
    try:
        file = LogFile(target)
        if any(file.inputs.get(key) != value for key, value in inputs.items()):
            return None
        if not same(file.inputs):
            return None
        file.require_whole()
    except BadInput:
        return None  # damaged, or of another format: it is made again
    return file


def fault(error: Exception, token: str | None, log: str) -> Failure:
    """An error that nobody foresaw, with the place it comes from."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    return Failure(
        token,
        log,
        f"{type(error).__name__}: {error}",
        where=f"{Path(last.filename).name}:{last.lineno}, {last.name}",
        expected="a scene, or a reason why there is none",
        remedy="this is a fault of navaudit: please report it, with the log",
    )
