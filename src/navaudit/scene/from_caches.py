"""Scenes from stock metric caches, their reference trajectories as they stand there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from navaudit import provenance
from navaudit.errors import BadInput, NavauditError
from navaudit.scene.code import code_of
from navaudit.scene.crew import Work
from navaudit.scene.kept import fault, kept_file
from navaudit.scene.logfile import Failure, writing_log
from navaudit.scene.prepare import Plan
from navaudit.scene.scene import Scene
from navaudit.scene.stock import index_caches, read_scene
from navaudit.scene.store import log_path

Caches = tuple[str, tuple[tuple[str, Path], ...]]
"""A log, and of its scenes token and cache file."""


@dataclass(frozen=True)
class FromCaches:
    """A folder of metric caches."""

    caches: Path

    def settings(self) -> dict[str, Any]:
        """All that decides the bytes of the scenes, beside the cache files."""
        return {"source": "metric caches", "code": code_of(Path(__file__))}

    def plan(self) -> Plan:
        """Share the caches out, log by log."""
        by_log: dict[str, list[tuple[str, Path]]] = {}
        for token, path in index_caches(self.caches, whole=False).items():
            by_log.setdefault(path.parts[-4], []).append((token, path))
        tasks = tuple((log, tuple(sorted(by_log[log]))) for log in sorted(by_log))
        settings = provenance.digest_settings(self.settings())
        return Plan(
            tasks=tasks,
            names=tuple((log,) for log in sorted(by_log)),
            start=partial(begin, settings),
            modules=(__name__,),
        )


def begin(settings: str, folder: Path) -> Work:
    """Make a process ready for work on the set in a folder."""

    def work(task: Caches) -> Iterator[str]:
        _settle(task, settings, folder)
        yield task[0]

    return work


def _settle(task: Caches, settings: str, folder: Path) -> None:
    """Write the scenes of one log, or keep those that are there."""
    log, caches = task
    inputs = {
        "caches": {token: _digest(path) for token, path in caches},
        "settings": settings,
    }
    if kept_file(log_path(folder, log), inputs) is not None:
        return
    with writing_log(log_path(folder, log), log, inputs) as writer:
        read: list[Scene] = []
        for token, path in caches:
            scene = _read(token, path, log)
            if isinstance(scene, Failure):
                writer.failures.append(scene)
            else:
                read.append(scene)
        for scene in sorted(read, key=lambda one: (one.time_us, one.token)):
            writer.add(scene)


def _digest(path: Path) -> str | None:
    """SHA-256 of a file; None where it is not there, which its reader will tell of."""
    return provenance.digest_file(path) if path.is_file() else None


def _read(token: str, path: Path, log: str) -> Scene | Failure:
    try:
        scene = read_scene(path)
        if scene.token != token:
            raise BadInput(
                f"the cache is of token {scene.token}", where=str(path), expected=f"token {token}"
            )
    except NavauditError as error:
        return Failure.of(error, token, log)
    except MemoryError:
        raise
    except Exception as error:
        return fault(error, token, log)
    return scene
