"""What the human census of v1 says of the criterion by which scenes are said to be screened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.insist import insist
from navaudit.audit.rounds import Answers
from navaudit.audit.table import Cell, Table
from navaudit.audit.v1 import AGGREGATIONS, DIRECTIONS, V1Scores
from navaudit.audit.v1_members import aggregate
from navaudit.findings import NOT_DEFINED, Finding, count, number, percent
from navaudit.stats.order import upper_median

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

CRITERION: Final = 0.8
"""Humans who score less are said to be left out."""

FORMULA_ALONE, FORMULA_PAIRED, CODE_ALONE, CODE_PAIRED = range(4)
ALONE, PAIRED, REFERENCE, DOUBLED = range(4)
V2_NC, V2_TTC, V2_DDC = range(3)

_WHERE: Final = "the human census of v1"


@dataclass(frozen=True)
class V1Census:
    """The humans of a scene set by v1."""

    answers: Answers
    scores: V1Scores

    @classmethod
    def of(cls, answers: Answers) -> V1Census:
        """Aggregate the answers of a round, and hold them to what must be so."""
        census = cls(answers, V1Scores.of(dict(answers.array)))
        census.insist_on_structure()
        return census

    # -------------------------------------------------------------------------- counterexamples

    @property
    def below(self) -> Truths:
        """``[token, aggregation]``: the human scores less than the criterion."""
        return np.asarray(self.scores.score < CRITERION)

    @property
    def progress_alone(self) -> Truths:
        """``[token]``: below the criterion when paired, but not if progress alone were full."""
        one = self.scores
        full = aggregate(self._product, np.ones(len(one.nc)), one.ttc, one.comfort)
        return np.asarray(self.below[:, CODE_PAIRED] & (full >= CRITERION))

    @property
    def _product(self) -> Floats:
        """``[token]``: what the code multiplies with when paired."""
        one = self.scores
        return one.nc * one.dac * one.ddc[:, 1]

    def lifts(self) -> Floats:
        """By how much the progress share of each of those must grow to reach the criterion."""
        which, one = self.progress_alone, self.scores
        product = self._product[which]
        rest = (one.ttc * 5.0 + one.comfort * 2.0)[which]
        wanted = (CRITERION * 12.0 / product - rest) / 5.0
        share = one.share[which, CODE_PAIRED]
        return np.divide(wanted, share, out=np.full(len(share), np.inf), where=share > 0.0)

    def failing(self) -> dict[str, int]:
        """Members that fail among the paired counterexamples; a scene may count in several."""
        which, one = self.below[:, CODE_PAIRED], self.scores
        return {
            "TTC_zero": int((one.ttc[which] == 0.0).sum()),
            "NC_zero": int((one.nc[which] == 0.0).sum()),
            "NC_half": int((one.nc[which] == 0.5).sum()),
            "DAC_zero": int((one.dac[which] == 0.0).sum()),
            "DDC_below_one": int((one.ddc[which, 1] < 1.0).sum()),
            "C_zero": int((one.comfort[which] == 0.0).sum()),
        }

    # ------------------------------------------------------------------------ driving direction

    def directions(self) -> dict[str, int]:
        """How v1's driving direction behaves: on humans, and on the reference after itself."""
        graded, added = self.answers.array["direction"], self.answers.array["added_m"]
        v2 = self.answers.array["v2"][:, V2_DDC]
        human, twice = graded[:, ALONE], graded[:, DOUBLED]
        return {
            "human_below_one": int((human < 1.0).sum()),
            "human_below_one_by_v2": int((v2 < 1.0).sum()),
            "human_one_though_below_by_v2": int(((v2 < 1.0) & (human == 1.0)).sum()),
            "human_changed_by_pairing": int((human != graded[:, PAIRED]).sum()),
            "doubled": int(self.answers.array["doubled"].sum()),
            "doubled_nonzero": int((added[:, DOUBLED] > 0.0).sum()),
            "doubled_crossing": int((graded[:, REFERENCE] != twice).sum()),
        }

    def inputs(self) -> dict[str, int]:
        """Where v1 and v2 see other scenes."""
        v2, one = self.answers.array["v2"], self.scores
        return {
            "NC_differs_from_v2": int((one.nc != v2[:, V2_NC]).sum()),
            "NC_lower_than_v2": int((one.nc < v2[:, V2_NC]).sum()),
            "TTC_differs_from_v2": int((one.ttc != v2[:, V2_TTC]).sum()),
            "TTC_lower_from_held_anchors": int((one.ttc_held < one.ttc).sum()),
            "scenes_with_agents_stood_in": int((self.answers.array["stood_in"] > 0).sum()),
        }

    # ------------------------------------------------------------------------------- identities

    def insist_on_structure(self) -> None:
        """Hold the scores to what is so whatever the scenes are."""
        score, below, tokens = self.scores.score, self.below, len(self.scores.nc)
        v2, inputs = self.answers.array["v2"], self.inputs()
        for other in (FORMULA_PAIRED, CODE_ALONE, CODE_PAIRED):
            greatest = int((score[:, FORMULA_ALONE] >= score[:, other]).sum())
            insist(
                f"the formula alone is no less than {AGGREGATIONS[other]}", greatest, tokens, _WHERE
            )
            within = int((below[:, FORMULA_ALONE] & below[:, other]).sum())
            fewest = int(below[:, FORMULA_ALONE].sum())
            insist(
                f"its counterexamples are also those of {AGGREGATIONS[other]}",
                within,
                fewest,
                _WHERE,
            )
        insist("the reference after itself adds up to twice itself",
               self.directions()["doubled"], tokens, _WHERE)  # fmt: skip
        insist("agents that stay can only lower NC",
               inputs["NC_lower_than_v2"], inputs["NC_differs_from_v2"], _WHERE)  # fmt: skip
        kept = int((self.scores.ttc <= v2[:, V2_TTC]).sum())
        insist("agents that stay can only lower TTC", kept, tokens, _WHERE)
        held = int((self.scores.ttc_held <= self.scores.ttc).sum())
        insist("more anchors can only lower TTC", held, tokens, _WHERE)
        alone = self.scores.share[:, FORMULA_ALONE]
        full = int(((alone == 1.0) | (score[:, FORMULA_ALONE] == 0.0)).sum())
        insist("progress alone is full but where the product is zero", full, tokens, _WHERE)

    # ---------------------------------------------------------------------------------- results

    def findings(self) -> list[Finding]:
        """Name the counts."""
        one, tokens = self.scores, len(self.scores.nc)
        below = self.below.sum(axis=0)
        lifts = self.lifts()
        nearest = float(np.abs(one.score - CRITERION).min())
        found = [
            count("v1_tokens", tokens),
            *(count(f"v1_below_{name}", n) for name, n in zip(AGGREGATIONS, below, strict=True)),
            *(
                percent(f"v1_below_{name}_percent", int(n), tokens, 4)
                for name, n in zip(AGGREGATIONS, below, strict=True)
            ),
            count("v1_progress_alone", int(self.progress_alone.sum())),
            number("v1_progress_alone_lift", upper_median(lifts) if lifts.size else None, 3),
            Finding("v1_nearest_to_criterion", nearest, f"{nearest:.2e}"),
            number("v1_mean_EP", float(one.share[:, CODE_PAIRED].mean()), 4),
            number("v1_mean_PDMS", float(one.score[:, CODE_PAIRED].mean()), 4),
            count("v1_passed_over", len(self.answers.passed_over)),
            count("v1_failures", len(self.answers.failures)),
        ]
        for part, table in (
            (self.failing(), "v1_members"),
            (self.directions(), "v1_direction"),
            (self.inputs(), "v1_inputs"),
        ):
            found.extend(count(f"{table}_{name}", n, f"{table}.csv") for name, n in part.items())
        return [_placed(finding) for finding in found]

    def tables(self) -> tuple[Table, ...]:
        """Counterexamples, what fails among them, driving direction, and inputs."""
        return (
            self._below_table(),
            _counts(
                "v1_members", "Members that fail among the paired counterexamples.", self.failing()
            ),
            _counts(
                "v1_direction",
                "Driving direction by v1, which adds up rows of the batch in the place of moments; "
                "doubled: the reference after itself in one batch.",
                self.directions(),
            ),
            _counts(
                "v1_inputs",
                "Where v1 and v2 see other scenes. Scenes hold the agents that touch the car at "
                "t = 0, and four seconds of traffic of the five that v1 looks at.",
                self.inputs(),
            ),
        )

    def _below_table(self) -> Table:
        one, tokens = self.scores, len(self.scores.nc)
        rows: list[tuple[Cell, ...]] = []
        for k, name in enumerate(AGGREGATIONS):
            below = int(self.below[:, k].sum())
            mean_share, mean = float(one.share[:, k].mean()), float(one.score[:, k].mean())
            share = percent("", below, tokens, 4).text
            rows.append((name.replace("_", ", "), below, share, mean_share, mean))
        lifts = self.lifts()
        lift = f"{upper_median(lifts):.3f}" if lifts.size else NOT_DEFINED
        return Table(
            "v1_counterexamples",
            f"Humans below {CRITERION} by v1, of {tokens:,}; {int(self.progress_alone.sum()):,} of "
            f"those of the code paired with the reference lack progress alone, in the median by a "
            f"factor of {lift}.",
            ("aggregation", "below", "percent", "mean EP", "mean score"),
            tuple(rows),
        )

    def rows(self) -> Table:
        """What every human scores, a row a scene; for a file."""
        one = self.scores
        columns = (
            "token", "log", "NC", "DAC", "DDC alone", "DDC paired", "TTC", "TTC held", "C",
            *(f"EP {name}" for name in AGGREGATIONS), *AGGREGATIONS,
        )  # fmt: skip
        values = np.column_stack(
            (one.nc, one.dac, one.ddc, one.ttc, one.ttc_held, one.comfort, one.share, one.score)
        )
        named = zip(self.answers.tokens, self.answers.logs, values.tolist(), strict=True)
        return Table(
            "human_v1",
            "What every human scores by v1.",
            columns,
            tuple((token, log, *of_human) for token, log, of_human in named),
        )


assert DIRECTIONS == ("alone", "paired", "reference", "reference_doubled")


def _counts(name: str, title: str, counts: dict[str, int]) -> Table:
    rows = tuple((what.replace("_", " "), n) for what, n in counts.items())
    return Table(name, title, ("what", "scenes"), rows)


def _placed(finding: Finding) -> Finding:
    if finding.where:
        return finding
    return Finding(finding.name, finding.value, finding.text, "v1_counterexamples.csv")
