"""What the numbers of a result file say about how it was made.

A file says neither which forgiveness its components carry nor whether its scores were made of them.
The numbers tell: a score is either the aggregate of its own row, or it is not, and then forgiveness
may explain it. A component the human failed was set to 1, so the score must be the aggregate of a
row in which some components that are 1 now are lower: 0, or a half where there are halves.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import DAC, DDC, LK, NC, TLC, TTC
from navaudit.evaluate.epdms import EC, EPDMS, aggregate
from navaudit.evaluate.results import Results

Floats = NDArray[np.float64]
Story = Literal["own", "off of on", "unexplained"]

SAME: Final = 1e-9
"""Two scores this close are one: files keep all digits, and some tools do not."""

BEFORE: Final = {
    NC: (0.0, 0.5),
    DDC: (0.0, 0.5),
    DAC: (0.0,),
    TLC: (0.0,),
    TTC: (0.0,),
    LK: (0.0,),
}
"""Values that forgiveness can have hidden behind a 1."""


@dataclass(frozen=True, eq=False)
class Reading:
    """How the stored scores of a file relate to its components."""

    story: Story
    """``own``: each is the aggregate of its row. ``off of on``: those that are not are explained by
    forgiveness, so the components are forgiven and the scores are not. ``unexplained``: some are
    neither."""
    rebuilt: Floats
    """``[token]``: the aggregate of the row."""
    apart: NDArray[np.bool_]
    """``[token]``: the stored score is not the aggregate of its row."""
    unexplained: NDArray[np.bool_]
    """``[token]``: nor can forgiveness explain it."""
    telling: int
    """How many of those apart have a score above 0. A score of 0 is explained by any multiplied
    component; another one only by the right ones."""

    @property
    def sentence(self) -> str:
        """What to print."""
        apart, total = int(self.apart.sum()), len(self.apart)
        if self.story == "own":
            return (
                f"each of {total} scores is the aggregate of its own row: components and scores "
                "carry the same forgiveness, or none; the file cannot say which"
            )
        if self.story == "off of on":
            return (
                f"{apart} of {total} scores are not the aggregate of their row, and forgiveness "
                f"explains them all ({self.telling} of them by a score above 0): the components "
                "are forgiven, the stored score is the OFF aggregate"
            )
        return (
            f"{int(self.unexplained.sum())} of {total} scores are neither the aggregate of their "
            "row nor explained by forgiveness: another formula made them"
        )


def read_story(results: Results) -> Reading:
    """Tell how a file's scores were made; rows that failed are left out of it."""
    components, comfort = results.score[:, :EC], results.score[:, EC]
    stored = results.score[:, EPDMS]
    rebuilt = aggregate(components, comfort)
    with np.errstate(invalid="ignore"):
        apart = np.abs(rebuilt - stored) > SAME
    unexplained = apart.copy()
    rows = np.flatnonzero(apart)
    unexplained[rows] = ~explained(components[rows], comfort[rows], stored[rows])
    story: Story = "own" if not apart.any() else "off of on"
    if unexplained.any():
        story = "unexplained"
    telling = int((apart & (stored > 0.0)).sum())
    return Reading(story, rebuilt, apart, unexplained, telling)


def explained(components: Floats, comfort: Floats, stored: Floats) -> NDArray[np.bool_]:
    """Which stored scores ``[token]`` some rows before forgiveness aggregate to.

    Examples
    --------
    >>> passing = np.ones((3, 8))
    >>> explained(passing, np.full(3, np.nan), np.array([0.0, 12 / 14, 0.9])).tolist()
    [True, True, False]
    """
    found = np.zeros(len(stored), bool)
    columns = tuple(BEFORE)
    for values in itertools.product(*((None, *BEFORE[column]) for column in columns)):
        before, possible = components.copy(), ~found
        for column, value in zip(columns, values, strict=True):
            if value is not None:
                possible &= components[:, column] == 1.0
                before[:, column] = value
        found |= possible & (np.abs(aggregate(before, comfort) - stored) <= SAME)
    return found
