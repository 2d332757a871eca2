"""NAVSIM's split files: which logs and tokens make up a split, and how scenes are cut from logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import yaml

from navaudit.errors import BadInput

SYNTHETIC: Final = (
    "synthetic_scene_tokens",
    "reactive_synthetic_initial_tokens",
    "non_reactive_synthetic_initial_tokens",
)
"""Fields of a filter that name synthetic scenes."""

_TEXTS: Final = ("log_names", "tokens", *SYNTHETIC)
_UNUSED: Final = ("all_mapping",)


@dataclass(frozen=True)
class SceneFilter:
    """NAVSIM's ``SceneFilter``: how scenes are cut from logs, and which are taken."""

    num_history_frames: int = 4
    """Frames up to and including t = 0."""
    num_future_frames: int = 10
    """Frames after t = 0."""
    frame_interval: int | None = None
    """Frames from the first of a scene to the first of the next; None: scenes do not overlap."""
    has_route: bool = True
    """Whether scenes without roadblocks at t = 0 are left out."""
    max_scenes: int | None = None
    log_names: tuple[str, ...] | None = None
    """Logs to read; None for all."""
    tokens: tuple[str, ...] | None = None
    """Tokens, of the frame at t = 0, to take; None for all."""
    include_synthetic_scenes: bool = False
    synthetic_scene_tokens: tuple[str, ...] | None = None
    reactive_synthetic_initial_tokens: tuple[str, ...] | None = None
    non_reactive_synthetic_initial_tokens: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        _at_least("num_history_frames", self.num_history_frames, 1)
        _at_least("num_future_frames", self.num_future_frames, 0)
        if self.frame_interval is not None:
            _at_least("frame_interval", self.frame_interval, 1)
        if self.max_scenes is not None:
            _at_least("max_scenes", self.max_scenes, 1)
        for name in _TEXTS:
            object.__setattr__(self, name, _texts(name, getattr(self, name)))

    @property
    def num_frames(self) -> int:
        """Frames of a scene."""
        return self.num_history_frames + self.num_future_frames

    @property
    def interval(self) -> int:
        """Frames from scene to scene."""
        return self.num_frames if self.frame_interval is None else self.frame_interval


@dataclass(frozen=True)
class Split:
    """A named set of scenes: ``train_test_split/<name>.yaml`` with the filter it refers to."""

    name: str
    data_split: str
    """Folder of the logs and of the sensor blobs: ``trainval``, ``test``, ``mini``."""
    scene_filter: SceneFilter


def read_split(folder: Path, name: str) -> Split:
    """Read ``<folder>/<name>.yaml`` and the scene filter it names, ``<folder>/scene_filter/``.

    ``folder`` is NAVSIM's ``train_test_split``. Keys of the scene filter set in the split's own
    file win, as Hydra has it; the rest of the file (the mapping of two-stage scenes) is not read.
    """
    path = folder / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(one.stem for one in folder.glob("*.yaml"))) or "none"
        raise BadInput(
            f"there is no split {name!r}", where=str(folder), expected=f"one of: {known}"
        )
    content = _mapping(path)
    if not isinstance(content.get("data_split"), str):
        raise BadInput("there is no data_split", where=str(path), expected="such as trainval")
    named = _filter_name(content.get("defaults"), path)
    merged = _mapping(folder / "scene_filter" / f"{named}.yaml") | (
        content.get("scene_filter") or {}
    )
    return Split(name, content["data_split"], _filter(merged, f"{path}, scene filter {named}"))


def read_filter(path: Path) -> SceneFilter:
    """Read one scene filter's yaml."""
    return _filter(_mapping(path), str(path))


def read_either(path: Path) -> tuple[SceneFilter, str | None]:
    """Read a split's yaml, or a scene filter's; of a split, its data split too."""
    # a split lies beside the folder of the filters that splits refer to
    if (path.parent / "scene_filter").is_dir():
        split = read_split(path.parent, path.stem)
        return split.scene_filter, split.data_split
    content = _mapping(path)
    if "defaults" in content:
        raise BadInput(
            "this is a split, and the folder of scene filters is not beside it",
            where=str(path),
            expected=str(path.parent / "scene_filter"),
            remedy="give the file in NAVSIM's folder train_test_split, or a scene filter itself",
        )
    return _filter(content, str(path)), None


def _mapping(path: Path) -> dict[str, Any]:
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        content = yaml.load(path.read_text(encoding="utf-8"), Loader=loader)  # noqa: S506 - both are safe
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise BadInput(f"the file cannot be read: {error}", where=str(path)) from error
    if not isinstance(content, dict):
        raise BadInput(f"the file holds {type(content).__name__}", where=str(path), expected="keys")
    return content


def _filter_name(defaults: object, path: Path) -> str:
    entries = defaults if isinstance(defaults, list) else []
    names = [
        value
        for entry in entries
        if isinstance(entry, dict)
        for key, value in entry.items()
        if str(key).split("/")[-1].split()[-1] == "scene_filter"
    ]
    if len(names) != 1 or not isinstance(names[0], str):
        raise BadInput(
            f"defaults are {defaults!r:.80}", where=str(path), expected="one - scene_filter: NAME"
        )
    return str(names[0])


def _filter(content: Mapping[str, Any], where: str) -> SceneFilter:
    known = {one.name for one in fields(SceneFilter)}
    given = {key: value for key, value in content.items() if not str(key).startswith("_")}
    strange = sorted(str(key) for key in set(given) - known - set(_UNUSED))
    if strange:
        raise BadInput(
            f"scene filter has a key {strange[0]!r}",
            where=where,
            expected=f"one of: {', '.join(sorted(known))}",
        )
    try:
        return SceneFilter(**{key: given[key] for key in known if key in given})
    except BadInput as error:
        raise BadInput(
            error.what, where=where, expected=error.expected, remedy=error.remedy
        ) from error


def synthetic_tokens(scene_filter: SceneFilter) -> tuple[str, ...]:
    """Return the tokens of synthetic scenes that a filter names, each once, in its order."""
    named = [token for name in SYNTHETIC for token in getattr(scene_filter, name) or ()]
    return tuple(dict.fromkeys(named))


def _at_least(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise BadInput(f"{name} is {value!r:.40}", expected=f"a whole number, {least} or more")


def _texts(name: str, values: object) -> tuple[str, ...] | None:
    if values is None:
        return None
    if not isinstance(values, (list, tuple)):
        raise BadInput(f"{name} is {values!r:.40}", expected="a list")
    for value in values:
        if not isinstance(value, str):
            raise BadInput(
                f"{name} holds {value!r:.40}, a {type(value).__name__}",
                expected="text",
                remedy="put quotes round it: YAML takes some tokens for numbers",
            )
    return tuple(values)
