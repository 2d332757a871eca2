"""The human census of NAVSIM v1, by which the lists of scenes are said to have been screened.

A scene is said to be dropped where its human scores below 0.8. The score is rebuilt here in four
ways: by the published formula, which has no driving direction, or by the code, which multiplies
with it; and of the human alone, or in one batch with the reference, whose progress is then the
measure. Alone is the most permissive: there, progress is always full.

Agents that touch the car at t = 0 are part of our scenes, and are kept here as v1 keeps them. The
fifth second that v1 looks into is not: time to collision is therefore an upper bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.rounds import Answer, Ask, stacked
from navaudit.audit.v1_members import (
    V1_DAC,
    V1_NC,
    V1_TTC,
    V1_TTC_HELD,
    added_up,
    aggregate,
    direction,
    members,
    progress_share,
)
from navaudit.axes import DDC, NC, TTC
from navaudit.numerics.profiles import Solver
from navaudit.rollout.rollout import desire_human, desire_reference, simulate
from navaudit.scene.code import code_of
from navaudit.scene.scene import Scene
from navaudit.score.contact import index_traffic
from navaudit.score.course import lay_out
from navaudit.score.driven import score_driven_human
from navaudit.score.score import Settings
from navaudit.score.why_traffic import stood_in

Floats = NDArray[np.float64]

AGGREGATIONS: Final = ("formula_alone", "formula_paired", "code_alone", "code_paired")
"""Formula or code, of the human alone or paired with the reference."""

DIRECTIONS: Final = ("alone", "paired", "reference", "reference_doubled")
"""Rows whose driving direction is scored: the human alone and after the reference, the reference
alone and after itself."""


@dataclass(frozen=True)
class V1Question:
    """What the human of a scene scores by v1."""

    solver: Solver = "closed"

    def record(self) -> dict[str, Any]:
        """Everything that decides an answer."""
        code = code_of(Path(__file__))
        return {"question": "human census of v1", "code": code, "solver": self.solver}

    def begin(self) -> Ask:
        """Make a process ready."""
        return self.ask

    def ask(self, scene: Scene) -> Answer | None:
        """Judge reference and human; a scene without a human is passed over.

        ``score``, ``progress_m`` and ``comfort`` are ``[(reference, human), ...]`` as in `Members`;
        ``added_m`` and ``direction`` are ``[DIRECTIONS]``; ``doubled`` says whether the reference
        after itself adds up to exactly twice the reference; ``v2`` is the human's NC, TTC and DDC
        there, and ``stood_in`` the number of agents that touch the car at t = 0.
        """
        if scene.human is None:
            return None
        desired = np.concatenate([desire_reference(scene), desire_human(scene)])
        states = simulate(scene.ego, desired, self.solver).states
        course = lay_out(scene, few=True)
        v2 = score_driven_human(course, states[1:], Settings()).columns[:, 0]
        replayed = index_traffic(scene.traffic, course.start, course.traffic.grid, stood_in=True)
        found = members(course._replace(traffic=replayed), states)
        return {
            "score": found.score,
            "progress_m": found.progress_m,
            "comfort": found.comfort.astype(np.float64),
            "v2": v2[[NC, TTC, DDC]],
            "stood_in": np.array(int(stood_in(scene).sum())),
            **_directions(found.ways),
        }

    def fold(self, answers: Sequence[Answer]) -> Answer:
        """One row a scene."""
        return stacked(answers)


def _directions(ways: Floats) -> dict[str, NDArray[Any]]:
    """Score the driving direction of every row that is asked for, from ``[(ref, human), step]``."""
    reference, human = ways[:1], ways[1:]
    alone, single = added_up(human), added_up(reference)
    paired, twice = added_up(ways), added_up(np.concatenate([reference, reference]))
    rows = np.concatenate([alone, paired[1:], single, twice[1:]])
    return {
        "added_m": rows.max(axis=1),
        "direction": direction(rows),
        "doubled": np.array(bool(np.array_equal(twice[1], 2.0 * single[0]))),
    }


@dataclass(frozen=True)
class V1Scores:
    """What every human scores by v1; all arrays ``[token]`` but where said."""

    nc: Floats
    dac: Floats
    ddc: Floats
    """``[token, (alone, paired)]``"""
    ttc: Floats
    ttc_held: Floats
    """From all anchors that the scene still holds."""
    comfort: Floats
    share: Floats
    """``[token, aggregation]``: progress share."""
    score: Floats
    """``[token, aggregation]``, in the order of `AGGREGATIONS`."""

    @classmethod
    def of(cls, array: dict[str, NDArray[Any]]) -> V1Scores:
        """Aggregate the stacked answers of `V1Question` in all four ways."""
        member, comfort = array["score"], array["comfort"]
        without = member[:, :, V1_NC] * member[:, :, V1_DAC]
        graded = dict(zip(DIRECTIONS, array["direction"].T, strict=True))
        paired = np.stack((graded["reference"], graded["paired"]), axis=1)
        products = (
            without[:, 1:],
            without,
            without[:, 1:] * graded["alone"][:, None],
            without * paired,
        )
        shares, scores = [], []
        for product in products:
            rows = slice(2 - product.shape[1], 2)
            share = progress_share(array["progress_m"][:, rows], product)
            score = aggregate(product, share, member[:, rows, V1_TTC], comfort[:, rows])
            # the human is the last row of every batch
            shares.append(share[:, -1])
            scores.append(score[:, -1])
        return cls(
            member[:, 1, V1_NC],
            member[:, 1, V1_DAC],
            np.stack((graded["alone"], graded["paired"]), axis=1),
            member[:, 1, V1_TTC],
            member[:, 1, V1_TTC_HELD],
            comfort[:, 1],
            np.stack(shares, axis=1),
            np.stack(scores, axis=1),
        )
