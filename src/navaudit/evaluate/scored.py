"""Scores of one run as they are compared: from a run of ours, or from result files of anyone's.

A result file does not hold everything. Columns that it cannot give are NaN throughout, and a
sentence says why: components on which forgiveness has acted cannot be taken back, while a score
stored without forgiveness is the OFF aggregate, whatever stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.errors import BadInput
from navaudit.evaluate.epdms import BLIND, EC, EPDMS, SHORT
from navaudit.evaluate.pairs import Source
from navaudit.evaluate.reading import SAME, Reading, read_story
from navaudit.evaluate.results import Results, read_results
from navaudit.evaluate.run import MANIFEST, Run

Floats = NDArray[np.float64]

AS_SCORED: Final = "as-scored"
"""The switch of a file that cannot say which forgiveness it carries, and of which nobody says."""

MODES: Final = ("off", "on", AS_SCORED)
"""Under what scores are compared."""


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of one run."""

    name: str
    tokens: tuple[str, ...]
    valid: NDArray[np.bool_]
    """``[token]``"""
    scores: Mapping[str, Floats]
    """``[token, metric]`` by mode, of those the run has."""
    notes: tuple[str, ...]
    """What its numbers say, and what it cannot give."""
    logs: tuple[str, ...] | None = None
    human: Floats | None = None
    """``[token, component]``"""
    distance: Floats | None = None
    """``[token, 3]``"""
    settings: Mapping[str, Any] | None = None
    earlier: bool = False
    """Whether extended comfort stands at the earlier of two frames, as NAVSIM v2.0 wrote it."""

    def rows(self, order: NDArray[np.int64]) -> Scored:
        """Return the run with these rows, in this order."""
        return replace(
            self,
            tokens=tuple(self.tokens[row] for row in order),
            valid=self.valid[order],
            scores={mode: score[order] for mode, score in self.scores.items()},
            logs=None if self.logs is None else tuple(self.logs[row] for row in order),
            human=None if self.human is None else self.human[order],
            distance=None if self.distance is None else self.distance[order],
        )


def read_scored(source: Source) -> Scored:
    """Read whatever lies where a run is said to be."""
    if (source.path / MANIFEST).is_file() or source.path.is_dir():
        if source.switch is not None:
            raise BadInput(
                f"run {source.name} is a run of ours, which has both switches",
                where=str(source.path),
                expected="no switch",
            )
        return _of_run(source.name, Run.open(source.path))
    results = read_results(source.path)
    if source.forgiven is not None:
        return _of_two(source, results, read_results(source.forgiven))
    return _of_one(source, results)


def _of_run(name: str, run: Run) -> Scored:
    return Scored(
        name=name,
        tokens=run.tokens,
        valid=run.valid,
        scores={"off": run.score("off"), "on": run.score("on")},
        notes=(),
        logs=run.logs,
        human=run.human,
        distance=run.distance,
        settings=run.settings,
    )


def _of_one(source: Source, results: Results) -> Scored:
    reading = read_story(results)
    scores, note = _modes(source, results, reading)
    return Scored(
        name=source.name,
        tokens=results.tokens,
        valid=results.valid,
        scores=scores,
        notes=(reading.sentence, *note),
        logs=results.logs,
        earlier=results.earlier,
    )


def _modes(
    source: Source, results: Results, reading: Reading
) -> tuple[dict[str, Floats], tuple[str, ...]]:
    if reading.story == "off of on":
        if source.switch == "off":
            raise BadInput(
                f"run {source.name} is said to be without forgiveness, and its components have it",
                where=str(source.path),
                expected=reading.sentence,
                remedy="say nothing of the switch: the file tells",
            )
        off, on = results.score.copy(), results.score.copy()
        lost = [column for column in range(EC) if column not in BLIND]
        off[:, lost] = np.nan
        on[:, EPDMS] = reading.rebuilt
        without = ", ".join(SHORT[column] for column in lost)
        note = f"OFF is not available for {without}: forgiveness has overwritten them"
        return {"off": off, "on": on}, (note,)
    if reading.story == "unexplained" or source.switch is None:
        note = "its scores are compared as they stand: whether that is OFF or ON, nobody has said"
        return {AS_SCORED: results.score}, (note,)
    return {source.switch: results.score}, (f"it is said to have forgiveness {source.switch}",)


def _of_two(source: Source, plain: Results, filtered: Results) -> Scored:
    """Join the file without forgiveness and the file with it."""
    place = {token: row for row, token in enumerate(filtered.tokens)}
    if set(place) != set(plain.tokens):
        odd = sorted(set(place) ^ set(plain.tokens))
        raise BadInput(
            f"the two files of run {source.name} differ in {len(odd)} tokens, first {odd[0]}",
            where=f"{source.path} and {source.forgiven}",
            expected="the same tokens",
        )
    order = np.array([place[token] for token in plain.tokens])
    off, on = plain.score, filtered.score[order].copy()
    reading, theirs = read_story(plain), read_story(filtered)
    valid = plain.valid & filtered.valid[order]
    _expect_forgiven(source, off, on, valid, plain.tokens)
    if reading.story != "own" or theirs.story == "unexplained":
        wrong = reading if reading.story != "own" else theirs
        raise BadInput(
            f"the files of run {source.name} are not OFF and ON: {wrong.sentence}",
            where=f"{source.path} and {source.forgiven}",
            expected="one file without forgiveness, and one with it",
        )
    on[:, EPDMS] = theirs.rebuilt[order]
    return Scored(
        name=source.name,
        tokens=plain.tokens,
        valid=valid,
        scores={"off": off, "on": on},
        notes=(f"without forgiveness: {reading.sentence}", f"with it: {theirs.sentence}"),
        logs=plain.logs,
        earlier=plain.earlier,
    )


def _expect_forgiven(
    source: Source, off: Floats, on: Floats, valid: NDArray[np.bool_], tokens: tuple[str, ...]
) -> None:
    """Forgiveness may turn a component into 1 and change nothing else."""
    with np.errstate(invalid="ignore"):
        same = np.abs(off[:, : EC + 1] - on[:, : EC + 1]) <= SAME
    same |= np.isnan(off[:, : EC + 1]) & np.isnan(on[:, : EC + 1])
    same[:, :EC] |= on[:, :EC] == 1.0
    bad = ~same.all(axis=1) & valid
    if bad.any():
        raise BadInput(
            f"{int(bad.sum())} rows of run {source.name} differ by more than forgiveness",
            where=f"{source.path} and {source.forgiven}, token {tokens[int(bad.argmax())]}",
            expected="with it, components are those without it, or 1, and comfort is the same",
            remedy="give two evaluations of the same plans",
        )
