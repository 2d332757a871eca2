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

Every sum has one written order, so the closed form has the same bits on every processor. The
variants of `navaudit.numerics.lapack` give what the benchmark's own code gives, faults of the
processor's kernel included.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt

from navaudit.axes import DT_S, HEADING, POSES, STEPS, X, Y
from navaudit.compiled import borrowing, njit
from navaudit.errors import BadInput
from navaudit.numerics import lapack
from navaudit.numerics.trig import sincos, wrap_by_atan2

Solver = Literal["closed", "pinv", "pinvh", "solve"]
Penalty = Literal["stock", "intended"]
Floats = npt.NDArray[np.float64]

INITIAL_CURVATURE_PENALTY: Final = lapack.INITIAL_CURVATURE_PENALTY


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
        return lapack.fit(poses, solver, penalty)
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


def _speed_normal_matrix(penalty: Penalty) -> npt.NDArray[np.int64]:
    """Integers ``[displacement, displacement]``: the penalty's weight, 1e-4 / 0.1**4, is 1."""
    steps = np.eye(POSES - 1, POSES, k=1, dtype=np.int64) - np.eye(POSES - 1, POSES, dtype=np.int64)
    rows = lapack.penalised_accelerations(penalty) @ steps
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


@borrowing(error_model="numpy")
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


@borrowing(error_model="numpy")
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


@borrowing(error_model="numpy")
def fit_speeds(poses_row: Floats, bands: Floats, out: Floats) -> None:
    """Fit one path ``[step, 3]``: writes speeds ``[displacement]`` in m/s."""
    for i in range(POSES):
        sine, cosine = sincos(poses_row[i, HEADING])
        dx = poses_row[i + 1, X] - poses_row[i, X]
        dy = poses_row[i + 1, Y] - poses_row[i, Y]
        out[i] = cosine * dx + sine * dy
    solve_speeds(bands, out)


@borrowing(error_model="numpy")
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
