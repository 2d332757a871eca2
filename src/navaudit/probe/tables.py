"""What a probe found, as tables to read and as the data of its figures."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from navaudit.audit.table import Cell, Table
from navaudit.probe.contrasts import SERIES, Contrast, Group, Interval
from navaudit.probe.named import places_of
from navaudit.probe.probe import Probe
from navaudit.probe.scenes import rows_of

BINS: Final = 50
"""Bins of AUC between 0 and 1."""

FAILING_BINS: Final = 32
"""Bins of the failing count."""

READINGS: Final = "probe_readings"
CONTRASTS: Final = "probe_contrasts"
MATCHING: Final = "probe_matching"
TIES: Final = "probe_ties"
AUC_FIGURE: Final = "probe_auc"
FAILING_FIGURE: Final = "probe_failing"

_ENDS: Final = ("median", "low", "high")


def tables(found: Probe) -> list[Table]:
    """Tables of the page."""
    made = [_readings(found), _contrasts(found), _places(found), _matching(found)]
    if found.contrasts.strata is not None:
        made.append(_strata(found))
    if found.ties.treatments:
        made.append(_ties(found))
    return made


def every_scene(found: Probe) -> Table:
    """The table of all scenes, too long for the page."""
    partner = np.full(len(found.scenes), -1)
    pairs = found.pairing
    partner[pairs.treatment] = pairs.control
    partner[pairs.control] = pairs.treatment
    tokens = found.scenes.tokens
    rows = tuple(
        (*row, tokens[other] if other >= 0 else None)
        for row, other in zip(rows_of(found.scenes), partner, strict=True)
    )
    return Table(
        "probe_scenes",
        "Every scene with a mixed column.",
        (
            "token", "forgiven", "failing", "auc", "average precision", "partial auc",
            "control auc", "control auc on its own column", "partner",
        ),
        rows,
    )  # fmt: skip


def _readings(found: Probe) -> Table:
    names = {
        "auc": f"{found.head} AUC",
        "precision": "average precision",
        "partial": "partial AUC",
        "control_auc": f"{found.control} AUC on {found.column}",
    }
    rows: list[tuple[Cell, ...]] = []
    for group in found.contrasts.groups.values():
        for k, one in enumerate(SERIES):
            low, quarter = group.percentiles[k]
            rows.append((group.name, names[one], *_cells(group.medians[k]), low, quarter))
        own = f"{found.control} AUC on its own column"
        for name, median in ((own, group.own), ("D", group.difference)):
            if median is not None:
                rows.append((group.name, name, *_cells(median), None, None))
        rows.append(_share(found, group))
    return Table(
        READINGS,
        f"Medians over scenes whose {found.column} column is mixed, with 95% intervals; D is the "
        f"{found.control} head's AUC on its own column minus the {found.head} head's.",
        ("scenes of", "reading", "median", "low", "high", "scenes", "5th", "25th percentile"),
        tuple(rows),
    )


def _share(found: Probe, group: Group) -> tuple[Cell, ...]:
    name = f"{found.control}'s share of the excess over chance"
    return (group.name, name, group.control_share, None, None, group.scenes, None, None)


def _contrasts(found: Probe) -> Table:
    names = (
        ("difference", "D"),
        ("auc", f"{found.head} AUC"),
        ("precision", "average precision"),
        ("partial", "partial AUC"),
        ("control_auc", f"{found.control} AUC on {found.column}"),
    )
    rows: list[tuple[Cell, ...]] = []
    for key, name in names:
        one: Contrast = found.contrasts.contrasts[key]
        rows.append((name, "matched pairs", *_cells(one.matched)))
        rows.append((name, "standardized", *_cells(one.standardized)))
    return Table(
        CONTRASTS,
        "Forgiven minus unforgiven, differences of medians with 95% intervals; counts are of "
        "pairs, and of forgiven scenes.",
        ("reading", "by", "difference", "low", "high", "count"),
        tuple(rows),
    )


def _places(found: Probe) -> Table:
    means = {
        "R1": f"{found.head} head's median AUC, forgiven scenes",
        "R2": "the same, matched unforgiven scenes",
        "R3": "the primary contrast, D forgiven minus D matched",
        "R4": "matched minus forgiven median, over the pairs",
    }
    rows = tuple((name, means[name], *_cells(one)) for name, one in places_of(found).items())
    columns = ("reading", "what it is", "point", "low", "high", "count")
    return Table("probe_R", "The four readings of the probe's tables.", columns, rows)


def _matching(found: Probe) -> Table:
    pairs, failing = found.pairing, found.scenes.failing
    rows: list[tuple[Cell, ...]] = []
    for name, at in _members(found):
        middle = np.percentile(failing[at], (25, 50, 75)).tolist() if at.size else [None] * 3
        rows.append((name, int(at.size), *middle))
    balance = {"before": pairs.before, "after": pairs.after}
    told = ", ".join(f"{value:.3g} {when}" for when, value in balance.items() if value is not None)
    return Table(
        MATCHING,
        f"Candidates that fail {found.column}, and who is matched on them one to one within "
        f"{found.question.caliper}; absolute standardized difference {told or 'not defined'}.",
        ("scenes", "count", "25th percentile", "median", "75th percentile"),
        tuple(rows),
    )


def _members(found: Probe) -> Iterator[tuple[str, NDArray[np.int64]]]:
    pairs = found.pairing
    yield "forgiven", pairs.forgiven
    yield "forgiven, matched", pairs.treatment
    yield "forgiven, unmatched", pairs.unmatched
    yield "unforgiven, matched", pairs.control
    yield "unforgiven", pairs.unforgiven


def _strata(found: Probe) -> Table:
    strata, width = found.contrasts.strata, found.question.width
    assert strata is not None
    sizes = zip(strata.stratum, strata.treatments, strata.controls, strict=True)
    rows = tuple((int(at) * width, int(at + 1) * width - 1, int(t), int(c)) for at, t, c in sizes)
    return Table(
        "probe_strata",
        "Strata of the failing count that hold scenes of both kinds; those of forgiven ones are "
        "their weights.",
        ("from", "to", "forgiven", "unforgiven"),
        rows,
    )


def _ties(found: Probe) -> Table:
    by_name = {one.name: one for one in found.ties.treatments}
    draws = [one for name, one in by_name.items() if name.startswith("draw")]
    rows: list[tuple[Cell, ...]] = [
        (one.name, *one.precision, *one.partial, one.zeros, "yes" if one.same_zeros else "no")
        for one in (by_name["as sorted"], by_name["grouped"])
    ]
    if draws:
        values = np.array([(*one.precision, *one.partial, one.zeros) for one in draws])
        same = "yes" if all(one.same_zeros for one in draws) else "no"
        for name, ends in (("least", values.min(axis=0)), ("most", values.max(axis=0))):
            row: tuple[Cell, ...] = (*map(float, ends[:-1]), int(ends[-1]), same)
            rows.append((f"{name} of {len(draws)} draws", *row))
    return Table(
        TIES,
        "Average precision and partial AUC of the forgiven scenes under every treatment of ties.",
        (
            "ties", "AP median", "AP 5th", "AP 25th", "pAUC median", "pAUC 5th", "pAUC 25th",
            "scenes of zero pAUC", "the same scenes",
        ),
        tuple(rows),
    )  # fmt: skip


def auc_table(found: Probe) -> Table:
    """Scenes by AUC: the data of a figure."""
    edges = np.linspace(0.0, 1.0, BINS + 1)
    pairs, auc = found.pairing, found.scenes.auc
    groups = (pairs.forgiven, pairs.treatment, pairs.control)
    counts = [np.histogram(auc[at], edges)[0] for at in groups]
    rows = tuple(
        (round(float(low), 6), round(float(high), 6), *(int(one[k]) for one in counts))
        for k, (low, high) in enumerate(pairwise(edges))
    )
    columns = ("from", "to", "forgiven", "forgiven, matched", "unforgiven, matched")
    return Table(AUC_FIGURE, f"Scenes by the {found.head} head's AUC.", columns, rows)


def failing_table(found: Probe) -> Table:
    """Scenes by failing count, before and after matching: the data of a figure."""
    edges = np.linspace(0, found.candidates, FAILING_BINS + 1)
    pairs, failing = found.pairing, found.scenes.failing
    groups = (pairs.forgiven, pairs.unforgiven, pairs.treatment, pairs.control)
    counts = [np.histogram(failing[at], edges)[0] for at in groups]
    rows = tuple(
        (float(low), float(high), *(int(one[k]) for one in counts))
        for k, (low, high) in enumerate(pairwise(edges))
    )
    columns = ("from", "to", "forgiven", "unforgiven", "forgiven, matched", "unforgiven, matched")
    title = f"Scenes by candidates that fail {found.column}, before and after matching."
    return Table(FAILING_FIGURE, title, columns, rows)


def _cells(one: Interval | None) -> tuple[Cell, Cell, Cell, Cell]:
    return (None, None, None, 0) if one is None else (one.point, one.low, one.high, one.count)
