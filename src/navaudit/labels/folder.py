"""What is in the folder of a label set: nothing yet, a set in the making, or a complete one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from navaudit.errors import BadInput, Refused
from navaudit.labels.draft import FORMAT, KIND
from navaudit.labels.tree import GROUP
from navaudit.scene.whole import put

_SHORT: Final = 48
"""Letters of a setting that a refusal quotes."""
_OURS: Final = ("lock", "work")
_AGAIN: Final = "read it with the navaudit that wrote it, or make the labels again"


def read_group(folder: Path) -> dict[str, Any]:
    """Return the metadata of a complete set."""
    group = _read(folder / GROUP)
    if group is not None:
        _expect_ours(group.get("attributes"), folder / GROUP)
        return group
    if (folder / "work" / "plan.json").is_file():
        raise BadInput(
            "the labels are not finished",
            where=str(folder),
            remedy="run the command that made them again: it goes on where it stopped",
        )
    raise BadInput(
        "the folder holds no labels" if folder.exists() else "there is no such folder",
        where=str(folder),
        expected=GROUP,
        remedy="make labels with: navaudit label SCENES --vocabulary V.npy --out FOLDER",
    )


def open_folder(
    folder: Path,
    settings: Mapping[str, Any],
    provenance: Mapping[str, Any],
    candidates: int,
    path: bool,
) -> bool:
    """Make a folder ready for the labels that these settings make; return whether they are there.

    A folder of other settings, or of something else, is refused. One that was begun and has no
    parcel yet takes any settings.
    """
    plan_file = folder / "work" / "plan.json"
    told: dict[str, Any] = {
        "kind": KIND,
        "format": FORMAT,
        "settings": {**settings, "candidates": candidates, "path": path},
        "provenance": provenance,
    }
    group, plan = _read(folder / GROUP), _read(plan_file)
    if group is not None:
        attributes = _expect_ours(group.get("attributes"), folder / GROUP)
        arrays = group["consolidated_metadata"]["metadata"]
        held = {"candidates": arrays["raw"]["shape"][2], "path": "path" in arrays}
        _expect_same({**attributes["settings"], **held}, told["settings"], folder)
        return True
    if plan is None:
        if folder.is_dir() and any(one.name not in _OURS for one in folder.iterdir()):
            raise Refused(
                "the folder holds something else than labels",
                where=str(folder),
                expected=f"a new or empty folder, or one with {GROUP} of a label set",
                remedy="name another folder",
            )
    elif any(plan_file.parent.glob("parcels/*")) or (plan_file.parent / "closing.json").is_file():
        _expect_same(_expect_ours(plan, plan_file)["settings"], told["settings"], folder)
        return False
    put(plan_file, (json.dumps(told, indent=1, allow_nan=False) + "\n").encode())
    return False


def _read(path: Path) -> dict[str, Any] | None:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadInput(
            f"the metadata cannot be read: {error}",
            where=str(path),
            remedy="remove the folder and make the labels again",
        ) from error
    return value if isinstance(value, dict) else {}


def _expect_ours(attributes: Any, path: Path) -> dict[str, Any]:
    if not isinstance(attributes, dict) or attributes.get("kind") != KIND:
        raise BadInput("this is not a label set", where=str(path), expected=f"kind {KIND!r}")
    if attributes.get("format") != FORMAT:
        raise BadInput(
            f"the set has format {attributes.get('format')}",
            where=str(path),
            expected=f"format {FORMAT}",
            remedy=_AGAIN,
        )
    return attributes


def _expect_same(have: Mapping[str, Any], wanted: Mapping[str, Any], folder: Path) -> None:
    differing = _differing(have, json.loads(json.dumps(wanted)))
    if differing:
        raise Refused(
            f"the folder holds labels of other settings: {'; '.join(differing)}",
            where=str(folder),
            remedy="name another folder, or remove this one",
        )


def _differing(have: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """Say which settings differ, in words."""
    return [
        f"{key} is {_brief(have.get(key))} there, and {_brief(wanted.get(key))} is asked for"
        for key in sorted({*have, *wanted})
        if have.get(key) != wanted.get(key)
    ]


def _brief(value: object) -> str:
    text = str(value)
    return text if len(text) <= _SHORT else f"{text[:_SHORT]}..."
