"""The paper's label study once more, token by token in plain Python, straight from its words.

Nothing of ``navaudit.audit`` is used here. Labels are lists of floats, one a candidate, in nine
columns to a token.
"""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb
from statistics import median_high

NAMES = ("NC", "DAC", "DDC", "TLC", "EP", "TTC", "LK", "HC", "PDM")
LOSS = ("NC", "DAC", "TTC", "EP", "DDC", "LK", "TLC")
WEIGHTS = dict(zip(LOSS, (3, 3, 4, 2, 1, 2, 3), strict=True))


def b(name, value):
    return 0.0 if name in ("NC", "DDC") and value == 0.5 else value


def mapped(name, column):
    return [b(name, value) for value in column]


def share(part, whole):
    return None if whole == 0 else float(Fraction(100 * part, whole))


def middle(values):
    values = list(values)
    return median_high(values) if values else None


def ln(value):
    return math.log(value) if value > 0 else -math.inf


def s_rule(t):
    return (
        0.1 * ln(t["TLC"])
        + 0.1 * ln(t["NC"])
        + 0.9 * ln(t["DAC"])
        + 0.2 * ln(t["DDC"])
        + 6 * ln(7 * t["TTC"] + 7 * t["EP"] + 3 * t["LK"])
    )


def s_lossw(t):
    return sum(WEIGHTS[name] * t[name] for name in LOSS)


def s_pdm(t):
    return t["PDM"]


RULES = {"S": s_rule, "lossw": s_lossw, "pdm": s_pdm}


def maximisers(labels, rule):
    scores = [
        rule({name: b(name, labels[name][i]) for name in NAMES}) for i in range(len(labels["NC"]))
    ]
    best = max(scores)
    return {i for i, score in enumerate(scores) if score == best}, best


def relation(a, b_):
    if a == b_:
        return "equal"
    if b_ < a:
        return "raw_within_published"
    if a < b_:
        return "published_within_raw"
    return "crossing" if a & b_ else "disjoint"


def rows(labels, names, loss=False):
    columns = [mapped(name, labels[name]) if loss else labels[name] for name in names]
    return len(set(zip(*columns, strict=True)))


class Token:
    def __init__(self, raw, human, published, known):
        self.raw = dict(zip(NAMES, raw, strict=True))
        self.published = dict(zip(NAMES, published, strict=True))
        self.n = len(raw[0])
        if known:
            self.forgiven = [name for name, h in zip(NAMES, human, strict=True) if h == 0]
        else:
            self.forgiven = [
                name for name in NAMES
                if set(self.published[name]) == {1.0} and set(self.raw[name]) != {1.0}
            ]  # fmt: skip
        self.differing = [name for name in NAMES if self.raw[name] != self.published[name]]
        made = {name: [1.0] * self.n if name in self.forgiven else self.raw[name] for name in NAMES}
        self.residual = [name for name in NAMES if made[name] != self.published[name]]

    def failing(self, name):
        return sum(value != 1.0 for value in mapped(name, self.raw[name]))

    def mixed(self, name, loss=True):
        column = self.raw[name]
        return len(set(mapped(name, column) if loss else column)) >= 2

    def erased(self, names, loss):
        return any(name in self.forgiven and self.mixed(name, loss) for name in names)

    def published_failing(self, name):
        return sum(value != 1.0 for value in mapped(name, self.published[name]))

    def mapping_erases(self):
        return any(
            len(set(self.published[name])) >= 2
            and len(set(mapped(name, self.published[name]))) == 1
            for name in LOSS
        )


def predicates(tokens):
    p1 = [t for t in tokens if t.forgiven]
    mapping = [t for t in tokens if t.mapping_erases()]
    headline = [t for t in tokens if t.erased(LOSS, True)]
    counted = {
        "P1": len(p1),
        "P1_loss_columns": sum(any(name in LOSS for name in t.forgiven) for t in tokens),
        "P2": sum(any(set(t.raw[name]) != {1.0} for name in t.forgiven) for t in tokens),
        "P3_raw_stored_columns": sum(t.erased(NAMES, False) for t in tokens),
        "P3_raw_loss_columns": sum(t.erased(LOSS, False) for t in tokens),
        "P3_loss_stored_columns": sum(t.erased(NAMES, True) for t in tokens),
        "headline": len(headline),
        "mapping_erased": len(mapping),
    }
    found = {"population_tokens": len(tokens), "vocab_dense": tokens[0].n}
    for name, n in counted.items():
        found[f"{name}_count"] = n
        found[f"{name}_percent"] = share(n, len(tokens))
    found["P3_outside_loss_columns_only"] = sum(
        t.erased(NAMES, True) and not t.erased(LOSS, True) for t in tokens
    )
    found["mapping_erased_overlap"] = sum(t in headline for t in mapping)
    found["headline_times_mapping_erased"] = len(headline) / len(mapping) if mapping else None
    return found


