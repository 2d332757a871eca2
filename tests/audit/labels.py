"""Real label sets on disk, of labels drawn by hand or by chance."""

from __future__ import annotations

import numpy as np

from navaudit.labels.labelset import LabelSet, writing


def names(count):
    return tuple(f"token-{place:04d}" for place in range(count))


def write_set(folder, raw, human=None, tokens=None, **settings):
    """A label set of ``raw [token, column, candidate]``; NaN humans where none are given."""
    tokens = names(len(raw)) if tokens is None else tokens
    human = np.full((len(raw), 9), np.nan) if human is None else human
    with writing(folder, settings, {}, candidates=raw.shape[2], path=False) as draft:
        with draft.parcel("all") as parcel:
            for token, values, scores in zip(tokens, raw, human, strict=True):
                parcel.add(token, "log", scores, np.ascontiguousarray(values), None)
        draft.close(["all"])
    return LabelSet.open(folder)
