"""What the human did wrong, measured on the drive: which moments would fail which rule.

This is the town's own yardstick, coarse on purpose: a moment counts as failing or as clean only
with a margin, and moments in between are not chosen as scenes.  The benchmark's scorer has the
last word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.numerics.profiles import fit
from navaudit.vehicle import (
    FRONT_LENGTH_M,
    LENGTH_M,
    REAR_AXLE_TO_CENTRE_M,
    REAR_LENGTH_M,
    WIDTH_M,
)
from navaudit.world.town.curves import Array, left_of
from navaudit.world.town.drive import Drive
from navaudit.world.town.paths import smooth
from navaudit.world.town.signals import RED

Bools = NDArray[np.bool_]

FAULTS: Final = ("lane", "light", "direction", "collision", "distance")
"""What a scene may fail."""

CLEAN, UNSURE, FAILING = 0, 1, 2

HORIZON: Final = 41
NEAR_RED_M: Final = 0.9
"""How far from a red connector a bumper must stay to be clean."""
MARGIN_M: Final = (0.6, 0.3)
"""What is added to the human's length and width to see whether a moment is clean."""
STARTS_ASIDE_M: Final = 1.2
"""Farther aside at its start, a scene of overtaking begins on the wrong side."""
AHEAD: Final = (0, 3, 6, 9)
"""Steps by which the human's car is moved on at its speed, to see whether it would hit."""
SHORT_M: Final = 0.2
"""How far a late stop's look ahead must reach into who stands there, to be failing for sure."""
SAFE_M: Final = 0.2
"""Room that a late stop must leave, to be no collision for sure."""


@dataclass(frozen=True, eq=False)
class Conduct:
    """A drive looked at step by step."""

    drive: Drive
    aside_m: Array
    """``[step]``: left of the middle of the lane in which the drive began."""
    shift_m: Array
    """``[step]``: what to take off it for a scene that begins at the step."""
    in_junction: Bools
    on_red: Bools
    """``[step]``: on a connector that shows red, by a margin."""
    near_red: Bools
    """``[step]``: perhaps on one."""
    meets: Bools
    """``[ahead, step]``: the box, moved on, meets somebody's."""
    nears: Bools
    """``[ahead, step]``: a box a little larger does."""

    def judge(self, step: int) -> dict[str, int]:
        """Whether the scene that begins at a step is clean, unsure or failing, by fault."""
        span = slice(step, step + HORIZON)
        return {
            "lane": self._lane(span),
            "light": self._light(span),
            "direction": self._direction(span),
            "collision": self._collision(span),
            "distance": self._distance(span),
        }

    def _lane(self, span: slice) -> int:
        off = np.abs(self.aside_m[span] - self.shift_m[span.start])
        off = off[~self.in_junction[span]]
        if _longest(off > 0.6) >= 23:
            return FAILING
        return CLEAN if _longest(off > 0.42) < 14 else UNSURE

    def _light(self, span: slice) -> int:
        if self.on_red[span].sum() >= 8:
            return FAILING
        return UNSURE if self.near_red[span].any() else CLEAN

    def _direction(self, span: slice) -> int:
        if self.drive.intent.kind != "overtake":
            return CLEAN
        aside = np.abs(self.aside_m[span])
        wrong = aside > 1.95
        driven = float((self.drive.speed_mps[span] * wrong).sum()) * 0.1
        if wrong.sum() >= 12 and driven > 8.0 and aside[0] < STARTS_ASIDE_M:
            return FAILING
        return UNSURE if (aside > 1.5).any() else CLEAN

    def _collision(self, span: slice) -> int:
        meets = self.meets[0, span]
        if not self.nears[0, span].any():
            return CLEAN
        deep = self.drive.intent.kind == "touch" and meets.sum() >= 3 and not meets[0]
        return FAILING if deep else UNSURE

    def _distance(self, span: slice) -> int:
        # the benchmark looks ahead from the first 32 steps only
        early = slice(span.start, span.start + 32)
        if not self.nears[:, early].any():
            return CLEAN
        if self.drive.intent.kind == "tailgate":
            return self._late_stop(span.start)
        count = int(self.meets[:, early].any(axis=0).sum())
        return FAILING if count >= 5 and self.drive.intent.kind == "touch" else UNSURE

    def _late_stop(self, step: int) -> int:
        """Whether the drive as the benchmark's tracker makes it comes too close to the queue."""
        drive = self.drive
        now = (float(drive.speed_mps[step]), float(drive.acceleration_mps2[step]))
        way, speed = track(drive.u_m[step : step + HORIZON : 5], *now)
        gap = drive.wall_m - FRONT_LENGTH_M - drive.u_m[step] - way
        short = (0.1 * AHEAD[-1] * speed - gap)[:32]
        safe = gap[speed > 0.03].min(initial=np.inf) > SAFE_M
        return FAILING if safe and (short > SHORT_M).sum() >= 3 else UNSURE


