"""Every agent's drives scored, and the arms compared."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from navaudit.demo.abreast import let_go, side_by_side
from navaudit.demo.learning import ARMS, BASE, SCENES, arms_of, runs_of
from navaudit.demo.step import Demo, Facts, Say
from navaudit.evaluate.compare import Comparison
from navaudit.evaluate.compare import compare as compare_pairs
from navaudit.evaluate.contrasts import ALL, F
from navaudit.evaluate.epdms import EPDMS
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
from navaudit.scene.store import SceneSet
from navaudit.scene.whole import put

PREFIX: Final = "town"
"""How the names of the comparison's numbers begin."""

WHO: Final = (
    "Four arms continue one agent: A from published labels, M from masked ones, P from raw ones, "
    "and L from labels in which all lane keeping passes."
)
IN_SAMPLE: Final = (
    "The agents drive scenes that they learnt from: this says what they took from their labels, "
    "and nothing of other scenes."
)


def evaluate(demo: Demo) -> Facts:
    """Score the plans of every agent, with forgiveness off and on."""
    names = runs_of(demo.settings)
    told = side_by_side(demo, names, partial(_evaluate, demo.folder))
    return {"agents": len(names), "epdms_off_on": told}


def _evaluate(folder: Path, name: str, say: Say) -> str:
    """Score one agent's plans; return its mean score without and with forgiveness, in points."""
    scenes = SceneSet.open(folder / SCENES)
    plans = read_planned(folder / "plans" / f"{name}.pkl")
    let_go(folder / "runs" / name / "lock")
    made = evaluate_plans(folder / "runs" / name, Evaluation(plans, scenes), say=say)
    return " ".join(f"{100.0 * float(means(made.score(one))[EPDMS]):.3f}" for one in ("off", "on"))


def compare(demo: Demo) -> Facts:
    """Compare the arms seed by seed, with intervals over resampled logs."""
    path = demo.at("pairs.toml")
    put(path, _pairs(demo).encode())
    made = compare_pairs(read_pairs(path), say=demo.say)
    out = demo.at("compared")
    write(out, made)
    write_forest(out, made)
    lead = "\n".join([WHO, *observed(made), IN_SAMPLE])
    write_numbers(out, findings(made), "navaudit compare", inputs(made), lead=lead)
    return {"runs": len(made.aligned.runs), "tokens": made.tokens(ALL), "in_F": _in_f(made)}


def _in_f(made: Comparison) -> int:
    return made.tokens(F) if F in made.populations else 0


def _pairs(demo: Demo) -> str:
    """Write down what is compared with what."""
    size, arms = demo.settings, arms_of(demo.settings)
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
