"""The two profile fits as the benchmark writes them, through LAPACK; also a script for any Python.

`navaudit.numerics.profiles` describes the fits and solves them in closed form. Here they go through
a pseudoinverse or a solver of NumPy or SciPy, and give what its kernel on this processor gives,
faults included.

The module imports nothing of the house: run as a script it fits under another interpreter, another
NumPy or another kernel. It reads requests from standard input, one JSON object a line, with the
file of the ``paths``, the ``solver`` and where to put what is ``fitted``; and answers each with a
line: ``{}`` when the file is there, ``{"failed": ...}`` where the library gives up.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.path.pop(0)  # the folder of this script, whose platform.py would hide Python's own

import json
from typing import IO, Any

import numpy as np

try:
    import scipy.linalg
except ImportError:  # the stock pseudoinverse needs NumPy alone
    scipy = None

MOVES = 40
DT_S = 0.1
HEADING = 2

JERK_PENALTY = 1e-4
CURVATURE_RATE_PENALTY = 1e-2
INITIAL_CURVATURE_PENALTY = 1e-10

SOLVERS = ("pinv", "pinvh", "solve")

_CANDIDATES_AT_ONCE = 512


def fit(poses: Any, solver: str, penalty: str = "stock") -> tuple[Any, Any]:
    """Fit speeds and curvatures ``[candidate, displacement]`` to paths ``[candidate, step, 3]``."""
    speeds = np.empty((len(poses), MOVES))
    curvatures = np.empty((len(poses), MOVES))
    for start in range(0, len(poses), _CANDIDATES_AT_ONCE):
        block = slice(start, start + _CANDIDATES_AT_ONCE)
        moves = np.diff(poses[block], axis=1)
        headings = poses[block, :-1, HEADING]
        speeds[block] = _fit_speeds(moves[..., :2], headings, solver, penalty)
        curvatures[block] = _fit_curvatures(_turns(moves), speeds[block], solver)
    return speeds, curvatures


def penalised_accelerations(penalty: str) -> Any:
    """Rows the speed fit punishes, over the accelerations: integers ``[jerk, acceleration]``.

    The stock code means every row to be a jerk, but writes its -1 diagonal over all of the matrix
    whose +1 diagonal it has just set; only the last row keeps both, the others are plain
    accelerations (navsim v2.2, navsim/planning/simulation/planner/pdm_planner/simulation/
    batch_lqr_utils.py:68-69).
    """
    rows = np.eye(MOVES - 2, MOVES - 1, k=1, dtype=np.int64)
    if penalty == "stock":
        rows[:-1] = 0
    return rows - np.eye(MOVES - 2, MOVES - 1, dtype=np.int64)


def _turns(moves: Any) -> Any:
    return np.arctan2(np.sin(moves[..., HEADING]), np.cos(moves[..., HEADING]))


# ------------------------------------------------------------------------- the normal equations


def _speed_equations(headings: Any, penalty: str) -> tuple[Any, Any]:
    """Normal matrix and transposed matrix of the first speed and the accelerations."""
    directions = np.stack((np.cos(headings), np.sin(headings)), axis=-1).reshape(len(headings), -1)
    reached = np.repeat(np.tri(MOVES), 2, axis=0)
    reached[:, 1:] *= DT_S**2
    reached[:, 0] *= DT_S
    matrix = directions[..., None] * reached
    penalised = np.pad(penalised_accelerations(penalty), [(0, 0), (1, 0)])
    transposed = matrix.transpose(0, 2, 1)
    return _times(transposed, matrix) + JERK_PENALTY * (penalised.T @ penalised), transposed


def _curvature_equations(speeds: Any) -> tuple[Any, Any]:
    """Normal matrix and transposed matrix of the first curvature and the curvature rates."""
    matrix = np.tri(MOVES) * (speeds * DT_S**2)[..., None]
    matrix[..., 0] = speeds * DT_S
    penalised = CURVATURE_RATE_PENALTY * np.eye(MOVES)
    penalised[0, 0] = INITIAL_CURVATURE_PENALTY
    transposed = matrix.transpose(0, 2, 1)
    return _times(transposed, matrix) + penalised, transposed


def _fit_speeds(moves: Any, headings: Any, solver: str, penalty: str) -> Any:
    """Fit to moves ``[candidate, displacement, (x, y)]`` in m."""
    solved = _times_inverse(*_speed_equations(headings, penalty), solver)
    return _accumulate(np.einsum("bij,bj->bi", solved, moves.reshape(len(moves), -1)))


def _fit_curvatures(turns: Any, speeds: Any, solver: str) -> Any:
    """Fit to turns ``[candidate, displacement]`` in rad."""
    solved = _times_inverse(*_curvature_equations(speeds), solver)
    return _accumulate(np.einsum("bij,bj->bi", solved, turns))


def _accumulate(solution: Any) -> Any:
    """First value and rates ``[candidate, 40]`` become values ``[candidate, displacement]``."""
    steps = np.cumsum(solution[:, 1:] * DT_S, axis=1)
    return solution[:, :1] + np.pad(steps, [(0, 0), (1, 0)])


# ------------------------------------------------------------------------------------- inverses


def _times(left: Any, right: Any) -> Any:
    return np.einsum("bij,bjk->bik", left, right)


def _times_inverse(normal: Any, right: Any, solver: str) -> Any:
    if solver == "solve":
        return np.linalg.solve(normal, right)
    return _times(_inverse(normal, solver), right)


def _inverse(normal: Any, solver: str) -> Any:
    """Invert matrices ``[candidate, 40, 40]`` as a solver does."""
    if solver == "pinv":
        return np.linalg.pinv(normal)
    if solver == "solve":
        return np.linalg.solve(normal, np.broadcast_to(np.eye(MOVES), normal.shape))
    return np.stack([scipy.linalg.pinvh(matrix) for matrix in normal])


def compare_inverses(poses: Any, solvers: Any, against: str = "pinv") -> tuple[Any, Any]:
    """Hold the inverses of both normal matrices of paths ``[candidate, step, 3]`` side by side.

    Returns
    -------
    Condition numbers in the 2-norm ``[candidate, (speed, curvature)]``; and how far the inverse by
    each solver lies from that by ``against``: the Frobenius norm of the difference over that of the
    latter, ``[candidate, solver, (speed, curvature)]``.
    """
    speeds, _ = fit(poses, "pinv")
    of_speed, _ = _speed_equations(poses[:, :-1, HEADING], "stock")
    of_curvature, _ = _curvature_equations(speeds)
    conditions, gaps = [], []
    for normal in (of_speed, of_curvature):
        theirs = _inverse(normal, against)
        size = np.linalg.norm(theirs, axis=(1, 2))
        apart = [np.linalg.norm(_inverse(normal, one) - theirs, axis=(1, 2)) for one in solvers]
        conditions.append(np.linalg.cond(normal))
        gaps.append(np.stack(apart, axis=-1) / size[:, None])
    return np.stack(conditions, axis=-1), np.stack(gaps, axis=-1)


# ------------------------------------------------------------------------------------- a script


def serve(requests: IO[str], answers: IO[str]) -> None:
    """Answer requests until there are no more."""
    for line in requests:
        asked = json.loads(line)
        try:
            fitted = fit(np.load(asked["paths"], allow_pickle=False), asked["solver"])
        except np.linalg.LinAlgError as error:  # a broken kernel may also fail to converge
            answers.write(json.dumps({"failed": f"{error}"}) + "\n")
        else:
            np.save(asked["fitted"], np.stack(fitted), allow_pickle=False)
            answers.write("{}\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
