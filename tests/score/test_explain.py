"""Explanations agree with the engine, and what they name is what it was."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import shapely
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from navaudit.axes import (
    CENTRE,
    COLUMNS,
    DAC,
    DDC,
    EP,
    HC,
    LK,
    NC,
    PDM,
    STEPS,
    TLC,
    TTC,
)
from navaudit.errors import BadInput
from navaudit.scene.scene import CARPARK_AREA
from navaudit.scene.stock import index_caches, read_scene
from navaudit.scene.vocabulary import Vocabulary
from navaudit.score.boxgap import gap_m
from navaudit.score.contact import write_corners
from navaudit.score.course import lay_out
from navaudit.score.explain import DEFAULTS, explain
from navaudit.score.forgive import forgive
from navaudit.score.score import Settings, score_human, score_scene
from navaudit.score.why_comfort import TESTS, signals
from reference import comfort
from score import changes
from score.drives import draw_candidates
from score.wild import wild_case
from score.worlds import street

TESTS_FOLDER = Path(__file__).parents[1]
CACHES = TESTS_FOLDER / "golden" / "metric_cache"
SHARED = TESTS_FOLDER.parents[1] / "shared" / "golden" / "metric_cache"

COUNT = 10
WILD = range(24)
CHANGED = 24
"""Cases that are explained again in a changed scene."""
DECIDED = (NC, DAC, DDC, TLC, TTC, LK, HC)
"""Columns whose margins have a sign that says whether they pass."""


def golden_cases():
    return {token: read_scene(path) for token, path in index_caches(CACHES).items()}


def explained(scene, vocabulary, chosen=DEFAULTS):
    return [explain(scene, vocabulary, one, chosen) for one in range(len(vocabulary))]


@pytest.fixture(scope="module")
def cases():
    """Scene, vocabulary, sheet and explanations of golden and of random worlds."""
    rng = np.random.default_rng(5)
    drawn = [
        (scene, Vocabulary(draw_candidates(rng, COUNT, scene.ego[3])))
        for scene in golden_cases().values()
    ]
    drawn += [wild_case(seed, COUNT) for seed in WILD]
    return [
        (scene, vocabulary, score_scene(scene, vocabulary), explained(scene, vocabulary))
        for scene, vocabulary in drawn
    ]


def every(cases, column, failing):
    """Scenes, vocabularies, candidates and reasons of a column that fails, or does not."""
    found = [
        (scene, vocabulary, one.candidate, one.driven.reasons[column], one)
        for scene, vocabulary, _, explanations in cases
        for one in explanations
        if one.driven.reasons[column].fails == failing
    ]
    assert len(found) > 10, f"too few cases of {COLUMNS[column]}"
    return found


def some(cases, column):
    """A few failing cases, spread over all scenes."""
    found = every(cases, column, failing=True)
    return found[:: max(len(found) // CHANGED, 1)]


# -------------------------------------------------------------------------- verdicts and margins


def test_scores_and_first_steps_are_those_of_the_engine(cases):
    for _, _, sheet, explanations in cases:
        for one in explanations:
            assert np.array_equal(one.driven.scores, sheet.columns[:, one.candidate])
            for column in (NC, DAC, DDC, TLC, TTC, LK, HC):
                reason = one.driven.reasons[column]
                if reason.fails:
                    assert reason.step == sheet.first_step[column, one.candidate]
                assert reason.column == column


@pytest.mark.parametrize("ddc", ["v2.0", "v2.1"])
@pytest.mark.parametrize("rule", ["per-candidate", "batch"])
def test_other_settings_are_explained_as_they_score(ddc, rule):
    chosen = Settings(ddc=ddc, progress_rule=rule)
    for seed in range(100, 104):
        scene, vocabulary = wild_case(seed, 6)
        sheet = score_scene(scene, vocabulary, chosen)
        for one in explained(scene, vocabulary, chosen):
            assert np.array_equal(one.driven.scores, sheet.columns[:, one.candidate])
            progress = one.driven.reasons[EP]
            assert (progress.margin >= 0.0) == (progress.score == 1.0)


@pytest.mark.parametrize("column", [*DECIDED, EP], ids=lambda column: COLUMNS[column])
def test_margins_are_positive_where_it_passes_and_negative_where_it_fails(cases, column):
    for *_, reason, _ in every(cases, column, failing=True):
        assert reason.margin is None or reason.margin <= 0.0
        assert reason.words.startswith(("fails at", "halves at", "is "))
    strictly = 0
    for *_, reason, _ in every(cases, column, failing=False):
        assert reason.margin is None or reason.margin >= 0.0
        strictly += (reason.margin or 0.0) > 0.0
        assert reason.words.startswith(("passes:", "is "))
    assert strictly > 5


def test_failures_come_in_the_order_of_time(cases):
    for _, _, _, explanations in cases:
        for one in explanations:
            steps = [failure.step for failure in one.driven.failures]
            assert steps == sorted(steps)
            failed = {reason.column for reason in one.driven.reasons if reason.fails}
            assert {failure.column for failure in one.driven.failures} == failed - {EP, PDM}


# --------------------------------------------------------------------------- who and where it was


def without_agent(scene, token):
    agents = [k for k, name in enumerate(scene.traffic.token) if name != token]
    return changes.with_traffic(scene, agents)


@pytest.mark.parametrize("column", [NC, TTC], ids=lambda column: COLUMNS[column])
def test_without_the_object_it_names_another_is_named_or_none(cases, column):
    for scene, vocabulary, candidate, reason, _ in some(cases, column):
        after = explain(without_agent(scene, reason.subject), vocabulary, candidate)
        then = after.driven.reasons[column]
        assert then.score >= reason.score
        assert then.subject != reason.subject
        if then.fails:
            assert then.step >= reason.step


def test_without_anybody_else_it_still_fails(cases):
    for scene, vocabulary, candidate, reason, _ in some(cases, NC):
        # kept alone, with all who cannot be blamed left out
        alone = [scene.traffic.token.index(reason.subject)]
        then = explain(changes.with_traffic(scene, alone), vocabulary, candidate)
        assert then.driven.reasons[NC].step == reason.step
        assert then.driven.reasons[NC].subject == reason.subject


def test_the_closest_is_the_closest_and_not_touched(cases):
    for scene, _, _, reason, one in every(cases, NC, failing=False):
        if reason.subject is None:
            continue
        touched = {contact["token"] for contact in reason.facts["contacts"]}
        assert reason.subject not in touched
        agent = scene.traffic.token.index(reason.subject)
        ours = shapely.Polygon(one.driven.points[reason.step, :4])
        x, y, heading, length, width = scene.traffic.box[reason.step, agent]
        corners = np.empty((4, 2))
        write_corners(x, y, heading, length / 2, width / 2, corners)
        assert reason.margin == pytest.approx(ours.distance(shapely.Polygon(corners)), abs=1e-9)


def test_a_light_that_is_named_is_the_light(cases):
    for scene, vocabulary, candidate, reason, _ in some(cases, TLC):
        others = np.array([name != reason.subject for name in scene.lights.connector])
        after = explain(changes.without_red(scene, others), vocabulary, candidate)
        then = after.driven.reasons[TLC]
        assert then.subject != reason.subject
        assert not then.fails or then.step >= reason.step


def test_paving_the_corner_that_is_named_moves_the_failure(cases):
    for scene, vocabulary, candidate, reason, _ in some(cases, DAC):
        patch = shapely.Point(reason.where).buffer(0.05)
        paved = changes.with_ground(scene, CARPARK_AREA, patch)
        then = explain(paved, vocabulary, candidate).driven.reasons[DAC]
        at = (then.step, then.facts["corner"])
        assert not then.fails or at != (reason.step, reason.facts["corner"])


def test_a_corner_is_as_far_off_the_road_as_it_says(cases):
    for scene, _, _, reason, _ in every(cases, DAC, failing=True):
        kinds = scene.ground.kind
        shapes = np.array(scene.ground.polygons.shapes(), object)[(kinds != 1) & (kinds != 2)]
        if len(shapes):
            gap = shapely.distance(shapely.make_valid(shapes), shapely.Point(reason.where)).min()
            assert -reason.margin == pytest.approx(gap, abs=1e-9)
            assert reason.margin == pytest.approx(min(reason.facts["corners_m"]), abs=1e-9)


def test_the_way_against_the_traffic_is_that_of_its_steps(cases):
    for *_, reason, one in every(cases, DDC, failing=True):
        centre = one.driven.points[:, CENTRE]
        ways = np.zeros(STEPS)
        counted = np.array(reason.facts["steps"])
        ways[counted] = np.hypot(*(centre[counted] - centre[counted - 1]).T)
        windows = [ways[max(step - 10, 0) : step + 1].sum() for step in range(STEPS)]
        assert reason.value == pytest.approx(max(windows), abs=1e-9)
        assert windows[reason.step] >= reason.bound - 1e-9
        assert max(windows[: reason.step], default=0.0) < reason.bound + 1e-9


def test_a_lane_is_not_kept_for_twenty_steps_on_end(cases):
    for scene, _, _, reason, one in every(cases, LK, failing=True):
        line = shapely.LineString(scene.centreline[:, :2])
        steps = reason.facts["steps"]
        far = shapely.distance(line, shapely.points(one.driven.points[steps, CENTRE]))
        assert len(steps) == 20
        assert steps[-1] == reason.step
        assert (far > 0.5 - 1e-9).all()
        assert reason.facts["longest_run_steps"] >= 20


# ------------------------------------------------------------------------------------- comfort


def test_the_test_that_fails_is_outside_its_bounds(cases):
    for *_, reason, _ in every(cases, HC, failing=True):
        test = next(one for one in reason.facts["tests"] if one["test"] == reason.subject)
        assert not test["bound"][0] < reason.value < test["bound"][1]
        assert test["margin"] <= reason.margin
        assert reason.facts["sample_s"] == reason.time_s or reason.facts["sample_s"] < 0.0


def test_passing_means_all_six_tests_pass(cases):
    for *_, reason, _ in every(cases, HC, failing=False):
        assert all(test["margin"] > 0.0 for test in reason.facts["tests"])
        assert len(reason.facts["tests"]) == len(TESTS)


def test_signals_are_those_of_plain_filters(cases):
    for scene, _, _, explanations in cases[:12]:
        history = lay_out(scene).history
        for one in explanations[::6]:
            joined = np.concatenate([comfort.history(scene.past), one.driven.states])[None]
            series = signals(history, one.driven.states)
            inside = all(
                ((low < series[test]) & (series[test] < high)).all()
                for test, (_, _, (low, high)) in TESTS.items()
            )
            assert inside == bool(comfort.within_bounds(joined)[0])


# ------------------------------------------------------------------- progress, aggregate, human


def test_the_aggregate_is_made_of_its_parts(cases):
    for _, _, _, explanations in cases:
        for one in explanations:
            facts = one.driven.reasons[PDM].facts
            whole = facts["product"] * facts["weighted_mean"]
            assert whole == pytest.approx(one.driven.scores[PDM], abs=1e-12)


def test_the_human_is_scored_alone_and_forgives_as_the_rule_says(cases):
    fired = 0
    for scene, _, sheet, explanations in cases:
        if scene.human is None:
            assert all(one.human is None and not one.turned for one in explanations)
            continue
        human = score_human(scene).columns[:, 0]
        published = forgive(sheet.columns, human)
        for one in explanations:
            assert np.array_equal(one.human.scores, human)
            assert np.array_equal(one.published, published[:, one.candidate])
            fired += len(one.turned)
    assert fired > 0


# ----------------------------------------------------------------------------- drawn by the pencil


def straight(speed):
    poses = np.zeros((1, 40, 3))
    poses[0, :, 0] = speed * 0.1 * np.arange(1, 41)
    return Vocabulary(poses)


def test_a_parked_car_is_driven_into():
    scene = street().driving(10.0).with_parked_car(25.0).scene()
    reason = explain(scene, straight(10.0), 0).driven.reasons[NC]
    assert reason.words.endswith("touches vehicle track0, which stands still; at fault")
    assert reason.facts["contacts"][0]["at_fault"]


def test_who_drives_into_the_back_is_not_to_blame_but_told():
    scene = street().driving(5.0).with_car(-12.0, speed_mps=14.0).scene()
    reason = explain(scene, straight(5.0), 0).driven.reasons[NC]
    assert not reason.fails
    assert "is touched by vehicle track0, from behind" in reason.words
    assert "not at fault" in reason.words


def test_a_cone_then_a_car_names_both():
    world = street().driving(10.0).with_cone(15.0).with_parked_car(30.0)
    reason = explain(world.scene(), straight(10.0), 0).driven.reasons[NC]
    assert reason.score == 0.0
    assert reason.subject == "track0"
    assert "worse" in reason.words
    assert "track1" in reason.words


def test_what_the_car_stands_in_is_named_as_gone():
    scene = street().driving(10.0).with_cone(1.0).scene()
    reason = explain(scene, straight(10.0), 0).driven.reasons[NC]
    assert not reason.fails
    assert reason.facts["not_replayed"] == ["track0"]


def test_an_empty_world_can_be_explained():
    scene = street().driving(3.0).without_traffic().scene()
    one = explain(scene, straight(3.0), 0)
    assert one.driven.reasons[NC].words == "passes: nobody is near"
    assert one.driven.reasons[TLC].margin is None


@pytest.mark.parametrize("candidate", [-1, 1])
def test_a_candidate_that_is_not_there_is_refused(candidate):
    with pytest.raises(BadInput, match="there is no candidate"):
        explain(street().scene(), straight(1.0), candidate)


def test_a_record_is_plain_json(cases):
    for _, _, _, explanations in cases:
        record = explanations[0].record()
        assert json.loads(json.dumps(record, allow_nan=False)) == record
        assert [column["column"] for column in record["columns"]] == list(COLUMNS)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the other golden scenes lie outside this checkout")
def test_all_golden_scenes_can_be_explained():
    rng = np.random.default_rng(11)
    for path in index_caches(SHARED).values():
        scene = read_scene(path)
        vocabulary = Vocabulary(draw_candidates(rng, 2, scene.ego[3]))
        sheet = score_scene(scene, vocabulary)
        for one in explained(scene, vocabulary):
            assert np.array_equal(one.driven.scores, sheet.columns[:, one.candidate])


# ------------------------------------------------------------------------------- gaps of boxes

NUMBERS = st.floats(-5, 5)
BOXES = st.tuples(NUMBERS, NUMBERS, st.floats(-4, 4), st.floats(0.1, 6), st.floats(0.1, 3))


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(BOXES, BOXES)
def test_gaps_are_those_of_polygons(one, other):
    corners = np.empty((2, 4, 2))
    for k, (x, y, heading, length, width) in enumerate((one, other)):
        write_corners(x, y, heading, length / 2, width / 2, corners[k])
    gap = gap_m(corners[0], corners[1])
    assert gap == gap_m(corners[1], corners[0])
    shapes = [shapely.Polygon(box) for box in corners]
    if gap > 0:
        assert gap == pytest.approx(shapes[0].distance(shapes[1]), abs=1e-9)
        return
    assert shapes[0].distance(shapes[1]) < 1e-9
    if gap < -1e-6:
        # some way of that length takes them apart, none that is shorter does
        turns = np.linspace(0, 2 * np.pi, 73)
        for length, free in ((-gap * 0.99, False), (-gap * 1.5, True)):
            moved = [corners[1] + length * np.array([np.cos(t), np.sin(t)]) for t in turns]
            apart = [not shapes[0].intersects(shapely.Polygon(box)) for box in moved]
            assert free or not any(apart)
