"""What the paper's numbers of label sets say of each other.

Where a number is in the paper's text or tables alone and not among the named ones, it is in
``TEXT``.
"""

from __future__ import annotations

from fractions import Fraction

from audit.paper_written import EXACT, SEEDS, percent, rounded

SHOWN = {
    "LK": (9982, 0, 151, 9831),
    "TLC": (2156, 0, 1057, 1099),
    "DDC": (876, 0, 386, 490),
    "TTC": (18, 0, 9, 9),
    "NC": (10, 0, 5, 5),
    "PDM": (2967, 0, 1179, 1788),
}
"""Forgiven columns: all, already one, all zero, mixed."""

TEXT = {
    "P3_raw": 11_503, "P3_loss": 11_474, "outside_loss": 237, "mapping": 260,
    "forgiven_loss": 13_042, "all_zero_loss": 1_608, "compared": 97_175, "equal": 97_173,
    "control_tokens": 60, "untouched": 90_712, "identical": 90_703, "affected": 12_575,
    "differ_outside_P1": 9, "pdm_differing": 2_975, "pdm_median": 16_384,
    "raw_within": 7_637, "published_within": 1_589, "crossing": 0, "disjoint": 967,
    "different": 10_193, "different_and_ranking": 8_604, "single": 542, "single_different": 167,
    "agrees_lossw": 10_971, "agrees_pdm": 3_180, "decreases": (11_499, 11_502, 11_236),
    "DDC_valued": (13, 373, 490), "DDC_raw_mixed": 863, "v1_least": 34, "v1_paired": 364,
    "v1_ep_only": 330, "long_paths": 5_165,
}  # fmt: skip


