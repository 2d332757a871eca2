"""Labels as whole numbers: the bits of a float16 from 0 to 1, which order as the values do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import COLUMNS
from navaudit.errors import BadInput

Codes = NDArray[np.uint16]

HALF: Final = 0x3800
ONE: Final = 0x3C00
LEVELS: Final = ONE + 1
"""Codes there can be: every float16 from 0 to 1."""
MINUS_ZERO: Final = 0x8000


def codes_of(labels: NDArray[Any], tokens: Sequence[str] = ()) -> Codes:
    """Codes of labels ``[token, column, candidate]``; equal values have equal codes.

    Where a label is not a score from 0 to 1 it is named, with its token where ``tokens`` has it.
    The codes are the labels' own memory wherever that will do.

    Examples
    --------
    >>> codes = codes_of(np.array([[[0.0, -0.0, 0.5, 1.0]] * 9], np.float16))
    >>> codes[0, 0].tolist() == [0, 0, HALF, ONE]
    True
    """
    if labels.dtype != np.float16 or labels.ndim != 3 or labels.shape[1] != len(COLUMNS):
        raise BadInput(
            f"labels are {labels.dtype} {labels.shape}",
            expected=f"float16 [token, {len(COLUMNS)}, candidate]",
        )
    if labels.shape[2] == 0:
        raise BadInput("labels are of no candidates", expected="at least one candidate")
    codes = np.ascontiguousarray(labels).view(np.uint16)
    if not codes.size or codes.max() <= ONE:
        return codes
    codes = np.where(codes == MINUS_ZERO, np.uint16(0), codes)
    if codes.max() > ONE:
        _refuse(labels, codes, tokens)
    return codes


def _refuse(labels: NDArray[Any], codes: Codes, tokens: Sequence[str]) -> None:
    token, column, candidate = (int(one) for one in np.argwhere(codes > ONE)[0])
    of = f"token {tokens[token]}" if tokens else f"token number {token}"
    raise BadInput(
        f"a label is {float(labels[token, column, candidate])}",
        where=f"{of}, {COLUMNS[column]}, candidate {candidate}",
        expected="a score from 0 to 1",
        remedy="make or import this token's labels again",
    )
