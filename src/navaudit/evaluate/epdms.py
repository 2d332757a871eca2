"""The extended score of a planned trajectory, and what forgiveness does to it.

A score has ten metrics: the eight components a scorer stores, two-frame extended comfort, and the
aggregate::

    score = NC DAC DDC TLC (5 EP + 5 TTC + 2 LK + 2 HC + 2 EC) / 16

where the term of EC, and its 2 in the denominator, are left out for a token that has no previous
frame. What is reported depends on a switch:

``off``
    No forgiveness.
``on``
    A component on which the human scored zero passes, and the aggregate is made of what passes, as
    NAVSIM does since its Issue #151 was fixed.
``pre-fix``
    The components of ``on`` beside the aggregate of ``off``, as NAVSIM wrote them before that.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import COLUMNS, DAC, DDC, EP, HC, LK, NC, PDM, TLC, TTC
from navaudit.axes import SHORT as SHORT_COLUMNS
from navaudit.errors import BadInput
from navaudit.score.forgive import forgiven_columns
from navaudit.score.sheet import WEIGHTS

Floats = NDArray[np.float64]
Switch = Literal["off", "on", "pre-fix"]

SWITCHES: Final[tuple[Switch, ...]] = ("off", "on", "pre-fix")

COMPONENTS: Final = COLUMNS[:PDM]
"""The eight sub-metrics, in the order of the stored columns."""

METRICS: Final = (*COMPONENTS, "two_frame_extended_comfort", "score")
"""What a score is made of, in the order of a result file."""

SHORT: Final = (*SHORT_COLUMNS[:PDM], "EC", "EPDMS")
"""The metrics' short names, in the same order."""

EC, EPDMS = len(COMPONENTS), len(COMPONENTS) + 1

COMFORT_WEIGHT: Final = 2.0
"""Of extended comfort; the other weights are `score.sheet.WEIGHTS`."""

BLIND: Final = (EP, HC)
"""Components no human can fail, scored alone and without a past: forgiveness never reaches them."""


def aggregate(components: Floats, comfort: Floats) -> Floats:
    """Extended score ``[token]`` of components ``[token, component]`` and comfort ``[token]``.

    Comfort is NaN where a token has no previous frame; a NaN component makes the score NaN.

    Examples
    --------
    >>> passing = np.ones((2, 8))
    >>> passing[:, 6] = 0.0
    >>> aggregate(passing, np.array([np.nan, 1.0])).tolist()
    [0.8571428571428571, 0.875]
    """
    product = components[:, NC] * components[:, DAC] * components[:, DDC] * components[:, TLC]
    weighted = components[:, EP] * WEIGHTS[0] + components[:, TTC] * WEIGHTS[1]
    weighted = weighted + components[:, LK] * WEIGHTS[2] + components[:, HC] * WEIGHTS[3]
    alone = np.isnan(comfort)
    weight = np.where(alone, 0.0, COMFORT_WEIGHT)
    weighted = weighted + np.where(alone, 0.0, comfort) * weight
    score: Floats = product * (weighted / (sum(WEIGHTS) + weight))
    return score


def forgiven(components: Floats, human: Floats) -> Floats:
    """Components ``[token, component]`` after the human filter; a failed token stays NaN.

    ``human`` has the same shape and is NaN where there is no human to look at.

    Examples
    --------
    >>> forgiven(np.array([[0.0, 0.5, np.nan]]), np.array([[0.0, 0.5, 0.0]])).tolist()
    [[1.0, 0.5, nan]]
    """
    passes = forgiven_columns(human) & ~np.isnan(components)
    return np.where(passes, 1.0, components)


def score_under(switch: str, components: Floats, human: Floats, comfort: Floats) -> Floats:
    """Scores ``[token, metric]`` as a switch reports them."""
    if switch not in SWITCHES:
        raise BadInput(f"switch {switch!r} does not exist", expected=" | ".join(SWITCHES))
    shown = components if switch == "off" else forgiven(components, human)
    counted = shown if switch == "on" else components
    total = aggregate(counted, comfort)
    return np.column_stack([shown, np.where(np.isnan(total), np.nan, comfort), total])