def counts(n):
    """Columns, entries and pools of the label study, which add up exactly."""
    width, tokens = int(n["vocab_dense"]), int(n["population_tokens"])
    loss = [SHOWN[one] for one in ("LK", "TLC", "DDC", "TTC", "NC")]
    yield "targets", n["target_entries"], tokens * width * 7, EXACT
    yield "lane keeping", (n["LK_forgiven"], n["LK_all_zero"], n["LK_mixed"]), (
        SHOWN["LK"][0], SHOWN["LK"][2], SHOWN["LK"][3]), EXACT  # fmt: skip
    for one, (forgiven, *classes) in SHOWN.items():
        yield f"classes of {one}", sum(classes), forgiven, EXACT
    yield "forgiven loss columns", sum(row[0] for row in loss), TEXT["forgiven_loss"], EXACT
    yield "all-zero loss columns", sum(row[2] for row in loss), TEXT["all_zero_loss"], EXACT
    yield "mixed loss columns", sum(row[3] for row in loss), n["exposure_population"], EXACT
    forgiven = TEXT["forgiven_loss"] + SHOWN["PDM"][0]
    yield "forgiven columns", forgiven, n["forgiven_token_columns"], EXACT
    yield "left alone", n["P1_count"] * 9 - n["forgiven_token_columns"], TEXT["compared"], EXACT
    yield "left alone and equal", TEXT["compared"] - 2, TEXT["equal"], EXACT
    yield "paired pool", n["paired_pool"], n["P1_count"], EXACT
    yield "in all-zero LK", n["LK_all_zero_changed_entries"], n["LK_all_zero"] * width, EXACT
    parts = n["LK_mixed_changed_entries"] + n["LK_all_zero_changed_entries"]
    yield "changed in LK", n["LK_changed_entries"], parts, EXACT
    others = sum(n[f"exact_{one}"] for one in ("DDC", "NC", "TLC", "TTC"))
    yield "changed elsewhere", n["other_changed_entries_exact"], others, EXACT
    together = n["LK_changed_entries"] + n["other_changed_entries_exact"]
    yield "changed", n["supervision_entries_exact"], together, EXACT
    yield "DDC by values", sum(TEXT["DDC_valued"]), SHOWN["DDC"][0], EXACT
    yield "DDC raw mixed", sum(TEXT["DDC_valued"][1:]), TEXT["DDC_raw_mixed"], EXACT
    yield "DDC three-valued stay mixed", TEXT["DDC_valued"][2], SHOWN["DDC"][3], EXACT
    yield "DDC others become zero", sum(TEXT["DDC_valued"][:2]), SHOWN["DDC"][2], EXACT
    yield "only the aggregate", TEXT["P3_loss"] - n["headline_count"], TEXT["outside_loss"], EXACT
    yield "v1 progress only", TEXT["v1_paired"] - TEXT["v1_least"], TEXT["v1_ep_only"], EXACT
    yield "beyond the 95th percentile", -(-tokens * 5 // 100), TEXT["long_paths"], EXACT
    yield "one token loses a repeated distinction", n["headline_count"] - 1, (
        TEXT["decreases"][2]), EXACT  # fmt: skip


def shares(n):
    """Percentages are full quotients, rounded once."""
    tokens, width, entries = n["population_tokens"], n["vocab_dense"], n["target_entries"]
    named = {
        "headline_percent": (n["headline_count"], tokens),
        "LK_forgiven_share": (n["LK_forgiven"], n["P1_count"]),
        "LK_mixed_percent": (n["LK_mixed"], tokens),
        "LK_mixed_median_percent": (n["LK_mixed_median"], width),
        "LK_mixed_entry_percent": (n["LK_mixed_changed_entries"], entries),
        "supervision_share_exact_percent": (n["supervision_entries_exact"], entries),
    }
    for name, (part, whole) in named.items():
        yield rounded(n, name, name, percent(part, whole))
    affected, certified = TEXT["affected"], n["reproduced"]
    p1 = n["P1_count"]
    written = (
        ("12.1757", p1, tokens), ("11.1368", TEXT["P3_raw"], tokens),
        ("11.1087", TEXT["P3_loss"], tokens), ("0.2517", TEXT["mapping"], tokens),
        ("98.49", SHOWN["LK"][3], SHOWN["LK"][0]), ("50.97", SHOWN["TLC"][3], SHOWN["TLC"][0]),
        ("55.94", SHOWN["DDC"][3], SHOWN["DDC"][0]), ("50.00", SHOWN["TTC"][3], SHOWN["TTC"][0]),
        ("50.00", SHOWN["NC"][3], SHOWN["NC"][0]), ("60.26", SHOWN["PDM"][3], SHOWN["PDM"][0]),
        ("98.52", TEXT["DDC_raw_mixed"], SHOWN["DDC"][0]),
        *((text, part, p1) for text, part in
          zip(("91.44", "91.46", "89.34"), TEXT["decreases"], strict=True)),
        ("60.73", TEXT["raw_within"], affected), ("7.39", TEXT["raw_within"], certified),
        ("12.64", TEXT["published_within"], affected),
        ("1.54", TEXT["published_within"], certified),
        ("7.69", TEXT["disjoint"], affected), ("0.94", TEXT["disjoint"], certified),
        ("81.06", TEXT["different"], affected), ("9.87", TEXT["different"], certified),
        ("68.42", TEXT["different_and_ranking"], affected),
        ("4.31", TEXT["single"], affected),
        ("30.81", TEXT["single_different"], TEXT["single"]),
        ("1.33", TEXT["single_different"], affected),
        ("0.1617", TEXT["single_different"], certified),
        ("87.24", TEXT["agrees_lossw"], affected), ("25.29", TEXT["agrees_pdm"], affected),
        ("0.0329", TEXT["v1_least"], tokens), ("0.3524", TEXT["v1_paired"], tokens),
    )  # fmt: skip
    for text, part, whole in written:
        places = len(text.partition(".")[2])
        yield f"{text} %", Fraction(text), percent(part, whole), Fraction(1, 2 * 10**places)
    times = Fraction(n["headline_count"], TEXT["mapping"])
    yield "43.2 times", Fraction("43.2"), times, Fraction(1, 20)
    bins = sum(n[f"flip_T_human_bin_{one}_percent"] for one in "abcd")
    yield "bins of the human", bins, Fraction(100), 4 * n.half("flip_T_human_bin_a_percent")


def pools(n):
    """How the pools of tokens hang together."""
    tokens, p1 = n["population_tokens"], n["P1_count"]
    yield "certified and residual", n["reproduced"] + n["residual_total"], tokens, EXACT
    yield "residuals", n["ties"] + n["cache_residuals"], n["residual_total"], EXACT
    yield "aggregates reproduced", tokens - n["cache_residuals"], n["pdm_reproduced"], EXACT
    yield "control pool", n["control_pool_comparisons"], TEXT["control_tokens"] * 9, EXACT
    yield "untouched", tokens - p1, TEXT["untouched"], EXACT
    yield "affected", p1 - 1, TEXT["affected"], EXACT
    yield "identical", n["reproduced"] - TEXT["affected"], TEXT["identical"], EXACT
    yield "identical again", tokens - p1 - TEXT["differ_outside_P1"], TEXT["identical"], EXACT
    yield "residuals outside P1", n["residual_total"] - 1, TEXT["differ_outside_P1"], EXACT
    differing = SHOWN["PDM"][0] + n["cache_residuals"]
    yield "aggregates that differ", differing, TEXT["pdm_differing"], EXACT
    related = [TEXT[one] for one in ("raw_within", "published_within", "crossing", "disjoint")]
    yield "relations", sum(related), TEXT["different"], EXACT
    ranking = TEXT["different"] - TEXT["published_within"]
    yield "different and ranking", ranking, TEXT["different_and_ranking"], EXACT
    yield "census of solvers", n["solver_identical"], tokens, EXACT
    yield "census of divergence", n["div_denominator"], tokens, EXACT
    yield "matched and not", n["probe_pairs"] + n["probe_unmatched"], n["LK_mixed"], EXACT
    rolled = (n["LK_forgiven"] + n["probe_U_scenes"]) * n["vocab_dense"]
    yield "rolled out", n["flip_rollout_candidates"], rolled, EXACT
    yield "steps of a rollout", n["flip_rollout_steps"] * n["flip_step_s"], Fraction("4.1"), EXACT
    yield "navtest", n["rt_n_human_fail"] + n["rt_n_rest"], n["rt_tokens"], EXACT
    yield "navtest pairs", n["rt_ec_n_human_fail"] + n["rt_ec_n_rest"], n["rt_ec_n_all"], EXACT
    for one in ("spr_default_tokens", "ob_allpin_nodispatch_tokens", "ob_pin_tokens"):
        yield one, n[one], n["ob_pin_reproduced"] + 1, EXACT
    for one in ("rome_tokens", "rome_expected", "spr_sample_tokens", "ob_skx_tokens"):
        yield one, n[one], Fraction(260), EXACT
    yield "nothing as on Broadwell", n["spr_default_reproduced"], n["spr_sample_reproduced"], EXACT
    seeds = [n[f"rt_seed{one}"] for one in SEEDS]
    yield "seeds", (len(seeds), *seeds), (n["rt_seeds"], 0, 1, 2), EXACT


def ranks(n):
    """What is read at the five ranks goes with the classes and the sums."""
    width = int(n["vocab_dense"])
    changed = {one: n[f"exact_{one}"] for one in ("TLC", "DDC", "TTC", "NC")}
    changed["LK"] = n["LK_changed_entries"]
    lane = n.many("ranks_LK")
    yield "least LK", lane[0], n["LK_mixed_min"], EXACT
    yield "middle LK", lane[2], n["LK_pooled_median"], EXACT
    for one, total in changed.items():
        forgiven, _, all_zero, mixed = SHOWN[one]
        read = n.many(f"ranks_{one}")
        at = (0, forgiven // 4, forgiven // 2, 3 * forgiven // 4, forgiven - 1)
        yield f"{one} ascends", tuple(sorted(read)), read, EXACT
        # the all-zero columns are the last ones, and no mixed loss column has that many
        full = tuple(index >= mixed for index in at)
        yield f"{one} is full at the end", tuple(value == width for value in read), full, EXACT
        low, high = _bounds(read, at)
        yield f"{one} holds its sum", low <= total <= high, True, EXACT
        yield f"{one} all zero", all_zero, forgiven - mixed, EXACT
    _, _, _, mixed = SHOWN["PDM"]
    # the middle of the aggregate's columns is full although they are mixed: failing is not being 1
    middle_is_mixed = SHOWN["PDM"][0] // 2 < mixed
    yield "the aggregate's middle", (middle_is_mixed, TEXT["pdm_median"]), (True, width), EXACT
    lower = [all(a < b for a, b in zip(lane[:4], n.many(f"ranks_{one}")[:4], strict=True))
             for one in ("TLC", "DDC", "TTC", "NC")]  # fmt: skip
    yield "LK lies below the others", all(lower), True, EXACT
    most = n["LK_mixed_max"]
    yield "a mixed column has a candidate that passes", most, width - 1, EXACT


def _bounds(read, at):
    """Least and most that values can add up to which are read at some places."""
    low = high = read[0]
    for (first, before), (last, after) in zip(
        zip(at, read, strict=True), list(zip(at, read, strict=True))[1:], strict=False
    ):
        between = last - first - 1
        low += between * before + after * (last > first)
        high += between * after + after * (last > first)
    return low, high


def orders(n):
    """Intervals hold their points, forgiveness raises scores, parts do not exceed wholes."""
    for name in n:
        if name.endswith("_lo") and name[:-3] in n:
            inside = n[name] <= n[name[:-3]] <= n[f"{name[:-3]}_hi"]
            yield f"{name[:-3]} in its interval", inside, True, EXACT
    for name in n:
        if name.startswith("rt_abs_") and "_on_" in name:
            yield f"{name} is raised", n[name] > n[name.replace("_on_", "_off_")], True, EXACT
    unequal = (
        ("headline_count", "P1_count"), ("LK_forgiven", "P1_count"), ("LK_mixed", "headline_count"),
        ("exposure_p_one", "exposure_population"), ("LK_mixed_min", "LK_mixed_median"),
        ("LK_mixed_median", "LK_pooled_median"), ("LK_mixed_median", "LK_mixed_max"),
        ("flip_T_lkH_dac_fail_percent", "flip_T_lkH_fail_percent"),
        ("flip_T_lkH_dac_fail_percent", "flip_T_dac_fail_percent"),
        ("flip_T_dac_fail_percent", "flip_T_other_fail_percent"),
        ("flip_U_dac_fail_percent", "flip_U_other_fail_percent"),
        ("ob_default_differing_median", "ob_default_differing_max"),
        ("rt_unchanged_EC_drop_min", "rt_unchanged_EC_drop_max"),
        ("div_worst_step", "div_worst_deviation"), ("rt_ec_n_human_fail", "rt_n_human_fail"),
        ("rt_ec_n_rest", "rt_n_rest"), ("flip_lk_limit_m", "flip_human_bin_a_m"),
        ("flip_human_bin_a_m", "flip_human_bin_b_m"), ("flip_human_bin_b_m", "flip_human_bin_c_m"),
        ("flip_lk_steps_required", "flip_T_runC_median_steps"),
        ("flip_T_human_devC_median_m", "flip_T_devC_median_m"), ("rt_steps", "rt530_steps"),
    )  # fmt: skip
    for less, more in unequal:
        yield f"{less} < {more}", n[less] < n[more], True, EXACT
    union, loss = n["P1_count"], TEXT["forgiven_loss"]
    yield "P1 is a union of loss columns", n["LK_forgiven"] <= union <= loss, True, EXACT
    mixed = n["exposure_population"]
    yield "the headline is a union", n["LK_mixed"] <= n["headline_count"] <= mixed, True, EXACT
    least = 1 - (mixed - n["exposure_p_one"]) / (2 * mixed)
    yield "survival at least a half", least <= n["exposure_mean_probability"] < 1, True, EXACT
    human_bin = n["flip_T_human_bin_a_percent"] < 50 < (
        n["flip_T_human_bin_a_percent"] + n["flip_T_human_bin_b_percent"])  # fmt: skip
    median = n["flip_human_bin_a_m"] < n["flip_T_human_devC_median_m"] <= n["flip_human_bin_b_m"]
    yield "the human's median lies in the second bin", human_bin, median, EXACT
    mean = n["flip_U_fail_entries"] / n["probe_U_scenes"]
    yield "failing entries of other columns", 0 < mean < n["vocab_dense"], True, EXACT
    rolled = n["LK_forgiven"] + n["probe_U_scenes"]
    yield "Rome saw some of them", n["flip_rome_tokens"] < rolled <= n["population_tokens"], (
        True), EXACT  # fmt: skip


LABEL_FAMILIES = (counts, shares, pools, ranks, orders)
