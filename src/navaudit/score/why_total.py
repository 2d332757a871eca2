"""How far the car came against whom, and how the columns make the aggregate."""

from __future__ import annotations

from typing import NamedTuple

from navaudit.axes import DAC, DDC, EP, HC, LK, NC, PDM, SHORT, TLC, TTC
from navaudit.score.progress import FAR_ENOUGH_M
from navaudit.score.reason import Reason, Ride
from navaudit.score.sheet import WEIGHTS

MULTIPLIED = (NC, DAC, TLC, DDC)
WEIGHTED = (EP, TTC, LK, HC)


class Rival(NamedTuple):
    """Whose progress is the measure."""

    progress_m: float
    """Progress times the product of the multiplied metrics."""
    name: str


def why_progress(ride: Ride, rival: Rival, rule: str) -> Reason:
    """Compare the progress with the reference's, or with the best of the batch."""
    product = product_of(ride)
    own = ride.progress_m * (product if rule == "per-candidate" else 1.0)
    best = max(ride.progress_m * product, rival.progress_m)
    score = float(ride.scores[EP])
    facts = {
        "raw_m": ride.progress_m,
        "product": product,
        "rival": rival.name,
        "rival_m": rival.progress_m,
        "rule": rule,
        "short_below_m": FAR_ENOUGH_M,
    }
    if best <= FAR_ENOUGH_M:
        words = f"is 1: nobody comes farther than {FAR_ENOUGH_M:.0f} m here ({best:.1f} m)"
        return Reason(
            EP, score, words, None, "best progress", best, FAR_ENOUGH_M, FAR_ENOUGH_M - best,
            facts=facts,
        )  # fmt: skip
    lost = ""
    if own < ride.progress_m:
        lost = f", of which {own:.1f} m count (failures multiply it by {product:g})"
    words = f"is {score:.3f}: {ride.progress_m:.1f} m along the route{lost}; "
    words += f"{rival.name} came {rival.progress_m:.1f} m"
    return Reason(
        EP, score, words, None, "progress that counts", own, rival.progress_m,
        own - rival.progress_m, facts=facts,
    )  # fmt: skip


def why_total(ride: Ride) -> Reason:
    """Show the product of the multiplied columns and the weighted mean of the others."""
    product, scores = product_of(ride), ride.scores
    parts = [f"{SHORT[one]} {scores[one]:.3g} x {w:g}" for one, w in _weights()]
    factors = [f"{SHORT[one]} {scores[one]:g}" for one in MULTIPLIED]
    words = f"is {scores[PDM]:.3f}: {' x '.join(factors)}, times the mean of {', '.join(parts)}"
    mean = sum(scores[one] * weight for one, weight in _weights()) / sum(WEIGHTS)
    facts = {
        "product": product,
        "weighted_mean": float(mean),
        "factors": {SHORT[one]: float(scores[one]) for one in MULTIPLIED},
        "weighted": {SHORT[one]: float(scores[one] * weight) for one, weight in _weights()},
        "weights": {SHORT[one]: weight for one, weight in _weights()},
    }
    return Reason(
        PDM, float(scores[PDM]), words, None, "aggregate", float(scores[PDM]), 1.0,
        float(scores[PDM]) - 1.0, "", facts=facts,
    )  # fmt: skip


def product_of(ride: Ride) -> float:
    """Product of the multiplied columns, in the order of the scorer."""
    scores = ride.scores
    return float(scores[NC] * scores[DAC] * scores[TLC] * scores[DDC])


def _weights() -> list[tuple[int, float]]:
    return list(zip(WEIGHTED, WEIGHTS, strict=True))
