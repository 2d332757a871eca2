"""The two least-squares fits that turn a path into a speed and a curvature profile.

A tracker follows a path of 41 poses through two profiles, each with one value for every one of the
40 displacements: the speed along the path and the curvature of its heading. The benchmark finds
both by regularised least squares over the first value and its rates of change, through the
pseudoinverse of a 40 x 40 normal matrix per candidate and fit. Written over the profile itself the
same problems are banded:

- speeds: the normal matrix is one pentadiagonal matrix of integers for every path, factored here
  once in exact arithmetic; a fit is one forward and one backward sweep;
- curvatures: the normal matrix is tridiagonal and depends on the speeds; a fit is one elimination
  in which no two numbers cancel, so it is accurate even where the path hardly moves.

Every sum has one written order, so the closed form has the same bits on every processor. The LAPACK
variants give what the benchmark's own code gives, faults of the processor's kernel included.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt
import scipy.linalg

from navaudit.axes import DT_S, HEADING, POSES, STEPS, X, Y
from navaudit.compiled import njit
from navaudit.errors import BadInput
from navaudit.numerics.trig import sincos, wrap_by_atan2

Solver = Literal["closed", "pinv", "pinvh", "solve"]
Penalty = Literal["stock", "intended"]
Floats = npt.NDArray[np.float64]

JERK_PENALTY: Final = 1e-4
CURVATURE_RATE_PENALTY: Final = 1e-2
INITIAL_CURVATURE_PENALTY: Final = 1e-10


def fit(
    poses: Floats, solver: Solver = "closed", penalty: Penalty = "stock"
) -> tuple[Floats, Floats]:
    """Fit the speed and curvature profiles of every candidate.

    Parameters
    ----------
    poses
        Paths ``[candidate, step, (x_m, y_m, heading_rad)]`` of 41 steps 0.1 s apart.
    solver
        ``closed`` is the same on every processor; ``pinv``, ``pinvh`` and ``solve`` go through
        LAPACK and give what its kernel on this processor gives.
    penalty
        What the speed fit punishes: ``stock`` the accelerations and the last jerk, ``intended``
        every jerk.

    Returns
    -------
    Speeds ``[candidate, displacement]`` in m/s and curvatures ``[candidate, displacement]`` in 1/m.

    Examples
    --------
    >>> path = np.zeros((1, 41, 3))
    >>> path[0, :, 0] = np.arange(41.0)
    >>> speeds, curvatures = fit(path)
    >>> print(speeds[0, 0].round(9), curvatures[0, 0])
    10.0 0.0
    """
    _expect_word(solver, get_args(Solver), "solver")
    _expect_word(penalty, get_args(Penalty), "penalty")
    _expect_paths(poses)
    if solver != "closed":
        return _fit_by_lapack(poses, _TIMES_INVERSE[solver], penalty)
    speeds = np.empty((len(poses), POSES))
    curvatures = np.empty((len(poses), POSES))
    _fit_all(poses, speed_bands(penalty), speeds, curvatures)
    return speeds, curvatures


def _expect_word(word: str, known: tuple[str, ...], option: str) -> None:
    if word not in known:
        raise BadInput(f"{option} {word!r} does not exist", expected=" | ".join(known))


def _expect_paths(poses: Floats) -> None:
    if poses.ndim != 3 or poses.shape[1:] != (STEPS, 3):
        raise BadInput(
            f"paths have shape {poses.shape}",
            expected=f"[candidate, {STEPS}, 3]: x, y and heading, the ego itself at step 0",
        )
    if poses.dtype != np.float64:
        raise BadInput(f"paths are {poses.dtype}", expected="float64", remedy="cast them first")
    finite = np.isfinite(poses).all(axis=(1, 2))
    if not finite.all():
        raise BadInput(
            "a path holds a value that is not finite", where=f"candidate {int(np.argmin(finite))}"
        )


# ---------------------------------------------------------------------------------------------
# The closed form
# ---------------------------------------------------------------------------------------------


def _acceleration_penalty(penalty: Penalty) -> npt.NDArray[np.int64]:
    """Rows the speed fit punishes, over the accelerations: ``[jerk, acceleration]``.

    The stock code means every row to be a jerk, but writes its -1 diagonal over all of the matrix
    whose +1 diagonal it has just set; only the last row keeps both, the others are plain
    accelerations (navsim v2.2, navsim/planning/simulation/planner/pdm_planner/simulation/
    batch_lqr_utils.py:68-69).
    """
    rows = np.eye(POSES - 2, POSES - 1, k=1, dtype=np.int64)
    if penalty == "stock":
        rows[:-1] = 0
    return rows - np.eye(POSES - 2, POSES - 1, dtype=np.int64)


def _speed_normal_matrix(penalty: Penalty) -> npt.NDArray[np.int64]:
    """Integers ``[displacement, displacement]``: the penalty's weight, 1e-4 / 0.1**4, is 1."""
    steps = np.eye(POSES - 1, POSES, k=1, dtype=np.int64) - np.eye(POSES - 1, POSES, dtype=np.int64)
    rows = _acceleration_penalty(penalty) @ steps
    return np.eye(POSES, dtype=np.int64) + rows.T @ rows


