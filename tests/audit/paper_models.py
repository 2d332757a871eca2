"""What the paper's numbers of probes and trained models say of each other."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from audit.paper_written import EXACT, SEEDS, rounded

SCORES = (("off", "EPDMS"), ("off", "LK"), ("on", "EPDMS"), ("on", "LK"), ("off", "EC"))


def probes(n):
    """Seeds' extremes, differences of medians, and shares of what lies above chance."""
    for prefix in ("nt", "p530nt"):
        gaps = [n[f"{prefix}_P{s}_R1"] - n[f"{prefix}_A{s}_R1"] for s in SEEDS]
        for end, choose in (("min", min), ("max", max)):
            name = f"{prefix}_PA_R1_{end}"
            yield name, n[name], choose(gaps), 3 * n.half(name)
    for name in n:
        head, _, end = name.rpartition("_")
        if (
            end in ("min", "max")
            and head.startswith(("nt_", "p530nt_", "prt_"))
            and "PA" not in head
        ):
            prefix, arms, reading = head.split("_")
            every = [n[f"{prefix}_{arm}{s}_{reading}"] for arm in arms for s in SEEDS]
            yield name, n[name], (min if end == "min" else max)(every), EXACT
    gap = n["probe_Tmatched_lk_auc"] - n["probe_matched_lk_auc"]
    yield "difference of medians", n["probe_delta_match"], gap, 3 * n.half("probe_delta_match")
    half = Fraction(1, 2)
    for one in ("T", "U"):
        slack = 2 * n.half(f"probe_{one}_lk_auc") / (n[f"probe_{one}_lk_auc"] - half)
        share = (n[f"probe_{one}_dac_auc"] - half) / (n[f"probe_{one}_lk_auc"] - half)
        name = f"probe_{one}_dac_share"
        yield name, n[name], 100 * share, n.half(name) + 100 * slack
    least, most = Fraction(1, 200), Fraction(1, 10)
    floor = half * (1 - least / (most - least))
    yield rounded(n, "McClish's floor", "probe_pauc_floor", floor)
    quarter = n["LK_mixed"] / 4
    yield "a quarter at the floor", n["ties_zero_released"] >= quarter, True, EXACT
    yield "fewer pairs than scenes", n["nt_pairs"] < n["nt_T"], True, EXACT


def contrasts(n):
    """Contrasts are differences of scores, and of all tokens the mean of F and R."""
    for arm, s, (mode, metric) in product("PM", SEEDS, SCORES):
        name = f"rt_{arm}{s}A{s}_{mode}_{metric}"
        gap = n[f"rt_abs_{arm}{s}_{mode}_{metric}"] - n[f"rt_abs_A{s}_{mode}_{metric}"]
        yield f"{name}: scores", n[f"{name}_all"], gap, 3 * n.half(f"{name}_all")
        for prefix in ("rt", "rt530"):
            yield _weighted(n, f"{prefix}_{arm}{s}A{s}_{mode}_{metric}", metric)
            yield from _interaction(n, prefix, arm, s, mode, metric)
            yield from _same_where_nothing_is_forgiven(n, f"{prefix}_{arm}{s}A{s}", mode, metric)
    for mode, metric in SCORES:
        for name, one, other in (("L0A0", "L0", "A0"), ("A0released", "A0", "released")):
            gap = n[f"rt_abs_{one}_{mode}_{metric}"] - n[f"rt_abs_{other}_{mode}_{metric}"]
            whole = f"rt_{name}_{mode}_{metric}_all"
            yield whole, n[whole], gap, 3 * n.half(whole)
        for seeds, word in ((SEEDS[:2], "two"), (SEEDS, "three")):
            scores = [[n[f"rt_abs_{arm}{s}_{mode}_{metric}"] for s in seeds] for arm in "AMP"]
            name = f"rt_spread_{word}_seed_{mode}_{metric}_all"
            yield name, n[name], max(max(one) - min(one) for one in scores), 3 * n.half(name)
    gains = [n[f"rt_P{s}A{s}_off_LK_human_fail"] for s in SEEDS]
    yield "least gain", n["rt_LK_forgiven_min"], min(gains), EXACT
    yield "largest gain", n["rt_LK_forgiven_max"], max(gains), EXACT


def _weighted(n, name, metric):
    of, pool = ("rt_ec_n", "rt_ec_n_all") if metric == "EC" else ("rt_n", "rt_tokens")
    parts = ("human_fail", "rest")
    mean = sum(n[f"{of}_{one}"] * n[f"{name}_{one}"] for one in parts) / n[pool]
    return f"{name}: F and R", n[f"{name}_all"], mean, 2 * n.half(f"{name}_all")


def _interaction(n, prefix, arm, s, mode, metric):
    name = f"{prefix}_I{arm}{s}_{mode}_{metric}"
    if name in n:
        apart = f"{prefix}_{arm}{s}A{s}_{mode}_{metric}"
        gap = n[f"{apart}_human_fail"] - n[f"{apart}_rest"]
        yield name, n[name], gap, 3 * n.half(name)


def _same_where_nothing_is_forgiven(n, head, mode, metric):
    if (mode, metric) in (("on", "EPDMS"), ("on", "LK")):
        for end in ("rest", "rest_lo", "rest_hi"):
            name = f"{head}_on_{metric}_{end}"
            if name in n:
                yield name, n[name], n[f"{head}_off_{metric}_{end}"], EXACT


