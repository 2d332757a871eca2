"""Planned trajectories from files: what an agent wrote, or arrays of one's own.

A prediction file of GTRS, a plain dictionary of trajectories and a submission are pickles, read by
`agent.predictions`; a ``.npz`` holds an array per token, 8 poses at 2 Hz or 40 at 10 Hz.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit import provenance
from navaudit.agent.predictions import Plan, read_plans
from navaudit.arrays import frozen
from navaudit.axes import DT_S, HUMAN_POSES, POSES
from navaudit.errors import BadInput
from navaudit.scene.vocabulary import REACH_M, TURN_RAD

SAMPLINGS: Final = {POSES: DT_S, HUMAN_POSES: 0.5}
"""Seconds between poses, by how many of them make up four seconds."""

SAME_S: Final = 1e-9


def read_planned(path: Path) -> dict[str, Plan]:
    """Read the plan of every token, in the order of the file."""
    if path.suffix == ".npz":
        return dict(_arrays(path))
    return dict(read_plans(path))


def expect_sampled(plan: Plan) -> None:
    """Refuse a plan that does not span four seconds in 8 or 40 poses, or that no car can drive."""
    count = len(plan.poses)
    if count not in SAMPLINGS or abs(plan.interval_s - SAMPLINGS[count]) > SAME_S:
        raise BadInput(
            f"the plan has {count} poses, one every {plan.interval_s:g} s",
            expected=f"{POSES} poses, one every {DT_S:g} s, or {HUMAN_POSES}, one every 0.5 s",
            remedy="let the agent plan four seconds at 10 Hz or 2 Hz",
        )
    with np.errstate(invalid="ignore"):
        sane = (np.abs(plan.poses) <= [REACH_M, REACH_M, TURN_RAD]).all(axis=1)
    if not sane.all():
        pose = int(sane.argmin())
        raise BadInput(
            f"pose {pose} of the plan is {plan.poses[pose].tolist()}",
            expected=f"finite numbers, within {REACH_M:g} m and {TURN_RAD:g} rad of the ego",
        )


def digest_plan(plan: Plan) -> str:
    """SHA-256 of a plan's poses and their interval."""
    return provenance.digest_arrays([plan.poses, np.array([plan.interval_s])])


def digest_plans(plans: Mapping[str, Plan]) -> str:
    """SHA-256 of all plans, whatever their order in a file."""
    return provenance.digest_settings({token: digest_plan(plans[token]) for token in sorted(plans)})


def _arrays(path: Path) -> Iterator[tuple[str, Plan]]:
    try:
        # opened here: a broken archive would keep a file of NumPy's own open
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            for token in file.files:
                yield token, _plan(file[token], f"{path}, token {token}")
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise BadInput(
            f"the plans cannot be read: {error}",
            where=str(path),
            expected="a whole .npz file with one array of poses a token",
        ) from error


def _plan(poses: NDArray[Any], where: str) -> Plan:
    if poses.dtype not in (np.float32, np.float64) or poses.ndim != 2 or poses.shape[1] != 3:
        raise BadInput(
            f"the plan is {poses.dtype} of shape {poses.shape}",
            where=where,
            expected=f"float32 [{POSES}, 3] or [{HUMAN_POSES}, 3]: x_m, y_m, heading_rad",
        )
    # how many poses there are is judged with the scene: one bad plan must not lose the others
    return Plan(frozen(poses, poses.dtype, (None, 3)), SAMPLINGS.get(len(poses), 0.0))
