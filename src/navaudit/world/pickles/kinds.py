"""Kinds of pickled files: what each may name, and how much of it there may be."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from navaudit.world.pickles.foreign import (
    CACHE_NAMES,
    PLAIN_NAMES,
    POSE_NAMES,
    QUATERNION_NAMES,
    Names,
)

_MEGA: Final = 1 << 20


@dataclass(frozen=True)
class Kind:
    """One kind of file: its allow-list and its ceilings.

    The ceilings are several times what real files need; what they bound is the time and the
    memory a broken or hostile file can cost.
    """

    title: str
    """What a person calls it."""
    names: Names
    """Globals it may name; everything else is refused."""
    file_bytes: int
    """Largest file that is read whole."""
    operations: int
    """Most opcodes a file, or an entry of a file that is walked, may have."""
    xz: bool = False
    """Whether the pickle lies inside an xz container."""
    pickle_bytes: int = 0
    """Largest pickle inside the container."""
    values: int = 64 * _MEGA
    """Most values once shared parts are counted as often as they are referred to."""
    depth: int = 64
    """Deepest nesting."""


LOG: Final = Kind(
    "log",
    MappingProxyType({**PLAIN_NAMES, **QUATERNION_NAMES}),
    file_bytes=1024 * _MEGA,
    operations=16 * _MEGA,
)
"""An OpenScene log: a list of frames of numbers, text and arrays."""

METRIC_CACHE: Final = Kind(
    "metric cache",
    MappingProxyType({**PLAIN_NAMES, **CACHE_NAMES}),
    file_bytes=64 * _MEGA,
    operations=8 * _MEGA,
    xz=True,
    pickle_bytes=256 * _MEGA,
)
"""NAVSIM's ``metric_cache.pkl``."""

LABELS: Final = Kind(
    "label file",
    PLAIN_NAMES,
    file_bytes=4096 * _MEGA,
    operations=8 * _MEGA,
)
"""GTRS labels: token to column to array; the released one is far too large to read whole."""

PREDICTIONS: Final = Kind(
    "prediction file",
    MappingProxyType({**PLAIN_NAMES, **POSE_NAMES}),
    file_bytes=4096 * _MEGA,
    operations=16 * _MEGA,
)
"""What an agent predicted, by token: arrays and NAVSIM trajectories."""

PLAIN: Final = Kind(
    "plain file",
    PLAIN_NAMES,
    file_bytes=1024 * _MEGA,
    operations=16 * _MEGA,
)
"""Split indexes, statistics and other plain data."""

KINDS: Final = (LOG, METRIC_CACHE, LABELS, PREDICTIONS, PLAIN)
"""Every kind there is."""