def track(poses_m: Array, speed_mps: float, acceleration_mps2: float) -> tuple[Array, Array]:
    """Way and speed ``[41]`` when the benchmark's tracker follows poses ``[9]``, 0.5 s apart.

    Along a straight line: it steers through a lag for the fitted speed a second ahead (navsim's
    batch_lqr.py and batch_kinematic_bicycle.py).
    """
    line = np.zeros((1, HORIZON, 3))
    tenths = np.arange(HORIZON)
    line[0, :, 0] = np.interp(tenths, tenths[::5], poses_m - poses_m[0])
    wanted = fit(line)[0][0].tolist()
    u, v, a = 0.0, speed_mps, acceleration_mps2
    found = [(u, v)]
    for k in range(HORIZON - 1):
        goal = wanted[min(k + 10, HORIZON - 2)]
        gain = 0.5 if goal <= 0.2 and v <= 0.2 else 10.0 / 11.0
        a += (gain * (goal - v) - a) / 3.0
        u, v = u + 0.1 * v, v + 0.1 * a
        found.append((u, v))
    tracked = np.array(found)
    return tracked[:, 0], tracked[:, 1]


def observe(drive: Drive) -> Conduct:
    """Look at a drive."""
    aside, shift = _aside(drive)
    sure, near = _reds(drive)
    meets = np.stack([_meets(drive, ahead, (0.0, 0.0)) for ahead in AHEAD])
    nears = np.stack([_meets(drive, ahead, MARGIN_M) for ahead in AHEAD])
    return Conduct(drive, aside, shift, _in_junction(drive), sure, near, meets, nears)


def _aside(drive: Drive) -> tuple[Array, Array]:
    off = drive.weave.aside(drive.u_m)
    change, route = drive.intent.change_m, drive.intent.route
    if change is None:
        return off, np.zeros_like(off)
    first, other = (drive.network.edges[e].strip.baseline_m[0] for e in route[:2])
    width = float(np.sqrt(((first - other) * (first - other)).sum()))
    width *= 1.0 if drive.network.beside[route[0]][0] == route[1] else -1.0
    share = smooth((drive.u_m - change[0]) / (change[1] - change[0]))
    return off + width * share, np.where(share > 0.5, width, 0.0)


def _in_junction(drive: Drive) -> Bools:
    centre = drive.u_m + REAR_AXLE_TO_CENTRE_M
    inside = np.zeros(len(centre), dtype=bool)
    for leg in drive.path.legs:
        if leg.edge >= drive.network.lanes:
            inside |= (centre > leg.origin_m) & (centre < leg.until_m)
    return inside


def _longest(flags: Bools) -> int:
    best = run = 0
    for flag in flags.tolist():
        run = run + 1 if flag else 0
        best = max(best, run)
    return best


def _reds(drive: Drive) -> tuple[Bools, Bools]:
    sure, near = np.zeros(len(drive.u_m), dtype=bool), np.zeros(len(drive.u_m), dtype=bool)
    front, rear = drive.u_m + FRONT_LENGTH_M, drive.u_m - REAR_LENGTH_M
    for leg in drive.path.legs:
        edge = drive.network.edges[leg.edge]
        if edge.index < drive.network.lanes:
            continue
        close = (front > leg.origin_m - NEAR_RED_M) & (rear < leg.until_m + NEAR_RED_M)
        if not close.any():
            continue
        phase = drive.network.town.junctions[edge.junction].arms[edge.arm].phase
        colours = [drive.signals.colour(edge.junction, phase, t) for t in drive.clock_s.tolist()]
        red = np.array(colours) == RED
        sure |= red & (front > leg.origin_m + 0.3) & (rear < leg.until_m - 0.3)
        # a frame's lights are held for half a second in the log
        near |= (red | np.roll(red, 5) | np.roll(red, -5)) & close
    return sure, near


def _meets(drive: Drive, ahead: int, margin_m: tuple[float, float]) -> Bools:
    """Whether the human's box, moved on at its speed, meets somebody's ``ahead`` steps later."""
    steps = len(drive.u_m)
    move = REAR_AXLE_TO_CENTRE_M + 0.1 * ahead * drive.speed_mps
    centre = drive.xy_m + drive.heading * move[:, None]
    later = np.minimum(np.arange(steps) + ahead, steps - 1)
    moving, found = drive.speed_mps > 0.02, np.zeros(steps, dtype=bool)
    for actor in drive.actors:
        gap = actor.xy_m[later] - centre
        reach = 3.2 + actor.size_m[0]
        close = (gap * gap).sum(axis=1) < reach * reach
        # what comes from behind is its own driver's affair
        close &= ((actor.xy_m[later] - drive.xy_m) * drive.heading).sum(axis=1) > -0.5
        close &= moving
        if close.any():
            size = (LENGTH_M + margin_m[0], WIDTH_M + margin_m[1])
            mine = (centre[close], drive.heading[close], size)
            k = later[close]
            found[close] |= boxes_meet(mine, (actor.xy_m[k], actor.heading[k], actor.size_m[:2]))
    return found


Box = tuple[Array, Array, tuple[float, float]]
"""Centres ``[step, 2]``, directions ``[step, 2]``, and length and width."""


def boxes_meet(one: Box, other: Box) -> Bools:
    """Whether two boxes overlap, ``[step]``: no side of either separates them."""
    gap = other[0] - one[0]
    meet = np.ones(len(gap), dtype=bool)
    for axis in (one[1], left_of(one[1]), other[1], left_of(other[1])):
        apart = np.abs((gap * axis).sum(axis=1))
        meet &= apart < _half_span(one, axis) + _half_span(other, axis)
    return meet


def _half_span(box: Box, axis: Array) -> Array:
    along = np.abs((box[1] * axis).sum(axis=1))
    across = np.abs((left_of(box[1]) * axis).sum(axis=1))
    return along * (box[2][0] / 2) + across * (box[2][1] / 2)
