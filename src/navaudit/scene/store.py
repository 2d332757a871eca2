"""Scene sets on disk: a folder with one file per log and a manifest that says what it holds.

::

    manifest.json        what the set is made from and, once complete, what is in it
    logs/<log>.scenes    the scenes of one log; see `navaudit.scene.logfile`
    lock                 held by the run that writes

The manifest is a JSON object with ``kind``, ``format``, ``settings`` (all that decides the bytes
of the scenes and is not an input file), ``provenance``, and ``complete``. Of a complete set it also
has ``logs``, by name: file name, seal of its table, tokens and times; and ``failures``: the ledger.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from navaudit.errors import BadInput, NavauditError, Refused
from navaudit.scene.logfile import SUFFIX, Failure, LogFile, write_log, writing_log
from navaudit.scene.scene import Scene
from navaudit.scene.whole import put

__all__ = [
    "MANIFEST", "Failure", "LogFile", "SceneSet", "complete_set", "log_path", "open_folder",
    "write_log", "writing_log",
]  # fmt: skip

MANIFEST: Final = "manifest.json"
KIND: Final = "navaudit scenes"
FORMAT: Final = 1

_SHORT: Final = 48
"""Letters of a setting that a refusal quotes."""

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
            raise _no_manifest(folder, f"it lacks or mistypes {error}") from error
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


# ------------------------------------------------------------------------------------ manifests


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder, None where there is none."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise _no_manifest(folder, f"it cannot be read: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise _no_manifest(folder, "it is something else")
    if manifest.get("format") != FORMAT:
        raise BadInput(
            f"the set has format {manifest.get('format')}",
            where=str(path),
            expected=f"format {FORMAT}",
            remedy="read it with the navaudit that wrote it, or make the scenes again",
        )
    return manifest


def open_folder(folder: Path, settings: Mapping[str, Any], provenance: Mapping[str, str]) -> None:
    """Make a folder ready for the scenes that these settings make.

    A folder of other settings, or of something else, is refused; one of the same goes on.
    """
    have = read_manifest(folder)
    if have is None:
        strange = folder.is_dir() and any(one.name != "lock" for one in folder.iterdir())
        if strange or (folder.exists() and not folder.is_dir()):
            raise Refused(
                "the folder holds something else than scenes",
                where=str(folder),
                expected=f"a new or empty folder, or one with {MANIFEST}",
                remedy="name another folder",
            )
        _write(folder, settings, provenance, complete=False)
        return
    theirs = have.get("settings")
    if not isinstance(theirs, dict):
        raise _no_manifest(folder, "it has no settings")
    differing = _differing(theirs, json.loads(json.dumps(settings)))
    if differing:
        raise Refused(
            f"the folder holds scenes of other settings: {'; '.join(differing)}",
            where=str(folder),
            remedy="name another folder, or remove this one",
        )


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
            _twice(token, log, owner.get(token, log))
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
    _write(folder, settings, provenance, complete=True, logs=entries, failures=told)
    return SceneSet.open(folder)


def _met(token: str, seen: set[str]) -> bool:
    known = token in seen
    seen.add(token)
    return known


def _twice(token: str, log: str, other: str) -> Failure:
    return Failure(
        token,
        log,
        "another scene bears this token",
        where=f"log {other}, which keeps it",
        expected="a token of its own for every scene",
        remedy="leave one of the logs out",
    )


def _write(
    folder: Path, settings: Mapping[str, Any], provenance: Mapping[str, str], **rest: Any
) -> None:
    manifest = {
        "kind": KIND,
        "format": FORMAT,
        "settings": dict(settings),
        "provenance": dict(provenance),
        **rest,
    }
    put(folder / MANIFEST, (json.dumps(manifest, indent=1, allow_nan=False) + "\n").encode())


def _differing(have: Mapping[str, Any], wanted: Mapping[str, Any], within: str = "") -> list[str]:
    """Say which settings differ, in words; of other sources, no more than that."""
    if have.get("source") != wanted.get("source"):
        have, wanted = ({"source": one.get("source")} for one in (have, wanted))
    said: list[str] = []
    for key in sorted({*have, *wanted}):
        old, new = have.get(key), wanted.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            said += _differing(old, new, f"{within}{key}.")
        elif old != new:
            said.append(f"{within}{key} is {_brief(old)} there, and {_brief(new)} is asked for")
    return said


def _brief(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}..."


def _no_manifest(folder: Path, how: str) -> NavauditError:
    return BadInput(
        f"the manifest of the scenes is damaged: {how}",
        where=str(folder / MANIFEST),
        remedy="remove the folder and make the scenes again",
    )
