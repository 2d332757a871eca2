"""Objects and red lights over the horizon, from annotations at two frames a second."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import DT_S, HEADING, STEPS, X, Y
from navaudit.errors import BadInput
from navaudit.numerics.polygons import Polygons
from navaudit.scene.outlook import Sighting
from navaudit.scene.scene import AGENT_KINDS, BICYCLE, Lights, Traffic
from navaudit.world.logs import INTERVAL_S, Boxes, Frame
from navaudit.world.trigonometry import LIBM, Trig

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

FRAMES: Final = 9
"""Frames that the horizon spans: t = 0.0, 0.5, ..., 4.0 s, by count and not by time stamp."""

_HELD: Final = 5  # steps for which a frame's lights hold
_POSITION: Final = slice(0, 2)
_TURN: Final = 2
_SIZE: Final = slice(3, 5)
_READ: Final = (0, 1, 3, 4, 6)  # of a logged box: all but its altitude and its height

_KIND: Final = {name: kind for kind, name in enumerate(AGENT_KINDS)}


# ------------------------------------------------------------------------------- sightings


def sightings(frames: Sequence[Frame], states: Floats, *, trig: Trig = LIBM) -> list[Sighting]:
    """Return what is annotated at each frame, on the map; ``states`` are the ego's ``[frame, 11]``.

    Sorted by kind; objects of one kind keep the order of the file (nuplan/common/actor_state/
    tracked_objects.py:25).
    """
    each = [_boxes(frame) for frame in frames]
    _expect_one_each(each[0].track, f"frame {frames[0].token}")
    ends = np.cumsum([0, *map(len, each)])
    kind = np.array([_KIND[name] for boxes in each for name in boxes.name], np.int8)
    of = np.repeat(np.arange(len(frames)), np.diff(ends))
    order = np.lexsort((kind, of))
    # float32 as logged, computed with in float64
    # (navsim/planning/scenario_builder/navsim_scenario_utils.py:96-130)
    logged = np.concatenate([boxes.box.astype(np.float64) for boxes in each])
    speed = np.concatenate([boxes.velocity_mps[:, :2].astype(np.float64) for boxes in each])
    cosine, sine = trig.cos(states[:, HEADING])[of], trig.sin(states[:, HEADING])[of]
    box = np.empty((len(kind), 5))
    box[:, _POSITION] = _turned(logged[:, :2], cosine, sine) + states[of, X : Y + 1]
    box[:, _TURN] = wrapped(wrapped(logged[:, 6] + states[of, HEADING], trig), trig)
    box[:, _SIZE] = logged[:, 3:5]
    velocity = np.where(kind[:, None] <= BICYCLE, _turned(speed, cosine, sine), 0.0)
    token = [token for boxes in each for token in boxes.track]
    rows = [order[a:b] for a, b in pairwise(ends)]
    return [
        Sighting(tuple(token[i] for i in one), kind[one], box[one], velocity[one]) for one in rows
    ]


def _boxes(frame: Frame) -> Boxes:
    boxes = frame.boxes
    if boxes is None:
        raise BadInput(
            "the frame has no annotations",
            where=f"frame {frame.token}",
            expected="them, at t = 0 and the eight frames after it",
            remedy="use the logs of a split with annotations",
        )
    # velocities may be missing: those of statics are never read, those of agents by `foresee`
    if not np.isfinite(boxes.box[:, _READ]).all():
        raise BadInput(
            "a box is not finite",
            where=f"frame {frame.token}",
            expected="numbers",
            remedy="leave the scene out, or mend its log",
        )
    strange = sorted(set(boxes.name).difference(_KIND))
    if strange:
        raise BadInput(
            f"an object is of kind {strange[0]!r}",
            where=f"frame {frame.token}",
            expected=f"one of: {', '.join(AGENT_KINDS)}",
        )
    return boxes


def _expect_one_each(tracks: Sequence[str], where: str) -> None:
    if len(set(tracks)) < len(tracks):
        raise BadInput(
            f"track {next(one for one in tracks if tracks.count(one) > 1)} is annotated twice",
            where=where,
            expected="one box of each track at t = 0",
        )


def _turned(xy: Floats, cosine: Floats, sine: Floats) -> Floats:
    x, y = xy[:, 0], xy[:, 1]
    return np.column_stack([x * cosine - y * sine, x * sine + y * cosine])


def wrapped(angle_rad: Floats, trig: Trig) -> Floats:
    """Return angles in [-pi, pi], by way of their sine and cosine as stock does."""
    return trig.atan2(trig.sin(angle_rad), trig.cos(angle_rad))


# ------------------------------------------------------------------------------ the horizon


@dataclass(frozen=True, eq=False)
class _Tracks:
    """Sightings by frame and track; tracks in the order in which they are met.

    A frame may show a track more than once: *turns* are its sightings there, the last one repeated.
    """

    token: tuple[str, ...]
    kind: NDArray[np.int8]
    seen: NDArray[np.bool_]  # [frame, track]
    box: Floats  # [frame, turn, track, 5]
    velocity_mps: Floats  # [frame, turn, track, xy]

    @classmethod
    def of(cls, sightings: Sequence[Sighting]) -> _Tracks:
        place: dict[str, int] = {}
        for one in sightings:
            for token in one.token:
                place.setdefault(token, len(place))
        turns = [_turns(one.token) for one in sightings]
        shape = (len(sightings), 1 + max(turn.max(initial=0) for turn in turns), len(place))
        seen, kind = np.zeros((shape[0], shape[2]), np.bool_), np.full(len(place), -1, np.int8)
        box, velocity = np.zeros((*shape, 5)), np.zeros((*shape, 2))
        for frame, one in enumerate(sightings):
            rows = np.array([place[token] for token in one.token], np.int64)
            for turn in range(shape[1]):
                now = turns[frame] == turn
                at = rows[now]
                box[frame][turn:, at], velocity[frame][turn:, at] = (
                    one.box[now],
                    one.velocity_mps[now],
                )
                kind[at] = np.where(kind[at] < 0, one.kind[now], kind[at])
            seen[frame, rows] = True
        return cls(tuple(place), kind, seen, box, velocity)


def _turns(tokens: Sequence[str]) -> Rows:
    """Return for each sighting of a frame how many of its track come before it."""
    if len(set(tokens)) == len(tokens):
        return np.zeros(len(tokens), np.int64)
    return np.array([tokens[:i].count(token) for i, token in enumerate(tokens)], np.int64)


def _expect_beginnings(sightings: Sequence[Sighting]) -> None:
    """Refuse tracks whose first frame shows them twice, and a later one again.

    Stock divides by no time there and stops at the boxes that come of it.
    """
    known: set[str] = set()
    doubled: set[str] = set()
    for one in sightings:
        again = doubled.intersection(one.token)
        if again:
            raise BadInput(
                f"track {min(again)} is annotated twice in the frame that shows it first",
                expected="one box of it there",
            )
        doubled |= {
            token for token in one.token if token not in known and one.token.count(token) > 1
        }
        known.update(one.token)


def traffic_over(sightings: Sequence[Sighting], *, trig: Trig = LIBM) -> Traffic:
    """Return the objects of nine frames at 10 Hz.

    Between sightings an object moves evenly, also over frames in which it is not seen; before the
    first and after the last it is absent, but one that a single frame shows is there throughout.
    Size and kind are those of the first sighting
    (navsim/planning/metric_caching/metric_cache_processor.py:128-199).
    """
    tracks = _Tracks.of(sightings)
    _expect_beginnings(sightings)
    times_s: Floats = np.arange(STEPS, dtype=np.float64) * DT_S
    knots_s: Floats = np.arange(len(sightings), dtype=np.float64) * INTERVAL_S
    first, last = _ends(tracks.seen)
    present = (knots_s[first] <= times_s[:, None]) & (times_s[:, None] <= knots_s[last])
    once = first == last
    present[:, once] = True
    values = _interpolated(tracks, times_s, knots_s, trig)
    each = np.arange(len(tracks.token))
    box = np.empty((STEPS, len(each), 5))
    box[..., :3] = np.where(once[:, None], tracks.box[first, 0, each, :3], values[..., :3])
    box[..., 3:] = tracks.box[first, 0, each, 3:]
    box[~present] = np.nan
    begin = np.argmax(present, axis=0)
    moving = tracks.kind <= BICYCLE
    velocity = np.where(
        once[:, None], tracks.velocity_mps[first, 0, each], values[begin, each, 3:]
    ) * moving[:, None]  # fmt: skip
    order = np.lexsort((each, tracks.kind, begin))
    return Traffic(
        tuple(tracks.token[row] for row in order),
        tracks.kind[order],
        box[:, order],
        present[:, order],
        velocity[order],
    )


def _ends(seen: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Return the first and the last frame in which each track is seen."""
    return np.argmax(seen, axis=0), len(seen) - 1 - np.argmax(seen[::-1], axis=0)


