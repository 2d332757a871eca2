"""Several models: each as read alone, arms by the paper's rule, ranges by the paper's tables."""

import numpy as np
import pytest

from navaudit.errors import BadInput
from navaudit.probe.arms import model_findings, model_tables
from navaudit.probe.models import Model, Models, against_a, read_models
from navaudit.probe.named import places_of
from navaudit.probe.probe import probe
from navaudit.probe.question import Question
from navaudit.report.paper import paper_numbers
from navaudit.stats.bootstrap import Estimate
from navaudit.stats.verdicts import judge
from probe.drawn import draw, write, write_logits

QUESTION = Question(tie_draws=0, resamples=60, caliper=20, width=10)
NAMES = ("nt_A0", "nt_A1", "nt_A2", "nt_P0", "nt_P1", "nt_P2", "nt_L0")
KEPT = {"A": 0.1, "P": 1.0, "L": 0.0}


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Seven models beside a released one, on the same labels."""
    folder = tmp_path_factory.mktemp("models")
    world = draw()
    logits, labels = write(folder, world)
    stores = {}
    for k, name in enumerate(NAMES):
        kept = KEPT[name[3]]
        noise = np.random.default_rng(k + 20).normal(size=world.logits.shape)
        other = draw(kept=kept).logits + np.float32(0.2) * noise.astype(np.float32)
        stores[name] = write_logits(folder / name, world.tokens, other, model=name)
    found = probe(logits, labels, QUESTION)
    return found, stores, labels, read_models(found, "nt_released", stores, labels)


def test_every_model_is_read_as_it_is_alone(read):
    found, stores, labels, models = read
    assert [model.name for model in models.models] == ["nt_released", *NAMES]
    alone = {"nt_released": found}
    alone |= {name: probe(store, labels, QUESTION) for name, store in stores.items()}
    for model in models.models:
        wanted = places_of(alone[model.name])
        assert list(model.points) == ["R1", "R2", "R3", "R4"]
        for place, one in wanted.items():
            here = model.interval(place)
            assert (here.point, here.count) == (pytest.approx(one.point, abs=1e-12), one.count)
            assert (here.low, here.high) == pytest.approx((one.low, one.high), abs=1e-12)


def test_arms_are_set_against_a_on_the_same_draws_and_judged(read):
    models = read[-1]
    by_name = {model.name: model for model in models.models}
    assert {(one.arm, one.place) for one in models.against} == {
        (arm, f"R{k}") for arm in "PL" for k in (1, 2, 3, 4)
    }
    for one in models.against:
        seeds = (0, 1, 2) if one.arm == "P" else (0,)
        assert one.seeds == seeds
        there, here = ([by_name[f"nt_{a}{s}"] for s in seeds] for a in (one.arm, "A"))
        gaps = [
            a.resamples[one.place] - b.resamples[one.place]
            for a, b in zip(there, here, strict=True)
        ]
        low, high = np.percentile(gaps, (2.5, 97.5), axis=1)
        point = [
            a.points[one.place] - b.points[one.place] for a, b in zip(there, here, strict=True)
        ]
        levels = [[by_name[f"nt_{arm}{s}"].points[one.place] for s in (0, 1, 2)] for arm in "AP"]
        wanted = judge(
            Estimate(np.array(point), low, high, np.zeros(len(seeds), int)), levels, seeds=seeds
        )
        assert one.verdict.letters == wanted.letters
        assert one.difference.low == pytest.approx(low)
    by_key = {(one.arm, one.place): one.verdict.letter for one in models.against}
    # heads that were given the values before the rule do know more of forgiven scenes
    assert by_key["P", "R1"] == "O/O"


def test_one_seed_an_arm_gives_no_letters(read):
    found, stores, labels, _ = read
    few = {name: stores[name] for name in ("nt_A0", "nt_P0")}
    models = read_models(found, "released", few, labels)
    assert [one.verdict for one in models.against] == [None] * 4
    table = model_tables(models)[1]
    assert {row[-1] for row in table.rows} == {None}


def test_names_that_are_no_arms_are_read_and_not_compared(read):
    found, stores, labels, _ = read
    models = read_models(found, "one", {"other": stores["nt_P0"]}, labels)
    assert models.against == ()
    assert len(model_tables(models)) == 1


def test_a_name_given_twice_is_refused(read):
    found, stores, labels, _ = read
    with pytest.raises(BadInput, match="two models are named nt_A0"):
        read_models(found, "nt_A0", stores, labels)


def test_a_model_without_all_scenes_is_refused(read, tmp_path):
    found, _, labels, _ = read
    world = draw()
    part = write_logits(tmp_path / "part", world.tokens[:40], world.logits[:40])
    with pytest.raises(BadInput, match="scenes have no logits of this model"):
        read_models(found, "nt_released", {"nt_A0": part}, labels)


def test_a_model_of_other_candidates_is_refused(read, tmp_path):
    found, _, labels, _ = read
    world = draw()
    narrow = write_logits(tmp_path / "narrow", world.tokens, world.logits[:, :, :9])
    with pytest.raises(BadInput, match="the logits are of 9 candidates"):
        read_models(found, "nt_released", {"nt_A0": narrow}, labels)


def paper_models(family):
    """Models with the points that the paper prints."""
    printed = paper_numbers()
    names = sorted({key.rsplit("_", 1)[0] for key in printed if key.startswith(f"{family}_")})
    runs = [name for name in names if name.removeprefix(f"{family}_")[:2] in {
        f"{arm}{seed}" for arm in "AMPL" for seed in range(3)
    }]  # fmt: skip
    models = []
    for name in runs:
        points = {
            place: float(printed[f"{name}_{place}"])
            for place in ("R1", "R2", "R3", "R4")
            if f"{name}_{place}" in printed
        }
        drawn = {place: np.full(3, point) for place, point in points.items()}
        models.append(Model(name, points, drawn, dict.fromkeys(points, 1)))
    return models


@pytest.mark.parametrize("family", ["prt", "nt", "p530tr", "p530nt"])
def test_the_papers_ranges_follow_from_its_tables(family):
    models = paper_models(family)
    assert len(models) in (9, 10)
    read = Models({}, tuple(models), tuple(against_a(models)))
    ours = {one.name: one.text for one in model_findings(read)}
    quoted = {
        key: text for key, text in paper_numbers().items()
        if key.startswith(f"{family}_") and key.endswith(("_min", "_max"))
    }  # fmt: skip
    assert len(quoted) == {"prt": 10, "nt": 6, "p530tr": 0, "p530nt": 6}[family]
    assert {key: ours[key] for key in quoted} == quoted


def test_a_control_of_one_seed_does_not_set_the_scale(read):
    models = read[-1]
    without = [model for model in models.models if model.name != "nt_L0"]
    scales = {(one.arm, one.place): one.verdict.scales for one in models.against if one.arm == "P"}
    again = {(one.arm, one.place): one.verdict.scales for one in against_a(without)}
    assert scales == again


def test_the_tables_show_every_model_and_contrast(read):
    models = read[-1]
    shown, arms = model_tables(models)
    assert len(shown.rows) == 4 * 8
    assert len(arms.rows) == 4 * (3 + 1)
    assert {row[-1] for row in arms.rows if row[0] == "nt: P - A" and row[1] == "R1"} == {"O/O"}
