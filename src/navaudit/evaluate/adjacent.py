"""Which frames of a drive follow each other so closely that their plans are compared.

A frame is compared with the one before it in its log, among the frames that were evaluated, if at
most 0.55 s lie between them; the first of a stretch has none. Comparing them then demands a gap
that is above zero and *below* 0.55 s, so a gap of 0.55 s sharp, or of none, ends the stock
evaluation with an assertion: here it is refused by name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from navaudit.axes import DT_S
from navaudit.errors import BadInput

NEAR_S: Final = 0.55
"""Largest gap between frames that are compared."""


def steps_between(
    earlier_us: int, later_us: int, tokens: tuple[str, str] = ("earlier", "later")
) -> int | None:
    """Steps of a rollout from a frame to the next one, None if they are too far apart.

    Examples
    --------
    >>> steps_between(1_621_966_753_501_093, 1_621_966_754_000_787)
    5
    >>> steps_between(0, 1_000_000) is None
    True
    """
    # seconds are subtracted as floats, as the stock mapping does
    # (run_pdm_score_one_stage.py:infer_start_adjacent_mapping)
    gap_s = later_us * 1e-6 - earlier_us * 1e-6
    if abs(gap_s) > NEAR_S:
        return None
    steps = round(gap_s / DT_S)
    if not 0.0 < gap_s < NEAR_S or steps < 1:
        raise BadInput(
            f"frames {gap_s:g} s apart cannot be compared",
            where=f"tokens {tokens[0]} and {tokens[1]}",
            expected=f"at least {DT_S:g} s and less than {NEAR_S:g} s, or more than that",
            remedy="leave one of the two out; the stock evaluation ends with an assertion here",
        )
    return steps


def expect_comparable(tokens: Sequence[str], logs: Sequence[str], times_us: Sequence[int]) -> None:
    """Refuse frames, by log and then by time, two of which are too close to be compared."""
    for i in range(1, len(tokens)):
        if logs[i] == logs[i - 1]:
            steps_between(times_us[i - 1], times_us[i], (tokens[i - 1], tokens[i]))
