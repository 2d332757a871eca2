"""Sources: the one or two label sets that an audit reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.measure import measure
from navaudit.audit.sheet import Sheet
from navaudit.errors import BadInput
from navaudit.labels.labelset import LabelSet

HUMAN: Final = "human scores"
DIFFERENCE: Final = "where the files differ"


@dataclass(frozen=True)
class Sources:
    """The label sets of an audit."""

    raw: LabelSet
    published: LabelSet | None = None

    def __post_init__(self) -> None:
        if not len(self.raw):
            raise BadInput("the label set has no tokens", where=str(self.raw.folder))
        if self.published is None:
            if self.basis == DIFFERENCE:
                raise _nothing_published(self.raw)
            return
        if self.published.candidates != self.raw.candidates:
            raise BadInput(
                f"the published set has {self.published.candidates} candidates",
                where=str(self.published.folder),
                expected=f"{self.raw.candidates}, as in {self.raw.folder}",
                remedy="name two sets of the same vocabulary",
            )
        if not len(self.places):
            raise BadInput(
                "the two sets have no token in common",
                where=f"{self.raw.folder} and {self.published.folder}",
                expected="sets of the same scenes",
            )

    @cached_property
    def basis(self) -> str:
        """How it is known that a column was forgiven."""
        known = not bool(np.isnan(self.raw.human).all())
        return HUMAN if known else DIFFERENCE

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Places of the tokens that are audited in the raw set, ascending."""
        if self.published is None:
            return np.arange(len(self.raw))
        tokens = self.raw.tokens
        return np.flatnonzero([token in self.published for token in tokens])

    def record(self) -> dict[str, Any]:
        """Everything that decides what is measured."""
        published = self.published
        return {
            "raw": self.raw.digest(),
            "published": published.digest() if published else None,
            "tokens": len(self.places),
            "raw_tokens": len(self.raw),
            "published_tokens": len(published) if published else None,
            "candidates": self.raw.candidates,
            "forgiven_known_from": self.basis,
            "human_unknown": int(np.isnan(self.raw.human).any(axis=1).sum()),
            "failures": len(self.raw.failures),
        }

    def measure(self, places: NDArray[np.int64]) -> Sheet:
        """Measure the tokens at some places of the raw set, all in memory at once."""
        tokens = [self.raw.tokens[place] for place in places]
        published = None
        if self.published is not None:
            published = _read(self.published, [self.published.index(token) for token in tokens])
        human = self.raw.human[places] if self.basis == HUMAN else None
        raw = _read(self.raw, places.tolist())
        return measure(raw, human, published, places=places, tokens=tokens)


def _read(labels: LabelSet, places: Sequence[int]) -> NDArray[np.float16]:
    """Read tokens, in one go where they follow each other in the set."""
    first, last = places[0], places[-1]
    if list(places) == list(range(first, last + 1)):
        return labels.stretch(first, last + 1)
    return np.stack([labels.raw(labels.tokens[place]) for place in places])


def _nothing_published(raw: LabelSet) -> BadInput:
    return BadInput(
        "no human score is known, so what the rule published is not known either",
        where=str(raw.folder),
        expected="human scores, or a second label set with what was published",
        remedy="give the set of published labels as --published, or label the scenes",
    )
