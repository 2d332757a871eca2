"""Several models in tables, and by the paper's names.

Beside the readings of every model, ``nt_P1_R1`` with ``_lo`` and ``_hi``, these are named of a
family ``prt``, ``nt``, ``p530tr``, ``p530nt`` or any other:

==================================  ==============================================================
``nt_A_R3_min``, ``_max``           of an arm's seeds
``nt_PA_R1_min``, ``_max``          of the differences of arms P and A, seed by seed
``prt_AMP_R2_min``, ``_max``        of all models of the arms that have the most seeds
==================================  ==============================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from navaudit.audit.table import Cell, Table
from navaudit.findings import Finding, number
from navaudit.probe.models import CONTROL_ARM, PLACES, Against, Model, Models
from navaudit.probe.named import AREAS, interval_findings

MODELS: Final = "probe_models"
ARMS: Final = "probe_arms"


def model_findings(read: Models) -> Iterator[Finding]:
    """Name the readings of all models but the first, and the ranges over arms."""
    for model in read.models[1:]:
        for place in model.points:
            name = f"{model.name}_{place}"
            yield from interval_findings(name, model.interval(place), AREAS, f"{MODELS}.csv")
    yield from _ranges(read)
    for one in read.against:
        stem = f"{one.family}_{one.arm}{CONTROL_ARM}_{one.place}"
        yield from _range(stem, [float(point) for point in one.difference.point])


def _ranges(read: Models) -> Iterator[Finding]:
    arms = read.arms()
    for (family, arm), runs in arms.items():
        for place in PLACES:
            yield from _range(f"{family}_{arm}_{place}", _points(runs.values(), place))
    for family in dict.fromkeys(family for family, _ in arms):
        kin = {arm: runs for (other, arm), runs in arms.items() if other == family}
        most = max(len(runs) for runs in kin.values())
        scaling = {arm: runs for arm, runs in kin.items() if len(runs) == most}
        if len(scaling) < 2:
            continue
        models = [model for runs in scaling.values() for model in runs.values()]
        for place in PLACES:
            stem = f"{family}_{''.join(sorted(scaling))}_{place}"
            yield from _range(stem, _points(models, place))


def _points(models: Iterable[Model], place: str) -> list[float]:
    return [one.points[place] for one in models if place in one.points]


def _range(stem: str, points: list[float]) -> Iterator[Finding]:
    if points:
        yield number(f"{stem}_min", min(points), AREAS, f"{MODELS}.csv")
        yield number(f"{stem}_max", max(points), AREAS, f"{MODELS}.csv")


def model_tables(read: Models) -> list[Table]:
    """Every model's readings, and every arm against arm A."""
    rows: list[tuple[Cell, ...]] = []
    for model in read.models:
        for place in model.points:
            one = model.interval(place)
            rows.append((model.name, place, one.point, one.low, one.high, one.count))
    made = [
        Table(
            MODELS,
            "The four readings of every model on the same scenes and pairs, with 95% intervals.",
            ("model", "reading", "point", "low", "high", "count"),
            tuple(rows),
        )
    ]
    if read.against:
        made.append(_arms(read.against))
    return made


def _arms(against: tuple[Against, ...]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in against:
        ends = zip(
            one.seeds, one.difference.point, one.difference.low, one.difference.high, strict=True
        )
        letter = None if one.verdict is None else one.verdict.letter
        for seed, point, low, high in ends:
            pair = f"{one.family}: {one.arm} - {CONTROL_ARM}"
            rows.append((pair, one.place, seed, float(point), float(low), float(high), letter))
    return Table(
        ARMS,
        "Every arm minus arm A at the same seed, on the same draws, and whether seeds agree: "
        "O observed, S unresolved on the seed scale, U unresolved; by the first two seeds, then "
        "by more.",
        ("arms", "reading", "seed", "difference", "low", "high", "verdict"),
        tuple(rows),
    )


def model_cautions(read: Models) -> Iterator[str]:
    """Say what a reader of the letters should know."""
    for one in read.against:
        for caution in () if one.verdict is None else one.verdict.cautions:
            yield f"{one.family} {one.arm} - {CONTROL_ARM}, {one.place}: {caution}."
