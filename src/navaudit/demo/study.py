"""The label study: labels, and everything that is asked of them."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from navaudit.audit.audit import audit_labels
from navaudit.audit.census import Census, HumanQuestion
from navaudit.audit.environments import Absent, Environment, Ready, make_ready
from navaudit.audit.flipped import Flips
from navaudit.audit.flips import FlipsQuestion
from navaudit.audit.processed import Processors
from navaudit.audit.processors import ProcessorsQuestion
from navaudit.audit.rounds import gather, go_round, read_part
from navaudit.audit.sources import Sources
from navaudit.axes import LOSS_COLUMNS
from navaudit.demo.step import Demo, Facts
from navaudit.errors import Unhealthy
from navaudit.labels.certify import certify as certify_sides
from navaudit.labels.certify import open_side
from navaudit.labels.exchange import export_labels
from navaudit.labels.generate import Job, generate
from navaudit.labels.mapping import Labels
from navaudit.labels.work import Processes
from navaudit.report import censused, flipped, processed
from navaudit.report.audited import write_audit
from navaudit.report.certified import write_certificate
from navaudit.report.explained import picture_of, write_picture
from navaudit.report.tabled import write_results
from navaudit.scene.scene import Scene
from navaudit.score.explain import explain
from navaudit.score.forgive import forgiven_columns
from navaudit.score.score import Settings as Scoring


def label_scenes(demo: Demo) -> Facts:
    """Drive and score every candidate, and the human, in every scene."""
    job = Job(demo.scenes(), demo.vocabulary(), Scoring())
    made = generate(
        demo.at("labels"),
        job,
        executor=Processes(demo.workers),
        say=lambda one: demo.say(one.what, one.scenes + one.kept, one.scenes_in_all),
    )
    return {
        "tokens": len(made),
        "candidates": made.candidates,
        "failures": len(made.failures),
        "digest": made.digest(),
    }


def take_census(demo: Demo) -> Facts:
    """Score the humans, on whom the rule hangs."""
    scenes, question = demo.scenes(), HumanQuestion(Scoring())
    out = demo.at("census")
    parts = go_round(scenes, question, out, workers=demo.workers, say=demo.say)
    answers = gather((read_part(part) for part in parts), str(scenes.folder))
    told = {"scenes": scenes.digest(), "version": "v2", "solver": "closed", **question.record()}
    found = censused.by_v2(Census.of(answers), told)
    return _some(write_results(out, found), "population_tokens", "P1_count", "LK_forgiven")


def audit(demo: Demo) -> Facts:
    """Count what forgiveness changed and erased."""
    out = demo.at("audit")
    found = audit_labels(Sources(demo.labels()), out, workers=demo.workers, say=demo.say)
    numbers = write_audit(out, found)
    return _some(numbers, "P1_count", "headline_count", "LK_mixed", "supervision_entries_exact")


def drive_flips(demo: Demo) -> Facts:
    """Drive what the overwrite turns from failing to passing in lane keeping."""
    scenes, out = demo.scenes(), demo.at("flips")
    question = FlipsQuestion(demo.labels(), demo.vocabulary(), Scoring())
    parts = go_round(scenes, question, out, workers=demo.workers, say=demo.say)
    found = Flips.of((read_part(part) for part in parts), str(scenes.folder))
    numbers = write_results(out, flipped.results(found, question.record()))
    if not found.agrees:
        raise Unhealthy(
            "a stored column is not what the drives say",
            where=str(out / "flips.md"),
            expected="labels that follow from these scenes",
            remedy="remove the labels and run again",
        )
    return {"candidates_driven": found.candidates, "numbers": len(numbers)}


def certify(demo: Demo) -> Facts:
    """Compare the raw labels with what the rule makes of them, entry by entry."""
    labels, out = demo.at("labels"), demo.at("certificate")
    sides = [open_side(labels, policy, demo.say) for policy in ("raw", "published")]
    found = certify_sides(*sides, workers=demo.workers, say=demo.say)
    write_certificate(out, found)
    return {"tokens": found.population, "equal": found.equal, "different": found.different}


def ask_processors(demo: Demo) -> Facts:
    """Make some labels again under every kernel that this machine runs."""
    scenes, out = demo.scenes(), demo.at("processors")
    size = demo.settings
    tokens, candidates = size.again
    named = [Environment.named(name, sys.executable) for name in size.kernels]
    examined = [make_ready(one, "pinv") for one in named]
    ready = tuple(one for one in examined if isinstance(one, Ready))
    absent = tuple(one for one in examined if isinstance(one, Absent))
    question = ProcessorsQuestion(
        scenes,
        demo.vocabulary().take(slice(0, None, len(demo.vocabulary()) // candidates)),
        ready,
        repeats=size.repeats,
        only=frozenset(_forgiven_first(demo)[:tokens]),
    )
    parts = go_round(scenes, question, out, workers=1, say=demo.say)
    answers = gather((read_part(part) for part in parts), str(scenes.folder))
    found = Processors.of(answers, ready, absent, question.repeats)
    processed.draw(found, answers, out)
    write_results(out, processed.results(found, question.record()))
    return {
        "environments": len(ready),
        "absent": {one.name: one.reason for one in absent},
        "closed_forms_hold": found.closed_holds,
        "closed_digest": found.closed_digest,
        "all_equal": found.all_equal,
    }


def export(demo: Demo) -> Facts:
    """Write what a trainer of GTRS reads: labels that abstain where the rule fired."""
    path = demo.at("exported") / "masked.pkl"
    digest = export_labels(
        Labels(demo.labels(), "masked"),
        path,
        mask=path.with_suffix(".npz"),
        workers=demo.workers,
        say=demo.say,
    )
    return {"policy": "masked", "bytes": path.stat().st_size, "sha256": digest}


def draw_picture(demo: Demo) -> Facts:
    """Explain one candidate of a forgiven scene, in a picture from above."""
    scene, candidate = _worth_explaining(demo)
    told = explain(scene, demo.vocabulary(), candidate)
    path = write_picture(picture_of(scene, told), demo.at("explained.png"))
    return {"token": scene.token, "candidate": candidate, "picture": path.name}


def _forgiven_first(demo: Demo) -> list[str]:
    """Tokens on which the rule fires, then the others, each in the order of the labels."""
    labels = demo.labels()
    fired = forgiven_columns(labels.human).any(axis=1)
    return [labels.tokens[row] for row in np.argsort(~fired, kind="stable")]


def _worth_explaining(demo: Demo) -> tuple[Scene, int]:
    """A scene the rule fires on, if any, and the best candidate that the rule turns to passing."""
    labels, scenes = demo.labels(), demo.scenes()
    fired = forgiven_columns(labels.human)
    for row in np.flatnonzero(fired[:, LOSS_COLUMNS].any(axis=1)):
        raw = labels.raw(labels.tokens[row]).astype(np.float64)
        read = [column for column in LOSS_COLUMNS if fired[row, column]]
        turned = (raw[read] == 0.0).any(axis=0)
        if turned.any():
            best = np.where(turned, raw[list(LOSS_COLUMNS)].sum(axis=0), -1.0)
            return scenes.scene(labels.tokens[row]), int(best.argmax())
    return scenes.scene(labels.tokens[0]), 0


def _some(numbers: dict[str, str], *names: str) -> dict[str, Any]:
    """Return a few numbers as they are written."""
    return {name: numbers[name] for name in names if name in numbers}
