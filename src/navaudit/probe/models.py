"""Several models on the same scenes and pairs: the four readings of each, and their contrasts.

Models named ``FAMILY_ARMSEED``, such as ``nt_P1``, are arms by seed. Every arm is set against arm A
of its family, seed by seed: intervals redraw the same scenes, or pairs, for both models, and
letters say whether the seeds agree; see `navaudit.stats.verdicts`. The seed scale is that of the
arms with the most seeds, on the reading in question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from navaudit.agent.logit_store import LogitStore
from navaudit.errors import BadInput
from navaudit.labels.labelset import LabelSet
from navaudit.probe.contrasts import Interval
from navaudit.probe.pairing import Pairing
from navaudit.probe.probe import Probe
from navaudit.probe.question import Question
from navaudit.probe.scenes import Say, Scenes, read_scenes, silent
from navaudit.probe.walk import blocks
from navaudit.stats.bootstrap import Estimate, estimate, median_replicates
from navaudit.stats.verdicts import Verdict, judge

PLACES: Final = ("R1", "R2", "R3", "R4")
CONTROL_ARM: Final = "A"

_NAME: Final = re.compile(r"(?P<family>\w+)_(?P<arm>[A-Z])(?P<seed>\d)")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Model:
    """One model's readings, and their resamples in the order that all models share."""

    name: str
    points: dict[str, float]
    """By `PLACES`, those that are defined."""
    resamples: dict[str, Floats]
    """``[resample]``"""
    counts: dict[str, int]
    """Scenes or pairs."""

    def interval(self, place: str) -> Interval:
        """Return a reading with its interval."""
        found = estimate([self.points[place]], self.resamples[place][:, None])
        return Interval.of(found, self.counts[place])


@dataclass(frozen=True)
class Against:
    """An arm set against arm A on one reading, seed by seed."""

    family: str
    arm: str
    place: str
    seeds: tuple[int, ...]
    difference: Estimate
    """``[seed]``"""
    verdict: Verdict | None
    """None where no arms of two seeds or more give it a scale."""


@dataclass(frozen=True)
class Models:
    """All models, and every arm against arm A."""

    record: Mapping[str, Any]
    """What the logits of all but the first are made from."""
    models: tuple[Model, ...]
    against: tuple[Against, ...]

    def arms(self) -> dict[tuple[str, str], dict[int, Model]]:
        """Return the models of each family and arm, by seed."""
        return arms_of(self.models)


def read_models(
    found: Probe,
    name: str,
    others: Mapping[str, LogitStore],
    labels: LabelSet,
    *,
    say: Say = silent,
) -> Models:
    """Read further logits on the scenes and pairs of a probe, whose own model bears ``name``."""
    if name in others:
        raise BadInput(
            f"two models are named {name}",
            expected="a name for each",
            remedy="name the first by --names, and the others by --also NAME=LOGITS",
        )
    question, pairs = found.question, found.pairing
    at = np.sort(np.concatenate([pairs.forgiven, pairs.control]))
    wanted = [found.scenes.tokens[place] for place in at]
    models = [_model(name, found.scenes, pairs, question)]
    for other, store in others.items():
        scenes = _read(store, labels, wanted, question, say)
        pairing = _placed(pairs, found.scenes, scenes)
        models.append(_model(other, scenes, pairing, question))
    record = {other: dict(store.settings) for other, store in others.items()}
    return Models(record, tuple(models), tuple(against_a(models)))


def _read(
    store: LogitStore, labels: LabelSet, wanted: Sequence[str], question: Question, say: Say
) -> Scenes:
    missing = [token for token in wanted if token not in store]
    if missing or store.candidates != labels.candidates:
        raise BadInput(
            f"{len(missing):,} of {len(wanted):,} scenes have no logits of this model"
            if missing
            else f"the logits are of {store.candidates} candidates",
            where=str(store.folder),
            expected=f"logits of the same scenes, such as {missing[0]}"
            if missing
            else f"{labels.candidates}, as in {labels.folder}",
            remedy="make them of the scene set of the other model",
        )
    walk = blocks(store, labels, wanted, question)
    return read_scenes(walk, replace(question, tie_draws=0), len(wanted), say)


