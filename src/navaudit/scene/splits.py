"""Which scenes there are: a filter's scenes in a folder of logs, in one order for everybody.

The order is by log name, then by time. Stock takes the order in which the file system happens to
list the logs (navsim/common/dataloader.py:37), so with ``max_scenes`` the scenes themselves differ
between machines there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from navaudit.errors import BadInput
from navaudit.scene.filters import SceneFilter, synthetic_tokens
from navaudit.world.logs import Frame, Log, Unread, read_log
from navaudit.world.trigonometry import LIBM, Trig

_NAMED: Final = 5
"""How many of the missing an error names."""


@dataclass(frozen=True, order=True)
class Pick:
    """One scene of a log. Picks sort by log, then by time."""

    log: str
    """Name of the log's file."""
    time_us: int
    token: str
    """Of the frame at t = 0."""
    frame: int
    """Position of that frame in the log."""


@dataclass(frozen=True)
class Selection:
    """The scenes a filter found, and what it asked for but did not find."""

    picks: tuple[Pick, ...]
    """By log name, then time."""
    missing_logs: tuple[str, ...]
    """Named by the filter, not on disk; sorted."""
    missing_tokens: Mapping[str, str] = field(default_factory=dict)
    """Named by the filter and not found: why not, by token, in the filter's order."""

    @property
    def complete(self) -> bool:
        """Whether everything asked for was found."""
        return not self.missing_logs and not self.missing_tokens

    def require_complete(self) -> Selection:
        """Return this selection, or raise `BadInput` naming what is missing."""
        if self.complete:
            return self
        first = list(self.missing_tokens)[:_NAMED]
        reasons = [f"{token} ({self.missing_tokens[token]})" for token in first]
        named = [*(f"log {log}" for log in self.missing_logs[:_NAMED]), *reasons]
        raise BadInput(
            f"{len(self.missing_tokens)} tokens and {len(self.missing_logs)} logs are missing; "
            f"{len(self.picks)} scenes are there",
            where="; ".join(named),
            expected="every token and log that the split names",
            remedy="download the missing logs, or say that an incomplete split will do",
        )


def select(folder: Path, scene_filter: SceneFilter, *, trig: Trig = LIBM) -> Selection:
    """Look through the logs of a folder, one after the other, for the filter's scenes.

    Reading stops once ``max_scenes`` are found, and what that leaves out does not count as missing.
    Synthetic scenes lie elsewhere and are not looked for; those that the filter names do count.
    """
    paths, missing_logs = _log_files(folder, scene_filter)
    seen: dict[str, Pick] = {}
    reasons: dict[str, str] = {}
    enough = False
    for path in paths:
        log = read_log(path, trig=trig)
        for pick in scenes_of(log, scene_filter):
            if pick.token in seen:
                raise BadInput(
                    f"token {pick.token} stands twice",
                    where=f"logs {seen[pick.token].log} and {log.name}",
                    expected="a token of its own for every frame",
                )
            seen[pick.token] = pick
        reasons.update(_reasons(log, scene_filter))
        if scene_filter.max_scenes is not None and len(seen) >= scene_filter.max_scenes:
            enough = True
            break
    picks = tuple(sorted(seen.values()))[: scene_filter.max_scenes]
    return Selection(
        picks=picks,
        missing_logs=missing_logs,
        missing_tokens=_missing(scene_filter, set(seen), reasons, enough),
    )


def scenes_of(log: Log, scene_filter: SceneFilter) -> tuple[Pick, ...]:
    """Return the scenes that a filter cuts from one log, by time; ``max_scenes`` is not looked at.

    Scenes begin every ``interval`` frames from the first; the last ones, too short, are left out.
    """
    wanted = None if scene_filter.tokens is None else frozenset(scene_filter.tokens)
    now = scene_filter.num_history_frames - 1
    last = len(log) - scene_filter.num_frames
    rows = range(now, last + now + 1, scene_filter.interval)
    return tuple(
        Pick(log.name, frame.time_us, frame.token, row)
        for row, frame in ((row, log.frames[row]) for row in rows)
        if not scene_filter.has_route or _may_have_route(frame)
        if wanted is None or frame.token in wanted
    )


def _may_have_route(frame: Frame | Unread) -> bool:
    """Whether there is a route, or no telling: then the scene fails, and says why."""
    return isinstance(frame, Unread) or len(frame.roadblock) > 0


def _log_files(folder: Path, scene_filter: SceneFilter) -> tuple[list[Path], tuple[str, ...]]:
    found = {path.stem: path for path in folder.glob("*.pkl")}
    if not found:
        raise BadInput(
            "there are no logs",
            where=str(folder),
            expected="*.pkl",
            remedy="give the folder of one data split below navsim_logs",
        )
    names = set(found if scene_filter.log_names is None else scene_filter.log_names)
    return (
        [found[name] for name in sorted(names & set(found))],
        tuple(sorted(names - set(found))),
    )


def _reasons(log: Log, scene_filter: SceneFilter) -> Iterator[tuple[str, str]]:
    """Say why wanted frames of a log make no scene."""
    for token in scene_filter.tokens or ():
        row = log.find(token)
        if row is None:
            continue
        before, after = row, len(log) - 1 - row
        if before < scene_filter.num_history_frames - 1:
            yield token, f"only {before} frames before it in log {log.name}"
        elif after < scene_filter.num_future_frames:
            yield token, f"only {after} frames after it in log {log.name}"
        elif (row - scene_filter.num_history_frames + 1) % scene_filter.interval:
            yield token, f"no scene begins there with frame_interval {scene_filter.interval}"
        elif scene_filter.has_route and not _may_have_route(log.frames[row]):
            yield token, f"no route in log {log.name}"


def _missing(
    scene_filter: SceneFilter, seen: set[str], reasons: Mapping[str, str], enough: bool
) -> dict[str, str]:
    missing = {}
    for token in scene_filter.tokens or ():
        if token in reasons:
            missing[token] = reasons[token]
        elif token not in seen and not enough:
            missing[token] = "in none of the logs read"
    if scene_filter.include_synthetic_scenes:
        missing |= dict.fromkeys(synthetic_tokens(scene_filter), "a synthetic scene")
    return missing
