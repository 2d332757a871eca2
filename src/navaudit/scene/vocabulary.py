"""The candidates: a table of trajectories in the ego's own frame, and their digest."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.axes import POSES
from navaudit.errors import BadInput

REACH_M: Final = 1_000.0
"""Farther than anything drives in four seconds; a pose beyond it is a broken file."""

TURN_RAD: Final = 100.0
"""More than anything turns in four seconds."""


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Candidate trajectories of the rear axle at 10 Hz, t = 0.1, ..., 4.0 s; t = 0 is the ego."""

    poses: NDArray[np.float32] | NDArray[np.float64]
    """``[candidate, pose, 3]``: x_m, y_m, heading_rad in the ego's frame; dtype as given."""

    def __post_init__(self) -> None:
        dtype = np.asarray(self.poses).dtype
        if dtype not in (np.float32, np.float64):
            raise BadInput(f"vocabulary is {dtype}", expected="float32, or float64")
        poses = frozen(self.poses, dtype, (None, POSES, 3))
        object.__setattr__(self, "poses", poses)
        _expect_drivable(poses)

    def __len__(self) -> int:
        return len(self.poses)

    @property
    def digest(self) -> str:
        """SHA-1 that git gives the ``.npy`` file of these poses.

        The released 16,384 vocabulary is known by this one:
        ``2bc477aedb9185446a55f0e159fae6eca58d5881``.
        """
        # the header np.save has written for C-ordered arrays since format 1.0 came into use
        descr = np.lib.format.dtype_to_descr(self.poses.dtype)
        text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {self.poses.shape}, }}"
        padding = -(len(text) + 11) % 64
        header = (text + " " * padding + "\n").encode("latin1")
        magic = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little")
        sha = hashlib.sha1(usedforsecurity=False)
        sha.update(b"blob %d\0" % (len(magic) + len(header) + self.poses.nbytes))
        sha.update(magic + header)
        sha.update(np.ascontiguousarray(self.poses).data)
        return sha.hexdigest()

    def take(self, candidates: Any) -> Vocabulary:
        """Return the vocabulary of these rows, in this order."""
        return Vocabulary(self.poses[candidates])


def read_vocabulary(path: Path) -> Vocabulary:
    """Read a ``.npy`` file ``[candidate, 40, 3]``; nothing in it is executed."""
    try:
        poses = np.load(path, allow_pickle=False)
    except FileNotFoundError as error:
        raise BadInput("vocabulary does not exist", where=str(path)) from error
    except (ValueError, EOFError, OSError) as error:
        raise BadInput(
            f"vocabulary cannot be read: {error}",
            where=str(path),
            expected=f"a whole .npy file of float32 [candidate, {POSES}, 3]",
        ) from error
    try:
        return Vocabulary(poses)
    except BadInput as error:
        raise BadInput(
            error.what, where=error.where or str(path), expected=error.expected, remedy=error.remedy
        ) from error


def _expect_drivable(poses: NDArray[Any]) -> None:
    if len(poses) == 0:
        raise BadInput("vocabulary is empty", expected="at least one candidate")
    limit = np.array([REACH_M, REACH_M, TURN_RAD])
    with np.errstate(invalid="ignore"):
        sane = (np.abs(poses) <= limit).all(axis=2)
    if sane.all():
        return
    candidate, pose = (int(one) for one in np.argwhere(~sane)[0])
    raise BadInput(
        f"{int((~sane.all(axis=1)).sum())} of {len(poses)} candidates hold absurd poses; the first "
        f"is {poses[candidate, pose].tolist()}",
        where=f"candidate {candidate}, pose {pose} (t = {(pose + 1) / 10:.1f} s)",
        expected=f"finite numbers, within {REACH_M:g} m and {TURN_RAD:g} rad of the ego",
        remedy="drop or mend these candidates",
    )
