"""The engine and the reference agree on every entry of random worlds."""

import numpy as np
import pytest

from navaudit.axes import COLUMNS, DAC, DDC, EP, HC, LK, NC, PDM, TLC, TTC, VX
from navaudit.rollout.rollout import desire_candidates, simulate
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.comfort import join_history
from navaudit.score.score import score_human, score_scene
from score.agreement import (
    ROUNDING,
    SETTINGS,
    differences,
    hangs_on_rounding,
    human_differences,
)
from score.aligned import aligned_case
from score.wild import wild_case
from score.worlds import street

WORLDS = 64
CANDIDATES = 128
SHARDS = 8


def settings_of(seed):
    return SETTINGS[seed % len(SETTINGS)]


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_engine_and_reference_agree(shard):
    for seed in range(shard, WORLDS, SHARDS):
        scene, vocabulary = wild_case(seed, CANDIDATES)
        entries, _, slow = differences(scene, vocabulary, settings_of(seed))
        left = [
            (COLUMNS[column], candidate)
            for column, candidate in entries
            # the aggregate follows from the others
            if column != PDM
            and not hangs_on_rounding(
                scene, slow["states"][candidate], column, settings_of(seed).ddc
            )
        ]
        assert left == [], f"world {seed}"
        if scene.human is not None:
            assert human_differences(scene, settings_of(seed)) == [], f"human of world {seed}"


def test_engine_and_reference_agree_on_what_lies_exactly_on_a_border():
    columns = []
    for seed in range(24):
        scene, vocabulary = aligned_case(seed, 48)
        entries, fast, _ = differences(scene, vocabulary, settings_of(seed))
        assert entries == [], f"world {seed}"
        assert human_differences(scene, settings_of(seed)) == [], f"human of world {seed}"
        columns.append(fast)
    failing = (np.concatenate(columns, axis=1) == 0).mean(axis=1)
    assert ((failing > 0.1) & (failing < 0.9))[[NC, DAC, DDC, TLC, TTC, LK, HC]].all()


@pytest.fixture(scope="module")
def drawn():
    return [wild_case(seed, CANDIDATES) for seed in range(WORLDS)]


@pytest.fixture(scope="module")
def sheets(drawn):
    pairs = zip(drawn, range(WORLDS), strict=True)
    return [score_scene(*case, settings_of(seed)) for case, seed in pairs]


def test_every_metric_fails_and_passes_often(sheets):
    columns = np.concatenate([sheet.columns for sheet in sheets], axis=1)
    assert ((columns[:PDM] == 1).mean(axis=1) > 0.2).all()
    assert ((columns == 0).mean(axis=1)[[NC, DAC, DDC, TLC, TTC, LK, HC]] > 0.05).all()
    assert (columns[NC] == 0.5).mean() > 0.005
    assert (columns[DDC] == 0.5).mean() > 0.01
    assert ((columns[EP] > 0) & (columns[EP] < 1)).mean() > 0.1


def test_every_metric_fails_in_the_middle_of_a_world(sheets):
    """Worlds in which all or no candidates fail say little: most metrics split most worlds."""
    for column in (NC, DAC, DDC, TTC, LK, HC):
        split = [0 < (sheet.columns[column] == 0).mean() < 1 for sheet in sheets]
        assert np.mean(split) > 0.3
    assert np.mean([0 < sheet.columns[TLC].mean() < 1 for sheet in sheets]) > 0.08


def test_humans_fail_too(drawn):
    humans = [score_human(scene).columns[:, 0] for scene, _ in drawn if scene.human is not None]
    assert 0 < len(drawn) - len(humans) < 10
    assert (np.mean(np.array(humans)[:, [NC, DAC, DDC, TLC, TTC, LK]] == 0, axis=0) > 0.03).all()


def test_worlds_hold_what_is_rare(drawn):
    scenes = [scene for scene, _ in drawn]
    assert {len(join_history(scene.past).states) for scene in scenes} == {14, 15}
    speeds = [scene.ego[VX] for scene in scenes]
    assert min(speeds) < 0
    assert max(speeds) > 20
    assert 0.0 in speeds
    assert any(len(scene.traffic) == 0 for scene in scenes)
    assert any(len(scene.ground) == 0 for scene in scenes)
    assert any(len(set(scene.ground.id)) < len(scene.ground) for scene in scenes)
    assert any((np.diff(scene.ground.polygons.polygon_ring) > 1).any() for scene in scenes)
    assert any((scene.traffic.box[..., 3:] == 0).any() for scene in scenes)
    assert any(np.isnan(scene.traffic.box[0]).any() for scene in scenes)
    assert any(scene.lights.red.any() and not scene.lights.red.all() for scene in scenes)
    ways = [np.diff(scene.centreline[:, :2], axis=0) for scene in scenes]
    assert any((way == 0).all(axis=1).any() for way in ways)
    assert {len(scene.token) for scene in scenes} == {16, 17}


def test_a_grade_that_hangs_on_rounding_is_told_from_one_that_does_not():
    # a cone whose side lies along the car's, and one that stands clear of it
    car = street().driving(2.0)
    ahead = np.stack([0.2 * np.arange(1, 41), 0 * np.arange(40), 0 * np.arange(40)], axis=1)
    flank = 1.1485 + 0.2
    for y, hangs in ((flank, True), (flank + 1e-3, False), (flank - 1e-3, False)):
        scene = car.with_cone(8.0, y).scene()
        desired = desire_candidates(scene, Vocabulary(ahead[None].astype(np.float32)))
        states = simulate(scene.ego, desired).states[0]
        assert hangs_on_rounding(scene, states, NC, "v2.0") == hangs
    assert ROUNDING < 1e-8
