"""Labels of as many scenes as one likes, drawn: ``python -m bench.corpus FOLDER --tokens 1614``.

A label set of the real one's size takes weeks of logs and hours of simulation; what its readers
need to be tried on is its size and its proportions. Here both are drawn. Of 103,288 tokens in 1,192
logs the human scores zero exactly as often, column by column and overlap by overlap, as in the
paper; of other numbers of tokens in the same shares. Forgiven columns fail in as many candidates as
the paper's quantiles say, which ones following from a direction in which candidates differ, so that
columns have the runs and the correlations that compress. Progress is measured and totals are made
as the scorer makes them.

Every token is drawn from the seed and its own number, so any part can be drawn by anybody:

>>> corpus = draw_corpus(tokens=200, candidates=64, seed=1)
>>> corpus.raw(7).shape, corpus.human.shape, len(set(corpus.logs)) > 1
((9, 64), (200, 9), True)
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.axes import COLUMNS, DAC, DDC, EP, HC, LK, NC, PDM, TLC, TTC
from navaudit.labels.ahead import ahead
from navaudit.labels.labelset import LabelSet, writing
from navaudit.score.sheet import add_progress

TOKENS: Final = 103_288
LOGS: Final = 1_192
CANDIDATES: Final = 16_384

ZEROS: Final = {LK: 9_982, TLC: 2_156, DDC: 876, TTC: 18, NC: 10}
"""Tokens on which the human scores zero."""
HALVES: Final = {DDC: 1_127}
"""Tokens on which the human scores a half."""
TLC_AND_DDC: Final = 75
"""On which both are zero: 2,967 totals are, for a collision comes with neither."""
LK_AND_OTHERS: Final = 381
"""On which lane keeping is zero beside something else: 12,576 tokens have a zero somewhere."""
ALL_FAIL: Final = {LK: 151, TLC: 1_057, DDC: 386, TTC: 9, NC: 5}
"""Of the forgiven columns, those in which every candidate fails."""
FAILING: Final = {
    LK: (306, 10_484, 14_391, 15_604, 16_383),
    TLC: (650, 9_000, 14_000, 16_200, 16_383),
    DDC: (5_919, 12_000, 15_000, 16_200, 16_383),
    TTC: (5_726, 9_000, 13_000, 15_384, 16_383),
    NC: (11_343, 14_000, 15_500, 16_191, 16_383),
}
"""Candidates of 16,384 that fail a forgiven column in which some pass: least, quartiles, most."""
USUAL: Final = {
    NC: (0, 500, 2_000, 7_000, 12_000),
    DAC: (0, 1_500, 2_300, 4_500, 16_384),
    DDC: (1_000, 2_500, 3_000, 4_500, 16_384),
    TLC: (0, 0, 0, 0, 9_000),
    LK: (0, 2_500, 5_000, 8_500, 16_384),
    HC: (3_000, 5_200, 6_000, 6_600, 16_300),
}
"""The same of columns that are not forgiven."""

_DIRECTIONS: Final = 64
_PARCEL: Final = 256
_HALVES: Final = np.array([0.0, 0.5, 1.0], np.float16)


@dataclass(frozen=True, eq=False)
class Corpus:
    """Tokens, logs and human scores, drawn; candidates' labels, drawn when they are wanted."""

    tokens: tuple[str, ...]
    logs: tuple[str, ...]
    """By log, in the order of the tokens."""
    human: NDArray[np.float64]
    """``[token, column]``"""
    all_fail: NDArray[np.bool_]
    """``[token, column]``: forgiven, and every candidate fails."""
    candidates: int
    seed: int

    @cached_property
    def _orders(self) -> NDArray[np.uint32]:
        """``[direction, candidate]``: how far along a direction a candidate stands, as a rank."""
        rng = np.random.default_rng([self.seed, 1])
        traits = rng.normal(size=(4, self.candidates))
        along = rng.normal(size=(_DIRECTIONS, 4)) @ traits
        ranks = along.argsort(axis=1).argsort(axis=1).astype(np.uint32)
        ranks.flags.writeable = False
        return ranks

    @cached_property
    def _reach_m(self) -> NDArray[np.float64]:
        """``[candidate]``: how far each candidate drives."""
        rng = np.random.default_rng([self.seed, 2])
        return np.round(np.sort(rng.gamma(2.0, 12.0, self.candidates)), 2)

    def raw(self, row: int) -> NDArray[np.float16]:
        """Draw the labels of one token: ``[column, candidate]``."""
        rng = np.random.default_rng([self.seed, 3, row])
        passing = np.full((len(COLUMNS), self.candidates), 2, np.uint8)
        for column in (NC, DAC, DDC, TLC, LK, HC):
            failing = self._failing(rng, row, column)
            self._fail(rng, passing[column], failing, halves=column in (NC, DDC))
        passing[TTC] = np.where(passing[NC] == 2, 2, 0)
        if self.human[row, TTC] == 0.0:
            self._fail(rng, passing[TTC], self._failing(rng, row, TTC), halves=False)
        columns = np.array([0.0, 0.5, 1.0])[passing]
        reference_m = rng.gamma(2.0, 10.0)
        reach_m = self._reach_m * rng.uniform(0.6, 1.0)
        add_progress(columns, reach_m, reference_m, "per-candidate")
        # rounding to halves is slow, so that all but two columns are looked up
        values = _HALVES[passing]
        values[EP], values[PDM] = columns[EP], columns[PDM]
        return values

    def path(self, row: int) -> NDArray[np.float16] | None:
        """Draw lane keeping against the human's path, where the human fails lane keeping."""
        if self.human[row, LK] != 0.0:
            return None
        rng = np.random.default_rng([self.seed, 4, row])
        passing = np.full(self.candidates, 2, np.uint8)
        self._fail(rng, passing, self._scaled(rng, USUAL[LK]), halves=False)
        return _HALVES[passing]

    def _failing(self, rng: np.random.Generator, row: int, column: int) -> int:
        """How many candidates fail."""
        if self.all_fail[row, column]:
            return self.candidates
        if self.human[row, column] != 0.0:
            return self._scaled(rng, USUAL[column])
        # at least one fails and one passes
        return min(max(self._scaled(rng, FAILING[column]), 1), self.candidates - 1)

    def _scaled(self, rng: np.random.Generator, quantiles: Sequence[int]) -> int:
        count = np.interp(rng.random(), np.linspace(0, 1, len(quantiles)), quantiles)
        return round(count * self.candidates / CANDIDATES)

    def _fail(
        self, rng: np.random.Generator, passing: NDArray[np.uint8], failing: int, *, halves: bool
    ) -> None:
        """Let so many candidates fail, a few of them by half; in halves of a pass."""
        order = self._orders[rng.integers(_DIRECTIONS)]
        passing[order < failing] = 0
        if halves and 1 < failing < self.candidates:
            passing[(order >= failing - failing // 8) & (order < failing)] = 1


def draw_corpus(
    tokens: int = TOKENS, candidates: int = CANDIDATES, seed: int = 0, logs: int | None = None
) -> Corpus:
    """Draw tokens, their logs, and what the human scores."""
    logs = max(1, round(LOGS * tokens / TOKENS)) if logs is None else logs
    rng = np.random.default_rng([seed, 0])
    names = sorted({f"{one:016x}" for one in rng.integers(1 << 62, size=tokens + 64)})
    named = rng.permutation(names)[:tokens].tolist()
    ends = np.sort(rng.choice(np.arange(1, tokens), min(logs, tokens) - 1, replace=False))
    log_of = np.searchsorted(ends, np.arange(tokens), side="right")
    day = [f"2021.{1 + k % 12:02d}.{1 + k % 28:02d}.veh-{k % 50:02d}_{k:05d}" for k in range(logs)]
    human, all_fail = _draw_human(rng, tokens)
    in_order = sorted(day)
    return Corpus(
        tuple(named), tuple(in_order[k] for k in log_of), human, all_fail, candidates, seed
    )


def _draw_human(
    rng: np.random.Generator, tokens: int
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Draw where the human scores zero, in the paper's counts and overlaps."""

    def share(count: int) -> int:
        return round(count * tokens / TOKENS)

    rows = rng.permutation(tokens)
    zero = np.zeros((tokens, len(COLUMNS)), np.bool_)
    nc, tlc, ddc = share(ZEROS[NC]), share(ZEROS[TLC]), share(ZEROS[DDC])
    zero[rows[:nc], NC] = True
    zero[rows[: share(ZEROS[TTC])], TTC] = True  # a collision leaves no time before it
    first = max(nc, share(ZEROS[TTC]))
    zero[rows[first : first + tlc], TLC] = True
    second = first + tlc - share(TLC_AND_DDC)
    zero[rows[second : second + ddc], DDC] = True
    third = second + ddc - share(LK_AND_OTHERS)
    zero[rows[third : third + share(ZEROS[LK])], LK] = True
    human = np.where(zero, 0.0, 1.0)
    left = rows[third + share(ZEROS[LK]) :]
    human[left[: share(HALVES[DDC])], DDC] = 0.5
    product = human[:, NC] * human[:, DAC] * human[:, DDC] * human[:, TLC]
    parts = 5 * human[:, EP] + 5 * human[:, TTC] + 2 * human[:, LK] + 2 * human[:, HC]
    human[:, PDM] = product * (parts / 14)
    all_fail = np.zeros_like(zero)
    for column, count in ALL_FAIL.items():
        all_fail[np.flatnonzero(zero[:, column])[: share(count)], column] = True
    return human, all_fail


def write_corpus(folder: Path, corpus: Corpus, workers: int = 1, say: Any = None) -> LabelSet:
    """Write a corpus as a label set; what was cut short goes on."""
    settings = {"source": "drawn", "tokens": len(corpus.tokens), "seed": corpus.seed}
    names = [f"{first:09d}" for first in range(0, len(corpus.tokens), _PARCEL)]
    with writing(folder, settings, {}, candidates=corpus.candidates) as draft:

        def write(name: str) -> None:
            if draft.has(name):
                return
            with draft.parcel(name) as parcel:
                for row in range(int(name), min(int(name) + _PARCEL, len(corpus.tokens))):
                    parcel.add(
                        corpus.tokens[row], corpus.logs[row], corpus.human[row],
                        corpus.raw(row), corpus.path(row),
                    )  # fmt: skip

        if not draft.complete:
            if not draft.closing:
                for done, _ in enumerate(ahead(write, names, workers), start=1):
                    if say is not None:
                        say("", min(done * _PARCEL, len(corpus.tokens)), len(corpus.tokens))
            draft.close(names)
    return LabelSet.open(folder)


def main() -> None:
    """Draw what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--tokens", type=int, default=TOKENS)
    parser.add_argument("--candidates", type=int, default=CANDIDATES)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args()
    corpus = draw_corpus(asked.tokens, asked.candidates, asked.seed)
    made = write_corpus(
        asked.folder, corpus, asked.workers, lambda _, done, total: print(done, "of", total)
    )
    print(made.folder, len(made), "tokens, digest", made.digest())


if __name__ == "__main__":
    main()
