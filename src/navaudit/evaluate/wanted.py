"""Which tokens are evaluated: those that are planned and those that have a scene, all of them.

What is missing on either side is a row that failed, with its reason, and never just not there. Only
where a person asks for the overlap alone are the others left out, and then they are named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from navaudit.errors import BadInput
from navaudit.scene.logfile import Failure
from navaudit.scene.store import SceneSet

SYNTHETIC: Final = 17
"""Letters in the token of a synthetic scene, which only a second stage has."""


@dataclass(frozen=True)
class Wanted:
    """Rows of a run, before anything is scored."""

    tokens: tuple[str, ...]
    """Those with a scene by log name, then time; then those without, by name."""
    logs: tuple[str, ...]
    times_us: tuple[int, ...]
    failures: tuple[Failure, ...]
    """Rows that cannot be scored."""
    left_out: Mapping[str, tuple[str, ...]]
    """Tokens that are no rows, by reason."""

    @property
    def scored(self) -> tuple[int, ...]:
        """Rows that have a scene and a plan."""
        failed = {one.token for one in self.failures}
        return tuple(row for row, token in enumerate(self.tokens) if token not in failed)


def is_original(token: str) -> bool:
    """Whether a token is a frame of a log, not a synthetic one."""
    return len(token) != SYNTHETIC


def want(scenes: SceneSet, planned: Mapping[str, Any], *, partial: bool = False) -> Wanted:
    """Lay out the rows of plans by token; ``partial`` keeps the overlap with the scenes alone."""
    unplanned = tuple(token for token in scenes.tokens if token not in planned)
    homeless = sorted(token for token in planned if token not in scenes)
    second = tuple(token for token in homeless if not is_original(token))
    homeless = [token for token in homeless if is_original(token)]
    left_out = {"planned for a synthetic scene of a second stage": second}
    if partial:
        left_out |= {"planned, and there is no scene": tuple(homeless)}
        left_out |= {"there is a scene, and no plan": unplanned}
    there = [token for token in scenes.tokens if token in planned or not partial]
    apart = [] if partial else homeless
    if not set(there) - set(unplanned):
        raise _nothing(scenes, planned)
    failures = [] if partial else [_unplanned(token, scenes) for token in unplanned]
    failures += [_homeless(token, scenes) for token in apart]
    return Wanted(
        tokens=(*there, *apart),
        logs=(*map(scenes.log_of, there), *("" for _ in apart)),
        times_us=(*map(scenes.time_us_of, there), *(0 for _ in apart)),
        failures=tuple(failures),
        left_out={reason: tokens for reason, tokens in left_out.items() if tokens},
    )


def _unplanned(token: str, scenes: SceneSet) -> Failure:
    return Failure(
        token,
        scenes.log_of(token),
        "there is no plan for this token",
        expected="a planned trajectory for every scene",
        remedy="let the agent plan it, or evaluate the overlap alone",
    )


def _homeless(token: str, scenes: SceneSet) -> Failure:
    told = next((str(one) for one in scenes.failures if one.token == token), None)
    return Failure(
        token,
        "unknown",
        "there is no scene for this token",
        where=str(scenes.folder),
        expected="a scene for every planned trajectory",
        remedy=f"it could not be made: {told}"
        if told
        else "make the scenes of this split whole, or evaluate the overlap alone",
    )


def _nothing(scenes: SceneSet, planned: Mapping[str, Any]) -> BadInput:
    return BadInput(
        f"none of {len(planned)} planned tokens has a scene",
        where=str(scenes.folder),
        expected=f"tokens such as {', '.join(scenes.tokens[:2])}",
        remedy="give plans and scenes of one split",
    )
