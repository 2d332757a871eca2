"""The speed and the curvature profile of a desired path: two regularised least-squares fits."""

import numpy as np

from navaudit.axes import DT_S, POSES

JERK_PENALTY = 1e-4
CURVATURE_RATE_PENALTY = 1e-2
INITIAL_CURVATURE_PENALTY = 1e-10

INTEGRATE = np.tril(np.full((POSES, POSES), DT_S))
"""Values of a profile from its unknowns: the first value, then its rates of change."""
INTEGRATE[:, 0] = 1.0


def fit_profiles(desired):
    """Speeds in m/s and curvatures in 1/m, ``[candidate, displacement]`` each."""
    speeds = fit_speeds(np.diff(desired[..., :2], axis=1), desired[:, :-1, 2])
    turns = np.diff(desired[..., 2], axis=1)
    return speeds, fit_curvatures(np.arctan2(np.sin(turns), np.cos(turns)), speeds)


def fit_speeds(moves, headings):
    """Speeds along headings ``[candidate, displacement]`` that explain moves ``[..., xy]``."""
    ahead = np.stack([np.cos(headings), np.sin(headings)], axis=-1)
    rows = DT_S * ahead[..., None] * INTEGRATE[:, None, :]
    rows = rows.reshape(len(moves), 2 * POSES, POSES)
    unknowns = least_squares(rows, moves.reshape(len(moves), 2 * POSES), jerk_penalty())
    return unknowns @ INTEGRATE.T


def jerk_penalty():
    """What is punished: meant to be jerks, but only the last row is one.

    The stock code writes the diagonal of -1 over all rows in which it has just set that of +1
    (batch_lqr_utils.py:68-69); the last +1 alone lies outside what is overwritten.
    """
    differences = np.zeros((POSES - 2, POSES - 1))
    differences[:, 1:] = np.eye(POSES - 2)
    differences[:, :-1] = -np.eye(POSES - 2)
    rows = np.hstack([np.zeros((POSES - 2, 1)), differences])
    return JERK_PENALTY * rows.T @ rows


def fit_curvatures(turns, speeds):
    """Curvatures that explain the turns ``[candidate, displacement]`` at these speeds."""
    penalty = np.full(POSES, CURVATURE_RATE_PENALTY)
    penalty[0] = INITIAL_CURVATURE_PENALTY
    rows = DT_S * speeds[:, :, None] * INTEGRATE
    return least_squares(rows, turns, np.diag(penalty)) @ INTEGRATE.T


def least_squares(rows, values, penalty):
    """Unknowns ``[candidate, unknown]`` by the normal equations; they are never singular."""
    across = np.swapaxes(rows, 1, 2)
    return np.linalg.solve(across @ rows + penalty, across @ values[..., None])[..., 0]
