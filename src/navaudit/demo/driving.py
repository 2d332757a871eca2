"""Every agent's drives scored, and the arms compared."""

from __future__ import annotations

from typing import Final

from navaudit.demo.learning import ARMS, BASE, arms_of, runs_of
from navaudit.demo.step import Demo, Facts
from navaudit.evaluate.compare import Comparison
from navaudit.evaluate.compare import compare as compare_pairs
from navaudit.evaluate.contrasts import ALL, F
from navaudit.evaluate.epdms import EPDMS, SHORT
from navaudit.evaluate.evaluate import Evaluation
from navaudit.evaluate.evaluate import evaluate as evaluate_plans
from navaudit.evaluate.named import findings
from navaudit.evaluate.observed import observed
from navaudit.evaluate.pairs import read_pairs
from navaudit.evaluate.plans import read_planned
from navaudit.evaluate.results import means
from navaudit.evaluate.written import inputs, write
from navaudit.report.forest import write_forest
from navaudit.report.numbers import write_numbers
from navaudit.scene.whole import put

PREFIX: Final = "town"
"""How the names of the comparison's numbers begin."""


def evaluate(demo: Demo) -> Facts:
    """Score the plans of every agent, with forgiveness off and on."""
    scenes = demo.scenes()
    told: Facts = {}
    names = runs_of(demo)
    for k, name in enumerate(names):
        job = Evaluation(read_planned(demo.at("plans") / f"{name}.pkl"), scenes)
        made = evaluate_plans(
            demo.at("runs") / name,
            job,
            workers=demo.workers,
            say=lambda what, done, total, k=k: demo.say(what, k * total + done, len(names) * total),
        )
        told[name] = {
            switch: round(100.0 * float(means(made.score(switch))[EPDMS]), 3)
            for switch in ("off", "on")
        }
    return {"agents": len(names), "epdms": told}


def compare(demo: Demo) -> Facts:
    """Compare the arms seed by seed, with intervals over resampled logs."""
    path = demo.at("pairs.toml")
    put(path, _pairs(demo).encode())
    made = compare_pairs(read_pairs(path), say=demo.say)
    out = demo.at("compared")
    write(out, made)
    write_forest(out, made)
    said = observed(made)
    write_numbers(out, findings(made), "navaudit compare", inputs(made), lead=" ".join(said))
    return {"runs": len(made.aligned.runs), "tokens": made.tokens(ALL), "in_F": _in_f(made)}


def _in_f(made: Comparison) -> int:
    return made.tokens(F) if F in made.populations else 0


def _pairs(demo: Demo) -> str:
    """Write down what is compared with what."""
    size, arms = demo.settings, arms_of(demo)
    by_arm = {
        letter: ", ".join(
            f'{seed} = "{name}"' for name, (policy, seed) in arms.items() if policy == ARMS[letter]
        )
        for letter in ARMS
    }
    return "\n".join([
        'pairs = [["P", "A"], ["M", "A"], ["L", "A"], ["A0", "base"]]',
        f'prefix = "{PREFIX}"',
        f"resamples = {size.resamples}",
        f"steps = {size.arm_steps}",
        f"initial_step = {size.base_steps}",
        "",
        "[arms]",
        *(f"{letter} = {{ {runs} }}" for letter, runs in by_arm.items()),
        "",
        "[runs]",
        *(f'{name} = "runs/{name}"' for name in (BASE, *arms)),
        "",
    ])  # fmt: skip


__all__ = ["SHORT", "compare", "evaluate"]
