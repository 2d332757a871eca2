"""Whom the car touched, or would have within 0.9 s, and whether it counts."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import DT_S, NC, STEPS, TTC
from navaudit.numerics.boxes import boxes_touch
from navaudit.scene.scene import AGENT_KINDS, Scene
from navaudit.score.boxgap import gap_m
from navaudit.score.collision import (
    EGO_STOPPED,
    FROM_BEHIND,
    HEAD_ON,
    SIDEWAYS,
    TRACK_STOPPED,
    at_fault,
    kind_of_contact,
    no_at_fault_collisions,
)
from navaudit.score.contact import AHEAD_RAD, bearing, box_corners, speed_of, touching_at_start
from navaudit.score.course import ego_points
from navaudit.score.drive import off_lane
from navaudit.score.reason import Reason, Ride, at_s, shorten
from navaudit.score.ttc import ANCHORS, OFFSETS, STANDING_MPS, threatens, time_to_collision

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

MANNER: Final = {
    EGO_STOPPED: "while the car stands",
    TRACK_STOPPED: "which stands still",
    FROM_BEHIND: "from behind",
    HEAD_ON: "head on",
    SIDEWAYS: "sideways",
}
"""Kinds of contact in plain words."""


class Meeting(NamedTuple):
    """The first contact with one agent."""

    step: int
    agent: int
    kind: int
    fault: bool


def why_collisions(ride: Ride) -> Reason:
    """Name the first contact at fault, or who came closest without being touched."""
    met = meetings(ride)
    if ride.failed_at(NC) is None:
        return _no_collision(ride, met)
    ride.drive.met[:] = 0
    contact = no_at_fault_collisions(ride.drive, ride.course.traffic, ride.course.ground)
    first = next(one for one in met if (one.step, one.agent) == (contact.step, contact.agent))
    at_fault = [one for one in met if one.fault]
    others = [one for one in at_fault if one is not first]
    # a thing met first costs a half; somebody met later costs the rest
    worse = [one for one in others if ride.course.traffic.living[one.agent]]
    also = "" if contact.score > 0.0 and not worse else _also(ride, first, worse)
    words = f"fails at {at_s(first.step)}: {_told(ride, first)}; at fault{also}"
    overlap = float(gap_m(_box(ride, first.step), _agent_box(ride, first.step, first.agent)))
    return Reason(
        NC, float(ride.scores[NC]), words, first.step,
        "gap between the car and the object", overlap, 0.0, min(overlap, 0.0), "m",
        ride.scene.traffic.token[first.agent], _middle(ride, first.step, first.agent),
        _known(ride, met),
    )  # fmt: skip


def meetings(ride: Ride) -> list[Meeting]:
    """First contacts with every agent, in the order in which the scorer meets them."""
    drive, traffic, ground = ride.drive, ride.course.traffic, ride.course.ground
    there = replayed(ride)
    found: dict[int, Meeting] = {}
    for step, agent in np.argwhere(there).tolist():
        if agent in found or not boxes_touch(_box(ride, step), traffic.corners[step, agent]):
            continue
        kind = int(kind_of_contact(drive, traffic, step, agent))
        fault = bool(at_fault(drive, traffic, ground, step, agent))
        found[agent] = Meeting(step, agent, kind, fault)
    return list(found.values())


def replayed(ride: Ride) -> Truths:
    """``[step, agent]``: present, and not standing in the car at t = 0."""
    return ride.scene.traffic.present & ~stood_in(ride.scene)


def stood_in(scene: Scene) -> Truths:
    """``[agent]``: whether the car stands in it at t = 0, so that it is never replayed."""
    corners = box_corners(scene.traffic.box[:1])[0]
    return touching_at_start(corners, scene.traffic.present[0], ego_points(scene.ego))


def _no_collision(ride: Ride, met: list[Meeting]) -> Reason:
    facts = _known(ride, met)
    others = replayed(ride)
    others[:, [one.agent for one in met]] = False
    touched = "; ".join(f"{_told(ride, one)} at {at_s(one.step)}, not at fault" for one in met)
    if not others.any():
        return Reason(NC, 1.0, f"passes: {touched or 'nobody is near'}", facts=facts)
    gaps = gap_m(ride.drive.points[:, None, :4], ride.course.traffic.corners)
    step, agent, gap = _smallest(gaps, others)
    close = f"closest is {_name(ride, agent)}, {gap:.2f} m away at {at_s(step)}"
    words = f"passes: {touched + '; ' if touched else ''}{close}"
    return Reason(
        NC, 1.0, words, step, "gap between the car and the object", gap, 0.0, gap, "m",
        ride.scene.traffic.token[agent], _middle(ride, step, agent), facts,
    )  # fmt: skip


def why_threat(ride: Ride) -> Reason:
    """Name whom the car would meet at constant speed and heading, or whom it just misses."""
    ride.drive.met[:] = 0
    threat = time_to_collision(ride.drive, ride.course.traffic, ride.course.ground)
    if ride.failed_at(TTC) is None:
        return _no_threat(ride, ride.drive.met == 1)
    step, agent = int(threat.step), int(threat.agent)
    offset = next(one for one in OFFSETS if _meets(ride, step, one, agent))
    later = step + offset
    angle, sort = _bearing(ride, step, later, agent)
    gap = float(gap_m(ahead(ride, step, offset), _agent_box(ride, later, agent)))
    meets = "meets" if offset else "is touching"
    within = f" within {offset * DT_S:.1f} s at this speed" if offset else ""
    words = f"fails at {at_s(step)}: {meets} {_name(ride, agent)}{within}; {sort}"
    facts = {
        "ahead_s": round(offset * DT_S, 1),
        "bearing_deg": angle,
        "position": sort,
        "projected_xy_m": ahead(ride, step, offset).tolist(),
        "later_step": later,
    }
    return Reason(
        TTC, float(ride.scores[TTC]), words, step,
        "gap between the projected car and the object", gap, 0.0, min(gap, 0.0), "m",
        ride.scene.traffic.token[agent], _middle(ride, later, agent), facts,
    )  # fmt: skip


def _no_threat(ride: Ride, ignored: Truths) -> Reason:
    """Find the smallest gap of the projected car to those that are not ignored."""
    there = replayed(ride) & ~ignored
    facts = {"ignored": [ride.scene.traffic.token[agent] for agent in np.flatnonzero(ignored)]}
    best: tuple[float, int, int, int] | None = None
    for offset in OFFSETS:
        asked = there[offset : ANCHORS + offset] & (_speeds(ride) >= STANDING_MPS)[:, None]
        if asked.any():
            boxes = np.array([ahead(ride, step, offset) for step in range(ANCHORS)])
            corners = ride.course.traffic.corners[offset : ANCHORS + offset]
            step, agent, gap = _smallest(gap_m(boxes[:, None], corners), asked)
            best = min(best or (np.inf, 0, 0, 0), (gap, step, offset, agent))
    if best is None:
        return Reason(TTC, 1.0, "passes: nobody to meet", facts=facts)
    gap, step, offset, agent = best
    more = {"ahead_s": round(offset * DT_S, 1), "later_step": step + offset}
    close = f"closest is {_name(ride, agent)}, {gap:.2f} m away {offset * DT_S:.1f} s after"
    return Reason(
        TTC, 1.0, f"passes: {close} {at_s(step)}", step,
        "gap between the projected car and the object", gap, 0.0, gap, "m",
        ride.scene.traffic.token[agent], _middle(ride, step + offset, agent), facts | more,
    )  # fmt: skip


def ahead(ride: Ride, step: int, offset: int) -> Floats:
    """Corners ``[4, xy]`` of the car projected some steps ahead at constant speed and heading."""
    sine, cosine = ride.drive.pointing[step]
    # in the order of score.ttc, so that what touches there touches here
    way = np.array([cosine, sine]) * speed_of(ride.drive.states[step]) * (offset * 0.1)
    return np.asarray(ride.drive.points[step, :4] + way)


def _meets(ride: Ride, step: int, offset: int, agent: int) -> bool:
    there = bool(ride.scene.traffic.present[step + offset, agent])
    corners = ride.course.traffic.corners[step + offset, agent]
    if not there or not boxes_touch(ahead(ride, step, offset), corners):
        return False
    drive, course = ride.drive, ride.course
    return bool(threatens(drive, course.traffic, course.ground, step, step + offset, agent))


def _bearing(ride: Ride, step: int, later: int, agent: int) -> tuple[float | None, str]:
    """Angle in degrees off the heading, and why it counts."""
    sine, cosine = ride.drive.pointing[step]
    x, y = ride.course.traffic.centroid[later, agent]
    angle = float(bearing(ride.drive.states[step], sine, cosine, x, y))
    degrees = None if np.isnan(angle) else float(np.degrees(angle))
    told = "" if degrees is None else f"{degrees:.0f}° off the heading"
    if angle < AHEAD_RAD:
        return degrees, f"ahead, {told}"
    off = off_lane(ride.drive, ride.course.ground, step)
    place = "the car is off its lane" if off else "at an intersection"
    return degrees, f"beside, {told}, and {place}"


def _speeds(ride: Ride) -> Floats:
    return np.array([speed_of(state) for state in ride.drive.states[:ANCHORS]])


def _smallest(gaps: Floats, asked: Truths) -> tuple[int, int, float]:
    """Step, agent and value of the smallest gap ``[step, agent]`` among those asked for."""
    masked = np.where(asked, gaps, np.inf)
    step, agent = np.unravel_index(int(masked.argmin()), masked.shape)
    return int(step), int(agent), float(masked[step, agent])


def _also(ride: Ride, first: Meeting, worse: list[Meeting]) -> str:
    if not worse or ride.course.traffic.living[first.agent]:
        return ""
    return f"; worse, at {at_s(worse[0].step)} it {_told(ride, worse[0])}"


def _told(ride: Ride, one: Meeting) -> str:
    manner = MANNER[one.kind]
    if one.kind == SIDEWAYS:
        manner += " while off its lane" if one.fault else " within its lane"
    verb = "is touched by" if one.kind in (FROM_BEHIND, EGO_STOPPED) else "touches"
    return f"{verb} {_name(ride, one.agent)}, {manner}"


def _name(ride: Ride, agent: int) -> str:
    traffic = ride.scene.traffic
    kind = AGENT_KINDS[traffic.kind[agent]].replace("_", " ")
    return f"{kind} {shorten(traffic.token[agent])}"


def _known(ride: Ride, met: list[Meeting]) -> dict[str, Any]:
    """Everybody met, and who is not replayed."""
    gone = np.flatnonzero(stood_in(ride.scene))
    tokens = [ride.scene.traffic.token[agent] for agent in gone]
    return {"contacts": [_record(ride, one) for one in met], "not_replayed": tokens}


def _record(ride: Ride, one: Meeting) -> dict[str, Any]:
    return {
        "token": ride.scene.traffic.token[one.agent],
        "object": AGENT_KINDS[ride.scene.traffic.kind[one.agent]],
        "time_s": round(one.step * DT_S, 1),
        "manner": MANNER[one.kind],
        "at_fault": one.fault,
        "speed_mps": float(speed_of(ride.drive.states[one.step])),
    }


def _box(ride: Ride, step: int) -> Floats:
    return ride.drive.points[step, :4]


def _agent_box(ride: Ride, step: int, agent: int) -> Floats:
    return ride.course.traffic.corners[step, agent]


def _middle(ride: Ride, step: int, agent: int) -> tuple[float, float]:
    x, y = ride.course.traffic.centroid[min(step, STEPS - 1), agent]
    return float(x), float(y)
