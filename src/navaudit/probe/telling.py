"""What a probe found, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from navaudit.probe.contrasts import AUC, Interval
from navaudit.probe.probe import Probe


def lead(found: Probe) -> str:
    """Say in a sentence or two how well the head orders candidates where the rule fired."""
    groups, contrasts = found.contrasts.groups, found.contrasts.contrasts
    forgiven, matched = groups.get("forgiven"), groups.get("unforgiven, matched")
    primary = contrasts["difference"].matched
    if forgiven is None:
        return f"The rule fired on no scene whose {found.column} column is mixed."
    said = (
        f"On {forgiven.scenes:,} scenes where the rule overwrote a mixed {found.column} column, "
        f"the {found.head} head orders candidates with a median AUC of "
        f"{_written(forgiven.medians[AUC])}, where 1 is perfect and 0.5 is chance"
    )
    if matched is None:
        return f"{said}; no other scene matches one of them."
    there = _written(matched.medians[AUC])
    said += f"; on {matched.scenes:,} matched scenes where it did not, {there}."
    if primary is None:
        return said
    return f"{said} Beside the {found.control} head, the difference D is {_written(primary)}."


def sentences(found: Probe) -> list[str]:
    """Say what was read, and of what scenes."""
    record, scenes = found.record, found.scenes
    forgiven, other = scenes.constant
    fired = int(scenes.forgiven.sum())
    return [
        f"{record['tokens']:,} scenes of {found.candidates:,} candidates; the {found.column} "
        f"column is mixed in {len(scenes):,}, of which {fired:,} are forgiven.",
        f"It is constant in {forgiven:,} forgiven scenes and {other:,} others, which no AUC has.",
        *cautions(found),
    ]


def cautions(found: Probe) -> Iterator[str]:
    """Say what a reader of the numbers should know."""
    record, contrasts = found.record, found.contrasts
    for name in ("logit_tokens", "label_tokens"):
        left_out = record[name] - record["tokens"]
        if left_out:
            has = name.split("_")[0] + "s"
            yield f"{left_out:,} tokens with {has} alone are left out."
    if not found.pairing.forgiven.size:
        yield "No forgiven scene has a mixed column, so nothing is contrasted."
    elif not found.pairing.treatment.size:
        yield "No forgiven scene has a partner within the caliper, so no pairs are contrasted."
    if contrasts.left_out:
        yield (
            f"{contrasts.left_out:,} of {found.pairing.treatment.size:,} pairs do not enter D: the "
            f"{found.control} head's own column is constant in one of their scenes."
        )
    uncovered = contrasts.contrasts["auc"].uncovered
    if uncovered:
        yield f"{uncovered:,} forgiven scenes lie in strata without others: not standardized."
    touched = int(found.scenes.own_forgiven.sum())
    if touched:
        yield (
            f"The rule fired on the {found.control} head's own column in {touched:,} scenes: there "
            "it is no control."
        )
    if found.ties.treatments and not found.ties.same_zeros:
        yield "Which scenes have a partial AUC of zero hangs on how ties are broken."
    if not found.question.as_the_paper:
        yield "The question is not the paper's: other heads, columns, caliper, strata or rate."


def _written(one: Interval) -> str:
    return f"{one.point:.4f} [{one.low:.4f}, {one.high:.4f}]"