def _interpolated(tracks: _Tracks, times_s: Floats, knots_s: Floats, trig: Trig) -> Floats:
    """Return x, y, heading, vx, vy of each track: ``[step, track, 5]``; any values where absent.

    As scipy's ``interp1d``: a time on a knot belongs to the interval before it.  A track seen more
    than once in a frame arrives where it is shown first and leaves from where it is shown last.
    """
    following, preceding = _neighbours(tracks.seen)
    each = np.arange(len(tracks.token))
    reached = np.minimum(np.searchsorted(knots_s, times_s), len(knots_s) - 1)
    second = following[np.minimum(_ends(tracks.seen)[0] + 1, len(knots_s) - 1), each]
    high = np.maximum(following[reached], second)
    low = preceding[high, each]
    heading = _unwrapped(tracks.box[..., _TURN], tracks.seen, preceding)
    values = np.concatenate(
        [tracks.box[..., _POSITION], heading[..., None], tracks.velocity_mps], axis=3
    )
    after, before = values[high, 0, each], values[low, -1, each]
    gap_s = (knots_s[high] - knots_s[low])[..., None]
    slope = np.divide(after - before, gap_s, out=np.zeros_like(after), where=gap_s > 0.0)
    result = slope * (times_s[:, None] - knots_s[low])[..., None] + before
    result[..., _TURN] = wrapped(result[..., _TURN], trig)
    return result