def distances(n):
    """Distances to the human: F less R, and the seeds' extremes."""
    for s, metric in product(SEEDS, ("ADE", "FDE", "MAXLAT")):
        name = f"rt_dist_P{s}A{s}_{metric}"
        yield name, n[f"{name}_FR"], n[f"{name}_F"] - n[f"{name}_R"], 3 * n.half(f"{name}_FR")
    every = [n[f"rt_dist_P{s}A{s}_ADE_F"] for s in SEEDS]
    yield "least shift", n["rt_dist_F_ADE_min"], min(every), EXACT
    yield "largest shift", n["rt_dist_F_ADE_max"], max(every), EXACT


PROBE_LETTERS = {
    "prt": {"P": "O/O O/U O/O", "M": "O/O S/S O/O", "L0": "O/O O/O O/O"},
    "nt": {"P": "O/O O/O O/O O/O", "M": "U/U S/S S/S O/O", "L0": "O/O O/O O/O O/O"},
    "p530tr": {"P": "O/O U/U O/O", "M": "O/O O/U O/O"},
    "p530nt": {"P": "O/O O/O O/O O/O", "M": "U/U O/O U/U U/U"},
}
"""Two- and three-seed verdicts over A, for R1, R2 and so on."""

LETTERS = {
    ("P", "off_EPDMS"): "U/U U/U U/U", ("P", "on_EPDMS"): "O/U U/U U/U",
    ("P", "off_LK"): "O/O O/O O/O", ("P", "on_LK"): "O/O O/U O/O",
    ("P", "off_EC"): "O/O O/O O/O",
    ("M", "off_EPDMS"): "U/U U/U U/U", ("M", "on_EPDMS"): "U/U U/U U/U",
    ("M", "off_LK"): "O/O U/U U/U", ("M", "on_LK"): "S/U U/U U/U",
    ("M", "off_EC"): "U/U U/U U/U",
}  # fmt: skip
"""The same of scores, for all tokens, F and R."""


def probe_letters(n):
    """A probe contrast is observed only where its sign is one and its mean exceeds the seeds'."""
    for prefix, arms in PROBE_LETTERS.items():
        for arm, letters in arms.items():
            for reading, pair in enumerate(letters.split(), start=1):
                for letter, seeds in zip(pair.split("/"), (SEEDS[:2], SEEDS), strict=True):
                    what = f"{prefix} {arm} R{reading} {letter} over {len(seeds)}"
                    yield what, _can_be(n, prefix, arm, reading, seeds, letter), True, EXACT
    for s in SEEDS:
        for reading in ("R3", "R4"):
            yield f"P's {reading} stays above zero", n[f"nt_P{s}_{reading}"] > 0, True, EXACT
    for reading in ("R1", "R2"):
        yield f"L0's {reading} below a half", n[f"nt_L0_{reading}"] < Fraction(1, 2), True, EXACT


def _can_be(n, prefix, arm, reading, seeds, letter):
    at = f"R{reading}"
    name = f"{prefix}_A0_{at}"
    # means and scales are differences of two written numbers each
    slack = 4 * n.half(name)
    treated = {"0": "L0"} if arm == "L0" else {s: f"{arm}{s}" for s in seeds}
    gaps = [n[f"{prefix}_{one}_{at}"] - n[f"{prefix}_A{s}_{at}"] for s, one in treated.items()]
    scores = [[n[f"{prefix}_{one}{s}_{at}"] for s in seeds] for one in "AMP"]
    scale = max(max(one) - min(one) for one in scores)
    one_sign = all(gap > 0 for gap in gaps) or all(gap < 0 for gap in gaps)
    beyond = abs(sum(gaps) / len(gaps)) - scale
    if letter == "O":
        return one_sign and beyond > -slack
    return letter == "U" or not one_sign or beyond < slack


def score_letters(n):
    """Letters of scores follow from the intervals, and for all tokens from the seed scales."""
    for (arm, metric), letters in LETTERS.items():
        for population, pair in zip(("all", "human_fail", "rest"), letters.split(), strict=True):
            for letter, seeds in zip(pair.split("/"), (SEEDS[:2], SEEDS), strict=True):
                names = [f"rt_{arm}{s}A{s}_{metric}_{population}" for s in seeds]
                ends = [(n[f"{name}_lo"], n[f"{name}_hi"]) for name in names]
                clear = all(low > 0 or high < 0 for low, high in ends)
                what = f"{arm} {metric} {population} {letter} over {len(seeds)}"
                yield f"{what}: clear of zero", clear, letter != "U", EXACT
                if population == "all" and clear:
                    word = {2: "two", 3: "three"}[len(seeds)]
                    scale = n[f"rt_spread_{word}_seed_{metric}_all"]
                    points = [n[name] for name in names]
                    one_sign = len({point > 0 for point in points}) == 1
                    observed = one_sign and abs(sum(points) / len(points)) > scale
                    yield f"{what}: beyond the seeds", observed, letter == "O", EXACT


MODEL_FAMILIES = (probes, contrasts, distances, probe_letters, score_letters)
