"""NAVSIM's one-stage result files: a row a token, and a last row of averages.

The columns are an index without a name, ``token``, ``valid``, the eight components, extended
comfort and ``score``; an empty cell is a metric that a token does not have, or a token that failed.
Files made by others may come without the index, with more columns, and in another order. NAVSIM
v2.0 wrote two rows more, and extended comfort at the earlier of two frames instead of the later.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.arrays import frozen
from navaudit.errors import BadInput
from navaudit.evaluate.epdms import EC, METRICS
from navaudit.evaluate.wanted import is_original

Floats = NDArray[np.float64]

AVERAGE: Final = "average_all_frames"
"""What the last row bears for a token."""

_CLOSED_LOOP: Final = "pseudo_closed_loop"
"""A row that only NAVSIM v2.0 wrote."""
_SUMMARIES: Final = (AVERAGE, _CLOSED_LOOP, "average_expert_frames")

_TWO_STAGE: Final = ("_stage_one", "_stage_two")
_TWO_STAGE_ROW: Final = "extended_pdm_score_"
_V1: Final = "comfort"
_TRUTHS: Final = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}
"""Spreadsheets and other tools write truths in their own ways; case does not matter."""


@dataclass(frozen=True, eq=False)
class Results:
    """A result file as it stands."""

    tokens: tuple[str, ...]
    valid: NDArray[np.bool_]
    """``[token]``"""
    score: Floats
    """``[token, metric]``, metrics as ``epdms.METRICS``; NaN where the cell is empty."""
    logs: tuple[str, ...] | None
    """Log of each token, where the file says so."""
    average: Floats | None
    """``[metric]`` of the last row, where there is one."""
    earlier: bool = False
    """Whether extended comfort stands at the earlier of two frames, as NAVSIM v2.0 wrote it."""

    def __post_init__(self) -> None:
        count = len(self.tokens)
        object.__setattr__(self, "valid", frozen(self.valid, np.bool_, (count,)))
        object.__setattr__(self, "score", frozen(self.score, np.float64, (count, len(METRICS))))


def result_csv(tokens: Sequence[str], valid: NDArray[np.bool_], score: Floats) -> bytes:
    """Return a result file of scores ``[token, metric]``: what NAVSIM would have written.

    Averages leave out empty cells, metric by metric, so a failed token counts nowhere.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["", "token", "valid", *METRICS])
    for row, token in enumerate(tokens):
        writer.writerow([row, token, bool(valid[row]), *map(_cell, score[row])])
    averages = map(_cell, means(score))
    writer.writerow([len(tokens), AVERAGE, bool(valid.all()), *averages])
    return out.getvalue().encode()


def means(score: Floats) -> Floats:
    """Mean of the finite values of each column, NaN where there is none.

    Examples
    --------
    >>> means(np.array([[1.0, np.nan], [2.0, np.nan]])).tolist()
    [1.5, nan]
    """
    found = [column[~np.isnan(column)] for column in np.asarray(score).T]
    return np.array([one.mean() if one.size else np.nan for one in found])


def read_results(path: Path) -> Results:
    """Read a one-stage result file; one of two stages, or of NAVSIM v1, is refused as such."""
    rows = _rows(path)
    header, rows = rows[0], rows[1:]
    place = _places(header, path)
    _refuse_two_stages([row[place["token"]] for row in rows], path)
    average = next((row for row in rows if row[place["token"]] == AVERAGE), None)
    earlier = any(row[place["token"]] == _CLOSED_LOOP for row in rows)
    rows = [row for row in rows if row is not average and not (earlier and _sums_up(row, place))]
    tokens = tuple(row[place["token"]] for row in rows)
    _expect_once(tokens, path)
    if earlier and not all(map(is_original, tokens)):
        raise _two_stages(path)
    score = np.array([_numbers(row, place, path) for row in rows]).reshape(-1, len(METRICS))
    valid = np.array([_truth(row[place["valid"]], path) for row in rows], bool)
    results = Results(
        tokens=tokens,
        valid=valid,
        score=score,
        logs=tuple(row[place["log_name"]] for row in rows) if "log_name" in place else None,
        average=None if average is None else np.array(_numbers(average, place, path)),
        earlier=earlier,
    )
    _expect_scores(results, path)
    return results


