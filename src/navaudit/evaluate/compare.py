"""Runs compared honestly: what is read, on which tokens, with which intervals and letters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.evaluate.aligned import Aligned, align
from navaudit.evaluate.contrasts import ALL, Contrast, F, R, contrasts, levels
from navaudit.evaluate.epdms import EC, EPDMS, SHORT
from navaudit.evaluate.forgiveness import with_humans
from navaudit.evaluate.judge import EVALUATION
from navaudit.evaluate.letters import Judgement, Levels, judgements, scales_of, seed_scales
from navaudit.evaluate.measures import BOTH, Measure, outcome
from navaudit.evaluate.pairs import Pairs
from navaudit.evaluate.populations import Humans, failing, read_humans
from navaudit.evaluate.results import read_index
from navaudit.evaluate.scored import read_scored

Mask = NDArray[np.bool_]

FEW_LOGS: Final = 20
"""Percentile intervals over fewer clusters than this cover less than they say."""

Say = Callable[[str, int, int], None]
"""Told what is read, how much is done, and how much there will be."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Everything that was read of some runs."""

    pairs: Pairs
    aligned: Aligned
    populations: Mapping[str, Mask]
    """``[token]`` by name: all, and F and R where humans are known."""
    contrasts: tuple[Contrast, ...]
    levels: Levels
    judgements: tuple[Judgement, ...]
    scales: Mapping[tuple[Measure, str], tuple[float, ...]]
    """Seed scale in every reading, by measure and population."""
    cautions: tuple[str, ...]
    """What a reader should know, as sentences."""

    @property
    def logs(self) -> int:
        """How many logs were resampled."""
        return len(set(self.aligned.logs))

    def tokens(self, population: str) -> int:
        """How many tokens a population has."""
        return int(self.populations[population].sum())

    def comfort_tokens(self, population: str) -> int:
        """How many of them have extended comfort in every run."""
        return int((_comfort(self.aligned).all(axis=0) & self.populations[population]).sum())


def _silent(what: str, done: int, total: int) -> None:
    """Say nothing."""


def compare(pairs: Pairs, *, leave_out_failed: bool = False, say: Say = _silent) -> Comparison:
    """Read the runs that a file of pairs names, and everything about them."""
    runs = []
    for done, source in enumerate(pairs.sources):
        say(source.name, done, len(pairs.sources))
        runs.append(read_scored(source))
    index = None if pairs.index is None else read_index(pairs.index)
    return compare_runs(pairs, align(runs, index, leave_out_failed=leave_out_failed), say=say)


def compare_runs(pairs: Pairs, aligned: Aligned, *, say: Say = _silent) -> Comparison:
    """Compare runs that are read and aligned."""
    humans = _humans(pairs, aligned, say)
    aligned = _with_forgiveness(aligned, humans)
    populations = {ALL: np.ones(len(aligned.tokens), bool)}
    if humans is not None:
        populations |= {F: humans.failing, R: ~humans.failing}
    say("contrasts", 0, 1)
    read = contrasts(aligned, pairs, populations)
    means = levels(aligned, populations)
    return Comparison(
        pairs=pairs,
        aligned=aligned,
        populations=populations,
        contrasts=tuple(read),
        levels=means,
        judgements=tuple(judgements(read, means, pairs)),
        scales=seed_scales(means, pairs),
        cautions=tuple(_cautions(pairs, aligned, humans, read)),
    )


def _humans(pairs: Pairs, aligned: Aligned, say: Say) -> Humans | None:
    if pairs.human is not None:
        settings = next((run.settings for run in aligned.runs.values() if run.settings), None)
        ddc = EVALUATION.ddc if settings is None else settings["ddc"]
        scored_with = replace(EVALUATION, ddc=ddc)
        return read_humans(pairs.human, aligned.tokens, scored_with, say)
    if aligned.human is not None:
        return Humans(failing(aligned.human, aligned.tokens), aligned.human)
    return None


def _with_forgiveness(aligned: Aligned, humans: Humans | None) -> Aligned:
    """Settle switches, and make ON scores, as far as the humans tell."""
    if humans is None or humans.values is None:
        return aligned
    values = humans.values
    return replace(
        aligned, runs={name: with_humans(run, values) for name, run in aligned.runs.items()}
    )


def _comfort(aligned: Aligned) -> Mask:
    """Which tokens have extended comfort, ``[run, token]``."""
    found = [next(iter(run.scores.values()))[:, EC] for run in aligned.runs.values()]
    return ~np.isnan(np.stack(found))


# ------------------------------------------------------------------------------- what to know


def _cautions(
    pairs: Pairs, aligned: Aligned, humans: Humans | None, read: Sequence[Contrast]
) -> Iterator[str]:
    for name, run in aligned.runs.items():
        yield from (f"{name}: {note}" for note in run.notes)
    logs = len(set(aligned.logs))
    if logs < FEW_LOGS:
        yield f"{logs} logs are resampled: intervals over fewer than {FEW_LOGS} are too narrow"
    if aligned.left_out:
        yield (
            f"{len(aligned.left_out)} tokens failed in some run and are left out of all, first "
            f"{aligned.left_out[0]}"
        )
    if humans is None:
        yield "no human values: nothing is read on F and R"
    elif not 0 < int(humans.failing.sum()) < len(aligned.tokens):
        yield "F or R is empty, so interactions are not defined"
    if humans is not None and humans.caution is not None:
        yield humans.caution
    if humans is not None and aligned.human is not None:
        own = failing(aligned.human, aligned.tokens)
        differing = int((own != humans.failing).sum())
        if differing:
            yield f"{differing} tokens are in F by the runs' own humans and not here, or reversed"
    comfort = _comfort(aligned)
    uneven = int((comfort.any(axis=0) & ~comfort.all(axis=0)).sum())
    if uneven:
        yield f"{uneven} tokens have extended comfort in some runs only; a pair reads those of both"
    yield from _unread(pairs, aligned, read)
    yield from _alike(pairs, aligned)
    if pairs.arms and scales_of(pairs) is None:
        yield "no arm has two seeds: there is no seed scale, and no letters"


def _unread(pairs: Pairs, aligned: Aligned, read: Sequence[Contrast]) -> Iterator[str]:
    """Say of which pairs the aggregate could not be compared."""
    for pair in pairs.pairs:
        modes = {one.measure.mode for one in read if one.pair == pair and _is_total(one.measure)}
        missing = {"off", "on"} - modes
        if missing and BOTH not in modes:
            have = {
                name: "/".join(aligned.runs[name].scores)
                for _, treated, control in pairs.runs_of(pair)
                for name in (treated, control)
            }
            said = ", ".join(f"{name} has {modes_}" for name, modes_ in have.items())
            yield (
                f"{pair[0]} and {pair[1]}: {SHORT[EPDMS]} {' and '.join(sorted(missing))} "
                f"cannot be compared: {said}"
            )


def _alike(pairs: Pairs, aligned: Aligned) -> Iterator[str]:
    """Say where it had to be read with forgiveness which tokens are alike in lane keeping."""
    for pair in pairs.pairs:
        for _, treated, control in pairs.runs_of(pair):
            found = outcome(aligned.runs[treated], aligned.runs[control])
            if found is not None and found[0].mode != "off":
                yield (
                    f"{treated} and {control}: tokens alike in lane keeping are those alike in "
                    f"{found[0]}"
                )


def _is_total(measure: Measure) -> bool:
    return measure.metric == SHORT[EPDMS]