def columns(tokens):
    found = {}
    keys = ("forgiven", "already_one", "all_zero", "mixed", "raw_mixed")
    for name in NAMES:
        fired = [t for t in tokens if name in t.forgiven]
        mixed = [t for t in fired if t.mixed(name)]
        one = [t for t in fired if t.failing(name) == 0]
        raw_mixed = [t for t in fired if t.mixed(name, loss=False)]
        constant = [t for t in fired if t not in mixed and t not in one]
        other = [
            t for t in tokens
            if name not in t.forgiven and len(set(mapped(name, t.published[name]))) >= 2
        ]  # fmt: skip
        counts = [len(some) for some in (fired, one, constant, mixed, raw_mixed)]
        found |= {f"{name}_{key}": n for key, n in zip(keys, counts, strict=True)}
        failing = [t.failing(name) for t in mixed]
        median = middle(failing)
        found |= {
            f"{name}_forgiven_share": share(len(fired), sum(bool(t.forgiven) for t in tokens)),
            f"{name}_mixed_percent": share(len(mixed), len(tokens)),
            f"{name}_mixed_of_forgiven_percent": share(len(mixed), len(fired)),
            f"{name}_raw_mixed_of_forgiven_percent": share(len(raw_mixed), len(fired)),
            f"{name}_pooled_median": middle(t.failing(name) for t in fired),
            f"{name}_mixed_min": min(failing, default=None),
            f"{name}_mixed_median": median,
            f"{name}_mixed_max": max(failing, default=None),
            f"{name}_mixed_median_percent": None if median is None else share(median, tokens[0].n),
            f"{name}_unforgiven_mixed": len(other),
            f"{name}_unforgiven_mixed_median": middle(t.published_failing(name) for t in other),
        }
        for n, word in ((1, "one"), (2, "two"), (3, "three")):
            found[f"{name}_{word}_valued"] = sum(len(set(t.raw[name])) == n for t in fired)
    found["forgiven_token_columns"] = sum(len(t.forgiven) for t in tokens)
    for key in keys:
        found[f"loss_columns_{key}"] = sum(found[f"{name}_{key}"] for name in LOSS)
    return found


