"""The human census: what the human of every scene scores, on which the rule hangs.

The rule asks for the human alone and without history. Progress is then measured against itself and
comfort is not judged, so both are always 1: the rule can never fire on them. And since the weighted
part of the aggregate is then positive, the aggregate is zero only where a multiplied metric is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.divergence import Divergence, reach
from navaudit.audit.insist import insist
from navaudit.audit.rounds import Answer, Answers, Ask, stacked
from navaudit.audit.solvers import SOLVERS, Agreement, side_by_side
from navaudit.audit.table import Table
from navaudit.axes import COLUMNS, DAC, DDC, EP, HC, LK, NC, PDM, SHORT, TLC
from navaudit.findings import Finding, count, percent
from navaudit.numerics.profiles import Solver
from navaudit.rollout.rollout import desire_human, simulate
from navaudit.scene.code import code_of
from navaudit.scene.scene import Scene
from navaudit.score.course import lay_out
from navaudit.score.driven import score_driven_human
from navaudit.score.forgive import forgiven_columns
from navaudit.score.score import Settings

Floats = NDArray[np.float64]

MULTIPLIED: Final = (NC, DAC, DDC, TLC)


@dataclass(frozen=True)
class HumanQuestion:
    """What the human of a scene scores by every solver, and how far the rollouts reach."""

    settings: Settings = field(default_factory=Settings)

    def record(self) -> dict[str, Any]:
        """Everything that decides an answer; all solvers are asked, whichever is wanted."""
        told = asdict(self.settings)
        del told["solver"]
        return {"question": "human census", "code": code_of(Path(__file__)), **told}

    def begin(self) -> Ask:
        """Make a process ready."""
        return self.ask

    def ask(self, scene: Scene) -> Answer | None:
        """Score the human by each solver; a scene without a human is passed over.

        ``human`` is ``[solver, column]``, ``reach`` ``[solver, 3]``; see `side_by_side` for the
        matrices.
        """
        if scene.human is None:
            return None
        desired = desire_human(scene)
        rollouts = [simulate(scene.ego, desired, solver) for solver in SOLVERS]
        states = np.concatenate([one.states for one in rollouts])
        sheet = score_driven_human(lay_out(scene, few=True), states, self.settings)
        return {
            "human": np.ascontiguousarray(sheet.columns.T),
            "reach": np.concatenate([reach(one) for one in rollouts]),
            **side_by_side(desired),
        }

    def fold(self, answers: Sequence[Answer]) -> Answer:
        """One row a scene."""
        return stacked(answers)


@dataclass(frozen=True)
class Census:
    """What the humans of a scene set score."""

    answers: Answers
    solver: Solver
    human: Floats
    """``[token, column]`` by the solver asked for."""
    divergence: Divergence
    agreement: Agreement

    @classmethod
    def of(cls, answers: Answers, solver: Solver = "closed", worst: int = 1000) -> Census:
        """Count the answers of a round, and hold them to what must be so."""
        which = SOLVERS.index(solver)
        for solved in np.moveaxis(answers.array["human"], 1, 0):
            _insist_on_structure(solved)
        return cls(
            answers,
            solver,
            answers.array["human"][:, which],
            Divergence.of(answers.array["reach"][:, which]),
            Agreement.of(answers.array, worst),
        )

    @property
    def zeros(self) -> NDArray[np.bool_]:
        """Whether the rule fires: ``[token, column]``."""
        return forgiven_columns(self.human)

    @property
    def fired(self) -> NDArray[np.bool_]:
        """P1: whether the rule fires on some column, ``[token]``."""
        return np.asarray(self.zeros.any(axis=1))

    def findings(self) -> list[Finding]:
        """Name the counts."""
        zeros, fired = self.zeros.sum(axis=0), int(self.fired.sum())
        tokens = len(self.human)
        return [
            count("population_tokens", tokens, "human_zeros.csv"),
            count("P1_count", fired, "human_zeros.csv"),
            percent("P1_percent", fired, tokens, 4, "human_zeros.csv"),
            count("forgiven_token_columns", int(zeros.sum()), "human_zeros.csv"),
            *(
                count(f"{SHORT[c]}_forgiven", zeros[c], "human_zeros.csv")
                for c in range(len(zeros))
            ),
            percent("LK_forgiven_share", int(zeros[LK]), fired, 2, "human_zeros.csv"),
            count("census_passed_over", len(self.answers.passed_over)),
            count("census_failures", len(self.answers.failures)),
            *self.divergence.findings(),
            *self.agreement.findings(),
        ]

    def tables(self) -> tuple[Table, ...]:
        """Zero sets, the ladder, and the solvers side by side."""
        return (
            self.zero_table(),
            self.divergence.table(),
            self.agreement.table(),
            self.agreement.matrix_table(),
        )

    def zero_table(self) -> Table:
        """How often the human scores zero, a half and one in each column."""
        rows = []
        for column in range(len(COLUMNS)):
            values = self.human[:, column]
            zero, half = int((values == 0.0).sum()), int((values == 0.5).sum())
            share = percent("", zero, len(values), 4).text
            rows.append((SHORT[column], zero, share, half, int((values == 1.0).sum())))
        together = int(self.fired.sum())
        share = percent("", together, len(self.human), 4).text
        return Table(
            "human_zeros",
            f"Where the human scores zero, of {len(self.human):,} scenes. Alone and without "
            "history the human's progress and comfort are always 1.",
            ("column", "zero", "percent", "half", "one"),
            (*rows, ("any column (P1)", together, share, None, None)),
        )

    def rows(self) -> Table:
        """What every human scores, a row a scene; for a file."""
        named = zip(self.answers.tokens, self.answers.logs, self.human.tolist(), strict=True)
        return Table(
            "human",
            "What every human scores.",
            ("token", "log", *COLUMNS),
            tuple((token, log, *values) for token, log, values in named),
        )


def _insist_on_structure(human: Floats) -> None:
    where = "the human census"
    for column in (EP, HC):
        always = int((human[:, column] == 1.0).sum())
        insist(f"the human's {SHORT[column]} is 1 in every scene", always, len(human), where)
    zero = human[:, PDM] == 0.0
    multiplied = (human[:, list(MULTIPLIED)] == 0.0).any(axis=1)
    both = int((zero & multiplied).sum())
    insist("a human aggregate of zero has a zero factor", both, int(zero.sum()), where)
    insist("a human with a zero factor has a zero aggregate", both, int(multiplied.sum()), where)
