"""Treatments of ties: what they leave alone, what they move, and who is at zero."""

import dataclasses

import numpy as np
import pytest

from navaudit.axes import HEADS, LK
from navaudit.probe.probe import probe
from navaudit.probe.question import Question
from navaudit.probe.ties import Ties
from probe import plain
from probe.drawn import draw, write
from probe.readings import scenes_of

QUESTION = Question(tie_draws=7, resamples=20, caliper=20, width=10)


def test_without_ties_every_treatment_reads_the_same(tmp_path):
    logits, labels = write(tmp_path, draw(step=1e-9))
    ties = probe(logits, labels, QUESTION).ties
    assert [one.name for one in ties.treatments] == [
        "as sorted", "grouped", *(f"draw {k}" for k in range(7))
    ]  # fmt: skip
    # a grouped tie is read by another formula, which may round otherwise
    assert max(ties.spread()) < 1e-12
    assert ties.same_zeros


def test_with_ties_draws_lie_between_the_best_and_the_worst_order(drawn_world):
    world, logits, labels = drawn_world
    found = probe(logits, labels, QUESTION)
    assert max(found.ties.spread()) > 0.0
    place = {token: k for k, token in enumerate(world.tokens)}
    there = [
        token for token, one in zip(found.scenes.tokens, found.scenes.forgiven, strict=True) if one
    ]
    head = HEADS.index("lane_keeping")
    for k, token in enumerate(there):
        scores, passes = world.logits[place[token], head], world.raw[place[token], LK] == 1
        best = plain.precision(passes[np.lexsort((~passes, -scores))])
        worst = plain.precision(passes[np.lexsort((passes, -scores))])
        drawn = found.scenes.drawn_precision[:, k]
        assert (worst - 1e-12 <= drawn).all()
        assert (drawn <= best + 1e-12).all()


def test_another_tie_seed_breaks_ties_otherwise(drawn_world):
    _, logits, labels = drawn_world
    other = dataclasses.replace(QUESTION, tie_seed=1)
    one, again, else_ = (probe(logits, labels, asked) for asked in (QUESTION, QUESTION, other))
    assert np.array_equal(one.scenes.drawn_precision, again.scenes.drawn_precision)
    assert not np.array_equal(one.scenes.drawn_precision, else_.scenes.drawn_precision)
    assert np.array_equal(one.scenes.auc, else_.scenes.auc)


def test_readings_are_median_fifth_and_quarter_with_zeros_at_the_floor():
    area = np.array([0.0, 0.0, 0.0, 0.05, 0.1, 0.02])
    ties = Ties.of(scenes_of(np.ones(6, bool), area=area, grouped_area=area))
    one = ties.treatments[0]
    floor = plain.mcclish(0.0, 0.1)
    assert one.partial[1:] == pytest.approx((floor, floor))
    assert round(floor, 3) == 0.474
    assert one.partial[0] == pytest.approx(np.median(plain.mcclish(area, 0.1)))
    assert (one.zeros, ties.draws, ties.same_zeros) == (3, 0, True)


def test_other_scenes_at_zero_are_told():
    area = np.array([0.0, 0.05])
    ties = Ties.of(scenes_of(np.ones(2, bool), area=area, grouped_area=area[::-1].copy()))
    assert [one.zeros for one in ties.treatments] == [1, 1]
    assert not ties.same_zeros


def test_no_forgiven_scene_has_no_ties_to_treat():
    assert Ties.of(scenes_of(np.zeros(3, bool))).treatments == ()
