"""What was observed in a comparison, and what was not, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from navaudit.axes import LK
from navaudit.evaluate.compare import Comparison
from navaudit.evaluate.contrasts import ALL, Contrast, F
from navaudit.evaluate.epdms import EPDMS, SHORT
from navaudit.evaluate.letters import Judgement
from navaudit.evaluate.measures import Measure
from navaudit.stats.rounding import nearest

ASKED: Final = (
    (Measure(SHORT[LK], "off", "points"), F, "lane keeping where the human fails something"),
    (Measure(SHORT[EPDMS], "off", "points"), ALL, "the score without forgiveness"),
)
"""What is told of, the paper's questions first."""

MEANING: Final = {
    "O": "observed: the seeds agree, beyond what seeds alone do",
    "S": "not observed: seeds alone differ as much",
    "U": "not resolved",
}
"""Of a verdict's last letter, that of the most seeds."""


def observed(comparison: Comparison) -> list[str]:
    """Say of every pair what changes, by how much in each seed, and whether that was observed.

    All changes are in score points; a pair of single runs has no letter, and nothing is said of it.
    """
    return list(_sentences(comparison))


def _sentences(comparison: Comparison) -> Iterator[str]:
    judged = {(one.pair, one.measure, one.population): one for one in comparison.judgements}
    for measure, population, words in ASKED:
        parts = []
        for pair in comparison.pairs.pairs:
            read = [
                one
                for one in comparison.contrasts
                if (one.pair, one.measure, one.population) == (pair, measure, population)
            ]
            verdict = judged.get((pair, measure, population))
            if read and verdict is not None:
                parts.append(_pair(pair, read, verdict))
        if parts:
            yield f"{words[0].upper()}{words[1:]}, in points: {'; '.join(parts)}."


def _pair(pair: tuple[str, str], read: Sequence[Contrast], judged: Judgement) -> str:
    changes = ", ".join(nearest(one.point, 2) for one in read)
    return f"{pair[0]} minus {pair[1]} {changes} ({MEANING[judged.verdict.letters[-1]]})"