def _placed(pairs: Pairing, there: Scenes, here: Scenes) -> Pairing:
    """The same pairs, by the places of other scenes."""
    place = {token: k for k, token in enumerate(here.tokens)}

    def moved(at: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.array([place[there.tokens[k]] for k in at], np.int64)

    return replace(
        pairs,
        forgiven=moved(pairs.forgiven),
        treatment=moved(pairs.treatment),
        control=moved(pairs.control),
        unforgiven=moved(np.unique(pairs.control)),
        unmatched=moved(pairs.unmatched),
    )


def _model(name: str, scenes: Scenes, pairs: Pairing, question: Question) -> Model:
    """Read R1 to R4, each with its resamples."""
    points: dict[str, float] = {}
    drawn: dict[str, Floats] = {}
    counts: dict[str, int] = {}

    def keep(place: str, values: Floats, signs: Sequence[float]) -> None:
        if values.shape[1]:
            redrawn = median_replicates(values, resamples=question.resamples, seed=question.seed)
            points[place] = float(_added(np.median(values, axis=1), signs))
            drawn[place] = _added(redrawn.T, signs)
            counts[place] = values.shape[1]

    auc, difference = scenes.auc, scenes.difference
    both = np.stack([difference[pairs.treatment], difference[pairs.control]])
    keep("R1", auc[None, pairs.forgiven], [1.0])
    keep("R2", auc[None, pairs.control], [1.0])
    keep("R3", both[:, np.isfinite(both).all(axis=0)], [1.0, -1.0])
    keep("R4", np.stack([auc[pairs.treatment], auc[pairs.control]]), [-1.0, 1.0])
    return Model(name, points, drawn, counts)


def _added(values: Floats, signs: Sequence[float]) -> Floats:
    """Add ``values [series, ...]`` with their signs, one after the other."""
    total: Floats = np.zeros(values.shape[1:])
    for sign, each in zip(signs, values, strict=True):
        total = total + sign * each
    return total


def arms_of(models: Sequence[Model]) -> dict[tuple[str, str], dict[int, Model]]:
    """Sort models that are named after an arm and a seed."""
    found: dict[tuple[str, str], dict[int, Model]] = {}
    for model in models:
        named = _NAME.fullmatch(model.name)
        if named is not None:
            arm = found.setdefault((named["family"], named["arm"]), {})
            arm[int(named["seed"])] = model
    return found


def against_a(models: Sequence[Model]) -> Iterator[Against]:
    """Set every arm against arm A of its family, on every reading that both have."""
    arms = arms_of(models)
    for (family, arm), treated in arms.items():
        control = arms.get((family, CONTROL_ARM), {})
        seeds = sorted(set(treated) & set(control))
        if arm == CONTROL_ARM or not seeds:
            continue
        kin = [runs for (other, _), runs in arms.items() if other == family]
        for place in PLACES:
            if all(place in runs[seed].points for runs in (treated, control) for seed in seeds):
                between = _differences([(treated[seed], control[seed]) for seed in seeds], place)
                verdict = _judged(between, place, seeds, kin)
                yield Against(family, arm, place, tuple(seeds), between, verdict)


def _differences(pairs: Sequence[tuple[Model, Model]], place: str) -> Estimate:
    """Treated minus control, one series a seed, on shared draws."""
    points = [one.points[place] - other.points[place] for one, other in pairs]
    drawn = [one.resamples[place] - other.resamples[place] for one, other in pairs]
    return estimate(points, np.stack(drawn, axis=1))


def _judged(
    between: Estimate, place: str, seeds: Sequence[int], kin: Sequence[Mapping[int, Model]]
) -> Verdict | None:
    """Judge by the arms that have the most seeds; None where these are fewer than two."""
    most = max(len(runs) for runs in kin)
    scaling = [runs for runs in kin if len(runs) == most]
    shared = sorted(set.intersection(*(set(runs) for runs in scaling)))
    known = all(place in runs[seed].points for runs in scaling for seed in shared)
    if len(shared) < 2 or not known or not set(seeds) <= set(shared):
        return None
    levels = [[runs[seed].points[place] for seed in shared] for runs in scaling]
    sizes = sorted({min(size, len(shared)) for size in (2, 3, len(shared))})
    places = [shared.index(seed) for seed in seeds]
    readings = [range(size) for size in sizes if set(range(size)) & set(places)]
    return judge(between, levels, seeds=places, readings=readings)