def read_index(path: Path) -> dict[str, str]:
    """Read the log name of each token from a CSV with columns ``token`` and ``log_name``."""
    rows = _rows(path)
    names = {name: at for at, name in enumerate(rows[0])}
    if not {"token", "log_name"} <= set(names):
        raise BadInput(
            f"the index has columns {', '.join(rows[0])}",
            where=str(path),
            expected="token and log_name among them",
        )
    tokens = tuple(row[names["token"]] for row in rows[1:])
    _expect_once(tokens, path)
    return dict(zip(tokens, (row[names["log_name"]] for row in rows[1:]), strict=True))


def _rows(path: Path) -> list[list[str]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (OSError, csv.Error, UnicodeDecodeError) as error:
        raise BadInput(f"the table cannot be read: {error}", where=str(path)) from error
    if len(rows) < 2:
        raise BadInput(f"the table has {len(rows)} rows", where=str(path), expected="some tokens")
    for number, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise BadInput(
                f"row {number} has {len(row)} cells",
                where=str(path),
                expected=f"{len(rows[0])}, as the header has",
                remedy="the file may have been cut short: fetch it again",
            )
    return rows


def _places(header: Sequence[str], path: Path) -> dict[str, int]:
    if any(name.endswith(_TWO_STAGE) for name in header):
        raise _two_stages(path)
    place = {name: at for at, name in enumerate(header)}
    missing = [name for name in ("token", "valid", *METRICS) if name not in place]
    if missing and _V1 in place:
        raise BadInput(
            "this is a result of NAVSIM v1",
            where=str(path),
            expected="extended scores of NAVSIM v2, with lane keeping and two comforts",
            remedy="evaluate the plans again, under NAVSIM v2 or with: navaudit evaluate",
        )
    if missing:
        raise BadInput(
            f"the result file lacks {', '.join(missing)}",
            where=str(path),
            expected="token, valid, eight components, extended comfort and score",
        )
    return place


def _sums_up(row: Sequence[str], place: Mapping[str, int]) -> bool:
    return row[place["token"]] in _SUMMARIES


def _refuse_two_stages(tokens: Sequence[str], path: Path) -> None:
    if any(token.startswith(_TWO_STAGE_ROW) for token in tokens):
        raise _two_stages(path)


def _two_stages(path: Path) -> BadInput:
    return BadInput(
        "this is a result of a two-stage evaluation",
        where=str(path),
        expected="one stage: in two stages a row's score depends on other rows' plans and weights, "
        "and extended comfort is shared by two frames",
        remedy="evaluate the first-stage plans with: navaudit evaluate",
    )


def _expect_once(tokens: Sequence[str], path: Path) -> None:
    seen: set[str] = set()
    for token in tokens:
        if token in seen or not token:
            raise BadInput(
                f"token {token!r} stands twice" if token else "a row has no token",
                where=str(path),
                expected="a token of its own for every row",
            )
        seen.add(token)


def _numbers(row: Sequence[str], place: Mapping[str, int], path: Path) -> list[float]:
    cells = [row[place[name]] for name in METRICS]
    try:
        return [float(cell) if cell else np.nan for cell in cells]
    except ValueError as error:
        raise BadInput(
            f"a cell is no number: {error}", where=f"{path}, token {row[place['token']]}"
        ) from error


def _truth(cell: str, path: Path) -> bool:
    if cell.lower() not in _TRUTHS:
        raise BadInput(f"valid is {cell!r}", where=str(path), expected="True or False")
    return _TRUTHS[cell.lower()]


def _expect_scores(results: Results, path: Path) -> None:
    """Every valid token has all metrics but comfort, and every metric lies between 0 and 1."""
    score = results.score
    lacking = np.isnan(np.delete(score, EC, axis=1)).any(axis=1) & results.valid
    with np.errstate(invalid="ignore"):
        outside = ((score < 0.0) | (score > 1.0)).any(axis=1)
    for bad, what in ((lacking, "lacks a metric"), (outside, "has a metric outside 0 to 1")):
        if bad.any():
            at = int(bad.argmax())
            raise BadInput(
                f"a valid row {what}: {score[at].tolist()}",
                where=f"{path}, token {results.tokens[at]}",
                expected="numbers from 0 to 1, and only extended comfort empty",
            )


def _cell(value: float) -> str:
    return "" if np.isnan(value) else repr(float(value))
