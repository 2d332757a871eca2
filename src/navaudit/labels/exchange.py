"""Label sets out of GTRS labels, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit import provenance
from navaudit.axes import COLUMNS
from navaudit.labels.ahead import ahead
from navaudit.labels.gtrs import GtrsLabels, Say, silent, write_gtrs
from navaudit.labels.labelset import Draft, LabelSet, writing
from navaudit.labels.mapping import Labels
from navaudit.labels.places import Halves
from navaudit.labels.roll import Roll, require_all
from navaudit.scene.whole import whole_file

_PARCEL: Final = 256
"""Tokens that are imported at a time; what a killed import loses of each thread's work."""
_TOLD: Final = 256
"""Tokens between two words on how far an export is."""
_UNKNOWN: Final = np.full(len(COLUMNS), np.nan)


@dataclass(frozen=True)
class Imported:
    """A label set made of GTRS labels, and what it lacks."""

    labels: LabelSet
    unlabelled: tuple[str, ...]
    """Tokens on the roll that have no labels."""


def import_labels(
    source: GtrsLabels,
    folder: Path,
    *,
    roll: Roll | None = None,
    split: Sequence[str] | None = None,
    workers: int = 1,
    say: Say = silent,
) -> Imported:
    """Make a label set of GTRS labels.

    Values are kept as they stand there, under whatever rule they were made; the human's scores are
    not known. With a roll, tokens come by log and time; without, by token, their logs unknown. A
    split names the tokens that must be there, no more and no fewer. What was cut short goes on.
    """
    if split is not None:
        require_all(source.tokens, split, str(source.path))
    rows = (
        roll.arrange(source.tokens)
        if roll is not None
        else tuple((token, "") for token in sorted(source.tokens))
    )
    settings = {
        "source": "GTRS labels",
        "labels": source.digest,
        "order": "token" if roll is None else "log, time",
        "roll": None if roll is None else roll.digest(),
    }
    told = {**provenance.here(), "imported": source.path.name}
    with writing(folder, settings, told, candidates=source.candidates, path=False) as draft:
        if not draft.complete:
            _fill(draft, source, rows, workers, say)
    unlabelled = () if roll is None else roll.unlabelled(source.tokens)
    return Imported(LabelSet.open(folder), unlabelled)


def _fill(
    draft: Draft, source: GtrsLabels, rows: Sequence[tuple[str, str]], workers: int, say: Say
) -> None:
    """Write parcels, each by one thread, and lay them out."""
    names = [f"{first:09d}" for first in range(0, len(rows), _PARCEL)]

    def write(name: str) -> int:
        part = rows[int(name) : int(name) + _PARCEL]
        if not draft.has(name):
            with draft.parcel(name) as parcel:
                for token, log in part:
                    parcel.add(token, log, _UNKNOWN, source.raw(token))
        return len(part)

    if not draft.closing:
        done = 0
        say("", 0, len(rows))
        for count in ahead(write, names, workers):
            done += count
            say("", done, len(rows))
    draft.close(names)


def export_labels(
    labels: Labels, path: Path, *, mask: Path | None = None, workers: int = 1, say: Say = silent
) -> str:
    """Write a GTRS pickle of what a policy makes of a label set, in its order.

    ``mask`` is written too where a path is given: NumPy's npz of ``token``, ``column`` and
    ``abstains``, boolean ``[token, column]``, true where the policy says nothing and the pickle
    has NaN. Returns the SHA-256 of the pickle.
    """
    abstains = np.zeros((len(labels), len(COLUMNS)), np.bool_)
    digest = write_gtrs(path, _watched(labels, abstains, workers, say))
    if mask is not None:
        write_mask(mask, labels.label_set.tokens, abstains)
    return digest


def _watched(
    labels: Labels, abstains: NDArray[np.bool_], workers: int, say: Say
) -> Iterator[tuple[str, Halves]]:
    """Give tokens and values, noting on which columns nothing is said."""
    tokens = labels.label_set.tokens
    values = ahead(labels.values_of, tokens, workers)
    for row, (token, of_token) in enumerate(zip(tokens, values, strict=True)):
        if row % _TOLD == 0:
            say("", row, len(tokens))
        maybe = np.flatnonzero(np.isnan(of_token[:, 0]))
        abstains[row, maybe] = np.isnan(of_token[maybe]).all(axis=1)
        yield token, of_token
    say("", len(tokens), len(tokens))


def write_mask(path: Path, tokens: Sequence[str], abstains: NDArray[np.bool_]) -> None:
    """Write whole which columns of which tokens a policy abstains on."""
    arrays: dict[str, Any] = {
        "token": np.array(tokens, np.str_),
        "column": np.array(COLUMNS, np.str_),
        "abstains": abstains,
    }
    with whole_file(path) as stream:
        np.savez(stream, **arrays)
