"""The sheet: what is measured of each token, a thousandth of the labels themselves.

Everything the audit says is computed from a sheet. Sheets of disjoint tokens merge into one, in
whatever way the tokens were shared out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.audit.distinct import REPRESENTATIONS
from navaudit.audit.firsts import SETS, STATISTICS
from navaudit.audit.tally import FAILING, READINGS
from navaudit.axes import COLUMNS
from navaudit.errors import BadInput

_COLUMNS: Final = len(COLUMNS)


@dataclass(frozen=True)
class Sheet:
    """Measures of some tokens in ascending order of their place; every array ``[token, ...]``."""

    candidates: int
    """How many candidates every column has."""
    place: NDArray[np.int64]
    """Which token of the raw label set this is."""
    forgiven: NDArray[np.bool_]
    """``[token, column]``: the rule fired."""
    before: NDArray[np.int32]
    """``[token, column, reading]``: counts of the raw column; see `navaudit.audit.tally`."""
    after: NDArray[np.int32]
    """The same of the published column."""
    changed: NDArray[np.int32]
    """``[token, column]``: candidates whose labels differ between the two, bit by bit."""
    rows_before: NDArray[np.int32]
    """``[token, representation]``: distinct raw rows."""
    rows_after: NDArray[np.int32]
    """The same of published rows."""
    ranked: NDArray[np.int32]
    """``[token, statistic, set]``: how many are first; zeros where nothing differs."""
    nothing: NDArray[np.bool_]
    """``[token, published raw]``: S excludes every candidate; false where nothing differs."""
    gain: NDArray[np.float64]
    """``[token, published raw]``: score points between the first candidates; mostly NaN."""

    def __post_init__(self) -> None:
        n = len(self.place)
        for name, (dtype, axes) in _LAYOUT.items():
            object.__setattr__(self, name, frozen(getattr(self, name), dtype, (n, *axes)))
        if (np.diff(self.place) <= 0).any():
            raise BadInput("tokens of a sheet are not in ascending order, each once")

    def __len__(self) -> int:
        return len(self.place)

    @property
    def fired(self) -> NDArray[np.bool_]:
        """``[token]``: the rule fired on some column."""
        return np.any(self.forgiven, axis=1)

    @property
    def residual(self) -> NDArray[np.bool_]:
        """``[token, column]``: published is not what the rule makes of raw."""
        return np.where(self.forgiven, self.after[:, :, FAILING] > 0, self.changed > 0)

    @property
    def reproduced(self) -> NDArray[np.bool_]:
        """``[token]``: published is what the rule makes of raw in every column."""
        return np.all(~self.residual, axis=1)

    @property
    def differs(self) -> NDArray[np.bool_]:
        """``[token]``: the two files differ somewhere."""
        return np.any(self.changed > 0, axis=1)

    def arrays(self) -> dict[str, Any]:
        """Name everything it holds, for a file."""
        return {one.name: np.asarray(getattr(self, one.name)) for one in fields(self)}

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> Sheet:
        """Make a sheet of what `arrays` gave."""
        named = {one.name: arrays[one.name] for one in fields(cls)}
        return cls(**{**named, "candidates": int(named["candidates"])})

    @classmethod
    def merge(cls, sheets: Iterable[Sheet]) -> Sheet:
        """Put the tokens of several sheets into one; the order of the sheets does not matter."""
        parts = list(sheets)
        widths = sorted({one.candidates for one in parts})
        if len(widths) != 1:
            raise BadInput(f"sheets are of {widths} candidates", expected="one vocabulary")
        order = np.argsort(np.concatenate([one.place for one in parts]), kind="stable")
        joined = {
            name: np.concatenate([getattr(one, name) for one in parts])[order] for name in _LAYOUT
        }
        return cls(candidates=widths[0], **joined)

    def where(self, chosen: NDArray[np.bool_]) -> Sheet:
        """Leave the chosen ``[token]``."""
        return Sheet(self.candidates, **{name: getattr(self, name)[chosen] for name in _LAYOUT})


_LAYOUT: Final[dict[str, tuple[type, tuple[int, ...]]]] = {
    "place": (np.int64, ()),
    "forgiven": (np.bool_, (_COLUMNS,)),
    "before": (np.int32, (_COLUMNS, len(READINGS))),
    "after": (np.int32, (_COLUMNS, len(READINGS))),
    "changed": (np.int32, (_COLUMNS,)),
    "rows_before": (np.int32, (len(REPRESENTATIONS),)),
    "rows_after": (np.int32, (len(REPRESENTATIONS),)),
    "ranked": (np.int32, (len(STATISTICS), len(SETS))),
    "nothing": (np.bool_, (2,)),
    "gain": (np.float64, (2,)),
}
"""Each array's dtype and its axes after the tokens."""
