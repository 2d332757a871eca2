"""Forgiven scenes and those they are set against: pairs on the failing count, and all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.probe.scenes import Scenes
from navaudit.stats.matching import imbalance, match

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Pairing:
    """Who is set against whom; all but ``supply`` are places of scenes."""

    forgiven: Ints
    unforgiven: Ints
    treatment: Ints
    """``[pair]``: forgiven scenes with a partner, ascending."""
    control: Ints
    """``[pair]``: the unforgiven partner of each."""
    unmatched: Ints
    """Forgiven scenes without a free partner inside the caliper."""
    supply: Ints
    """``[forgiven]``: admissible partners of each before anyone has chosen."""
    before: float | None
    """Absolute standardized difference of the failing counts, forgiven against unforgiven."""
    after: float | None
    """The same over the pairs; None of fewer than two."""

    @classmethod
    def of(cls, scenes: Scenes, caliper: int) -> Pairing:
        """Match every forgiven scene, the scarcest first, without replacement."""
        there, here = np.flatnonzero(scenes.forgiven), np.flatnonzero(~scenes.forgiven)
        counts = scenes.failing
        found = match(counts[there], counts[here], caliper=caliper)
        treatment, control = there[found.treatment], here[found.control]
        places = {
            "forgiven": there,
            "unforgiven": here,
            "treatment": treatment,
            "control": control,
            "unmatched": there[found.unmatched],
            "supply": found.supply,
        }
        return cls(
            **{name: frozen(each, np.int64, (None,)) for name, each in places.items()},
            before=_balance(counts[there], counts[here]),
            after=_balance(counts[treatment], counts[control]),
        )


def _balance(treatment: Ints, control: Ints) -> float | None:
    if min(treatment.size, control.size) < 2:
        return None
    return imbalance(treatment, control)
