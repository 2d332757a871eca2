"""What a probe asks: which head against which column, with which head as control, and how."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from navaudit.axes import COLUMNS, DAC, HEAD_COLUMNS, HEADS, LK, SHORT
from navaudit.errors import BadInput
from navaudit.stats.auc import MAX_FPR, rate
from navaudit.stats.bootstrap import RESAMPLES
from navaudit.stats.matching import CALIPER
from navaudit.stats.standardize import WIDTH

TIE_DRAWS: Final = 100
"""Random orders of tied candidates that the paper draws."""

_DRAWN: Final = ("resamples", "seed", "tie_draws", "tie_seed")
"""Settings that decide what is drawn, not what is measured."""


@dataclass(frozen=True)
class Question:
    """A head read against a column, beside a control head; complete, and free of contradictions.

    A candidate is positive where its label in the column is 1. The control is read against the same
    column, and in the contrast D against its own.
    """

    head: str = "lane_keeping"
    column: int = LK
    control: str = "drivable_area_compliance"
    control_column: int = DAC
    caliper: int = CALIPER
    """Candidates by which the failing counts of a pair may differ."""
    width: int = WIDTH
    """Candidates a stratum of the failing count spans."""
    max_fpr: float = MAX_FPR
    """False-positive rate below which the partial AUC is read."""
    resamples: int = RESAMPLES
    seed: int = 0
    """Of the bootstrap."""
    tie_draws: int = TIE_DRAWS
    """Random orders of tied candidates; 0 for none."""
    tie_seed: int = 0

    def __post_init__(self) -> None:
        for head in (self.head, self.control):
            _number(head)
        if self.head == self.control:
            raise BadInput(
                f"the head {self.head} is its own control",
                expected="a control head that learned from another column",
                remedy="name another head as --control",
            )
        rate(self.max_fpr)
        least = {
            "caliper": 0, "width": 1, "resamples": 1, "seed": 0, "tie_draws": 0, "tie_seed": 0,
        }  # fmt: skip
        for name, value in least.items():
            if getattr(self, name) < value:
                raise BadInput(f"{name} is {getattr(self, name)}", expected=f"at least {value}")

    @property
    def as_the_paper(self) -> bool:
        """Whether it is the paper's question, whatever is drawn."""
        mine, theirs = asdict(self), asdict(Question())
        return all(mine[name] == theirs[name] for name in theirs if name not in _DRAWN)

    def record(self) -> dict[str, Any]:
        """Everything that decides a number, with columns by name."""
        told = asdict(self)
        for name in ("column", "control_column"):
            told[name] = COLUMNS[told[name]]
        return told


def column_of(head: str) -> int:
    """Return the stored column that a head is trained on.

    Examples
    --------
    >>> column_of("lane_keeping") == LK
    True
    """
    number = _number(head)
    if number == len(HEAD_COLUMNS):
        raise BadInput(
            f"the head {head} has no column of its own",
            expected=f"a column: {', '.join(COLUMNS)}",
            remedy="say what it is read against: --column, or --control-column for the control",
        )
    return HEAD_COLUMNS[number]


def column_named(name: str) -> int:
    """Return a column by its name or its short one.

    Examples
    --------
    >>> column_named("LK") == column_named("lane_keeping") == LK
    True
    """
    for names in (COLUMNS, SHORT):
        if name in names:
            return names.index(name)
    raise BadInput(f"there is no column {name!r}", expected=f"one of: {', '.join(COLUMNS)}")


def short_head(head: str) -> str:
    """Return the short name of a head: its column's, or its own.

    Examples
    --------
    >>> short_head("drivable_area_compliance"), short_head("imi")
    ('dac', 'imi')
    """
    number = _number(head)
    return head if number == len(HEAD_COLUMNS) else SHORT[HEAD_COLUMNS[number]].lower()


def _number(head: str) -> int:
    if head not in HEADS:
        raise BadInput(f"there is no head {head!r}", expected=f"one of: {', '.join(HEADS)}")
    return HEADS.index(head)
