"""The numbers of a probe under the paper's names.

``PREFIX`` is ``probe`` for the released GTRS-Dense checkpoint on navtrain, and the name of a run
for any other: ``hmdp_tr`` and ``hmdp_nt`` for the Hydra-MDP checkpoint on navtrain and navtest,
``nt_released``, and ``prt_A0``, ``nt_P2``, ``p530tr_M1``, ``p530nt_L0``, ... for continued models
by arm and seed, at step 300 and 530. ``lk`` stands for the head, ``dac`` for the control, and
``_lo``, ``_hi`` are added for the ends of an interval, rounded outward:

==================================  ==============================================================
``PREFIX_T_lk_auc``                 median over the forgiven scenes (T); also ``_ap``, ``_pauc``
``PREFIX_Tmatched_lk_auc``          over those with a partner
``PREFIX_matched_lk_auc``           over their partners; also ``_ap``, ``_pauc``
``PREFIX_U_lk_auc``                 over all unforgiven scenes (U)
``PREFIX_T_dac_auc``, ``_share``    the control on the head's column, and its share of the excess
                                    over chance in percent; also ``U``, ``matched``
``PREFIX_delta_match``, ``_strat``  difference of the medians of AUC: of pairs, standardized
``PREFIX_did_match``, ``_strat``    the same of D, the primary contrast
``PREFIX_R1``, ..., ``_R4``         the readings of the paper's tables
``PREFIX_T_scenes``, ``_U_scenes``, ``_pairs``, ``_unmatched``, ``_asd_before``, ``_asd_after``,
``PREFIX_pauc_floor``, ``_T_zero_pauc``, ``_T_zero_share``, ``_rank_trapezoid_max`` (between tie-
averaged and trapezoid AUC with tied candidates as they come; ``_grouped_max``: each tie one step),
``PREFIX_ties_spread_max`` (largest difference of a reading between two treatments of ties),
``PREFIX_ties_with_other_zeros`` (treatments that find other scenes of zero partial AUC)
==================================  ==============================================================

What does not depend on the checkpoint is named once for all: ``nt_T`` and ``nt_pairs`` of any run
on navtest, ``probe_pairs`` and ``probe_unmatched`` of any on navtrain, and ``ties_draws``. With the
prefix ``probe``, ``ties_zero_released`` counts the forgiven scenes of zero partial AUC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from navaudit.errors import BadInput
from navaudit.findings import NOT_DEFINED, Finding, count, number
from navaudit.probe.contrasts import AUC, CONTROL, PARTIAL, PRECISION, Group, Interval
from navaudit.probe.probe import Probe
from navaudit.stats.auc import mcclish
from navaudit.stats.rounding import outward

PAPER: Final = "probe"
"""Prefix of the released GTRS-Dense checkpoint on navtrain."""

HELD_OUT: Final = re.compile(r"(hmdp_nt|(p530)?nt_\w+)")
"""Prefixes of runs on navtest."""

NAVTRAIN: Final = re.compile(r"(hmdp_tr|prt_\w+|p530tr_\w+)")
"""Prefixes of other runs on navtrain."""

_PREFIX: Final = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
AREAS: Final = 4
"""Decimal places of an AUC."""
_FINE: Final = 3
_GAPS: Final = 8

_READINGS: Final = "probe_readings.csv"
_CONTRASTS: Final = "probe_contrasts.csv"
_R: Final = "probe_R.csv"
_MATCHING: Final = "probe_matching.csv"
_TIES: Final = "probe_ties.csv"


def is_prefix(text: str) -> bool:
    """Whether the names of numbers may begin so.

    Examples
    --------
    >>> is_prefix("nt_A0"), is_prefix("nt-A0")
    (True, False)
    """
    return _PREFIX.fullmatch(text) is not None


def expect_prefix(text: str) -> None:
    """Refuse what the names of numbers cannot begin with."""
    if not is_prefix(text):
        raise BadInput(
            f"{text!r} cannot begin the names of numbers",
            expected="letters and digits in words joined by _, such as nt_A0",
            remedy="name the run otherwise: --names",
        )


def prefix_of(found: Probe) -> str:
    """Return the prefix of a probe nobody has named: the paper's, if it asks as the paper does.

    Another question is named after its heads and column, such as ``ddc_on_ddc_beside_dac``.
    """
    if found.question.as_the_paper:
        return PAPER
    return f"{found.head}_on_{found.column}_beside_{found.control}".lower()


def findings(found: Probe, prefix: str) -> list[Finding]:
    """Return every number of a probe; one that its scenes do not define is left out."""
    expect_prefix(prefix)
    named = [
        *_of_groups(found),
        *_of_contrasts(found),
        *_of_matching(found),
        *_of_ties(found),
    ]
    shared = list(_shared(found, prefix))
    taken = {one.name for one in shared}
    own = [
        Finding(f"{prefix}_{one.name}", one.value, one.text, one.where, one.cases) for one in named
    ]
    return [*(one for one in own if one.name not in taken), *shared]


def places_of(found: Probe) -> dict[str, Interval]:
    """Return R1 to R4, those that are defined."""
    groups, contrasts = found.contrasts.groups, found.contrasts.contrasts
    forgiven, matched = groups.get("forgiven"), groups.get("unforgiven, matched")
    by_pair = contrasts["auc"].matched
    read = {
        "R1": None if forgiven is None else forgiven.medians[AUC],
        "R2": None if matched is None else matched.medians[AUC],
        "R3": contrasts["difference"].matched,
        "R4": None if by_pair is None else -by_pair,
    }
    return {name: one for name, one in read.items() if one is not None}


def _of_groups(found: Probe) -> Iterator[Finding]:
    letters = {
        "forgiven": "T",
        "forgiven, matched": "Tmatched",
        "unforgiven, matched": "matched",
        "unforgiven": "U",
    }
    for name, letter in letters.items():
        group = found.contrasts.groups.get(name)
        if group is not None:
            yield from _of_group(found, group, letter)


def _of_group(found: Probe, group: Group, letter: str) -> Iterator[Finding]:
    head, control = (f"{letter}_{one.lower()}" for one in (found.head, found.control))
    yield from interval_findings(f"{head}_auc", group.medians[AUC], AREAS, _READINGS)
    yield from interval_findings(f"{head}_ap", group.medians[PRECISION], _FINE, _READINGS)
    yield from interval_findings(f"{head}_pauc", group.medians[PARTIAL], _FINE, _READINGS)
    yield from interval_findings(f"{control}_auc", group.medians[CONTROL], AREAS, _READINGS)
    if group.control_share is not None:
        yield number(f"{control}_share", 100.0 * group.control_share, 0, _READINGS)
    if group.difference is not None:
        yield from interval_findings(f"{letter}_D", group.difference, AREAS, _READINGS)
    low, quarter = group.percentiles[PARTIAL]
    yield number(f"{head}_pauc_5th", low, _FINE, _READINGS)
    yield number(f"{head}_pauc_25th", quarter, _FINE, _READINGS)
    yield count(f"{letter}_zero_pauc", group.zeros)
    yield number(f"{letter}_zero_share", 100.0 * group.zero_share, 2)


def _of_contrasts(found: Probe) -> Iterator[Finding]:
    for key, stem in (("auc", "delta"), ("difference", "did")):
        one = found.contrasts.contrasts[key]
        for tail, interval in (("match", one.matched), ("strat", one.standardized)):
            if interval is not None:
                yield from interval_findings(f"{stem}_{tail}", interval, AREAS, _CONTRASTS)
    for name, interval in places_of(found).items():
        yield from interval_findings(name, interval, AREAS, _R)
    matched = found.contrasts.contrasts["difference"].matched
    yield count("did_pairs", 0 if matched is None else matched.count, _CONTRASTS)


def _of_matching(found: Probe) -> Iterator[Finding]:
    pairs, scenes = found.pairing, found.scenes
    sizes = {
        "T_scenes": pairs.forgiven,
        "U_scenes": pairs.unforgiven,
        "pairs": pairs.treatment,
        "unmatched": pairs.unmatched,
    }
    for name, at in sizes.items():
        yield count(name, at.size, _MATCHING)
    for name, balance in (("asd_before", pairs.before), ("asd_after", pairs.after)):
        if balance is not None:
            yield number(name, balance, _FINE, _MATCHING)
    yield number("pauc_floor", float(mcclish(0.0, scenes.max_fpr)), _FINE)
    yield number("rank_trapezoid_max", float(scenes.gap.max()), _GAPS)
    yield number("rank_trapezoid_grouped_max", float(scenes.grouped_gap.max()), _GAPS)


def _of_ties(found: Probe) -> Iterator[Finding]:
    ties = found.ties
    if ties.treatments:
        yield number("ties_spread_max", max(ties.spread()), 5, _TIES)
        others = sum(not one.same_zeros for one in ties.treatments)
        yield count("ties_with_other_zeros", others, _TIES)


def _shared(found: Probe, prefix: str) -> Iterator[Finding]:
    """Numbers that bear the same name whatever the run is called."""
    pairs = found.pairing
    if prefix == PAPER:
        forgiven = found.contrasts.groups.get("forgiven")
        if forgiven is not None:
            yield count("ties_zero_released", forgiven.zeros, _TIES)
        if found.ties.draws:
            yield count("ties_draws", found.ties.draws, _TIES)
    elif HELD_OUT.fullmatch(prefix):
        yield count("nt_T", pairs.forgiven.size, _MATCHING)
        yield count("nt_pairs", pairs.treatment.size, _MATCHING)
    elif NAVTRAIN.fullmatch(prefix):
        yield count("probe_pairs", pairs.treatment.size, _MATCHING)
        yield count("probe_unmatched", pairs.unmatched.size, _MATCHING)


def interval_findings(name: str, one: Interval, places: int, where: str) -> Iterator[Finding]:
    """Name a point and the ends of its interval, which are rounded outward."""
    yield number(name, one.point, places, where)
    ends = outward(one.low, one.high, places)
    for tail, value, text in zip(("lo", "hi"), (one.low, one.high), ends, strict=True):
        known = value == value  # noqa: PLR0124 - an interval of resamples without a value is NaN
        yield Finding(
            f"{name}_{tail}",
            value if known else None,
            text.removeprefix("+") if known else NOT_DEFINED,
            where,
        )
