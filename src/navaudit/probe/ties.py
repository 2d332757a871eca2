"""What the order of tied candidates could have made of the forgiven scenes' readings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navaudit.probe.scenes import Scenes
from navaudit.stats.auc import mcclish

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Treatment:
    """Readings of the forgiven scenes under one treatment of ties."""

    name: str
    precision: tuple[float, float, float]
    """Median, fifth and twenty-fifth percentile of average precision."""
    partial: tuple[float, float, float]
    """The same of the partial AUC."""
    zeros: int
    """Scenes whose partial area is exactly zero."""
    same_zeros: bool
    """They are those of the ties as sorted."""


@dataclass(frozen=True)
class Ties:
    """Every treatment: as sorted, grouped, and each draw."""

    treatments: tuple[Treatment, ...]
    draws: int

    @classmethod
    def of(cls, scenes: Scenes) -> Ties:
        """Read the forgiven scenes under every treatment; nothing where there are none."""
        there = scenes.forgiven
        if not there.any():
            return cls((), 0)
        zero = scenes.area[there] == 0.0
        found = tuple(
            _treatment(name, precision, area, zero, scenes.max_fpr)
            for name, precision, area in _treated(scenes, there)
        )
        return cls(found, len(scenes.drawn_area))

    @property
    def same_zeros(self) -> bool:
        """Whether every treatment finds the same scenes with a partial area of zero."""
        return all(one.same_zeros for one in self.treatments)

    def spread(self) -> tuple[float, float, float, float, float, float]:
        """Largest difference between two treatments of each of the six readings."""
        values = np.array([(*one.precision, *one.partial) for one in self.treatments])
        a, b, c, d, e, f = (float(one) for one in np.ptp(values, axis=0))
        return a, b, c, d, e, f


def _treated(scenes: Scenes, there: NDArray[np.bool_]) -> Iterator[tuple[str, Floats, Floats]]:
    yield "as sorted", scenes.precision[there], scenes.area[there]
    yield "grouped", scenes.grouped_precision[there], scenes.grouped_area[there]
    drawn = zip(scenes.drawn_precision, scenes.drawn_area, strict=True)
    for k, (precision, area) in enumerate(drawn):
        yield f"draw {k}", precision, area


def _treatment(
    name: str, precision: Floats, area: Floats, zero: NDArray[np.bool_], max_fpr: float
) -> Treatment:
    return Treatment(
        name,
        _three(precision),
        _three(mcclish(area, max_fpr)),
        int((area == 0.0).sum()),
        bool(np.array_equal(area == 0.0, zero)),
    )


def _three(values: Floats) -> tuple[float, float, float]:
    low, quarter, middle = np.percentile(values, (5.0, 25.0, 50.0))
    return float(middle), float(low), float(quarter)