@cache
def speed_bands(penalty: Penalty = "stock") -> Floats:
    """Factors ``L D L'`` of the speed fit's constant matrix, exact and then rounded once.

    Row ``i`` of ``[displacement, 5]`` holds ``1 / (0.1 s * D[i, i])`` in 1/s, then ``L[i, i-1]``,
    ``L[i, i-2]``, ``L[i+1, i]`` and ``L[i+2, i]``, zero where there is no such entry. One product
    with the whole inverse would be four times slower and less accurate.
    """
    normal = _speed_normal_matrix(penalty).tolist()
    pivots = [Fraction(1)] * POSES
    # two rows and columns of zeros more, which indices -1, -2, 40 and 41 reach
    lower = [[Fraction(0)] * (POSES + 2) for _ in range(POSES + 2)]
    for i in range(POSES):
        for j in range(max(i - 2, 0), i):
            known = sum(lower[i][k] * pivots[k] * lower[j][k] for k in range(max(i - 2, 0), j))
            lower[i][j] = (normal[i][j] - known) / pivots[j]
        known = sum(lower[i][k] ** 2 * pivots[k] for k in range(max(i - 2, 0), i))
        pivots[i] = normal[i][i] - known
    bands = np.zeros((POSES, 5))
    for i in range(POSES):
        couplings = lower[i][i - 1], lower[i][i - 2], lower[i + 1][i], lower[i + 2][i]
        bands[i] = [float(10 / pivots[i]), *map(float, couplings)]
    bands.flags.writeable = False
    return bands


@njit(cache=True, error_model="numpy", nogil=True)
def solve_speeds(bands: Floats, along: Floats) -> None:
    """Turn ways along the heading ``[displacement]`` in m into fitted speeds in m/s, in place."""
    last, before = 0.0, 0.0
    for i in range(POSES):
        here = along[i] - bands[i, 2] * before - bands[i, 1] * last
        along[i] = here
        last, before = here, last
    following, after = 0.0, 0.0
    for k in range(POSES):
        i = POSES - 1 - k
        here = along[i] * bands[i, 0] - bands[i, 4] * after - bands[i, 3] * following
        along[i] = here
        following, after = here, following


@njit(cache=True, error_model="numpy", nogil=True)
def solve_curvatures(speeds: Floats, inverse_pivots: Floats, turns: Floats) -> None:
    """Turn heading changes ``[displacement]`` in rad into fitted curvatures in 1/m, in place.

    ``inverse_pivots`` ``[displacement]`` is scratch. Every pivot but the last is one plus an
    excess; carrying the excess leaves only sums, products and quotients of positive numbers.
    """
    excess = INITIAL_CURVATURE_PENALTY
    inverse = 1.0
    carried = 0.0
    for i in range(POSES):
        way = DT_S * speeds[i]
        excess = way * way + excess * inverse
        carried = way * turns[i] + carried * inverse
        # the last displacement has one neighbour only: its pivot is the excess alone
        inverse = 1.0 / (1.0 + excess) if i < POSES - 1 else 1.0 / excess
        turns[i] = carried
        inverse_pivots[i] = inverse
    following = 0.0
    for k in range(POSES):
        i = POSES - 1 - k
        following = (turns[i] + following) * inverse_pivots[i]
        turns[i] = following


@njit(cache=True, error_model="numpy", nogil=True)
def fit_speeds(poses_row: Floats, bands: Floats, out: Floats) -> None:
    """Fit one path ``[step, 3]``: writes speeds ``[displacement]`` in m/s."""
    for i in range(POSES):
        sine, cosine = sincos(poses_row[i, HEADING])
        dx = poses_row[i + 1, X] - poses_row[i, X]
        dy = poses_row[i + 1, Y] - poses_row[i, Y]
        out[i] = cosine * dx + sine * dy
    solve_speeds(bands, out)


