"""What the seven heads are asked for in a scene, under each arm of an experiment.

=====  ===========  ====================================================================
arm    policy       a column on which the human scored zero
=====  ===========  ====================================================================
A      published    passes for every candidate
M      masked       is left out of its head's term
P      raw          stays as the scorer measured it
L0     pass-lk      as published; and every lane-keeping target passes, everywhere
=====  ===========  ====================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import COLUMNS, DDC, HEAD_COLUMNS, HEADS, NC
from navaudit.errors import BadInput
from navaudit.labels.policies import Halves

ARMS: Final = {"published": "A", "masked": "M", "raw": "P", "pass-lk": "L0", "path": "H"}
"""The letter of each policy as an arm."""

METRICS: Final = HEADS[:-1]
"""The heads that learn a column, in their own order."""

_HALVED: Final = np.isin(HEAD_COLUMNS, (NC, DDC))


@dataclass(frozen=True, eq=False)
class Targets:
    """Targets of one scene."""

    values: NDArray[np.float32]
    """``[head, candidate]``: in [0, 1]; 0 throughout where the head is not asked."""
    asked: NDArray[np.bool_]
    """``[head]``: whether the head's term reads this scene."""

    def __post_init__(self) -> None:
        values = frozen(self.values, np.float32, (len(METRICS), None))
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "asked", frozen(self.asked, np.bool_, (len(METRICS),)))


def targets_of(given: Halves, where: str = "") -> Targets:
    """Make targets of what a policy gives: float16 ``[column, candidate]``.

    A half in NC and DDC counts as failing, as the released loss has it (three2two there). A column
    that abstains must do so for all candidates.
    """
    values = np.asarray(given)[list(HEAD_COLUMNS)].astype(np.float32)
    unknown = np.isnan(values)
    asked: NDArray[np.bool_] = np.logical_not(unknown.any(axis=1))
    for head in np.flatnonzero(~asked & ~unknown.all(axis=1)):
        count = int(unknown[head].sum())
        raise BadInput(
            f"{COLUMNS[HEAD_COLUMNS[head]]} abstains for {count} of {values.shape[1]} candidates",
            where=where or None,
            expected="a column that abstains for all candidates or for none",
        )
    outside = asked & ((values < 0.0) | (values > 1.0)).any(axis=1)
    for head in np.flatnonzero(outside):
        worst = float(values[head][np.abs(values[head] - 0.5).argmax()])
        raise BadInput(
            f"{COLUMNS[HEAD_COLUMNS[head]]} reaches {worst:g}",
            where=where or None,
            expected="targets between 0 and 1",
        )
    values[~asked] = 0.0
    halves = values[_HALVED]
    values[_HALVED] = np.where(halves == 0.5, np.float32(0.0), halves)
    return Targets(values, asked)
