"""Scene sets on disk: a folder with one file per log and a manifest that says what it holds.

::

    manifest.json        what the set is made from and what is in it; see `navaudit.scene.manifest`
    logs/<log>.scenes    the scenes of one log; see `navaudit.scene.logfile`
    lock                 held by the run that writes
    scratch/             what its processes share; gone when the set is complete
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from navaudit.errors import BadInput
from navaudit.scene.logfile import SUFFIX, Failure, LogFile, write_log, writing_log
from navaudit.scene.manifest import (
    MANIFEST,
    no_manifest,
    open_folder,
    read_manifest,
    write_manifest,
)
from navaudit.scene.scene import Scene

__all__ = [
    "MANIFEST", "SCRATCH", "Failure", "LogFile", "SceneSet", "complete_set", "log_path",
    "open_folder", "write_log", "writing_log",
]  # fmt: skip

SCRATCH: Final = "scratch"

_OPEN_LOGS: Final = 8
"""How many logs stay mapped for the next scene; mapping again costs milliseconds."""


class SceneSet:
    """A complete set of scenes, by log name, then time.

    Opening reads the manifest alone; a scene is read when it is asked for. Sets can be pickled.
    """

    def __init__(self, folder: Path, manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        try:
            self.settings: dict[str, Any] = dict(manifest["settings"])
            self.provenance: dict[str, str] = dict(manifest["provenance"])
            self.failures = tuple(Failure(**one) for one in manifest["failures"])
            self._seal = {str(one["log"]): str(one["seal"]) for one in manifest["logs"]}
            self._place: dict[str, tuple[str, int, int]] = {
                token: (str(one["log"]), row, int(time))
                for one in manifest["logs"]
                for token, row, time in zip(
                    one["tokens"], one["rows"], one["times_us"], strict=True
                )
            }
        except (KeyError, TypeError, ValueError) as error:
            raise no_manifest(folder, f"it lacks or mistypes {error}") from error
        self.tokens = tuple(self._place)
        self._open: OrderedDict[str, LogFile] = OrderedDict()

    @classmethod
    def open(cls, folder: Path) -> SceneSet:
        """Open a folder of scenes; an unfinished one is refused."""
        manifest = read_manifest(folder)
        if manifest is None:
            raise BadInput(
                "the folder holds no scenes",
                where=str(folder),
                expected=MANIFEST,
                remedy="make scenes with: navaudit scenes --out FOLDER",
            )
        if not manifest.get("complete"):
            raise BadInput(
                "the scenes are not finished",
                where=str(folder),
                remedy="run the same navaudit scenes again: it goes on where it stopped",
            )
        return cls(folder, manifest)

    def __reduce__(self) -> tuple[Any, ...]:
        return SceneSet.open, (self.folder,)

    def __len__(self) -> int:
        return len(self.tokens)

    def __contains__(self, token: object) -> bool:
        return token in self._place

    def __iter__(self) -> Iterator[Scene]:
        return (self.scene(token) for token in self.tokens)

    @property
    def logs(self) -> tuple[str, ...]:
        """Names of the logs that hold scenes, in order."""
        return tuple(dict.fromkeys(log for log, _, _ in self._place.values()))

    def log_of(self, token: str) -> str:
        """Return the name of the log a scene is from."""
        return self._find(token)[0]

    def time_us_of(self, token: str) -> int:
        """Return the time stamp of a scene."""
        return self._find(token)[2]

    def scene(self, token: str) -> Scene:
        """Return a scene; its arrays are read-only views of a mapped file."""
        log, row, _ = self._find(token)
        return self._log(log).scene(row)

    def digest_of(self, token: str) -> str:
        """Return the digest of a scene, as it was written."""
        log, row, _ = self._find(token)
        return self._log(log).digests[row]

    def digest(self) -> str:
        """SHA-256 over all tokens and the digests of their scenes."""
        lines = (f"{token} {self.digest_of(token)}\n" for token in self.tokens)
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    def _find(self, token: str) -> tuple[str, int, int]:
        if token in self._place:
            return self._place[token]
        failed = next((one for one in self.failures if one.token == token), None)
        raise BadInput(
            f"there is no scene {token}",
            where=str(self.folder),
            expected=f"one of {len(self)} tokens",
            remedy=f"it could not be made: {failed}" if failed else None,
        )

    def _log(self, log: str) -> LogFile:
        if log not in self._open:
            file = LogFile(log_path(self.folder, log))
            if file.seal != self._seal[log]:
                raise BadInput(
                    "the file is not the one this set was completed with",
                    where=str(file.path),
                    expected=f"seal {self._seal[log]}, not {file.seal}",
                    remedy="run the same navaudit scenes again",
                )
            self._open[log] = file
            while len(self._open) > _OPEN_LOGS:
                self._open.popitem(last=False)
        self._open.move_to_end(log)
        return self._open[log]


def log_path(folder: Path, log: str) -> Path:
    """Return where the scenes of a log lie in a set."""
    return folder / "logs" / f"{log}{SUFFIX}"


def complete_set(
    folder: Path,
    settings: Mapping[str, Any],
    provenance: Mapping[str, str],
    logs: Sequence[str],
    failures: Sequence[Failure] = (),
) -> SceneSet:
    """Write the manifest over the files of these logs, in this order, and open the set.

    Where two scenes bear one token, the first stays and the other becomes a failure.
    """
    ledger: list[Failure] = []
    entries: list[dict[str, Any]] = []
    owner: dict[str, str] = {}
    for log in logs:
        file = LogFile(log_path(folder, log))
        rows = [row for row, token in enumerate(file.tokens) if token not in owner]
        seen_here: set[str] = set()
        rows = [row for row in rows if not _met(file.tokens[row], seen_here)]
        ledger.extend(file.failures)
        ledger.extend(
            Failure.taken(token, log, owner.get(token, log))
            for row, token in enumerate(file.tokens)
            if row not in set(rows)
        )
        owner.update((file.tokens[row], log) for row in rows)
        entries.append({
            "log": log,
            "seal": file.seal,
            "rows": rows,
            "tokens": [file.tokens[row] for row in rows],
            "times_us": [file.times_us[row] for row in rows],
        })  # fmt: skip
    told = [asdict(one) for one in [*ledger, *failures]]
    write_manifest(folder, settings, provenance, complete=True, logs=entries, failures=told)
    return SceneSet.open(folder)


def _met(token: str, seen: set[str]) -> bool:
    known = token in seen
    seen.add(token)
    return known