@njit(cache=True, error_model="numpy", nogil=True)
def fit_curvatures(poses_row: Floats, speeds: Floats, inverse_pivots: Floats, out: Floats) -> None:
    """Fit one path ``[step, 3]`` with its speeds: writes curvatures ``[displacement]`` in 1/m.

    ``inverse_pivots`` ``[displacement]`` is scratch.
    """
    for i in range(POSES):
        out[i] = wrap_by_atan2(poses_row[i + 1, HEADING] - poses_row[i, HEADING])
    solve_curvatures(speeds, inverse_pivots, out)


@njit(cache=True, error_model="numpy", nogil=True)
def _fit_all(poses: Floats, bands: Floats, speeds: Floats, curvatures: Floats) -> None:
    inverse_pivots = np.empty(POSES)
    for candidate in range(poses.shape[0]):
        fit_speeds(poses[candidate], bands, speeds[candidate])
        fit_curvatures(poses[candidate], speeds[candidate], inverse_pivots, curvatures[candidate])


# ---------------------------------------------------------------------------------------------
# The LAPACK variants
# ---------------------------------------------------------------------------------------------

TimesInverse = Callable[[Floats, Floats], npt.NDArray[np.floating]]


def _batch_times(left: npt.NDArray[np.floating], right: Floats) -> Floats:
    product: Floats = np.einsum("bij,bjk->bik", left, right)
    return product


def _pinvh_times(normal: Floats, right: Floats) -> Floats:
    return _batch_times(np.stack([scipy.linalg.pinvh(matrix) for matrix in normal]), right)


_TIMES_INVERSE: Final[dict[str, TimesInverse]] = {
    "pinv": lambda normal, right: _batch_times(np.linalg.pinv(normal), right),
    "pinvh": _pinvh_times,
    "solve": np.linalg.solve,
}

_CANDIDATES_AT_ONCE: Final = 512


def _fit_by_lapack(
    poses: Floats, times_inverse: TimesInverse, penalty: Penalty
) -> tuple[Floats, Floats]:
    speeds = np.empty((len(poses), POSES))
    curvatures = np.empty((len(poses), POSES))
    for start in range(0, len(poses), _CANDIDATES_AT_ONCE):
        block = slice(start, start + _CANDIDATES_AT_ONCE)
        moves = np.diff(poses[block], axis=1)
        turns = np.arctan2(np.sin(moves[..., HEADING]), np.cos(moves[..., HEADING]))
        headings = poses[block, :-1, HEADING]
        speeds[block] = _speeds_by_lapack(moves[..., : Y + 1], headings, times_inverse, penalty)
        curvatures[block] = _curvatures_by_lapack(turns, speeds[block], times_inverse)
    return speeds, curvatures


def _speeds_by_lapack(
    moves: Floats, headings: Floats, times_inverse: TimesInverse, penalty: Penalty
) -> Floats:
    """Fit first speed and accelerations to moves ``[candidate, displacement, (x, y)]`` in m."""
    directions = np.stack((np.cos(headings), np.sin(headings)), axis=-1).reshape(len(moves), -1)
    reached = np.repeat(np.tri(POSES), 2, axis=0)
    reached[:, 1:] *= DT_S**2
    reached[:, 0] *= DT_S
    matrix = directions[..., None] * reached
    penalised = np.pad(_acceleration_penalty(penalty), [(0, 0), (1, 0)])
    transposed = matrix.transpose(0, 2, 1)
    normal = _batch_times(transposed, matrix) + JERK_PENALTY * (penalised.T @ penalised)
    observed = moves.reshape(len(moves), -1)
    return _accumulate(np.einsum("bij,bj->bi", times_inverse(normal, transposed), observed))


def _curvatures_by_lapack(turns: Floats, speeds: Floats, times_inverse: TimesInverse) -> Floats:
    """Fit first curvature and curvature rates to turns ``[candidate, displacement]`` in rad."""
    matrix = np.tri(POSES) * (speeds * DT_S**2)[..., None]
    matrix[..., 0] = speeds * DT_S
    penalised = CURVATURE_RATE_PENALTY * np.eye(POSES)
    penalised[0, 0] = INITIAL_CURVATURE_PENALTY
    transposed = matrix.transpose(0, 2, 1)
    normal = _batch_times(transposed, matrix) + penalised
    return _accumulate(np.einsum("bij,bj->bi", times_inverse(normal, transposed), turns))


def _accumulate(solution: Floats) -> Floats:
    """First value and rates ``[candidate, 40]`` become values ``[candidate, displacement]``."""
    steps = np.cumsum(solution[:, 1:] * DT_S, axis=1)
    return solution[:, :1] + np.pad(steps, [(0, 0), (1, 0)])
