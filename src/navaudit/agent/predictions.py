"""Prediction files: what an agent plans for each token, in and out, without torch.

For a reader of plans, such as an evaluation, there is one function::

    read_predictions(path) -> {token: poses}      poses [40, 3] at 10 Hz: x_m, y_m, heading_rad

It takes what GTRS writes (token to a dictionary with ``trajectory``), a plain dictionary of token
to trajectory, and a submission (``first_stage_predictions``, ``second_stage_predictions``), in the
order of the file. Poses keep the precision they were stored in: float32 in files of GTRS and in
ours. Plans of another sampling are refused there; `read_plans` gives them as they are. A file is
walked entry by entry, so that the heads of thousands of tokens never lie in memory together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import DT_S, HEADS, POSES
from navaudit.errors import BadInput
from navaudit.scene.whole import whole_file
from navaudit.world import pickles

_TRAJECTORY: Final = "navsim.common.dataclasses.Trajectory"
_SAMPLING: Final = "nuplan.planning.simulation.trajectory.trajectory_sampling.TrajectorySampling"
_STAGES: Final = ("first_stage_predictions", "second_stage_predictions")
_DETAILS: Final = {"team_name", "authors", "email", "institution", "country / region"}
"""What a submission says beside its plans."""

_SAME_S: Final = 1e-9


@dataclass(frozen=True, eq=False)
class Plan:
    """One planned trajectory of the rear axle; the ego itself, at t = 0, is not part of it."""

    poses: NDArray[Any]
    """``[pose, 3]``: x_m, y_m, heading_rad in the ego's frame at t = 0; dtype as stored."""
    interval_s: float
    """Time between poses, and from t = 0 to the first."""


@dataclass(frozen=True, eq=False)
class Prediction:
    """What is written of one token."""

    token: str
    poses: NDArray[np.float32]
    """``[40, 3]`` at 10 Hz: x_m, y_m, heading_rad in the ego's frame."""
    heads: Mapping[str, NDArray[np.float32]] = field(default_factory=dict)
    """By name, ``[candidate]``: log of sigmoid, and log of softmax of ``imi``; all or none."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "poses", frozen(self.poses, np.float32, (POSES, 3)))
        if self.heads and set(self.heads) != set(HEADS):
            raise BadInput(
                f"there are heads {', '.join(sorted(self.heads))}",
                where=f"token {self.token}",
                expected=f"all of {', '.join(HEADS)}, or none",
            )


def read_predictions(path: Path) -> dict[str, NDArray[Any]]:
    """Return the poses ``[40, 3]`` at 10 Hz of every token of a prediction file, read-only."""
    found = {}
    for token, plan in read_plans(path):
        if len(plan.poses) != POSES or abs(plan.interval_s - DT_S) > _SAME_S:
            raise BadInput(
                f"the plan has {len(plan.poses)} poses, one every {plan.interval_s:g} s",
                where=f"{path}, token {token}",
                expected=f"{POSES} poses, one every {DT_S:g} s",
                remedy="let the agent plan at 10 Hz",
            )
        found[token] = plan.poses
    return found


def read_plans(path: Path) -> Iterator[tuple[str, Plan]]:
    """Give each token of a prediction file with its plan, however it is sampled."""
    seen: set[str] = set()
    for token, value in _entries(path):
        where = f"{path}, token {token}"
        if not isinstance(token, str):
            raise BadInput(f"an entry is named {token!r:.60}", where=str(path), expected="a token")
        if token in seen:
            raise BadInput("the token is predicted twice", where=where)
        seen.add(token)
        yield token, _plan(value, where)
    if not seen:
        raise BadInput("the prediction file holds no plans", where=str(path))


def write_predictions(path: Path, predictions: Iterable[Prediction]) -> int:
    """Write a prediction file as GTRS does, whole or not at all; return the number of tokens.

    Only one prediction is held at a time.
    """
    tokens: set[str] = set()

    def entries() -> Iterator[tuple[str, dict[str, Any]]]:
        for one in predictions:
            if one.token in tokens:
                raise BadInput(f"token {one.token} is predicted twice", where=str(path))
            tokens.add(one.token)
            yield (
                one.token,
                {
                    "trajectory": _record(one.poses),
                    **{name: one.heads[name] for name in ("imi", *HEADS) if name in one.heads},
                },
            )

    with whole_file(path) as stream:
        pickles.write_items(stream, entries())
    return len(tokens)


def _entries(path: Path) -> Iterator[tuple[Any, Any]]:
    for key, value in pickles.items(path, pickles.PREDICTIONS):
        if key in _STAGES:
            yield from _staged(key, value, path)
        elif not (key in _DETAILS and isinstance(value, (str, list))):
            yield key, value


def _staged(stage: str, value: Any, path: Path) -> Iterator[tuple[Any, Any]]:
    parts = value if isinstance(value, list) else [value]
    for part in parts:
        if not isinstance(part, dict):
            raise BadInput(
                f"{stage} holds a {type(part).__name__}",
                where=str(path),
                expected="dictionaries of token to trajectory",
            )
        yield from part.items()


def _plan(value: Any, where: str) -> Plan:
    if isinstance(value, dict):
        if "trajectory" not in value:
            raise BadInput(
                f"the entry holds {', '.join(map(str, value)) or 'nothing'}",
                where=where,
                expected="a trajectory",
            )
        value = value["trajectory"]
    if isinstance(value, pickles.Record) and value.name == _TRAJECTORY:
        return Plan(_poses(value["poses"], where), _interval_s(value, where))
    poses = _poses(value, where)
    if len(poses) != POSES:
        raise BadInput(
            f"the plan is {len(poses)} poses that do not say how far apart they are",
            where=where,
            expected=f"{POSES} poses, one every {DT_S:g} s, or a navsim Trajectory",
        )
    return Plan(poses, DT_S)


def _poses(value: Any, where: str) -> NDArray[Any]:
    if not isinstance(value, np.ndarray) or value.dtype not in (np.float32, np.float64):
        raise BadInput(
            f"the plan's poses are {_kind(value)}", where=where, expected="float32 [pose, 3]"
        )
    if value.ndim != 2 or value.shape[1] != 3 or len(value) == 0:
        raise BadInput(f"the plan's poses have shape {value.shape}", where=where, expected="(*, 3)")
    broken = ~np.isfinite(value).all(axis=1)
    if broken.any():
        pose = int(broken.argmax())
        raise BadInput(
            f"pose {pose} of the plan is {value[pose].tolist()}",
            where=where,
            expected="finite numbers",
        )
    return frozen(value, value.dtype, (None, 3))


def _kind(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"of {value.dtype}"
    return f"a {value.name if isinstance(value, pickles.Record) else type(value).__name__}"


def _interval_s(trajectory: pickles.Record, where: str) -> float:
    sampling = trajectory["trajectory_sampling"]
    interval = sampling["interval_length"] if isinstance(sampling, pickles.Record) else None
    if not isinstance(interval, (int, float)) or not 0.0 < interval <= 10.0:
        raise BadInput(
            f"the plan's poses are {interval} s apart", where=where, expected="above 0 s, up to 10"
        )
    return float(interval)


def _record(poses: NDArray[np.float32]) -> pickles.Record:
    sampling = {"num_poses": POSES, "time_horizon": POSES * DT_S, "interval_length": DT_S}
    return pickles.Record(
        _TRAJECTORY,
        {"poses": poses, "trajectory_sampling": pickles.Record(_SAMPLING, sampling)},
    )