def entries(tokens):
    targets = len(tokens) * tokens[0].n * 7
    found, in_loss = {"target_entries": targets}, 0
    for name in NAMES:
        fired = [t for t in tokens if name in t.forgiven]
        changed = sum(value != 1.0 for t in fired for value in t.raw[name])
        mixed = sum(value != 1.0 for t in fired if t.mixed(name) for value in t.raw[name])
        ordered = sorted(t.failing(name) for t in fired)
        m = len(ordered)
        at = (0, m // 4, m // 2, 3 * m // 4, m - 1)
        found |= {
            f"{name}_changed_entries": changed,
            f"{name}_mixed_changed_entries": mixed,
            f"{name}_all_zero_changed_entries": changed - mixed,
            f"{name}_mixed_entry_percent": share(mixed, targets),
            f"ranks_{name}": tuple(ordered[i] for i in at) if m else None,
        }
        if name in LOSS:
            in_loss += changed
        if name in LOSS and name != "LK":
            found[f"exact_{name}"] = changed
    found["supervision_entries_exact"] = in_loss
    found["supervision_share_exact_percent"] = share(in_loss, targets)
    found["other_changed_entries_exact"] = in_loss - found["LK_changed_entries"]
    return found


def distinct_rows(tokens):
    fired = [t for t in tokens if t.forgiven]
    others = [rows(t.raw, NAMES) for t in tokens if not t.forgiven]
    found = {"paired_pool": len(fired)}
    for key, names, loss in (
        ("nine_raw", NAMES, False), ("seven_raw", LOSS, False), ("seven_loss", LOSS, True),
    ):  # fmt: skip
        before = [rows(t.raw, names, loss) for t in fired]
        after = [rows(t.published, names, loss) for t in fired]
        drops = [x - y for x, y in zip(before, after, strict=True)]
        fewer = sum(drop > 0 for drop in drops)
        found |= {
            f"rows_{key}_before_median": middle(before),
            f"rows_{key}_after_median": middle(after),
            f"rows_{key}_mean_drop": sum(drops) / len(drops) if drops else None,
            f"rows_{key}_decreases": fewer,
            f"rows_{key}_decreases_percent": share(fewer, len(fired)),
            f"rows_{key}_single_before": before.count(1),
            f"rows_{key}_single_after": after.count(1),
        }
    return found | {
        "rows_redundant_tokens": sum(
            t.erased(LOSS, True) and rows(t.published, LOSS, True) >= rows(t.raw, LOSS, True)
            for t in tokens
        ),
        "rows_untouched_tokens": len(others),
        "rows_untouched_median": middle(others),
        "rows_untouched_mean": sum(others) / len(others) if others else None,
    }


def ranking(tokens):
    kept = [t for t in tokens if not t.residual]
    affected = [t for t in kept if t.differing]
    found = {
        "ranking_tokens": len(kept),
        "ranking_affected": len(affected),
        "ranking_unaffected": len(kept) - len(affected),
    }

    def count(name, n):
        found[f"ranking_{name}"] = n
        found[f"ranking_{name}_of_affected_percent"] = share(n, len(affected))
        found[f"ranking_{name}_percent"] = share(n, len(kept))

    sets = {
        key: [(maximisers(t.published, rule), maximisers(t.raw, rule)) for t in affected]
        for key, rule in RULES.items()
    }
    related = {key: [relation(a, r) for (a, _), (r, _) in one] for key, one in sets.items()}
    for key in RULES:
        for word in (
            "equal", "raw_within_published", "published_within_raw", "crossing", "disjoint",
        ):  # fmt: skip
            count(f"{key}_{word}", related[key].count(word))
        count(f"{key}_different", sum(word != "equal" for word in related[key]))
        pairs = zip(related[key], related["S"], strict=True)
        count(f"{key}_agrees_with_S", sum((x == "equal") == (y == "equal") for x, y in pairs))
        sizes = [(len(a), len(r)) for (a, _), (r, _) in sets[key]]
        count(f"{key}_both_single", sizes.count((1, 1)))
        count(f"{key}_both_several", sum(x > 1 and y > 1 for x, y in sizes))
        found[f"ranking_{key}_median_published"] = middle(x for x, _ in sizes)
        found[f"ranking_{key}_median_raw"] = middle(y for _, y in sizes)
    nothing = [best == -math.inf for _, (_, best) in sets["S"]]
    within = sum(
        x and word == "published_within_raw" for x, word in zip(nothing, related["S"], strict=True)
    )
    found["ranking_S_raw_ranks_nothing"] = sum(nothing)
    found["ranking_S_raw_ranks_nothing_published_within"] = within
    count("S_different_and_ranking", found["ranking_S_different"] - within)
    gains = {"published": [], "raw": []}
    for t, ((a, _), (r, _)) in zip(affected, sets["S"], strict=True):
        if len(a) == len(r) == 1 and a != r:
            (i,), (j,) = a, r
            gains["published"].append(100 * (t.published["PDM"][j] - t.published["PDM"][i]))
            gains["raw"].append(100 * (t.raw["PDM"][j] - t.raw["PDM"][i]))
    count("S_both_single_different", len(gains["raw"]))
    found["ranking_S_both_single_different_of_single_percent"] = share(
        len(gains["raw"]), found["ranking_S_both_single"]
    )
    for key, points in gains.items():
        found[f"ranking_S_gain_{key}_median"] = middle(points)
        found[f"ranking_S_gain_{key}_positive"] = sum(point > 0 for point in points)
    return found


def survival(column, name):
    """Probability that a random half of the column still holds two values, as a fraction."""
    values = mapped(name, column)
    n, s = len(values), len(values) // 2
    return 1 - Fraction(sum(comb(values.count(v), s) for v in set(values)), comb(n, s))


def exposure(tokens):
    chances = [
        survival(t.raw[name], name)
        for t in tokens for name in t.forgiven if name in LOSS and t.mixed(name)
    ]  # fmt: skip
    return {
        "exposure_population": len(chances),
        "exposure_mean_probability": float(sum(chances) / len(chances)) if chances else None,
        "exposure_p_one": sum(float(p) == 1.0 for p in chances),
        "exposure_min_probability": float(min(chances)) if chances else None,
    }


def differences(tokens):
    fired = [t for t in tokens if t.forgiven]
    found = {
        "rule_reproduced": sum(not t.residual for t in tokens),
        "rule_residual_total": sum(bool(t.residual) for t in tokens),
        "rule_pdm_reproduced": sum("PDM" not in t.residual for t in tokens),
        "differing_tokens": sum(bool(t.differing) for t in tokens),
        "untouched_comparisons": sum(9 - len(t.forgiven) for t in fired),
        "untouched_equal": sum(
            name not in t.differing for t in fired for name in NAMES if name not in t.forgiven
        ),
    }
    for name in NAMES:
        found[f"{name}_differing"] = sum(name in t.differing for t in tokens)
        found[f"{name}_residual"] = sum(name in t.residual for t in tokens)
    return found


def study(raw, human, published):
    """Every number of the study; ``human`` is None where it is not known."""
    tokens = [
        Token(raw[i], None if human is None else human[i], published[i], human is not None)
        for i in range(len(raw))
    ]
    found = {}
    for part in (predicates, columns, entries, distinct_rows, ranking, exposure, differences):
        found |= part(tokens)
    return found
