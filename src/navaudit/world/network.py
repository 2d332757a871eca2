"""A map's graph: the ways that cars drive, the blocks that ways make up, and what leads where.

Everything is packed into flat arrays, so that a city takes tens of megabytes and no geometry
object lives on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.compiled import njit
from navaudit.errors import BadInput
from navaudit.numerics.polyline import vertex_measures
from navaudit.world.areas import Areas
from navaudit.world.trigonometry import LIBM, Trig

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Links:
    """For each row the rows it leads to, in order: a list of lists, packed.

    Examples
    --------
    >>> Links.of([[1, 2], [], [0]])[0]
    array([1, 2])
    """

    start: Rows
    """``[row + 1]``: where each row's links begin."""
    row: Rows
    """``[link]``: the rows led to."""

    def __post_init__(self) -> None:
        _keep(self, start=frozen(self.start, np.int64, (None,)))
        _keep(self, row=frozen(self.row, np.int64, (None,)))

    @classmethod
    def of(cls, lists: Sequence[Sequence[int]]) -> Links:
        """Pack lists of rows."""
        start = np.cumsum([0, *map(len, lists)])
        return cls(start, np.array([row for one in lists for row in one], dtype=np.int64))

    def __getitem__(self, row: int) -> Rows:
        """Return the rows that this row leads to."""
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self.row[self.start[row] : self.start[row + 1]]

    def __len__(self) -> int:
        return len(self.start) - 1


@dataclass(frozen=True, eq=False)
class Poses:
    """Lines with a heading at each vertex, packed: the baselines of ways."""

    xyh: Floats
    """``[vertex, (x_m, y_m, heading_rad)]``: towards the next vertex; the last repeats the one
    before."""
    start: Rows
    """``[line + 1]``: where each line's vertices begin; a line without vertices is not known."""
    length_m: Floats = field(init=False)
    """``[line]``: summed over the segments in turn; 0 where not known."""

    def __post_init__(self) -> None:
        _keep(self, xyh=frozen(self.xyh, np.float64, (None, 3)))
        _keep(self, start=frozen(self.start, np.int64, (None,)))
        lengths = np.empty(len(self))
        _lengths(self.xyh, self.start, lengths)
        _keep(self, length_m=frozen(lengths, np.float64, (len(self),)))

    @classmethod
    def along(cls, lines: Sequence[Floats], trig: Trig = LIBM) -> Poses:
        """Put headings on lines ``[vertex, xy]`` in metres.

        Examples
        --------
        >>> Poses.along([np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 3.0]])])[0][:, 2]
        array([0.        , 1.57079633, 1.57079633])
        """
        start = np.cumsum([0, *map(len, lines)])
        xy = np.concatenate([*lines, np.empty((0, 2))])
        step = np.diff(xy, axis=0, append=xy[-1:])
        heading = trig.atan2(step[:, 1], step[:, 0])
        ends = start[1:][np.diff(start) > 1] - 1
        heading[ends] = heading[ends - 1]
        return cls(np.column_stack([xy, heading]), start)

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, line: int) -> Floats:
        """Return one line's poses ``[vertex, (x_m, y_m, heading_rad)]``."""
        poses = self.xyh[self.start[line] : self.start[line + 1]]
        if not self.length_m[line] > 0.0:
            raise BadInput(
                f"baseline of row {line} has {len(poses)} vertices and length "
                f"{self.length_m[line]} m",
                expected="exactly one line of some length in the map's baseline_paths",
            )
        return poses

    def nearest_vertex(self, line: int, x_m: float, y_m: float) -> tuple[int, float]:
        """Return the first of a line's vertices nearest to (x, y), and its distance in metres."""
        away = self[line][:, :2] - (x_m, y_m)
        # after the root, as stock compares them: roots can be equal where squares are not
        distance = np.sqrt(away[:, 0] * away[:, 0] + away[:, 1] * away[:, 1])
        vertex = int(np.argmin(distance))
        return vertex, float(distance[vertex])


@njit(cache=True, error_model="numpy")
def _lengths(xyh: Floats, start: Rows, out: Floats) -> None:
    for line in range(len(out)):
        first, last = start[line], start[line + 1]
        out[line] = vertex_measures(xyh[first:last, :2])[-1] if last > first else 0.0


@dataclass(frozen=True, eq=False)
class Ways(Areas):
    """Lanes, then lane connectors: what a car drives along. Ids are unique within each only."""

    first_connector: int
    """Row of the first lane connector."""
    baseline: Poses
    speed_limit_mps: Floats
    """``[way]``; NaN where the file has none."""
    block: Rows
    """``[way]``: row of the block it belongs to; -1 where there is none."""
    after: Links
    """Ways that may be driven next: connectors after a lane, the one lane after a connector."""
    before: Links
    """Ways that lead here."""
    row: Mapping[tuple[bool, str], int] = field(init=False, repr=False)
    """From (whether it is a connector, id) to row."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _keep(self, speed_limit_mps=frozen(self.speed_limit_mps, np.float64, (len(self),)))
        _keep(self, block=frozen(self.block, np.int64, (len(self),)))
        _keep(self, row=rows_of(self.id, self.first_connector))

    def connector(self, connector_id: str) -> int | None:
        """Return the row of the lane connector with this id, None if there is none."""
        return self.row.get((True, connector_id))


@dataclass(frozen=True, eq=False)
class Blocks(Areas):
    """Roadblocks, then roadblock connectors: ways side by side in one direction."""

    first_connector: int
    """Row of the first roadblock connector."""
    ways: Links
    """The ways of each block."""
    after: Links
    """Blocks that may be driven next."""
    before: Links
    """Blocks that lead here."""
    row: Mapping[tuple[bool, str], int] = field(init=False, repr=False)
    """From (whether it is a connector, id) to row."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _keep(self, row=rows_of(self.id, self.first_connector))

    def find(self, block_id: str) -> int | None:
        """Return the row of a roadblock, else of a roadblock connector, else None."""
        return self.row.get((False, block_id), self.row.get((True, block_id)))


def rows_of(ids: Sequence[str], first_connector: int) -> Mapping[tuple[bool, str], int]:
    """Map (whether it is a connector, id) to row."""
    keys = ((i >= first_connector, key) for i, key in enumerate(ids))
    return {key: i for i, key in enumerate(keys)}


def _keep(target: object, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(target, name, value)
