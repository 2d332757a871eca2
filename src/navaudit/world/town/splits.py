"""The splits of a town, as NAVSIM writes them: a data split's name and a scene filter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from navaudit.world.town.outings import FUTURE, HISTORY

SPLIT: Final = "town"
"""Folder of the logs and of the camera files; also the split that holds every scene."""

TEST_EACH: Final = 5
"""Every so many-th log is for testing."""

Scenes = list[tuple[str, list[str]]]
"""Name of each log, and the tokens of its scenes."""


def split_files(scenes: Scenes) -> dict[str, str]:
    """Text of each file by its path: all scenes, those for training and those for testing."""
    test = scenes[TEST_EACH - 1 :: TEST_EACH]
    train = [one for one in scenes if one not in test]
    parts = {SPLIT: scenes, f"{SPLIT}train": train, f"{SPLIT}test": test}
    files = {}
    for name, part in parts.items():
        files[f"train_test_split/{name}.yaml"] = (
            f"defaults:\n  - scene_filter: {name}\n\ndata_split: {SPLIT}\n"
        )
        files[f"train_test_split/scene_filter/{name}.yaml"] = _filter(part)
    return files


def _filter(scenes: Scenes) -> str:
    logs = [log for log, _ in scenes]
    tokens = [token for _, many in scenes for token in many]
    return (
        "_target_: navsim.common.dataclasses.SceneFilter\n_convert_: 'all'\n\n"
        f"num_history_frames: {HISTORY + 1}\nnum_future_frames: {FUTURE}\nframe_interval: 1\n"
        f"has_route: true\nmax_scenes: null\nlog_names:{_list(logs)}\n\ntokens:{_list(tokens)}\n"
    )


def _list(names: Iterable[str]) -> str:
    lines = [f"\n  - '{name}'" for name in names]
    return "".join(lines) or " []"
