"""Candidates become driven paths: desired poses, fitted profiles, tracker, bicycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import HEADING, HUMAN_POSES, POSES, STATE, STEPS, X, Y
from navaudit.compiled import borrowing, njit
from navaudit.errors import BadInput
from navaudit.numerics.profiles import (
    Solver,
    fit,
    solve_curvatures,
    solve_speeds,
    speed_bands,
)
from navaudit.numerics.trig import sincos, wrap_by_atan2
from navaudit.rollout.clock import Clock, candidate_clock, human_clock
from navaudit.rollout.desire import place_poses, sample_knots, turns_of
from navaudit.rollout.follow import follow
from navaudit.scene.scene import Scene
from navaudit.scene.vocabulary import Vocabulary

Floats = NDArray[np.float64]

DESIRED: Final = 5
"""Columns of a desired step: x_m, y_m, heading_rad, cosine and sine of it."""


@dataclass(frozen=True, eq=False)
class Rollout:
    """What the simulator makes of desired paths."""

    desired: Floats
    """``[candidate, step, 3]``: x_m, y_m, heading_rad the car was asked to follow."""
    states: Floats
    """``[candidate, step, 11]``, columns as ``axes.STATE``."""

    def __post_init__(self) -> None:
        count = len(self.states)
        object.__setattr__(self, "desired", frozen(self.desired, np.float64, (count, STEPS, 3)))
        states = frozen(self.states, np.float64, (count, STEPS, len(STATE)))
        object.__setattr__(self, "states", states)


class Workbench(NamedTuple):
    """Scratch for one path; a thread fills it anew for each."""

    knots: Floats
    """``[knot, 5]``"""
    desired: Floats
    """``[step, 5]``"""
    speeds: Floats
    """``[displacement]`` in m/s."""
    curvatures: Floats
    """``[displacement]`` in 1/m."""
    pivots: Floats
    """``[displacement]``"""


def desire_candidates(scene: Scene, vocabulary: Vocabulary) -> Floats:
    """Desired steps ``[candidate, step, 5]`` of every candidate, in the map frame."""
    clock = candidate_clock(scene.time_us)
    return _desire(scene.ego, vocabulary.poses, turns_of(vocabulary.poses), clock)


def desire_human(scene: Scene) -> Floats:
    """Desired steps ``[1, step, 5]`` of the logged human trajectory."""
    if scene.human is None:
        raise BadInput(
            "scene has no human trajectory",
            where=scene.token,
            expected="an original scene; a token of 17 characters is synthetic",
        )
    poses = scene.human[None]
    return _desire(scene.ego, poses, turns_of(poses), human_clock(scene.time_us, HUMAN_POSES))


def desire_reference(scene: Scene) -> Floats:
    """Desired steps ``[1, step, 5]`` of the reference trajectory."""
    track = scene.reference
    knots = np.empty((len(track), DESIRED))
    knots[:, :2] = track.state[:, (X, Y)]
    knots[:, 2] = np.unwrap(track.state[:, HEADING])
    for knot in knots:
        knot[4], knot[3] = sincos(knot[2])
    desired = np.empty((1, STEPS, DESIRED))
    clock = Clock.between(track.time_us, scene.time_us)
    sample_knots(knots, clock.knot, clock.span_us, clock.since_us, desired[0])
    return desired


def simulate(ego: Floats, desired: Floats, solver: Solver = "closed") -> Rollout:
    """Drive from one state ``[11]`` along every desired path ``[candidate, step, 5]``.

    ``solver`` switches the fit of the speed and curvature profiles and nothing else.
    """
    if solver != "closed":
        return simulate_fitted(ego, desired, *fit(paths_of(desired), solver=solver))
    states = np.empty((len(desired), STEPS, len(STATE)))
    _simulate_all(ego, desired, speed_bands(), states)
    return Rollout(desired[:, :, :3], states)


def paths_of(desired: Floats) -> Floats:
    """Paths ``[candidate, step, 3]`` of desired steps ``[candidate, step, 5]``: what is fitted."""
    return np.ascontiguousarray(desired[:, :, :3])


def simulate_fitted(ego: Floats, desired: Floats, speeds: Floats, curvatures: Floats) -> Rollout:
    """Drive as `simulate` does, with profiles ``[candidate, displacement]`` fitted elsewhere."""
    states = np.empty((len(desired), STEPS, len(STATE)))
    _follow_all(ego, desired, speeds, curvatures, states)
    return Rollout(desired[:, :, :3], states)


@njit(cache=True, nogil=True)
def new_workbench(poses: int) -> Workbench:
    """Scratch for paths of this many poses."""
    return Workbench(
        np.empty((poses + 1, DESIRED)),
        np.empty((STEPS, DESIRED)),
        np.empty(POSES),
        np.empty(POSES),
        np.empty(POSES),
    )


@borrowing
def fit_profiles(desired: Floats, bands: Floats, bench: Workbench) -> None:
    """Fit the speeds and curvatures of one desired path ``[step, 5]`` into the workbench."""
    for i in range(POSES):
        dx = desired[i + 1, 0] - desired[i, 0]
        dy = desired[i + 1, 1] - desired[i, 1]
        bench.speeds[i] = desired[i, 3] * dx + desired[i, 4] * dy
        bench.curvatures[i] = _turn(desired[i + 1, 2] - desired[i, 2])
    solve_speeds(bands, bench.speeds)
    solve_curvatures(bench.speeds, bench.pivots, bench.curvatures)


@borrowing
def _turn(angle: float) -> float:
    # an angle within half a turn comes back from arctan2 of its sine and cosine as it is, to an ulp
    return angle if -np.pi < angle < np.pi else wrap_by_atan2(angle)


@njit(cache=True)
def _desire_all(
    ego: Floats,
    poses: Any,
    turns: Floats,
    knot: NDArray[np.int64],
    span_us: Floats,
    since_us: Floats,
    desired: Floats,
) -> None:
    sine, cosine = sincos(ego[HEADING])
    knots = np.empty((poses.shape[1] + 1, DESIRED))
    for c in range(poses.shape[0]):
        place_poses(ego, cosine, sine, poses[c], turns[c], knots)
        sample_knots(knots, knot, span_us, since_us, desired[c])


def _desire(ego: Floats, poses: NDArray[Any], turns: Floats, clock: Clock) -> Floats:
    desired = np.empty((len(poses), STEPS, DESIRED))
    _desire_all(ego, poses, turns, clock.knot, clock.span_us, clock.since_us, desired)
    return desired


@njit(cache=True)
def _simulate_all(ego: Floats, desired: Floats, bands: Floats, states: Floats) -> None:
    bench = new_workbench(1)
    pointing = np.empty((STEPS, 2))
    for c in range(desired.shape[0]):
        fit_profiles(desired[c], bands, bench)
        follow(ego, desired[c], bench.speeds, bench.curvatures, states[c], pointing)


@njit(cache=True)
def _follow_all(
    ego: Floats, desired: Floats, speeds: Floats, curvatures: Floats, states: Floats
) -> None:
    pointing = np.empty((STEPS, 2))
    for c in range(desired.shape[0]):
        follow(ego, desired[c], speeds[c], curvatures[c], states[c], pointing)
