"""Why a drive has the score it has: one reason a column, in numbers and in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import COLUMNS, DT_S, SHORT, STATE, STEPS
from navaudit.scene.scene import Scene
from navaudit.score.course import Course
from navaudit.score.drive import Drive

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Reason:
    """What decides one column of one drive.

    A column that is 1 is explained by its closest call, one that is less by its first failure.
    """

    column: int
    """Index into ``axes.COLUMNS``."""
    score: float
    words: str
    """One line for a person."""
    step: int | None = None
    """Step of the first failure, or of the closest call; None where nothing came close."""
    measure: str = ""
    """What ``value`` is a measure of."""
    value: float | None = None
    bound: float | None = None
    margin: float | None = None
    """How far the value is on the good side of the bound, in ``unit``; at most 0 where it fails."""
    unit: str = "m"
    subject: str | None = None
    """Track token of an object, map id of a polygon, or name of a test."""
    where: tuple[float, float] | None = None
    """Point of the map, x_m and y_m, at which to look."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What else belongs to it: numbers, words, and lists of these."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))

    @property
    def fails(self) -> bool:
        """Whether the column is less than 1."""
        return self.score < 1.0

    @property
    def time_s(self) -> float | None:
        """Time of ``step``."""
        return None if self.step is None else round(self.step * DT_S, 1)

    def record(self) -> dict[str, Any]:
        """Return the reason as JSON has it."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {
            **plain,
            "column": COLUMNS[self.column],
            "short": SHORT[self.column],
            "time_s": self.time_s,
            "where": None if self.where is None else list(self.where),
            "facts": dict(self.facts),
        }


@dataclass(frozen=True, eq=False)
class Account:
    """One drive and the reasons of its scores."""

    reasons: tuple[Reason, ...]
    """One for each of ``axes.COLUMNS``."""
    states: Floats
    """``[step, 11]``, columns as ``axes.STATE``."""
    points: Floats
    """``[step, 5, xy]``: corners and centre, as ``axes.CORNERS``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "states", frozen(self.states, np.float64, (STEPS, len(STATE))))
        object.__setattr__(self, "points", frozen(self.points, np.float64, (STEPS, 5, 2)))

    @property
    def scores(self) -> Floats:
        """``[column]``, columns as ``axes.COLUMNS``."""
        return np.array([reason.score for reason in self.reasons])

    @property
    def failures(self) -> tuple[Reason, ...]:
        """The reasons of pass-or-fail columns that are less than 1, in the order of time."""
        failed = [one for one in self.reasons if one.fails and one.step is not None]
        return tuple(sorted(failed, key=lambda one: one.step or 0))


@dataclass(frozen=True, eq=False)
class Ride:
    """One drive on the course, prepared for the kernels, with the verdicts of the engine."""

    scene: Scene
    course: Course
    drive: Drive
    scores: Floats
    """``[column]``"""
    first_step: NDArray[np.int8]
    """``[column]``: step at which the metric fails first, -1 where it does not."""
    progress_m: float
    spare_crossroads: bool

    def failed_at(self, column: int) -> int | None:
        """Step at which a column fails first."""
        step = int(self.first_step[column])
        return None if step < 0 else step


def at_s(step: int) -> str:
    """Say when a step is.

    >>> at_s(13)
    '1.3 s'
    """
    return f"{step * DT_S:.1f} s"


def shorten(name: str) -> str:
    """Shorten a token for a line of text.

    >>> shorten("1ca2f00dc0ffee11")
    '1ca2f00d…'
    """
    return name if len(name) <= 10 else f"{name[:8]}…"