def _neighbours(seen: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Return for each frame and track the next sighting from it on, and the last before it.

    Where there is none, the last and the first sighting.
    """
    preceding, following = np.empty(seen.shape, np.int64), np.empty(seen.shape, np.int64)
    behind, ahead = _ends(seen)
    for frame in range(len(seen)):
        preceding[frame] = behind
        behind = np.where(seen[frame], frame, behind)
    for frame in reversed(range(len(seen))):
        ahead = np.where(seen[frame], frame, ahead)
        following[frame] = ahead
    return following, preceding


def _unwrapped(heading_rad: Floats, seen: NDArray[np.bool_], preceding: Rows) -> Floats:
    """Return headings ``[frame, turn, track]`` made continuous from sighting to sighting."""
    frames, turns, tracks = heading_rad.shape
    frame = np.arange(frames)[:, None]
    turn = np.arange(turns)[:, None]
    # an unseen frame repeats the sighting before it, which adds nothing to the turns summed up;
    # one before all sightings, the first
    last = np.where(preceding < frame, turns - 1, 0)
    held = np.where(seen[:, None], turn, last[:, None])
    held = held + turns * np.where(seen, frame, preceding)[:, None]
    flat = (frames * turns, tracks)
    each = np.take_along_axis(heading_rad.reshape(flat), held.reshape(flat), axis=0)
    return np.asarray(np.unwrap(each, axis=0)).reshape(heading_rad.shape)


# ----------------------------------------------------------------------------------- lights


def red_lanes(frame: Frame, lanes: Mapping[str, int]) -> list[str]:
    """Return the lane ids of a route that a light shows red on at a frame, each once.

    Lights name connectors, but are looked up by id: one that a lane of the route bears as well
    turns that lane red (navsim's pdm_planner/observation/pdm_observation.py:390).
    """
    return list(dict.fromkeys(key for key, red in frame.lights if red and key in lanes))


def lights_over(frames: Sequence[Frame], lanes: Mapping[str, int], polygons: Polygons) -> Lights:
    """Return what is red over the horizon; ``lanes`` are rows of ``polygons`` by id.

    A frame's lights hold until the next one
    (navsim/planning/metric_caching/metric_cache_processor.py:232-251).
    """
    shown = [red_lanes(frame, lanes) for frame in frames]
    names = list(dict.fromkeys(name for one in shown for name in one))
    red = np.array([[name in one for name in names] for one in shown], np.bool_)
    red = np.repeat(red.reshape(len(frames), len(names)), _HELD, axis=0)[:STEPS]
    return Lights(tuple(names), polygons.take([lanes[name] for name in names]), red)
