"""The manifest of a scene set: what it is made from and, once complete, what is in it.

A JSON object with ``kind``, ``format``, ``settings`` (all that decides the bytes of the scenes and
is not an input file), ``provenance``, and ``complete``. Of a complete set it also has ``logs``, by
name: the seal of the file's table, rows, tokens and times; and ``failures``: the ledger.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from navaudit.errors import BadInput, NavauditError, Refused
from navaudit.scene.logfile import SUFFIX
from navaudit.scene.whole import put

MANIFEST: Final = "manifest.json"
KIND: Final = "navaudit scenes"
FORMAT: Final = 1

_SHORT: Final = 48
"""Letters of a setting that a refusal quotes."""


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """Return the manifest of a folder, None where there is none."""
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise no_manifest(folder, f"it cannot be read: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("kind") != KIND:
        raise no_manifest(folder, "it is something else")
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

    A folder of other settings, or of something else, is refused; one of the same goes on. One that
    was begun and has no scene yet takes any settings.
    """
    have = read_manifest(folder)
    if have is None:
        _refuse_strange(folder)
    if have is None or not (have.get("complete") or any(folder.glob(f"logs/*{SUFFIX}"))):
        write_manifest(folder, settings, provenance, complete=False)
        return
    theirs = have.get("settings")
    if not isinstance(theirs, dict):
        raise no_manifest(folder, "it has no settings")
    differing = _differing(theirs, json.loads(json.dumps(settings)))
    if differing:
        raise Refused(
            f"the folder holds scenes of other settings: {'; '.join(differing)}",
            where=str(folder),
            remedy="name another folder, or remove this one",
        )


def _refuse_strange(folder: Path) -> None:
    strange = folder.is_dir() and any(one.name != "lock" for one in folder.iterdir())
    if strange or (folder.exists() and not folder.is_dir()):
        raise Refused(
            "the folder holds something else than scenes",
            where=str(folder),
            expected=f"a new or empty folder, or one with {MANIFEST}",
            remedy="name another folder",
        )


def write_manifest(
    folder: Path, settings: Mapping[str, Any], provenance: Mapping[str, str], **rest: Any
) -> None:
    """Write the manifest whole."""
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


def no_manifest(folder: Path, how: str) -> NavauditError:
    """Return the error that a damaged manifest is."""
    return BadInput(
        f"the manifest of the scenes is damaged: {how}",
        where=str(folder / MANIFEST),
        remedy="remove the folder and make the scenes again",
    )
