"""Measuring: some tokens' labels in both files become a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from navaudit.audit.codes import ONE, Codes, codes_of
from navaudit.audit.distinct import count_rows
from navaudit.audit.firsts import SETS, STATISTICS, rank
from navaudit.audit.sheet import Sheet
from navaudit.audit.tally import KINDS, ONE_BIT, count_columns
from navaudit.errors import BadInput
from navaudit.score.forgive import forgiven_columns


def measure(
    raw: NDArray[Any],
    human: NDArray[np.float64] | None,
    published: NDArray[Any] | None = None,
    *,
    places: ArrayLike | None = None,
    tokens: Sequence[str] = (),
) -> Sheet:
    """Measure some tokens; ``raw`` and ``published`` are float16 ``[token, column, candidate]``.

    Without ``published``, it is what the rule makes of ``raw`` under ``human [token, column]``.
    Without ``human``, a column counts as forgiven where the two differ and the published one is all
    ones. ``places [token]`` are those of the tokens in their label set; ``tokens`` are for errors.
    """
    before = codes_of(raw, tokens)
    after = _published(before, human, published, tokens)
    if published is None:
        differs = before != after
    else:
        differs = raw.view(np.uint16) != published.view(np.uint16)
    changed = np.count_nonzero(differs, axis=2).astype(np.int32)
    counted = count_columns(before)
    counted_after = counted.copy()
    rows = count_rows(before)
    rows_after = rows.copy()
    touched = np.flatnonzero((changed > 0).any(axis=1))
    counted_after[touched] = count_columns(after[touched])
    rows_after[touched] = count_rows(after[touched])
    if human is None:
        forgiven = (changed > 0) & (counted_after[:, :, KINDS] == ONE_BIT)
    else:
        forgiven = forgiven_columns(human)
    return Sheet(
        candidates=raw.shape[2],
        place=np.asarray(np.arange(len(raw)) if places is None else places, np.int64),
        forgiven=forgiven,
        before=counted,
        after=counted_after,
        changed=changed,
        rows_before=rows,
        rows_after=rows_after,
        **_rankings(before, after, touched),
    )


def _published(
    before: Codes,
    human: NDArray[np.float64] | None,
    published: NDArray[Any] | None,
    tokens: Sequence[str],
) -> Codes:
    if published is not None:
        if published.shape != before.shape:
            raise BadInput(
                f"published labels are {published.shape}", expected=f"{before.shape}, as the raw"
            )
        return codes_of(published, tokens)
    if human is None:
        raise BadInput(
            "neither human values nor published labels are known",
            expected="one of the two, to tell which columns were forgiven",
        )
    return np.where(forgiven_columns(human)[:, :, None], np.uint16(ONE), before)


def _rankings(before: Codes, after: Codes, touched: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    sizes = np.zeros((len(before), len(STATISTICS), len(SETS)), np.int32)
    nothing = np.zeros((len(before), 2), bool)
    gain = np.full((len(before), 2), np.nan)
    for token in touched:
        ranked = rank(after[token], before[token])
        sizes[token], nothing[token], gain[token] = ranked.sizes, ranked.nothing, ranked.gain
    return {"ranked": sizes, "nothing": nothing, "gain": gain}
